//! What a job ends in: the verdict with everything that explains it, as it is stored in `verdict.json`.

use std::collections::BTreeMap;

use evalfarm_domain::{Candidate, CandidateId, Digest, Fold, Gains, Grade, JobId, Metric};
use evalfarm_gate::{
    Coverage, CriterionResult, Family, GatePolicy, Judgement, Limit, MetricJudgement, Reason,
    SideCounts, SliceJudgement, Verdict,
};
use serde::Serialize;

use crate::looks::EarlierLooks;
use crate::sweep::{Judge, SweepReport};

/// Version of the form of `verdict.json`: a change of a name or meaning needs the next one, a new key does not.
pub const VERDICT_SCHEMA: u32 = 1;

/// A verdict with everything that explains it. Nothing in it depends on where or how fast the job ran.
#[derive(Debug, Clone, Serialize)]
pub struct VerdictRecord {
    /// [`VERDICT_SCHEMA`].
    pub schema_version: u32,
    /// The job.
    pub job: JobId,
    /// Name of the sweep.
    pub sweep: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Every broken criterion, the deciding one first.
    pub reasons: Vec<Reason>,
    /// The candidate that the verdict is about.
    pub best: NamedCandidate,
    /// What it was compared with.
    pub baseline: NamedCandidate,
    /// Queries that were judged.
    pub judged_on: Fold,
    /// Different configurations evaluated, the baseline included.
    pub candidates: usize,
    /// Different results among them.
    pub distinct_results: usize,
    /// Candidates of which only means are stored; absent when the rows of all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_left_out: Option<RowsLeftOut>,
    /// Rows of train queries that were chosen by without them, because their tasks were given up: each counted as the worst
    /// value. Absent when there is none; of the judged queries `counts` says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_train_rows: Option<usize>,
    /// The family that was corrected.
    pub family: Family,
    /// What limits the verdict.
    pub limits: Vec<Limit>,
    /// One entry for each metric of the job, the primary first.
    pub metrics: Vec<MetricJudgement>,
    /// The primary in each slice of the policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceJudgement>,
    /// Every criterion in the order of decision.
    pub criteria: Vec<CriterionResult>,
    /// What a winner's train values promised and the holdout kept; absent when the job does not select.
    pub selection: Option<Selection>,
    /// Failures, degradations and empty results of both sides.
    pub counts: BothSides<SideCounts>,
    /// Judged share of both sides.
    pub coverage: Option<Coverage>,
    /// Queries of the judged fold that changed, in three senses.
    pub changed_queries: ChangedQueries,
    /// What the sweep found on the queries that it selected on.
    pub report: SweepReport,
    /// The verdicts of the other candidates of the family, when there are several.
    pub others: Vec<OtherVerdict>,
    /// Earlier looks at this holdout; absent when there is no holdout.
    pub earlier_looks: Option<EarlierLooks>,
    /// What was judged by.
    pub policy: GatePolicy,
    /// Who is judged on what.
    pub judge: Judge,
    /// What the job is made of.
    pub provenance: Provenance,
}

/// A candidate with the name that people know it by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedCandidate {
    /// Identity.
    pub id: CandidateId,
    /// What people call it.
    pub label: String,
    /// The stage of the sweep that proposed it.
    pub stage: String,
    /// The configuration in canonical form.
    pub configuration: Candidate,
}

/// What the selection promised and what was kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Selection {
    /// Mean difference of the primary metric on the queries that chose the winner.
    pub train_delta: f64,
    /// Mean difference on the holdout.
    pub holdout_delta: f64,
    /// Their difference: by how much choosing the best of many flattered it.
    pub optimism: f64,
}

/// The same thing of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BothSides<T> {
    /// Of the baseline.
    pub baseline: T,
    /// Of the candidate.
    pub candidate: T,
}

/// How much of a very large sweep is stored as means only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RowsLeftOut {
    /// Candidates without rows; never the baseline or the best.
    pub candidates: usize,
    /// `max_rows` of the sweep.
    pub max_rows: u64,
}

/// How many queries changed: the ranking, a metric, or nothing at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ChangedQueries {
    /// Queries whose top documents differ.
    pub rankings: usize,
    /// Queries on which any metric differs.
    pub metrics: usize,
    /// Queries on which neither does.
    pub unchanged: usize,
}

/// The verdict on a candidate of the family that does not lead it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherVerdict {
    /// The candidate.
    pub candidate: CandidateId,
    /// What people call it.
    pub label: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The deciding reason.
    pub reason: Reason,
    /// The primary metric.
    pub primary: MetricJudgement,
}

/// What a job is made of: enough to run it again and to see what is not the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    /// Number of the evaluation that made the rows.
    pub evaluation: u32,
    /// Name of the dataset.
    pub dataset: String,
    /// Its fingerprint.
    pub fingerprint: Digest,
    /// Where it came from.
    pub source: String,
    /// Its licence.
    pub licence: String,
    /// Whether it was generated.
    pub synthetic: bool,
    /// Queries of each fold.
    pub queries: BTreeMap<Fold, usize>,
    /// SHA-256 of each fold's query ids in bytewise order, joined by commas.
    pub folds: BTreeMap<Fold, Digest>,
    /// What was measured, the primary first.
    pub metrics: Vec<Metric>,
    /// Hits retrieved for each query.
    pub depth: u32,
    /// Gain of each grade.
    pub gains: Gains,
    /// Lowest grade that counts as relevant.
    pub relevant_from: Grade,
    /// Seed of everything random in the sweep.
    pub seed: u64,
    /// The sweep in canonical form.
    pub sweep: serde_json::Value,
}

/// The parts of a judgement that a record shows of its leader.
pub(crate) fn other(judgement: &Judgement, label: &str) -> OtherVerdict {
    OtherVerdict {
        candidate: judgement.candidate.clone(),
        label: label.to_owned(),
        verdict: judgement.verdict,
        reason: judgement.reasons[0].clone(),
        primary: judgement.metrics[0].clone(),
    }
}
