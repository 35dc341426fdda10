//! What is measured, and the units in which the work is handed out.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Candidate, Digest, EngineName, Fold, Gains, Grade, JobId, Metric, QueryId, TaskId};

/// How text becomes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnalyzerKind {
    /// Words of Lucene's `StandardTokenizer`, lower case, ASCII folding.
    Standard,
    /// `Standard` with English stop words removed and words stemmed.
    English,
}

/// What decides the per-field scores: a change here needs a new index or new scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineSettings {
    /// How text becomes tokens.
    pub analyzer: AnalyzerKind,
    /// BM25 term saturation, at least 0; Lucene's default is 1.2.
    pub k1: f32,
    /// BM25 length normalisation, 0 to 1; Lucene's default is 0.75.
    pub b: f32,
}

impl Default for EngineSettings {
    /// Returns Lucene's defaults (`BM25Similarity`: k1 1.2, b 0.75).
    fn default() -> Self {
        Self {
            analyzer: AnalyzerKind::Standard,
            k1: 1.2,
            b: 0.75,
        }
    }
}

/// What is measured for each query of each candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Metrics, each once, in the order in which they are stored.
    pub metrics: Vec<Metric>,
    /// Hits retrieved for each query.
    pub depth: NonZeroU32,
    /// Gain of each grade.
    pub gains: Gains,
    /// Lowest grade that counts as relevant.
    pub relevant_from: Grade,
    /// Highest grade that the dataset can give; ERR scales by its gain.
    pub top_grade: Grade,
}

/// What every task of a job has in common: a worker needs this and the dataset, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSettings {
    /// The job.
    pub job: JobId,
    /// Fingerprint of the dataset that the job is about.
    pub dataset: Digest,
    /// What decides the per-field scores.
    pub engine: EngineSettings,
    /// The engine that answers, as the worker's configuration names it; nothing for the embedded one. Left out of the JSON
    /// then, so that records of jobs without it stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_by: Option<EngineName>,
    /// What is measured.
    pub measurement: Measurement,
    /// The query ids of each fold that is evaluated, in bytewise order.
    pub folds: BTreeMap<Fold, Vec<QueryId>>,
}

impl JobSettings {
    /// Returns the ids of the queries in a range of a fold, or nothing when the range is not inside the fold.
    pub fn queries(&self, fold: Fold, first: u32, count: u32) -> Option<&[QueryId]> {
        let first = usize::try_from(first).ok()?;
        let end = first.checked_add(usize::try_from(count).ok()?)?;
        self.folds.get(&fold)?.get(first..end)
    }
}

/// Candidates × one range of queries of one fold: the unit in which work is handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateTask {
    /// The job this belongs to.
    pub job: JobId,
    /// The side of the split whose queries are evaluated.
    pub fold: Fold,
    /// First query, an index into the fold's ids in bytewise order.
    pub first_query: u32,
    /// Number of queries, at least one.
    pub query_count: u32,
    /// Candidates, each once; tasks of one batch share them.
    pub candidates: Arc<[Candidate]>,
}

impl EvaluateTask {
    /// Returns the identity of the task: a digest of everything in it, so that the same work has the same id however
    /// often and by whomever it is planned.
    ///
    /// # Panics
    ///
    /// Never: the text is neither empty nor too long.
    pub fn id(&self) -> TaskId {
        task_id('t', &self.parts())
    }

    fn parts(&self) -> TaskParts<'_> {
        (
            &self.job,
            self.fold,
            self.first_query,
            self.query_count,
            &self.candidates,
        )
    }
}

type TaskParts<'a> = (&'a JobId, Fold, u32, u32, &'a [Candidate]);

fn task_id(kind: char, &(job, fold, first, count, candidates): &TaskParts<'_>) -> TaskId {
    let first = first.to_le_bytes();
    let count = count.to_le_bytes();
    let candidates: Vec<String> = candidates.iter().map(Candidate::canonical_json).collect();
    let head = [
        job.as_str().as_bytes(),
        fold.as_str().as_bytes(),
        first.as_slice(),
        count.as_slice(),
    ];
    let parts = head
        .into_iter()
        .chain(candidates.iter().map(String::as_bytes));
    let digest = Digest::of_parts(parts);
    TaskId::try_from(format!("{kind}{}", digest.short(24))).expect("25 characters are an id")
}

/// Asks for what was retrieved, not only for what it was worth: the hits of a few candidates and the ranks of the
/// relevant documents, for baseline and finalists.
#[derive(Debug, Clone, PartialEq)]
pub struct ExamineTask {
    /// The job this belongs to.
    pub job: JobId,
    /// The side of the split whose queries are examined.
    pub fold: Fold,
    /// First query, an index into the fold's ids in bytewise order.
    pub first_query: u32,
    /// Number of queries, at least one.
    pub query_count: u32,
    /// Candidates, each once.
    pub candidates: Vec<Candidate>,
    /// Hits reported for each query.
    pub hits: NonZeroU32,
    /// Depth to which the ranks of relevant documents are looked for.
    pub rank_depth: NonZeroU32,
}

impl ExamineTask {
    /// Returns the identity of the task, a digest of its job, queries and candidates.
    ///
    /// The depths are the same for all tasks of a job and part of the job's own identity.
    pub fn id(&self) -> TaskId {
        let candidates = self.candidates.as_slice();
        let parts = (
            &self.job,
            self.fold,
            self.first_query,
            self.query_count,
            candidates,
        );
        task_id('x', &parts)
    }
}
