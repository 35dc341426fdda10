//! Evidence that is promoted by the default policy, for tests to break in one place.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use evalfarm_domain::{CandidateId, Metric, QueryId, RerankStatus};
use evalfarm_gate::{
    Context, CriterionResult, Evidence, EvidenceParts, GatePolicy, JudgedMetric, Judgement,
    Outcome, RawGatePolicy, ReasonCode, Side, judge,
};

/// The metrics of a scene, the primary first.
pub(crate) const METRICS: [&str; 3] = ["nDCG@10", "RR@10", "R@10"];

/// Evidence and policy before they are checked.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) parts: EvidenceParts,
    pub(crate) policy: RawGatePolicy,
}

pub(crate) fn id(name: &str) -> CandidateId {
    CandidateId::try_from(name).unwrap()
}

pub(crate) fn metric(name: &str) -> JudgedMetric {
    name.parse::<Metric>().unwrap().into()
}

/// Values that rise by .1 from .5 on the first `rises` rows, fall by .1 on the next `falls`, and stay elsewhere.
pub(crate) fn moved(rows: usize, rises: usize, falls: usize) -> Vec<f64> {
    (0..rows)
        .map(|row| match row {
            row if row < rises => 0.6,
            row if row < rises + falls => 0.4,
            _ => 0.5,
        })
        .collect()
}

impl Scene {
    /// `rows` queries on which every metric rises on four in ten and falls on one in twenty, everything recorded.
    pub(crate) fn promoted(rows: usize) -> Self {
        let better = moved(rows, rows * 4 / 10, rows / 20);
        let side = |name: &str, values: Vec<f64>| Side {
            zero_results: Some(vec![false; rows]),
            rerank: Some(vec![RerankStatus::Applied; rows]),
            judged: Some(vec![Some(0.8); rows]),
            ..Side::of_values(id(name), vec![values; METRICS.len()])
        };
        Self {
            parts: EvidenceParts {
                queries: (0..rows)
                    .map(|row| QueryId::try_from(format!("q{row:04}")).unwrap())
                    .collect(),
                metrics: METRICS.into_iter().map(metric).collect(),
                baseline: side("baseline", moved(rows, 0, 0)),
                candidates: vec![side("candidate", better)],
                weights: None,
                clusters: None,
                context: Context::default(),
            },
            policy: RawGatePolicy {
                resamples: Some(2_000),
                ..RawGatePolicy::default()
            },
        }
    }

    pub(crate) fn candidate(&mut self) -> &mut Side {
        &mut self.parts.candidates[0]
    }

    pub(crate) fn policy(&self) -> GatePolicy {
        GatePolicy::try_from(self.policy.clone()).unwrap()
    }

    pub(crate) fn evidence(&self) -> Evidence {
        Evidence::new(self.parts.clone()).unwrap()
    }

    pub(crate) fn judge(&self) -> Judgement {
        let judgement = judge(&self.policy(), &self.evidence()).unwrap();
        check(&judgement);
        judgement
    }
}

/// Checks what holds for every judgement: verdict, reasons and criteria agree (cases.md G1), and it survives JSON.
pub(crate) fn check(judgement: &Judgement) {
    assert_eq!(judgement.verdict, judgement.reasons[0].code.verdict());
    let broken: Vec<ReasonCode> = judgement
        .criteria
        .iter()
        .filter(|criterion| criterion.outcome == Outcome::Broken)
        .map(|criterion| criterion.reason.code)
        .collect();
    if broken.is_empty() {
        assert_eq!(codes(judgement), [ReasonCode::Promoted]);
    } else {
        assert_eq!(codes(judgement), broken);
    }
    assert!(
        judgement
            .criteria
            .is_sorted_by_key(|criterion| criterion.step)
    );
    let json = serde_json::to_string(judgement).unwrap();
    assert!(!json.contains("NaN"));
    assert_eq!(
        &serde_json::from_str::<Judgement>(&json).unwrap(),
        judgement
    );
}

pub(crate) fn codes(judgement: &Judgement) -> Vec<ReasonCode> {
    judgement.reasons.iter().map(|reason| reason.code).collect()
}

pub(crate) fn criterion(judgement: &Judgement, code: ReasonCode) -> &CriterionResult {
    let mut found = judgement.criteria.iter().filter(|c| c.reason.code == code);
    found.next().unwrap()
}
