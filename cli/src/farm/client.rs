//! Requests and their answers.

use std::io::Read;
use std::time::Duration;

use evalfarm_coordinator::api::{Problem, ProblemCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, SendBody};

use super::connection::{Address, Token};
use super::error::FarmError;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest wait for the beginning of an answer; a coordinator reads a whole dataset when one is submitted for the first time.
const ANSWER: Duration = Duration::from_mins(5);
/// Longest silence while bytes go to and fro. Event streams send something at least every 15 s.
const SILENCE: Duration = Duration::from_mins(1);
/// Largest JSON answer that is read, in bytes.
const MAX_JSON: u64 = 256 * 1024 * 1024;
/// Largest error answer that is read, in bytes.
const MAX_PROBLEM: u64 = 64 * 1024;

/// A connection to one coordinator, for as many requests as needed.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
    coordinator: Address,
    token: Token,
}

impl Client {
    pub(super) fn new(coordinator: Address, token: Token) -> Self {
        // The system's certificates, so that a company's own authority counts.
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .user_agent(concat!("evalfarm/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            // A redirected request would show the token to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_per_write(Some(SILENCE))
            .build()
            .new_agent();
        Self {
            agent,
            coordinator,
            token,
        }
    }

    /// Asks for something in JSON.
    pub(crate) fn get<T: DeserializeOwned>(&self, route: &[&str]) -> Result<T, FarmError> {
        let answer = self.opened(route)?;
        self.json(answer)
    }

    /// Asks for something and returns its bytes as they come, at most `limit` of them.
    pub(crate) fn open(&self, route: &[&str], limit: u64) -> Result<impl Read + use<>, FarmError> {
        let answer = self.opened(route)?;
        Ok(answer.into_body().into_with_config().limit(limit).reader())
    }

    /// Asks whether something is there.
    pub(crate) fn has(&self, route: &[&str]) -> Result<bool, FarmError> {
        match self.opened(route) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sends JSON and returns the answer in JSON.
    pub(crate) fn post<T: DeserializeOwned>(
        &self,
        route: &[&str],
        body: &impl Serialize,
    ) -> Result<T, FarmError> {
        let bytes = serde_json::to_vec(body).map_err(|error| self.misunderstood(error))?;
        self.post_bytes(route, &bytes)
    }

    /// Sends JSON that is text already and returns the answer in JSON.
    pub(crate) fn post_bytes<T: DeserializeOwned>(
        &self,
        route: &[&str],
        json: &[u8],
    ) -> Result<T, FarmError> {
        let request = self
            .agent
            .post(self.coordinator.route(route))
            .header("authorization", self.token.header())
            .header("content-type", "application/json")
            .config()
            .timeout_per_read(Some(ANSWER))
            .build();
        let answer = self.checked(request.send(json))?;
        self.json(answer)
    }

    /// Sends so many bytes to be kept.
    pub(crate) fn put(
        &self,
        route: &[&str],
        bytes: &mut dyn Read,
        length: u64,
    ) -> Result<(), FarmError> {
        let request = self
            .agent
            .put(self.coordinator.route(route))
            .header("authorization", self.token.header())
            .header("content-type", "application/octet-stream")
            .header("content-length", length)
            .config()
            .timeout_per_read(Some(ANSWER))
            .build();
        let body = SendBody::from_reader(bytes);
        self.checked(request.send(body)).map(drop)
    }

    /// Wraps an error of reading what [`open`](Self::open) returned.
    pub(crate) fn broken_off(&self, source: std::io::Error) -> FarmError {
        FarmError::BrokenOff {
            coordinator: self.coordinator.clone(),
            source,
        }
    }

    /// Wraps an answer that makes no sense.
    pub(crate) fn misunderstood(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> FarmError {
        FarmError::Misunderstood {
            coordinator: self.coordinator.clone(),
            source: source.into(),
        }
    }

    fn opened(&self, route: &[&str]) -> Result<Response<Body>, FarmError> {
        let request = self
            .agent
            .get(self.coordinator.route(route))
            .header("authorization", self.token.header())
            .config()
            .timeout_per_read(Some(SILENCE))
            .build();
        self.checked(request.call())
    }

    fn json<T: DeserializeOwned>(&self, answer: Response<Body>) -> Result<T, FarmError> {
        let limited = answer.into_body().into_with_config().limit(MAX_JSON);
        let mut bytes = Vec::new();
        limited
            .reader()
            .read_to_end(&mut bytes)
            .map_err(|error| self.broken_off(error))?;
        serde_json::from_slice(&bytes).map_err(|error| self.misunderstood(error))
    }

    /// Returns the answer if it is a good one, and what is wrong if not.
    fn checked(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, FarmError> {
        let answer = answer.map_err(|source| FarmError::Unreachable {
            coordinator: self.coordinator.clone(),
            source: Box::new(source),
        })?;
        let status = answer.status().as_u16();
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let mut bytes = Vec::new();
        let limited = answer.into_body().into_with_config().limit(MAX_PROBLEM);
        // An error that breaks off or is too long still has its number.
        drop(limited.reader().read_to_end(&mut bytes));
        Err(match (serde_json::from_slice::<Problem>(&bytes), status) {
            (Ok(problem), _) => FarmError::Refused { problem },
            // A proxy before the coordinator may ask for the token too.
            (Err(_), 401) => refused(ProblemCode::Unauthorized, "401 without a reason"),
            (Err(_), 403) => refused(ProblemCode::Forbidden, "403 without a reason"),
            (Err(_), 413) => refused(ProblemCode::TooLarge, "413 without a reason"),
            (Err(_), status) => FarmError::NotACoordinator {
                coordinator: self.coordinator.clone(),
                status,
            },
        })
    }
}

fn refused(code: ProblemCode, message: &str) -> FarmError {
    FarmError::Refused {
        problem: Problem {
            code,
            message: message.to_owned(),
            hint: None,
        },
    }
}
