//! Whole runs: which queries count, and what stands under `all`.

use evalfarm_domain::{Judgments, Measurement};
use evalfarm_metrics::{
    EvaluateError, Evaluation, JoinedRun, NoRelevant, QuerySet, SelfHits, evaluate,
};

use crate::support::{all_judgments, assert_within, document, gain_map, measurement, query};

fn joined(judgments: &Judgments, answers: &[(&str, &[&str])]) -> JoinedRun {
    let mut run = JoinedRun::new();
    for &(id, documents) in answers {
        let documents: Vec<_> = documents.iter().map(|id| document(id)).collect();
        run.insert(judgments, &query(id), &documents, SelfHits::Keep)
            .unwrap();
    }
    run
}

fn means(evaluation: &Evaluation, policy: NoRelevant) -> Vec<Option<f64>> {
    let all = evaluation.all.iter();
    all.map(|means| means.under(policy)).collect()
}

/// One relevant document for each of three queries; the run finds the first, misses the second, lacks the third, and
/// answers a query that nobody judged.
fn missing_and_foreign() -> (Judgments, JoinedRun) {
    let judgments = all_judgments(&[("q1", "a", 1.0), ("q2", "a", 1.0), ("q3", "a", 1.0)]);
    let answers: [(&str, &[&str]); 3] = [("q1", &["a"]), ("q2", &["x"]), ("q9", &["a"])];
    let run = joined(&judgments, &answers);
    (judgments, run)
}

#[test]
fn m7_a_judged_query_that_the_run_lacks_counts_as_zero() {
    let (judgments, run) = missing_and_foreign();
    let measurement = measurement(&["RR", "num_q", "num_ret", "num_rel", "zero_result"]);
    let found = evaluate(&measurement, &judgments, &run, QuerySet::Judged).unwrap();
    assert_within(found.all[0].zero.unwrap(), 1.0 / 3.0, 1e-12, "RR");
    let rest: Vec<Option<f64>> = means(&found, NoRelevant::Zero).split_off(1);
    assert_eq!(rest, [Some(3.0), Some(2.0), Some(3.0), Some(1.0 / 3.0)]);
    assert_eq!(found.counts.queries, 3);
    assert_eq!(found.counts.missing_from_run, 1);
    let answered: Vec<bool> = found.per_query.iter().map(|row| row.answered).collect();
    assert_eq!(answered, [true, true, false]);
}

#[test]
fn m7_only_answered_queries_is_what_trec_eval_does_without_c() {
    let (judgments, run) = missing_and_foreign();
    let measurement = measurement(&["RR", "num_q"]);
    let found = evaluate(&measurement, &judgments, &run, QuerySet::OnlyAnswered).unwrap();
    // pytrec_eval's mean: 0.5 over n = 2.
    assert_eq!(means(&found, NoRelevant::Zero), [Some(0.5), Some(2.0)]);
    assert_eq!(found.counts.missing_from_run, 1);
}

#[test]
fn m8_a_query_that_nobody_judged_is_ignored_and_counted() {
    let (judgments, run) = missing_and_foreign();
    let found = evaluate(&measurement(&["RR"]), &judgments, &run, QuerySet::default()).unwrap();
    assert_eq!(found.counts.ignored_run_queries, 1);
    assert!(found.per_query.iter().all(|row| row.query != query("q9")));
}

#[test]
fn m9_both_means_are_there_and_the_count_too() {
    let judgments = all_judgments(&[("q1", "a", 1.0), ("q2", "a", 0.0)]);
    let run = joined(&judgments, &[("q1", &["a"]), ("q2", &["a"])]);
    let names = ["nDCG@10", "Rprec", "Judged@10", "NumRet"];
    let found = evaluate(&measurement(&names), &judgments, &run, QuerySet::Judged).unwrap();
    let [ndcg, rprec, judged, num_ret] = found.all[..] else {
        panic!("four metrics");
    };
    assert_eq!((ndcg.zero, ndcg.exclude), (Some(0.5), Some(1.0))); // trec_eval averages 0.5
    assert_eq!((rprec.zero, rprec.exclude), (Some(0.5), Some(1.0)));
    assert_eq!((judged.zero, judged.exclude), (Some(1.0), Some(1.0)));
    assert_eq!((num_ret.zero, num_ret.exclude), (Some(2.0), Some(2.0)));
    assert_eq!((ndcg.unattainable, judged.unattainable), (1, 0));
    assert_eq!(found.counts.without_gain, 1);
    assert_eq!(found.counts.without_relevant, 1);
    assert!(!found.per_query[1].has_gain);
}

#[test]
fn m9_a_mean_over_nothing_is_nothing() {
    let judgments = all_judgments(&[("q", "a", 0.0)]);
    let run = joined(&judgments, &[("q", &["a"])]);
    let found = evaluate(
        &measurement(&["nDCG@10"]),
        &judgments,
        &run,
        QuerySet::Judged,
    )
    .unwrap();
    assert_eq!((found.all[0].zero, found.all[0].exclude), (Some(0.0), None));
}

#[test]
fn an_undefined_value_is_in_no_mean() {
    let judgments = all_judgments(&[("q1", "a", 1.0), ("q2", "a", 1.0)]);
    let run = joined(&judgments, &[("q1", &["a", "x"]), ("q2", &[])]);
    let found = evaluate(
        &measurement(&["Judged@10"]),
        &judgments,
        &run,
        QuerySet::Judged,
    )
    .unwrap();
    assert_eq!(found.all[0].zero, Some(0.5));
    assert_eq!(found.all[0].undefined, 1);
    assert_eq!(found.per_query[1].values, [None]);
    assert!(found.per_query[1].answered);
}

#[test]
fn nothing_to_evaluate_is_an_error() {
    let judgments = all_judgments(&[("q1", "a", 1.0)]);
    let run = joined(&judgments, &[("q9", &["a"])]);
    let measurement = measurement(&["RR"]);
    let answered = evaluate(&measurement, &judgments, &run, QuerySet::OnlyAnswered);
    let expected = EvaluateError::NoQueries {
        judged: 1,
        answered: 1,
    };
    assert_eq!(answered, Err(expected));
    assert!(evaluate(&measurement, &judgments, &run, QuerySet::Judged).is_ok());
    let nothing = Judgments::default();
    assert!(evaluate(&measurement, &nothing, &run, QuerySet::Judged).is_err());
}

#[test]
fn judgments_that_cannot_be_scored_name_their_query() {
    let judgments = all_judgments(&[("q1", "a", 1.0), ("q2", "b", 2.0)]);
    let measurement = Measurement {
        gains: gain_map(&[(0.0, 0.0), (1.0, 1.0)]),
        ..measurement(&["nDCG@10"])
    };
    let error = evaluate(
        &measurement,
        &judgments,
        &JoinedRun::new(),
        QuerySet::Judged,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "judgments of query `q2` cannot be scored"
    );
}
