//! The nouns of the farm: values that crates which must not know each other have in common.
//!
//! A type belongs here when two crates that do not depend on each other need it. It carries its invariants
//! and nothing else: no I/O, no async, no clock.

#![warn(clippy::wildcard_enum_match_arm)]

mod candidate;
mod fingerprint;
mod ids;
mod judgment;
mod metric;
mod query;
mod ranking;
mod split;
mod stage;
mod task;

pub use candidate::{Candidate, CandidateError, Combine, FieldWeights, MIN_RATIO};
pub use fingerprint::{Digest, DigestError};
pub use ids::{
    CandidateId, DocId, EngineName, FieldName, IdError, JobId, MAX_BYTES as MAX_ID_BYTES,
    MetricName, QueryId, TaskId, WorkerId,
};
pub use judgment::{
    GainMap, Gains, Grade, GradeError, Judgments, MAX_GAIN, MAX_GRADE, QueryJudgments,
};
pub use metric::{DcgGain, Direction, Measure, Metric, MetricError, Persistence};
pub use query::{Corpus, Document, QUERY_WEIGHTS, Query};
pub use ranking::{Hit, rank_order};
pub use split::Fold;
pub use stage::{FailureKind, RerankStatus, RewriteStatus};
pub use task::{AnalyzerKind, EngineSettings, EvaluateTask, ExamineTask, JobSettings, Measurement};
