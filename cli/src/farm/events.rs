//! Server-sent events: fields, one a line, until an empty line ends the event.
//!
//! Source: HTML Standard, section 9.2.6, "Interpreting an event stream".

use std::io::{self, BufRead, Read};

/// Longest line that is read, in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Event {
    /// Its type; `message` when none is given.
    pub(super) kind: String,
    /// Its data, lines joined by line feeds.
    pub(super) data: String,
}

/// Reads events one by one.
#[derive(Debug)]
pub(super) struct Events<R> {
    lines: R,
}

impl<R: BufRead> Events<R> {
    pub(super) fn new(lines: R) -> Self {
        Self { lines }
    }

    /// Returns the next event with data, or nothing at the end of the stream. An event that the end cuts off is dropped.
    pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
        let mut kind = String::new();
        let mut data: Option<String> = None;
        loop {
            let Some(line) = self.line()? else {
                return Ok(None);
            };
            if line.is_empty() {
                if let Some(data) = data.take() {
                    if kind.is_empty() {
                        kind.push_str("message");
                    }
                    return Ok(Some(Event { kind, data }));
                }
                kind.clear();
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut kind),
                "data" => match &mut data {
                    None => data = Some(value.to_owned()),
                    Some(data) if (data.len() as u64) < MAX_LINE => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    Some(_) => return Err(too_long()),
                },
                // A line that begins with a colon is a comment, which keeps the connection alive.
                _ => {}
            }
        }
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = (&mut self.lines)
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes)?;
        match bytes.strip_suffix(b"\n") {
            Some(line) => {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                Ok(Some(String::from_utf8_lossy(line).into_owned()))
            }
            None if read as u64 == MAX_LINE => Err(too_long()),
            None => Ok(None),
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an event is too long")
}
