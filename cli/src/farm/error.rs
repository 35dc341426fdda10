//! Why a coordinator did not do what it was asked to, and what to do about it.

use std::error::Error;
use std::io;

use evalfarm_coordinator::api::{Problem, ProblemCode};

use super::connection::Address;
use crate::failure::Failure;

/// A request without a usable answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FarmError {
    /// No connection, or it was lost before the answer began.
    #[error("the coordinator at `{coordinator}` cannot be reached")]
    Unreachable {
        coordinator: Address,
        #[source]
        source: Box<ureq::Error>,
    },
    /// The answer broke off.
    #[error("the answer of the coordinator at `{coordinator}` broke off")]
    BrokenOff {
        coordinator: Address,
        #[source]
        source: io::Error,
    },
    /// The coordinator says no.
    #[error("{}", refusal(.problem))]
    Refused { problem: Problem },
    /// Something else answers there.
    #[error(
        "what answers at `{coordinator}` is not a coordinator: it says {status} to a request that every coordinator knows"
    )]
    NotACoordinator { coordinator: Address, status: u16 },
    /// The answer is no JSON, or has not the keys that it should have.
    #[error(
        "the coordinator at `{coordinator}` gave an answer that this release does not understand"
    )]
    Misunderstood {
        coordinator: Address,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// What is to be sent could not be read.
    #[error("`{path}` could not be read while it was sent")]
    Source {
        path: String,
        #[source]
        source: io::Error,
    },
}

impl FarmError {
    /// Whether asking again later may help: the coordinator may be restarting.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::BrokenOff { .. } => true,
            Self::Refused { problem } => problem.code == ProblemCode::Unavailable,
            Self::NotACoordinator { status, .. } => matches!(status, 502..=504),
            Self::Misunderstood { .. } | Self::Source { .. } => false,
        }
    }

    /// Whether the coordinator says that there is no such thing.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { problem } if problem.code == ProblemCode::NotFound)
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unreachable { .. } => {
                "check `--coordinator` (or `EVALFARM_COORDINATOR`) and that the coordinator runs: its `/livez` answers"
            }
            Self::BrokenOff { .. } => "the same command may work now",
            Self::NotACoordinator { .. } => {
                "check `--coordinator` (or `EVALFARM_COORDINATOR`): its port and, behind a proxy, its path"
            }
            Self::Misunderstood { .. } => {
                "compare `evalfarm --version` with the release of the coordinator; `evalfarm workers` shows that of its workers"
            }
            Self::Source { .. } => return None,
            Self::Refused { problem } => return refused_hint(problem),
        };
        Some(hint.to_owned())
    }

    fn is_input(&self) -> bool {
        let Self::Refused { problem } = self else {
            return matches!(self, Self::Source { .. });
        };
        match problem.code {
            ProblemCode::Unauthorized
            | ProblemCode::Forbidden
            | ProblemCode::NotFound
            | ProblemCode::Conflict
            | ProblemCode::Invalid
            | ProblemCode::TooLarge => true,
            ProblemCode::Unavailable | ProblemCode::Other => false,
        }
    }
}

impl From<FarmError> for Failure {
    fn from(error: FarmError) -> Self {
        let hint = error.hint();
        let failure = if error.is_input() {
            Self::input(error)
        } else {
            Self::infrastructure(error)
        };
        match hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

fn refusal(problem: &Problem) -> String {
    let why = match problem.code {
        ProblemCode::Unauthorized => "does not know this token",
        ProblemCode::Forbidden => "does not allow this token to do that",
        ProblemCode::NotFound => "does not have that",
        ProblemCode::Conflict => "cannot do that now",
        ProblemCode::Invalid => "does not accept the request",
        ProblemCode::TooLarge => "does not take that much",
        ProblemCode::Unavailable => "cannot answer now",
        ProblemCode::Other => "refuses",
    };
    format!("the coordinator {why}: {}", problem.message)
}

/// What only this command line knows comes first; then what the coordinator says.
fn refused_hint(problem: &Problem) -> Option<String> {
    let ours = match problem.code {
        ProblemCode::Unauthorized => Some(
            "set `EVALFARM_TOKEN` or `--token-file` to a token that stands in the coordinator's credentials",
        ),
        ProblemCode::Forbidden => Some(
            "reading takes the role reader, submitting and cancelling one's own jobs proposer, cancelling those of others operator: \
             use a token with that role",
        ),
        _ => None,
    };
    let own = ours.map(str::to_owned).or_else(|| problem.hint.clone());
    own.or_else(|| {
        let text = match problem.code {
            ProblemCode::NotFound => "`evalfarm status` lists the jobs",
            ProblemCode::Conflict => "`evalfarm status JOB` says how the job is",
            ProblemCode::Unavailable => "the same command may work later",
            _ => return None,
        };
        Some(text.to_owned())
    })
}
