"""Serves S3 from memory on a free port of 127.0.0.1 with one empty bucket, `farm`, and prints the port.

Requests are answered one at a time: moto looks whether an object exists and then creates it, and two requests at once could
both be the first. Ends when standard input does, so that it does not outlive a test that was killed.
"""

import os
import sys
import threading

from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server


def end_with_standard_input():
    sys.stdin.read()
    os._exit(0)


app = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, app, threaded=False, request_handler=MotoRequestHandler)
s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket("farm", "us-east-1")
threading.Thread(target=end_with_standard_input, daemon=True).start()
print(server.port, flush=True)
server.serve_forever()
