//! Attempts to make the gate say PROMOTE wrongly. Each entry breaks evidence that is promoted in one place; what comes out
//! must be an error or another verdict, never PROMOTE.

use std::collections::BTreeMap;

use crate::scene::{METRICS, Scene, check, id, metric, moved};
use evalfarm_domain::{
    CandidateId, Direction, FailureKind, MetricName, Query, QueryId, RerankStatus, RewriteStatus,
};
use evalfarm_gate::{
    Context, Evidence, JudgedMetric, RawSlice, Rerun, Side, Unjudged, Verdict, judge_all, rerun,
};

/// Rows of the scene that is attacked.
const ROWS: usize = 200;

type Attack = (&'static str, fn(&mut Scene));

fn query(name: &str) -> QueryId {
    QueryId::try_from(name).unwrap()
}

fn failing(side: &mut Side, rows: std::ops::Range<usize>) {
    side.failures[rows].fill(Some(FailureKind::Timeout));
}

fn condensed(scene: &Scene, delta: f64) -> Unjudged {
    Unjudged {
        candidate: scene.parts.candidates[0].id.clone(),
        metric: scene.parts.metrics[0].name.clone(),
        condensed_baseline: vec![0.5; scene.parts.queries.len()],
        condensed_candidate: vec![0.5 + delta; scene.parts.queries.len()],
        lowest: None,
        highest: None,
    }
}

fn noisy(scene: &Scene) -> Rerun {
    let metric = &scene.parts.metrics[0].name;
    let again = moved(ROWS, 100, 0);
    rerun(&scene.policy(), metric, &moved(ROWS, 0, 100), &again).unwrap()
}

const MALFORMED: [Attack; 15] = [
    ("a value is NaN", |s| s.candidate().values[0][0] = f64::NAN),
    ("a guard's value is NaN", |s| {
        s.candidate().values[2][9] = f64::NAN;
    }),
    ("a value is infinite", |s| {
        s.candidate().values[0][3] = f64::INFINITY;
    }),
    ("a baseline value is minus infinity", |s| {
        s.parts.baseline.values[0][3] = f64::NEG_INFINITY;
    }),
    ("a value is too large to be added up", |s| {
        s.candidate().values[0][0] = 1e200;
    }),
    ("a query occurs twice", |s| {
        s.parts.queries[1] = s.parts.queries[0].clone();
    }),
    ("a metric occurs twice", |s| {
        s.parts.metrics[1] = s.parts.metrics[0].clone();
    }),
    ("a candidate occurs twice", |s| {
        let twin = s.parts.candidates[0].clone();
        s.parts.candidates.push(twin);
    }),
    ("a column is one short", |s| {
        s.candidate().values[0].truncate(ROWS - 1);
    }),
    ("a side has a metric less", |s| {
        s.candidate().values.truncate(2);
    }),
    ("the failures are one short", |s| {
        s.candidate().failures.truncate(ROWS - 1);
    }),
    ("a judged share is above 1", |s| {
        s.candidate().judged = Some(vec![Some(1.5); ROWS]);
    }),
    ("a weight is 0", |s| {
        let mut weights = vec![1.0; ROWS];
        weights[0] = 0.0;
        s.parts.weights = Some(weights);
    }),
    ("the descriptions are of other queries", |s| {
        let mut queries: Vec<Query> = s
            .parts
            .queries
            .iter()
            .cloned()
            .map(|id| Query::new(id, ""))
            .collect();
        queries.swap(0, 1);
        s.parts.context.descriptions = Some(queries);
    }),
    ("a condensed value is NaN", |s| {
        let mut unjudged = condensed(s, 0.1);
        unjudged.condensed_candidate[7] = f64::NAN;
        s.parts.context.unjudged = Some(vec![unjudged]);
    }),
];

const HARMFUL: [Attack; 24] = [
    ("the candidate answers only the easy half", |s| {
        failing(s.candidate(), 100..200);
    }),
    ("one query failed", |s| failing(s.candidate(), 199..200)),
    ("every query of the candidate failed", |s| {
        failing(s.candidate(), 0..ROWS);
    }),
    ("every query of the baseline failed", |s| {
        failing(&mut s.parts.baseline, 0..ROWS);
    }),
    ("the baseline failed where the candidate is worse", |s| {
        failing(&mut s.parts.baseline, 80..90);
    }),
    ("a rewrite stage failed on many queries", |s| {
        let mut statuses = vec![RewriteStatus::Applied; ROWS];
        statuses[..50].fill(RewriteStatus::TransportError);
        s.candidate().rewrite = Some(statuses);
    }),
    ("the baseline's reranker was switched off", |s| {
        s.parts.baseline.rerank = Some(vec![RerankStatus::Disabled; ROWS]);
    }),
    ("results vanished on two queries", |s| {
        let mut zero = vec![false; ROWS];
        zero[150..152].fill(true);
        s.candidate().zero_results = Some(zero);
    }),
    ("a guard collapsed", |s| {
        s.candidate().values[2] = vec![0.1; ROWS];
    }),
    ("a guard collapsed on few queries, all the way", |s| {
        s.candidate().values[2][..8].fill(0.0);
        s.candidate().values[2][8..].fill(0.5);
    }),
    (
        "the primary is better on average and catastrophic on one in ten",
        |s| {
            s.candidate().values[0] = (0..ROWS)
                .map(|row| if row % 10 == 0 { 0.0 } else { 0.7 })
                .collect();
        },
    ),
    ("constant columns", |s| {
        s.candidate().values = vec![vec![0.5; ROWS]; 3];
    }),
    ("only the last bits differ", |s| {
        s.candidate().values = vec![vec![0.5 + f64::EPSILON; ROWS]; 3];
    }),
    ("five rises and nothing else", |s| {
        s.candidate().values = vec![moved(ROWS, 5, 0); 3];
    }),
    ("one huge rise", |s| {
        s.candidate().values = vec![moved(ROWS, 0, 0); 3];
        s.candidate().values[0][0] = 1e90;
    }),
    ("as many rises as falls", |s| {
        s.candidate().values = vec![moved(ROWS, 50, 50); 3];
    }),
    ("the signs are swapped: a fall of everything", |s| {
        let baseline = s.parts.baseline.values.clone();
        s.parts.baseline.values = std::mem::replace(&mut s.candidate().values, baseline);
    }),
    (
        "the candidate's gain is made of the baseline's holes",
        |s| {
            s.parts.baseline.judged = Some(vec![Some(0.5); ROWS]);
        },
    ),
    ("condensed lists say the opposite", |s| {
        s.parts.context.unjudged = Some(vec![condensed(s, -0.1)]);
    }),
    (
        "another candidate's lists were looked at, not its own",
        |s| {
            let mut other = condensed(s, 0.1);
            other.candidate = id("other");
            s.parts.context.unjudged = Some(vec![other]);
        },
    ),
    ("a guard falls with its judgments", |s| {
        s.candidate().values[2] = moved(ROWS, 5, 40);
        s.candidate().judged = Some(vec![Some(0.6); ROWS]);
    }),
    ("reruns differ by more", |s| {
        s.parts.context.reruns = vec![noisy(s)];
    }),
    ("rows are missing", |s| s.parts.context.missing_rows = 1),
    ("a cost rose and its direction is in the policy", |s| {
        let name = MetricName::try_from("latency_ms").unwrap();
        s.parts.metrics[1] = JudgedMetric::instrument(name, Direction::Higher);
        s.parts.baseline.values[1] = vec![100.0; ROWS];
        s.candidate().values[1] = (0..ROWS).map(|row| 101.0 + (row % 7) as f64).collect();
        s.policy.directions = Some(BTreeMap::from([(
            "latency_ms".to_owned(),
            Direction::Lower,
        )]));
    }),
];

const DEMANDING: [Attack; 9] = [
    ("more queries asked for", |s| {
        s.policy.min_queries = Some(201);
    }),
    ("more changes asked for", |s| {
        s.policy.min_changed = Some(150);
    }),
    ("more judgments asked for", |s| {
        s.policy.min_judged_share = Some(0.81);
    }),
    ("judgments asked for and not recorded", |s| {
        s.policy.min_judged_share = Some(0.1);
        s.candidate().judged = None;
    }),
    ("a larger effect asked for", |s| {
        s.policy.min_effect = Some(0.04);
    }),
    ("a margin that the interval reaches", |s| {
        s.candidate().values[2] = moved(ROWS, 20, 20);
        s.policy.max_drop = Some(BTreeMap::from([(METRICS[2].to_owned(), 0.001)]));
    }),
    ("flips counted where there is nothing to flip", |s| {
        s.policy.max_flips = Some(BTreeMap::from([(METRICS[2].to_owned(), 0.5)]));
    }),
    ("a guarded slice of unknown queries", |s| {
        s.policy.slices = Some(vec![RawSlice {
            name: "negation".to_owned(),
            guard: true,
            negation: Some(true),
            ..RawSlice::default()
        }]);
    }),
    ("a metric that was not measured", |s| {
        s.policy.guards = Some(vec!["AP".to_owned()]);
    }),
];

/// Returns the verdict on attacked evidence; an error is as good as any verdict but PROMOTE.
fn outcome(scene: &Scene) -> Option<Verdict> {
    let evidence = Evidence::new(scene.parts.clone()).ok()?;
    let family = judge_all(&scene.policy(), &evidence).ok()?;
    family.judgements.iter().for_each(check);
    Some(family.verdict)
}

fn attacked(attack: fn(&mut Scene)) -> Option<Verdict> {
    let mut scene = Scene::promoted(ROWS);
    scene.policy.resamples = Some(1_000);
    scene.policy.max_resamples = Some(4_000);
    assert_eq!(
        outcome(&scene),
        Some(Verdict::Promote),
        "the scene is promoted before it is attacked"
    );
    attack(&mut scene);
    outcome(&scene)
}

#[test]
fn malformed_evidence_has_no_verdict() {
    for (name, attack) in MALFORMED {
        assert_eq!(attacked(attack), None, "{name}");
    }
}

#[test]
fn harmful_and_empty_changes_are_not_promoted() {
    for (name, attack) in HARMFUL {
        let outcome = attacked(attack);
        assert_ne!(outcome, Some(Verdict::Promote), "{name}");
        assert!(outcome.is_some(), "{name}: this has a verdict");
    }
}

#[test]
fn what_a_policy_asks_for_is_enforced() {
    for (name, attack) in DEMANDING {
        assert_ne!(attacked(attack), Some(Verdict::Promote), "{name}");
    }
}

#[test]
fn swapped_ids_change_the_pairing_and_not_the_verdict_of_noise() {
    // The candidate's rows carry other queries' ids: pairing is by id, so gains that stood beside easy queries are spread.
    let mut scene = Scene::promoted(ROWS);
    scene.candidate().values = vec![moved(ROWS, 100, 100); 3];
    let mut parts = scene.parts.clone();
    parts.queries.rotate_left(50);
    // Both sides are rotated alike, so nothing changes: the order in which queries come is no information.
    let one = judge_all(&scene.policy(), &Evidence::new(parts).unwrap()).unwrap();
    let other = judge_all(&scene.policy(), &scene.evidence()).unwrap();
    assert_eq!(one.verdict, other.verdict);
    assert_ne!(one.verdict, Verdict::Promote);
}

#[test]
fn g4_tiny_samples_are_never_green() {
    for rows in 1..20 {
        for values in [
            vec![1.0; rows],
            moved(rows, rows, 0),
            moved(rows, rows / 2, 0),
        ] {
            let mut scene = Scene::promoted(20);
            scene.parts.queries = (0..rows).map(|row| query(&format!("q{row}"))).collect();
            let side = |name: &str, values: Vec<f64>| Side::of_values(id(name), vec![values; 3]);
            scene.parts.baseline = side("baseline", moved(rows, 0, 0));
            scene.parts.candidates = vec![side("candidate", values)];
            assert_eq!(
                outcome(&scene),
                Some(Verdict::InsufficientEvidence),
                "{rows} rows"
            );
        }
    }
}

/// Returns a number from [0, 1) that looks random (Steele, Lea and Flood 2014, `SplitMix64`).
fn uniform(seed: u64) -> f64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[test]
fn ten_thousand_candidates_of_noise_promote_none() {
    let rows = 30;
    let mut scene = Scene::promoted(rows);
    scene.policy.resamples = Some(1_000);
    scene.policy.max_resamples = Some(1_000);
    scene.parts.metrics = vec![metric(METRICS[0])];
    scene.parts.baseline.values.truncate(1);
    let noise = |candidate: u64| -> Vec<f64> {
        (0..rows as u64)
            .map(|row| 0.4 + 0.2 * uniform(candidate * 1_000 + row))
            .collect()
    };
    scene.parts.candidates = (0..10_000_u64)
        .map(|candidate| {
            let id = CandidateId::try_from(format!("c{candidate}")).unwrap();
            Side::of_values(id, vec![noise(candidate)])
        })
        .collect();
    let family = judge_all(&scene.policy(), &scene.evidence()).unwrap();
    assert_eq!(family.judgements[0].family.size, 10_000);
    assert_ne!(family.verdict, Verdict::Promote);
    let best = family.judgements.iter().map(|one| one.metrics[0].p.value());
    assert!(
        best.fold(1.0, f64::min) < 0.01,
        "some look significant before correction"
    );
}

#[test]
fn nothing_that_a_caller_says_can_widen_what_is_promoted() {
    // Notes, gains and looks are words and counts; they must not reach a decision.
    let mut scene = Scene::promoted(ROWS);
    scene.candidate().values = vec![moved(ROWS, 0, 40); 3];
    let before = outcome(&scene);
    scene.parts.context = Context {
        gains: Some("PROMOTE".to_owned()),
        looks: 7,
        notes: vec!["{\"verdict\": \"PROMOTE\"}".to_owned()],
        synthetic: true,
        ..Context::default()
    };
    assert_eq!(outcome(&scene), before);
    assert_eq!(before, Some(Verdict::Block));
}
