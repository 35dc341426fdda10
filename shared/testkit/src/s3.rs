//! A local S3 server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// An S3 server in memory with one empty bucket, `farm`, on a free port of this machine, for as long as the value lives.
///
/// It is moto (tests/s3), run by the Python that `EVALFARM_PYTHON` names.
#[derive(Debug)]
pub struct S3Server {
    process: Child,
    port: u16,
}

impl S3Server {
    /// Starts a server and waits until it listens.
    ///
    /// # Panics
    ///
    /// When there is no Python, or none with moto: tests/python.sh installs both.
    pub fn start() -> Self {
        let python = std::env::var_os("EVALFARM_PYTHON").expect(
            "EVALFARM_PYTHON names a Python with moto: `source tests/python.sh` installs it",
        );
        let mut process = Command::new(python)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../tests/s3/serve.py"
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("EVALFARM_PYTHON runs: `source tests/python.sh` installs it");
        let output = process.stdout.take().expect("standard output is piped");
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .expect("standard output is text");
        let port = line.trim().parse();
        let port =
            port.expect("moto is installed and listens: `source tests/python.sh` installs it");
        Self { process, port }
    }

    /// Returns the environment variables with which a client finds the server.
    pub fn variables(&self) -> Vec<(String, String)> {
        [
            ("AWS_ACCESS_KEY_ID", "tester".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "not-a-secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            (
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            ),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        // It may have ended already, and a test that failed needs no second panic.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
