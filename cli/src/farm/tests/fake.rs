//! A coordinator of a few lines: it answers what a test says, and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::farm::Client;
use crate::farm::connection::Token;

/// A request as it arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) authorization: String,
    pub(crate) body: Vec<u8>,
}

/// What is sent back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: String::new(),
            body: body.into(),
        }
    }

    pub(crate) fn header(mut self, line: &str) -> Self {
        self.headers += line;
        self.headers += "\r\n";
        self
    }
}

/// A server on loopback, for as long as the process lives.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    /// Starts a server that answers each request with what `answer` says.
    pub(crate) fn start(mut answer: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read(&stream) else {
                    continue;
                };
                let sent = answer(&request);
                kept.lock().expect("nobody panics with it").push(request);
                write(&mut stream, &sent);
            }
        });
        Self { address, asked }
    }

    /// Returns a client of this server.
    pub(crate) fn client(&self) -> Client {
        client(&self.address)
    }

    /// Returns every request so far as `METHOD path`.
    pub(crate) fn routes(&self) -> Vec<String> {
        let asked = self.asked();
        asked
            .iter()
            .map(|asked| format!("{} {}", asked.method, asked.path))
            .collect()
    }

    /// Returns every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("nobody panics with it").clone()
    }
}

/// Returns a client of whatever is at `address`.
pub(crate) fn client(address: &str) -> Client {
    let address = address.parse().expect("it is an address");
    Client::new(address, Token::new("s3cret").expect("it is a token"))
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let mut asked = Asked {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..Asked::default()
    };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => value.clone_into(&mut asked.authorization),
            _ => {}
        }
    }
    asked.body = vec![0; length];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

fn write(stream: &mut TcpStream, answer: &Answer) {
    let Answer {
        status,
        headers,
        body,
    } = answer;
    let head = format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A client that has seen enough may be gone.
    drop(
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body)),
    );
}
