"""Writes the sample messages of protocol version 1, as a second writer that shares no code with the first.

    python3 proto/golden/make.py          # rewrites proto/golden/v1-*.bin

The files are frozen: every later release reads them. tests/golden.rs holds the same messages in Rust.
"""

import hashlib
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent


def u16(number):
    return struct.pack("<H", number)


def u32(number):
    return struct.pack("<I", number)


def u64(number):
    return struct.pack("<Q", number)


def blob(data):
    return u64(len(data)) + data


def text(string):
    return blob(string.encode())


def texts(strings):
    return u64(len(strings)) + b"".join(map(text, strings))


def envelope(schema, body):
    head = b"EVFM" + bytes([1, 1]) + u16(schema) + u32(len(body)) + body
    return head + hashlib.sha256(head).digest()[:8]


def task_id(kind, job, fold, first, count, candidates):
    parts = [job.encode(), fold.encode(), u32(first), u32(count), *(c.encode() for c in candidates)]
    return kind + hashlib.sha256(b"".join(map(blob, parts))).hexdigest()[:24]


CANDIDATES = [
    '{"combine":{"kind":"best_fields","tie_breaker":0.0},"weights":{"brand":0.625,"title":1.0}}',
    '{"combine":{"kind":"most_fields"},"weights":{"title":1.0}}',
]


def asks(kind, fold, fold_tag):
    head = text(task_id(kind, "j1", fold, 256, 64, CANDIDATES)) + text("j1") + u16(fold_tag) + u32(256) + u32(64)
    return head + u16(1) + text("[" + ",".join(CANDIDATES) + "]")


MESSAGES = {
    "evaluate": (1, asks("t", "train", 1)),
    "examine": (2, asks("x", "holdout", 2) + u32(10) + u32(1000)),
    "finished": (
        3,
        text("j1") + text("t1") + u32(2) + text("w1") + u16(2) + hashlib.sha256(b"rows").digest() + u64(1_500_000),
    ),
    "failed": (
        4,
        text("j1")
        + text("t1")
        + u32(4)
        + text("w1")
        + u16(1)
        + u16(2)
        + texts(["failed to reach `rerank`", "timed out after 2 s"]),
    ),
    "hello": (5, text("w1") + text("0.1.0") + u16(1) + u32(2) + texts(["bm25", "rerank"])),
    "cancel": (6, text("j1") + text("asked for at a terminal")),
    "average": (7, asks("t", "train", 1)),
}

for name, (schema, body) in MESSAGES.items():
    (FOLDER / f"v1-{name}.bin").write_bytes(envelope(schema, body))
