//! Missing judgments never decide for the system that has more of them.

use std::collections::BTreeSet;

use evalfarm_dataset::trec::{Order, Run, RunHit};
use evalfarm_domain::{DocId, Grade, Judgments, QueryId};
use evalfarm_gate::{Judgement, RawGatePolicy, ReasonCode, Verdict};
use evalfarm_stats::{Confidence, Share, swapped_rows};
use evalfarm_testkit::reference_data;
use evalfarm_tests::Bench;
use serde_json::Value;

use crate::runs::{Runs, judged, kept, list, policy};

const HALVES: u32 = 400;
const SEED: u64 = 20_260_816;

/// Fewer resamples than the default: level and power of a test hardly depend on them.
fn quick() -> RawGatePolicy {
    RawGatePolicy {
        resamples: Some(999),
        max_resamples: Some(999),
        ..RawGatePolicy::default()
    }
}

fn shares(judgement: &Judgement) -> (f64, f64) {
    let coverage = judgement.coverage.as_ref().expect("it was recorded");
    (coverage.baseline, coverage.candidate)
}

fn code(judgement: &Judgement) -> ReasonCode {
    judgement.reasons[0].code
}

/// Two runs of which the second ranks the relevant documents lower, over generated judgments.
fn generated() -> (Judgments, Run, Run) {
    let (mut judgments, mut better, mut worse) = (Judgments::default(), Vec::new(), Vec::new());
    for at in 0..120_usize {
        let query = QueryId::try_from(format!("q{at:03}")).expect("an id");
        let document = |name: String| DocId::try_from(name).expect("an id");
        let hits = |own: &str, first: usize| -> Vec<RunHit> {
            (0..10)
                .map(|place| {
                    // Every other place is shared; the better run has its own relevant documents on top.
                    let name = match place % 2 {
                        0 => format!("{own}{place}"),
                        _ => format!("both{}", (place + first) % 10),
                    };
                    RunHit {
                        document: document(name),
                        score: 20.0 - place as f64,
                        rank: i64::try_from(place).expect("it is small"),
                    }
                })
                .collect()
        };
        for place in 0..10 {
            let relevant = |yes: bool| if yes { 1.0 } else { 0.0 };
            for (name, grade) in [
                (format!("a{place}"), relevant(place < 4 && at % 4 > 0)),
                (format!("b{place}"), relevant(place < 2 && at % 4 < 2)),
                (format!("both{place}"), relevant(place == 9)),
            ] {
                let grade = Grade::try_from(grade).expect("a grade");
                judgments.insert(query.clone(), document(name), grade);
            }
        }
        better.push((query.clone(), hits("a", 0)));
        worse.push((query, hits("b", 4)));
    }
    let run = |queries: Vec<(QueryId, Vec<RunHit>)>| Run {
        queries: queries.into_iter().collect(),
        tag: "generated".to_owned(),
        order: Order::Rank,
        duplicates_dropped: 0,
    };
    (judgments, run(better), run(worse))
}

/// A random half of the judgments removed, many times: what was blocked is promoted in at most α/2 of them, and every verdict
/// says how few hits are judged now.
fn halves(judgments: &Judgments, baseline: &Run, candidate: &Run) -> [u32; 3] {
    let policy = policy(quick());
    let whole = judged(&policy, judgments, baseline, candidate);
    assert_eq!(whole.verdict, Verdict::Block, "{:?}", whole.reasons);
    let count = judgments.iter().map(|(_, judged)| judged.len()).sum();
    let mut counts = [0; 3];
    for half in 0..HALVES {
        let mut keeps = swapped_rows(SEED, half, count).into_iter();
        let judgments = kept(judgments, |_, _| keeps.next() == Some(true));
        let judgement = judged(&policy, &judgments, baseline, candidate);
        let at = match judgement.verdict {
            Verdict::Promote => 0,
            Verdict::Block => 1,
            Verdict::InsufficientEvidence => 2,
        };
        counts[at] += 1;
        let (before, after) = (shares(&whole), shares(&judgement));
        assert!(after.0 < 0.7 * before.0 && after.1 < 0.7 * before.1);
        let said = format!("{:.1} %", 100.0 * after.1);
        let mut limits = judgement.limits.iter();
        assert!(
            limits.any(|limit| limit.text.contains(&said)),
            "no {said:?} in {:?}",
            judgement.limits
        );
    }
    // Outside of the exact interval a promise kept lies once in two hundred times.
    let promoted = Share::new(u64::from(counts[0]), u64::from(HALVES)).expect("it is counted");
    let interval = promoted.clopper_pearson(Confidence::NINETY_NINE);
    assert!(interval.low <= 0.025, "{counts:?}");
    counts
}

#[test]
fn half_of_the_judgments_turn_no_block_into_a_promotion() {
    let (judgments, better, worse) = generated();
    halves(&judgments, &better, &worse);
    let Some(runs) = Runs::golden() else {
        return;
    };
    let [promoted, ..] = halves(&runs.judgments, &runs.flat, &runs.w0);
    assert_eq!(promoted, 0);
}

/// Judgments without those of documents that `better` alone retrieved.
fn without_finds_of(better: &Run, other: &Run, judgments: &Judgments) -> Judgments {
    let mut both: Option<(QueryId, BTreeSet<DocId>, BTreeSet<DocId>)> = None;
    kept(judgments, |query, document| {
        if both.as_ref().is_none_or(|(known, ..)| known != query) {
            let set = |run| list(run, query).into_iter().collect();
            both = Some((query.clone(), set(better), set(other)));
        }
        let (_, better, other) = both.as_ref().expect("it was just set");
        !better.contains(document) || other.contains(document)
    })
}

/// Without the judgments of what the better run alone found, neither it nor the other can be told to be better.
fn stays_open(name: &str, better: &Run, other: &Run, judgments: &Judgments) {
    let policy_of = |tolerated: f64| {
        policy(RawGatePolicy {
            max_zero_result_increase: Some(tolerated),
            ..quick()
        })
    };
    let mean = |run: &Run| judged(&policy_of(0.0), judgments, run, other).metrics[0].baseline;
    assert!(
        mean(better) > mean(other),
        "{name}: the better run is better"
    );
    let fewer = without_finds_of(better, other, judgments);
    for (direction, baseline, candidate) in [
        ("better as baseline", better, other),
        ("better as candidate", other, better),
    ] {
        let name = format!("{name}, {direction}");
        let judgement = judged(&policy_of(0.0), &fewer, baseline, candidate);
        if code(&judgement) == ReasonCode::ZeroResult {
            // Queries that the candidate loses altogether need no judgments to be harm: step 2 comes before holes.
            assert_eq!(judgement.verdict, Verdict::Block, "{name}");
            let lost = |side: &evalfarm_gate::SideCounts| side.zero_results.expect("recorded");
            assert!(lost(&judgement.candidate_counts) > lost(&judgement.baseline_counts));
        } else {
            assert_eq!(
                judgement.verdict,
                Verdict::InsufficientEvidence,
                "{name}: {:?}",
                judgement.reasons
            );
        }
        let tolerant = judged(&policy_of(0.1), &fewer, baseline, candidate);
        assert_eq!(
            tolerant.verdict,
            Verdict::InsufficientEvidence,
            "{name}: {:?}",
            tolerant.reasons
        );
    }
}

#[test]
fn what_only_the_better_run_found_and_nobody_judged_leaves_the_question_open() {
    let (judgments, better, worse) = generated();
    stays_open("generated", &better, &worse, &judgments);
    let Some(runs) = Runs::golden() else {
        return;
    };
    for (name, better, other) in [
        ("flat over title", &runs.flat, &runs.title),
        ("w0 over flat", &runs.w0, &runs.flat),
        ("w0 over title", &runs.w0, &runs.title),
    ] {
        stays_open(name, better, other, &runs.judgments);
    }
    // Of these six only the two with the title's run as candidate are decided, by the queries that it loses.
    let strict = policy(quick());
    for baseline in [&runs.flat, &runs.w0] {
        let fewer = without_finds_of(baseline, &runs.title, &runs.judgments);
        let judgement = judged(&strict, &fewer, baseline, &runs.title);
        assert_eq!(code(&judgement), ReasonCode::ZeroResult);
    }
}

#[test]
fn the_verdict_names_the_judged_share_of_both_sides() {
    let Some(runs) = Runs::golden() else {
        let (judgments, better, worse) = generated();
        let judgement = judged(&policy(quick()), &judgments, &better, &worse);
        assert_eq!(shares(&judgement), (1.0, 1.0));
        return;
    };
    // Shares of judged hits among the first ten, over the queries on which both sides found something: counted with a script.
    for (candidate, before, after) in [
        (&runs.title, "87.6 %", "66.4 %"),
        (&runs.w0, "87.4 %", "67.3 %"),
    ] {
        let judgement = judged(&policy(quick()), &runs.judgments, &runs.flat, candidate);
        let said = format!("judged hits: baseline {before}, candidate {after}");
        let mut criteria = judgement.criteria.iter();
        assert!(
            criteria.any(|criterion| criterion.reason.text.starts_with(&said)),
            "no {said:?} in {:?}",
            judgement.criteria
        );
    }
}

#[test]
fn the_command_judges_runs_as_these_tests_do() {
    let Some(folder) = reference_data("golden") else {
        return; // the other tests are about runs that have no files
    };
    let runs = Runs::golden().expect("the data set is here");
    let bench = Bench::new();
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (flat, title) = (path("chorus.flat.run.gz"), path("chorus.title.run.gz"));
    let qrels = path("chorus.qrels");
    let args = [
        "compare",
        &flat,
        &title,
        "--qrels",
        &qrels,
        "--order",
        "rank",
        "--missing",
        "zero-result",
        "--format",
        "json",
    ];
    let told = bench.run(args).expect_verdict().json();
    let policy = policy(RawGatePolicy::default());
    let judgement = judged(&policy, &runs.judgments, &runs.flat, &runs.title);
    let ours: Value = serde_json::to_value(&judgement).expect("it has a JSON form");
    for key in [
        "verdict", "reasons", "criteria", "metrics", "coverage", "family",
    ] {
        assert!(!ours[key].is_null(), "no `{key}`");
        assert_eq!(told[key], ours[key], "{key}");
    }
}
