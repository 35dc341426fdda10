//! A private Redis.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use tempfile::TempDir;

use super::server::{Program, Server, free_ports, installed};

/// A Redis of this test process: own port, own folder, killed when dropped or when the process ends.
#[derive(Debug)]
pub struct PrivateRedis {
    server: Server,
    port: u16,
    folder: TempDir,
}

impl PrivateRedis {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    ///
    /// When Redis is not installed or does not start.
    pub fn start() -> Self {
        let program = installed("/usr/bin/redis-server");
        let folder = TempDir::new().expect("the temporary folder is writable");
        let [port] = free_ports();
        let path = folder.path().display();
        let run = format!(
            "{program} --bind 127.0.0.1 --port {port} --dir {path} --save '' --appendonly yes --appendfsync always \
             --pidfile {path}/pid --daemonize no --maxmemory-policy noeviction"
        );
        let mut server = Server::start(Program {
            run,
            sweep_up: String::new(),
            folder: folder.path().to_owned(),
        });
        server.wait_until(|| answers(port));
        Self {
            server,
            port,
            folder,
        }
    }

    /// Returns the server's URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Ends the server without warning; its folder stays for [`Self::restart`].
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts the killed server on the same port and waits until it answers.
    pub fn restart(&mut self) {
        debug_assert!(self.folder.path().is_dir());
        self.server.restart();
        let port = self.port;
        self.server.wait_until(|| answers(port));
    }

    /// Empties the server: data and scripts.
    ///
    /// # Panics
    ///
    /// When the server does not do it.
    pub fn flush(&self) {
        let answer = ask(self.port, b"FLUSHALL\r\n").expect("the server answers");
        assert_eq!(&answer[..3], b"+OK");
        let answer = ask(self.port, b"SCRIPT FLUSH\r\n").expect("the server answers");
        assert_eq!(&answer[..3], b"+OK");
    }

    /// Stops the server's process where it stands, so that it holds connections and answers nothing.
    pub fn freeze(&self) {
        self.server.signal("STOP");
    }

    /// Lets a frozen server go on.
    pub fn thaw(&self) {
        self.server.signal("CONT");
    }
}

fn answers(port: u16) -> bool {
    ask(port, b"PING\r\n").is_ok_and(|answer| answer == *b"+PONG")
}

/// Sends a command and returns the first five bytes of the answer.
fn ask(port: u16, command: &[u8]) -> std::io::Result<[u8; 5]> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(command)?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}
