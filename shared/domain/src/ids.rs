//! Identifiers, one type each, so that a query id cannot be passed where a task id is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An identifier that could not be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text was empty.
    #[error("{kind} is empty")]
    Empty {
        /// Which identifier was being parsed, e.g. `query id`.
        kind: &'static str,
    },
    /// The text was longer than [`MAX_BYTES`].
    #[error("{kind} is {len} bytes long, at most {MAX_BYTES} are allowed")]
    TooLong {
        /// Which identifier was being parsed.
        kind: &'static str,
        /// Length of the rejected text, in bytes.
        len: usize,
    },
}

/// Longest identifier accepted, in bytes.
pub const MAX_BYTES: usize = 512;

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident, $kind:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Box<str>);

        impl $name {
            /// Returns the identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                if text.is_empty() {
                    return Err(IdError::Empty { kind: $kind });
                }
                if text.len() > MAX_BYTES {
                    return Err(IdError::TooLong { kind: $kind, len: text.len() });
                }
                Ok(Self(text.into_boxed_str()))
            }
        }

        impl TryFrom<&str> for $name {
            type Error = IdError;

            fn try_from(text: &str) -> Result<Self, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.into_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id! {
    /// Identifies one query of a dataset, as the dataset's own files spell it.
    QueryId, "query id"
}

text_id! {
    /// Identifies one document of a dataset, as the dataset's own files spell it.
    DocId, "document id"
}

text_id! {
    /// Names one searchable field of a corpus, e.g. `title`.
    FieldName, "field name"
}

text_id! {
    /// Identifies a job by its content: the same sweep over the same dataset is the same job.
    JobId, "job id"
}

text_id! {
    /// Identifies one unit of work by its content: candidates over one range of queries of one job.
    TaskId, "task id"
}

text_id! {
    /// Identifies a candidate by its canonical form, so that equal configurations have equal ids.
    CandidateId, "candidate id"
}

text_id! {
    /// Identifies one worker process for as long as it lives, e.g. `node7-4211-9f3a`.
    WorkerId, "worker id"
}

text_id! {
    /// Names an engine or reranker as the worker's configuration spells it; never an address.
    EngineName, "engine name"
}

text_id! {
    /// Names a metric or instrument as a result table spells it, e.g. `nDCG@10` or `latency_ms`.
    MetricName, "metric name"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_text_that_is_too_long() {
        let text = "q".repeat(MAX_BYTES + 1);
        assert_eq!(
            QueryId::try_from(text),
            Err(IdError::TooLong {
                kind: "query id",
                len: MAX_BYTES + 1
            })
        );
    }

    #[test]
    fn json_goes_through_the_same_check() {
        let error = serde_json::from_str::<QueryId>("\"\"").unwrap_err();
        assert_eq!(error.to_string(), "query id is empty");
    }
}
