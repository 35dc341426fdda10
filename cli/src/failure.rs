//! Why a command ended without doing what it was asked to.

use std::error::Error;
use std::io;
use std::path::Path;

use crate::exit_code;

/// A failed command: what to print and which exit code to end with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line or an input is wrong.
    Input {
        /// What is wrong.
        error: Box<dyn Error>,
        /// What to do next, when there is something to say.
        hint: Option<String>,
    },
    /// Something that the command needs does not work.
    Infrastructure {
        /// What does not work.
        error: Box<dyn Error>,
        /// What to do next, when there is something to say.
        hint: Option<String>,
    },
    /// The user interrupted the command.
    Interrupted {
        /// How to go on.
        hint: String,
    },
}

/// A file or folder that could not be used.
#[derive(Debug, thiserror::Error)]
#[error("failed to {doing} `{path}`")]
pub(crate) struct FileError {
    doing: &'static str,
    path: String,
    source: io::Error,
}

impl FileError {
    /// Says what failed, e.g. `read`.
    pub(crate) fn new(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            doing,
            path: path.display().to_string(),
            source,
        }
    }
}

impl Failure {
    /// Wraps an error of the user's input.
    pub(crate) fn input(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Input {
            error: error.into(),
            hint: None,
        }
    }

    /// Wraps an error of the machine.
    pub(crate) fn infrastructure(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Infrastructure {
            error: error.into(),
            hint: None,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub(crate) fn with_hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Input { error, .. } => Self::Input {
                error,
                hint: Some(text.into()),
            },
            Self::Infrastructure { error, .. } => Self::Infrastructure {
                error,
                hint: Some(text.into()),
            },
            Self::Interrupted { .. } => Self::Interrupted { hint: text.into() },
        }
    }

    /// Returns the exit code that says this.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Input { .. } => exit_code::INVALID_INPUT,
            Self::Infrastructure { .. } => exit_code::INFRASTRUCTURE,
            Self::Interrupted { .. } => exit_code::INTERRUPTED,
        }
    }
}
