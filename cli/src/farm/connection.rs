//! Where the coordinator is, and who asks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use ureq::http::Uri;

use super::client::Client;
use crate::failure::{Failure, FileError};

/// Environment variable that holds the token itself.
const TOKEN: &str = "EVALFARM_TOKEN";
/// Longest token file that is read, in bytes.
const MAX_TOKEN_BYTES: u64 = 8 * 1024;

/// Arguments of every command that talks to a coordinator.
#[derive(Debug, Args)]
pub(crate) struct Connection {
    /// Address of the coordinator, e.g. `https://farm.example.org`
    #[arg(
        long,
        value_name = "URL",
        env = "EVALFARM_COORDINATOR",
        hide_env_values = true
    )]
    coordinator: Option<Address>,
    /// File that holds the token; without it, the token is taken from the variable `EVALFARM_TOKEN`
    #[arg(
        long,
        value_name = "FILE",
        env = "EVALFARM_TOKEN_FILE",
        hide_env_values = true
    )]
    token_file: Option<PathBuf>,
}

impl Connection {
    /// Reads the token and returns a client. Nothing is sent.
    pub(crate) fn client(&self) -> Result<Client, Failure> {
        let Some(coordinator) = &self.coordinator else {
            return Err(Failure::input("no coordinator is named")
                .with_hint("name one with `--coordinator URL` or in `EVALFARM_COORDINATOR`"));
        };
        let token = match &self.token_file {
            Some(path) => token_of_file(path)?,
            None => token_of_environment()?,
        };
        Ok(Client::new(coordinator.clone(), token))
    }
}

/// A bearer token: visible ASCII, and never shown.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// Reads a token; blanks and line ends around it do not belong to it.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let visible = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        visible.then(|| Self(text.to_owned()))
    }

    /// Returns the value of the `Authorization` header.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

fn token_of_environment() -> Result<Token, Failure> {
    let Some(text) = evalfarm_process::variables(&[TOKEN]).remove(TOKEN) else {
        return Err(Failure::input("there is no token to show to the coordinator").with_hint(
            "set `EVALFARM_TOKEN`, or name a file that holds it with `--token-file FILE` or `EVALFARM_TOKEN_FILE`",
        ));
    };
    Token::new(&text).ok_or_else(|| {
        malformed(format!(
            "the token in `{TOKEN}` is empty or not visible ASCII"
        ))
    })
}

fn token_of_file(path: &Path) -> Result<Token, Failure> {
    let read = || -> io::Result<String> {
        let bytes = fs::metadata(path)?.len();
        if bytes > MAX_TOKEN_BYTES {
            return Err(io::Error::other(format!(
                "it has {bytes} bytes, a token has at most {MAX_TOKEN_BYTES}"
            )));
        }
        fs::read_to_string(path)
    };
    let text = read().map_err(|error| {
        Failure::input(FileError::new("read the token from", path, error))
            .with_hint("name a readable file that holds nothing but the token")
    })?;
    Token::new(&text).ok_or_else(|| {
        malformed(format!(
            "`{}` holds no token, or not only visible ASCII",
            path.display()
        ))
    })
}

fn malformed(what: String) -> Failure {
    Failure::input(what)
        .with_hint("a token is one word of letters, digits and signs, without blanks")
}

/// An address that is not one of a coordinator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected `http://HOST[:PORT][/PATH]` or `https://…`, without user, query or fragment")]
pub(crate) struct AddressError;

/// Address of a coordinator, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(String);

impl Address {
    /// Returns the address of a route, each part of which is escaped.
    pub(super) fn route(&self, parts: &[&str]) -> String {
        let escaped = |part: &&str| format!("/{}", escaped(part));
        let path: String = parts.iter().map(escaped).collect();
        format!("{}/v1{path}", self.0)
    }
}

/// Returns a text as one part of a path, whatever is in it.
fn escaped(part: &str) -> String {
    // A part of dots alone would mean another folder.
    let only_dots = part.bytes().all(|byte| byte == b'.');
    part.bytes()
        .map(|byte| match byte {
            b'.' if only_dots => "%2E".to_owned(),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'.' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.parse().map_err(|_| AddressError)?;
        let known = matches!(uri.scheme_str(), Some("http" | "https"));
        let user = uri
            .authority()
            .is_some_and(|authority| authority.as_str().contains('@'));
        let host = uri.host().is_some_and(|host| !host.is_empty());
        if !known || user || !host || text.contains(['?', '#']) {
            return Err(AddressError);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}
