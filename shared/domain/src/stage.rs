//! What became of a stage of retrieval for one query: applied, or why not.
//!
//! One enum per stage and never a merged one: a request can be "rewrite applied, rerank timed out".

use serde::{Deserialize, Serialize};

macro_rules! stage_status {
    ($(#[$meta:meta])* $name:ident, $stage:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            /// The stage answered and changed its input.
            Applied,
            /// The stage answered and left its input as it was; judged on the page that is scored.
            NoChange,
            /// The candidate does not ask for the stage.
            NotRequested,
            /// There was nothing for the stage to work on.
            NotApplicable,
            /// The stage is switched off for the whole process.
            Disabled,
            /// Our own concurrency limit was reached; the stage's input was kept.
            Overloaded,
            /// No answer within the time limit; the stage's input was kept.
            Timeout,
            /// The stage could not be reached or refused; its input was kept.
            TransportError,
            /// The answer could not be used; the stage's input was kept.
            InvalidResponse,
            /// Our own code broke its promise; the stage's input was kept.
            InternalError,
        }

        impl $name {
            /// Every status, in the order in which they are documented.
            pub const ALL: [Self; 10] = [
                Self::Applied,
                Self::NoChange,
                Self::NotRequested,
                Self::NotApplicable,
                Self::Disabled,
                Self::Overloaded,
                Self::Timeout,
                Self::TransportError,
                Self::InvalidResponse,
                Self::InternalError,
            ];

            /// Returns the name under which the status is stored.
            pub fn as_str(self) -> &'static str {
                match self {
                    Self::Applied => "applied",
                    Self::NoChange => "no_change",
                    Self::NotRequested => "not_requested",
                    Self::NotApplicable => "not_applicable",
                    Self::Disabled => "disabled",
                    Self::Overloaded => "overloaded",
                    Self::Timeout => "timeout",
                    Self::TransportError => "transport_error",
                    Self::InvalidResponse => "invalid_response",
                    Self::InternalError => "internal_error",
                }
            }

            /// Returns the status of that stored name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|status| status.as_str() == name)
            }

            #[doc = concat!("Whether the ", $stage, " stage was asked for and its input was scored instead of its output.")]
            pub fn is_degraded(self) -> bool {
                match self {
                    Self::Disabled
                    | Self::Overloaded
                    | Self::Timeout
                    | Self::TransportError
                    | Self::InvalidResponse
                    | Self::InternalError => true,
                    Self::Applied | Self::NoChange | Self::NotRequested | Self::NotApplicable => false,
                }
            }
        }
    };
}

stage_status! {
    /// What became of the rewrite stage for one query.
    RewriteStatus, "rewrite"
}

stage_status! {
    /// What became of the rerank stage for one query.
    RerankStatus, "rerank"
}

/// Why a query has no ranking at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The candidate's results do not contain the query.
    Missing,
    /// The engine did not answer in time.
    Timeout,
    /// The engine could not be reached or refused.
    TransportError,
    /// The engine's answer could not be used, e.g. a score that is not finite.
    InvalidResponse,
    /// Our own code failed.
    InternalError,
    /// The farm gave the query's task up before there was a result: says nothing of the candidate, and makes its job incomplete.
    Unfinished,
}

impl FailureKind {
    /// Every kind, in the order in which they are documented.
    pub const ALL: [Self; 6] = [
        Self::Missing,
        Self::Timeout,
        Self::TransportError,
        Self::InvalidResponse,
        Self::InternalError,
        Self::Unfinished,
    ];

    /// Returns the name under which the kind is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Timeout => "timeout",
            Self::TransportError => "transport_error",
            Self::InvalidResponse => "invalid_response",
            Self::InternalError => "internal_error",
            Self::Unfinished => "unfinished",
        }
    }

    /// Returns the kind of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_names_are_read_back() {
        for status in RerankStatus::ALL {
            assert_eq!(RerankStatus::from_name(status.as_str()), Some(status));
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(json, format!("\"{}\"", status.as_str()));
        }
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::from_name(kind.as_str()), Some(kind));
        }
        assert_eq!(RewriteStatus::from_name("fine"), None);
    }
}
