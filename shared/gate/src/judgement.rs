//! What the gate answers: the verdict and everything that explains it.

use std::fmt;

use evalfarm_domain::{CandidateId, Direction, MetricName};
use evalfarm_stats::{Correction, IntervalMethod, PValue};
use serde::{Deserialize, Serialize};

use crate::{Coverage, GatePolicy, SideCounts};

/// What the gate says of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Every criterion holds; a human may now approve.
    Promote,
    /// The candidate is harmful, or not shown to be better by data that could have shown it.
    Block,
    /// The data cannot decide.
    InsufficientEvidence,
}

impl Verdict {
    /// Returns the name under which the verdict is stored and printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Promote => "PROMOTE",
            Self::Block => "BLOCK",
            Self::InsufficientEvidence => "INSUFFICIENT_EVIDENCE",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a verdict is what it is: one code for each criterion, and one for none broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// More queries without a result than the baseline, beyond tolerance.
    ZeroResult,
    /// A stage failed on more queries than tolerated.
    Degraded,
    /// The candidate failed on more queries than tolerated.
    Failed,
    /// The side that loses has markedly fewer judged hits: the loss may be made of holes.
    Coverage,
    /// Without the unjudged hits the other side wins: the loss may be made of holes.
    CondensedReversal,
    /// A guard metric got worse.
    GuardHarmed,
    /// A guard's interval does not exclude a worsening of its margin.
    MaxDrop,
    /// Too many queries went from right to wrong.
    Flips,
    /// The share of queries that go from right to wrong may be too large.
    FlipsBound,
    /// Too many queries got catastrophically worse.
    CatastrophicShare,
    /// The primary got worse in a guarded slice.
    SliceHarmed,
    /// No value of any metric changed.
    NoChange,
    /// Too few queries changed for the test to reject anything.
    Undecidable,
    /// The query set is too small for any decision.
    TooFewQueries,
    /// Fewer queries changed than the policy asks for.
    TooFewChanged,
    /// Fewer hits are judged than the policy asks for.
    LowCoverage,
    /// A guarded slice has no queries, or what it needs to know of them was not recorded.
    SliceUnknown,
    /// Rows that the job planned are not there.
    Incomplete,
    /// The baseline failed on more queries than tolerated.
    BaselineFailed,
    /// A stage of the baseline failed on more queries than tolerated.
    BaselineDegraded,
    /// The primary metric did not get better.
    PrimaryNotImproved,
    /// The change of the primary is not significant after correction.
    NotSignificant,
    /// The interval of the primary's change does not exclude 0.
    IntervalIncludesZero,
    /// The improvement is smaller than the least that matters.
    BelowMinEffect,
    /// The improvement is no larger than what reruns show.
    NoiseBand,
    /// A guard got worse, and missing judgments could explain its loss.
    GuardCoverage,
    /// Lists were looked at for their unjudged hits, but not this candidate's.
    Unexamined,
    /// No criterion is broken.
    Promoted,
}

impl ReasonCode {
    /// Returns the step of the order of decision at which the criterion is looked at; the first broken step decides.
    pub fn step(self) -> u8 {
        match self {
            Self::ZeroResult | Self::Degraded | Self::Failed => 2,
            Self::Coverage | Self::CondensedReversal => 3,
            Self::GuardHarmed
            | Self::MaxDrop
            | Self::Flips
            | Self::FlipsBound
            | Self::CatastrophicShare
            | Self::SliceHarmed => 4,
            Self::NoChange
            | Self::Undecidable
            | Self::TooFewQueries
            | Self::TooFewChanged
            | Self::LowCoverage
            | Self::SliceUnknown
            | Self::Incomplete
            | Self::BaselineFailed
            | Self::BaselineDegraded => 5,
            Self::PrimaryNotImproved
            | Self::NotSignificant
            | Self::IntervalIncludesZero
            | Self::BelowMinEffect => 6,
            Self::NoiseBand | Self::GuardCoverage | Self::Unexamined => 7,
            Self::Promoted => 8,
        }
    }

    /// Returns the verdict when this is the deciding reason.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::ZeroResult
            | Self::Degraded
            | Self::Failed
            | Self::GuardHarmed
            | Self::MaxDrop
            | Self::Flips
            | Self::FlipsBound
            | Self::CatastrophicShare
            | Self::SliceHarmed
            | Self::PrimaryNotImproved
            | Self::NotSignificant
            | Self::IntervalIncludesZero
            | Self::BelowMinEffect => Verdict::Block,
            Self::Coverage
            | Self::CondensedReversal
            | Self::NoChange
            | Self::Undecidable
            | Self::TooFewQueries
            | Self::TooFewChanged
            | Self::LowCoverage
            | Self::SliceUnknown
            | Self::Incomplete
            | Self::BaselineFailed
            | Self::BaselineDegraded
            | Self::NoiseBand
            | Self::GuardCoverage
            | Self::Unexamined => Verdict::InsufficientEvidence,
            Self::Promoted => Verdict::Promote,
        }
    }
}

/// One reason for the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Which criterion.
    pub code: ReasonCode,
    /// The reason in words.
    pub text: String,
    /// The metric that it is about, if it is about one.
    pub metric: Option<MetricName>,
    /// What was observed, if it is a number.
    pub observed: Option<f64>,
    /// What it is compared with.
    pub limit: Option<f64>,
    /// How far inside the limit the observation lies; negative when broken.
    pub margin: Option<f64>,
}

/// How a criterion came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds.
    Holds,
    /// It is broken.
    Broken,
    /// It could not be applied; the text says why.
    NotTested,
}

/// A criterion of the policy with what was observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionResult {
    /// Step of the order of decision.
    pub step: u8,
    /// How it came out.
    pub outcome: Outcome,
    /// The criterion and its numbers, as the reason that it is when broken.
    #[serde(flatten)]
    pub reason: Reason,
}

/// The hypotheses that were corrected together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Family {
    /// Number of hypotheses `m`: candidates × metrics.
    pub size: usize,
    /// How they were corrected.
    pub correction: Correction,
    /// Candidates in the family.
    pub candidates: usize,
    /// Metrics in the family, the primary first.
    pub metrics: Vec<MetricName>,
    /// Resamples of the tests, after they were continued where a decision hung on them; 0 where an older form did not say.
    #[serde(default)]
    pub resamples: u32,
    /// Whether no decision that could promote hangs on Monte Carlo error any more.
    #[serde(default)]
    pub settled: bool,
}

/// What limits how far a verdict carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitCode {
    /// The data were generated.
    Synthetic,
    /// Share of judged hits on both sides.
    JudgedShare,
    /// Difference of the shares of judged hits, with its interval.
    JudgedDifference,
    /// The share of judged hits was not recorded.
    CoverageUnknown,
    /// The effect on condensed lists.
    Condensed,
    /// What the effect could be if every hit were judged.
    JudgmentBounds,
    /// Relevant judgments for each query.
    RelevantPerQuery,
    /// The smallest effect that this pair could have shown.
    MinimumDetectableEffect,
    /// Failed queries of both sides.
    Failed,
    /// Degraded queries of both sides.
    Degraded,
    /// Stage statuses were not recorded.
    DegradedUnknown,
    /// Queries without a result were not recorded.
    ZeroResultUnknown,
    /// The rerun band.
    NoiseBand,
    /// No rerun band is known.
    NoiseBandUnknown,
    /// How grades became gains.
    Gains,
    /// Ranks were trusted instead of scores.
    OrderedByRank,
    /// The same hypothesis was looked at before.
    RepeatedLook,
    /// p-value and interval of the primary disagree.
    Disagreement,
    /// A decision still hangs on Monte Carlo error.
    Unsettled,
    /// BCa was asked for and has no interval for these data.
    IntervalMethod,
    /// A slice of the policy could not be looked at.
    SliceUnknown,
    /// Rows are missing.
    Incomplete,
    /// A sentence of the caller.
    Note,
}

/// A limit of the verdict; travels with every rendering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which limit.
    pub code: LimitCode,
    /// The limit in words.
    pub text: String,
    /// Its figure, if it has one.
    pub value: Option<f64>,
}

/// What a metric is to the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricRole {
    /// It has to improve.
    Primary,
    /// It must not be harmed.
    Guard,
    /// It is reported and decides nothing.
    Descriptive,
}

/// Whether the p-value and the interval say the same at their levels, uncorrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Both find a change, or neither does.
    Agree,
    /// Only the p-value finds a change.
    OnlyPValue,
    /// Only the interval excludes 0.
    OnlyInterval,
}

/// One metric of one candidate against the baseline, over the manifest's query set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricJudgement {
    /// The metric.
    pub metric: MetricName,
    /// Which way it has to move to be better.
    pub direction: Direction,
    /// What it is to the policy.
    pub role: MetricRole,
    /// Queries.
    pub n: usize,
    /// Mean of the baseline's scored values.
    pub baseline: f64,
    /// Mean of the candidate's scored values, failed queries as the worst.
    pub candidate: f64,
    /// Mean paired difference, candidate minus baseline, in the metric's own unit. Pairs whose baseline failed count as 0,
    /// and only then does it differ from the difference of the means.
    pub delta: f64,
    /// Lower end of the bootstrap interval of `delta`.
    pub ci_low: f64,
    /// Upper end of the bootstrap interval of `delta`.
    pub ci_high: f64,
    /// How the ends were read off the resamples.
    #[serde(default = "percentile")]
    pub interval: IntervalMethod,
    /// Two-sided sign-flip p-value.
    pub p: PValue,
    /// Whether every assignment of signs was counted for `p`.
    pub exact: bool,
    /// `p` after correction over the family; absent outside the family.
    pub q: Option<PValue>,
    /// Queries (clusters, when there are any) that changed.
    pub changed: usize,
    /// Queries that got better.
    pub wins: usize,
    /// Queries that got worse.
    pub losses: usize,
    /// Queries that stayed as they were.
    pub ties: usize,
    /// (wins − losses) / n. This is not Cliff's delta, and its thresholds do not apply.
    pub sign_effect: f64,
    /// Mean over standard deviation of the paired differences, positive when better; absent when nothing varies.
    pub dz: Option<f64>,
    /// Smallest effect that a test of this pair at alpha finds with probability .80; absent for a single query.
    pub minimum_detectable_effect: Option<f64>,
    /// Mean difference over the queries that changed. Descriptive only: these were chosen by the outcome.
    pub affected_mean: Option<f64>,
    /// Queries that got worse by more than the policy's catastrophic drop.
    pub catastrophic: usize,
    /// Whether `p` and the interval say the same.
    pub agreement: Agreement,
    /// Queries that went from right to wrong and back, for metrics that are 0 or 1 on independent queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flips: Option<Flips>,
}

fn percentile() -> IntervalMethod {
    IntervalMethod::Percentile
}

/// Queries that went from right to wrong and back, of a metric that is 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Flips {
    /// Queries from wrong to right.
    pub to_right: u64,
    /// Queries from right to wrong.
    pub to_wrong: u64,
    /// `to_wrong` as a share of all queries.
    pub share_to_wrong: f64,
    /// Exact one-sided upper bound of that share (Clopper-Pearson), at the policy's confidence.
    pub share_to_wrong_at_most: f64,
    /// Two-sided p-value of McNemar's exact test.
    pub p: PValue,
}

/// How the primary fared in a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceState {
    /// It got worse: p below alpha or an interval on the losing side, uncorrected, as for a guard.
    Harmed,
    /// It did not get worse beyond chance.
    NotHarmed,
    /// Too few of its queries changed for any decision.
    Undecidable,
    /// It has no queries, or what it needs to know of them was not recorded.
    Unknown,
}

/// The primary metric in a named group of queries. Descriptive, unless the policy makes it a guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceJudgement {
    /// What it is called.
    pub slice: String,
    /// Whether harm in it blocks.
    pub guard: bool,
    /// Queries; 0 when they are not known.
    pub n: usize,
    /// Mean paired difference over these queries.
    pub delta: f64,
    /// Lower end of its interval.
    pub ci_low: f64,
    /// Upper end of its interval.
    pub ci_high: f64,
    /// Two-sided sign-flip p-value.
    pub p: PValue,
    /// `p` corrected by Holm over all slices and candidates.
    pub q: PValue,
    /// Queries (clusters, when there are any) that changed.
    pub changed: usize,
    /// Queries that got better.
    pub wins: usize,
    /// Queries that got worse.
    pub losses: usize,
    /// How it fared.
    pub state: SliceState,
}

impl SliceJudgement {
    pub(crate) fn unknown(name: &str, guard: bool) -> Self {
        Self {
            slice: name.to_owned(),
            guard,
            n: 0,
            delta: 0.0,
            ci_low: 0.0,
            ci_high: 0.0,
            p: PValue::ONE,
            q: PValue::ONE,
            changed: 0,
            wins: 0,
            losses: 0,
            state: SliceState::Unknown,
        }
    }
}

/// The gate's answer for one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The candidate.
    pub candidate: CandidateId,
    /// What it was compared with.
    pub baseline: CandidateId,
    /// The verdict.
    pub verdict: Verdict,
    /// Every broken criterion, the deciding one first; the single `promoted` when none is.
    pub reasons: Vec<Reason>,
    /// Every criterion in the order of decision.
    pub criteria: Vec<CriterionResult>,
    /// The family that was corrected.
    pub family: Family,
    /// What limits the verdict.
    pub limits: Vec<Limit>,
    /// One entry for each metric of the job, the primary first.
    pub metrics: Vec<MetricJudgement>,
    /// Failures, degradations and empty results of the baseline.
    pub baseline_counts: SideCounts,
    /// Failures, degradations and empty results of the candidate.
    pub candidate_counts: SideCounts,
    /// Judged share of both sides over the queries on which both are known.
    pub coverage: Option<Coverage>,
    /// The primary in each slice of the policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<SliceJudgement>,
    /// The policy with every default filled in.
    pub policy: GatePolicy,
}
