//! Two runs and judgments as evidence, made in process as `evalfarm compare BASELINE CANDIDATE --qrels QRELS --order rank
//! --missing zero-result` makes it: four hundred sets of judgments are too many to start a process for each.

use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_dataset::QrelsOptions;
use evalfarm_dataset::trec::{Order, Run, RunOptions, read_qrels, read_run};
use evalfarm_domain::{CandidateId, DocId, Gains, Grade, Judgments, Measurement, Metric, QueryId};
use evalfarm_gate::{
    Context, Evidence, EvidenceParts, GatePolicy, JudgedMetric, Judgement, RawGatePolicy, Side,
    Unjudged, judge,
};
use evalfarm_metrics::{JoinedRun, QuerySet, SelfHits, UnjudgedQuery, evaluate};
use evalfarm_testkit::reference_data;

/// Metrics of the evidence, then what else is known of a list.
const METRICS: [&str; 6] = [
    "nDCG@10",
    "RR@10",
    "R@10",
    "P@10",
    "Judged@10",
    "zero_result",
];

/// How many of these are metrics of the evidence.
const ASKED: usize = 4;

/// Hits that are looked at for condensed lists, as deep as the command looks.
const DEPTH: usize = 1_000;

/// Runs of one query set, and judgments.
pub(crate) struct Runs {
    pub(crate) judgments: Judgments,
    pub(crate) flat: Run,
    pub(crate) title: Run,
    pub(crate) w0: Run,
}

impl Runs {
    /// Reads the runs of real Lucene over a real catalogue; nothing when they are not on this machine.
    pub(crate) fn golden() -> Option<Self> {
        let folder = reference_data("golden")?;
        let qrels = read_qrels(&folder.join("chorus.qrels"), &QrelsOptions::default());
        Some(Self {
            judgments: qrels.expect("the data set is complete").judgments,
            flat: run(&folder.join("chorus.flat.run.gz")),
            title: run(&folder.join("chorus.title.run.gz")),
            w0: run(&folder.join("chorus.w0.run.gz")),
        })
    }
}

fn run(path: &Path) -> Run {
    let options = RunOptions {
        order: Order::Rank,
        ..RunOptions::default()
    };
    read_run(path, options).expect("the data set is complete")
}

pub(crate) fn policy(raw: RawGatePolicy) -> GatePolicy {
    GatePolicy::try_from(raw).expect("the test's policy means something")
}

/// Judges a candidate's run against a baseline's.
pub(crate) fn judged(
    policy: &GatePolicy,
    judgments: &Judgments,
    baseline: &Run,
    candidate: &Run,
) -> Judgement {
    let evidence = evidence(judgments, baseline, candidate);
    judge(policy, &evidence).expect("the default metrics are measured")
}

fn evidence(judgments: &Judgments, baseline: &Run, candidate: &Run) -> Evidence {
    let metrics: Vec<Metric> = METRICS
        .iter()
        .map(|name| name.parse().expect("a metric"))
        .collect();
    let grades = judgments.iter().flat_map(|(_, judged)| judged.iter());
    let measurement = Measurement {
        metrics: metrics.clone(),
        depth: NonZeroU32::new(10).expect("10 is not 0"),
        gains: Gains::Linear,
        relevant_from: Grade::RELEVANT,
        top_grade: grades.map(|one| one.1).max().unwrap_or(Grade::RELEVANT),
    };
    let side = |id: &str, run: &Run| side(id, &measurement, judgments, run);
    Evidence::new(EvidenceParts {
        queries: judgments.iter().map(|(query, _)| query.clone()).collect(),
        metrics: metrics[..ASKED]
            .iter()
            .map(|&one| JudgedMetric::from(one))
            .collect(),
        baseline: side("baseline", baseline),
        candidates: vec![side("candidate", candidate)],
        weights: None,
        clusters: None,
        context: Context {
            unjudged: vec![unjudged(&measurement, judgments, baseline, candidate)],
            ordered_by_rank: true,
            ..Context::default()
        },
    })
    .expect("measured values are valid")
}

fn side(id: &str, measurement: &Measurement, judgments: &Judgments, run: &Run) -> Side {
    let mut joined = JoinedRun::new();
    for (query, hits) in &run.queries {
        let documents = hits.iter().map(|hit| &hit.document);
        joined
            .insert(judgments, query, documents, SelfHits::Keep)
            .expect("each document is there once");
    }
    let measured = evaluate(measurement, judgments, &joined, QuerySet::Judged)
        .expect("the judgments can be scored");
    let column = |metric: usize| {
        let rows = measured.per_query.iter();
        rows.map(move |row| row.values[metric])
    };
    let values = (0..ASKED)
        .map(|metric| column(metric).map(Option::unwrap_or_default).collect())
        .collect();
    Side {
        judged: Some(column(ASKED).collect()),
        zero_results: Some(column(ASKED + 1).map(|zero| zero > Some(0.5)).collect()),
        ..Side::of_values(CandidateId::try_from(id).expect("an id"), values)
    }
}

fn unjudged(
    measurement: &Measurement,
    judgments: &Judgments,
    baseline: &Run,
    candidate: &Run,
) -> Unjudged {
    let primary = Measurement {
        metrics: vec![Metric::NDCG_10],
        ..measurement.clone()
    };
    let mut columns = [const { Vec::new() }; 4];
    for (query, judged) in judgments.iter() {
        let seen = UnjudgedQuery {
            measurement: &primary,
            judgments: Some(judged),
        };
        let pair = seen
            .pair(&list(baseline, query), &list(candidate, query))
            .expect("the judgments can be scored");
        let bounds = pair.bounds[0].expect("nDCG has bounds");
        let values = [
            pair.condensed_baseline[0],
            pair.condensed_candidate[0],
            bounds.lowest,
            bounds.highest,
        ];
        for (column, value) in columns.iter_mut().zip(values) {
            column.push(value);
        }
    }
    let [condensed_baseline, condensed_candidate, lowest, highest] = columns;
    Unjudged {
        candidate: CandidateId::try_from("candidate").expect("an id"),
        metric: Metric::NDCG_10.name(),
        condensed_baseline,
        condensed_candidate,
        lowest: Some(lowest),
        highest: Some(highest),
    }
}

/// Returns what a run found for a query, in its order.
pub(crate) fn list(run: &Run, query: &QueryId) -> Vec<DocId> {
    let hits = run.queries.get(query).into_iter().flatten();
    hits.take(DEPTH).map(|hit| hit.document.clone()).collect()
}

/// Returns the judgments that `keep` keeps. A query that keeps none is no query of the set any more, as in a file.
pub(crate) fn kept(
    judgments: &Judgments,
    mut keep: impl FnMut(&QueryId, &DocId) -> bool,
) -> Judgments {
    let mut kept = Judgments::default();
    for (query, judged) in judgments.iter() {
        for (document, grade) in judged.iter() {
            if keep(query, document) {
                kept.insert(query.clone(), document.clone(), grade);
            }
        }
    }
    kept
}
