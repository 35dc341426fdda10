//! Whole runs of real engines against `trec_eval` and ranx.

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_dataset::trec::{Order, QrelsOptions, RunOptions, read_qrels, read_run};
use evalfarm_domain::{DocId, Gains, Judgments, Measurement, QueryId};
use evalfarm_metrics::{Evaluation, JoinedRun, QuerySet, SelfHits, evaluate};
use evalfarm_testkit::reference_data;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::naive::Naive;
use crate::support::{all_judgments, assert_within, document, grade, measurement, query};

fn read(qrels: &Path, run: &Path, order: Order) -> (Judgments, JoinedRun) {
    let judgments = read_qrels(qrels, &QrelsOptions::default())
        .unwrap()
        .judgments;
    let options = RunOptions {
        order,
        ..RunOptions::default()
    };
    let mut joined = JoinedRun::new();
    for (query, hits) in read_run(run, options).unwrap().queries {
        let documents = hits.iter().map(|hit| &hit.document);
        joined
            .insert(&judgments, &query, documents, SelfHits::Keep)
            .unwrap();
    }
    (judgments, joined)
}

/// Returns the value of a query, or of `all`.
fn looked_up(evaluation: &Evaluation, query: &str, metric: usize) -> f64 {
    if query == "all" {
        return evaluation.all[metric].zero.unwrap();
    }
    let mut rows = evaluation.per_query.iter();
    let row = rows.find(|row| row.query.as_str() == query).unwrap();
    row.values[metric].unwrap()
}

/// Compares our formulas with their plain form on rankings from a small generator, for machines without the data.
fn generated_runs_equal_the_plain_formulas() {
    let mut state = 20_260_816_u64;
    let mut next = |below: u32| {
        // Knuth's MMIX generator; the high bits are the good ones.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((state >> 33) % u64::from(below)).unwrap()
    };
    let names = ["nDCG@10", "P@10", "R@10", "AP@10", "RR@10"];
    let mut lines = Vec::new();
    let mut rankings: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut grades: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
    for number in 0..60 {
        let id = format!("q{number:02}");
        for judged in 0..40 {
            if next(3) > 0 {
                let value = f64::from(next(4));
                lines.push((id.clone(), format!("d{judged}"), value));
                grades.entry(id.clone()).or_default().insert(judged, value);
            }
        }
        let start = next(40);
        let returned = next(40);
        rankings.insert(id, (0..returned).map(|n| (start + n * 7) % 40).collect());
    }
    let lines: Vec<(&str, &str, f64)> = lines
        .iter()
        .map(|(query, document, grade)| (query.as_str(), document.as_str(), *grade))
        .collect();
    let judgments = all_judgments(&lines);
    let mut run = JoinedRun::new();
    for (id, ranking) in &rankings {
        let documents: Vec<DocId> = ranking.iter().map(|n| document(&format!("d{n}"))).collect();
        run.insert(&judgments, &query(id), &documents, SelfHits::Keep)
            .unwrap();
    }
    let found = evaluate(&measurement(&names), &judgments, &run, QuerySet::Judged).unwrap();
    assert_eq!(found.counts.queries, 60);
    let mut sums = [0.0; 5];
    for (id, ranking) in &rankings {
        let naive = Naive {
            ranking,
            grades: &grades[id],
            exponential: false,
        };
        let expected = [
            naive.ndcg(10),
            naive.precision(10),
            naive.recall(10),
            naive.average_precision(10),
            naive.reciprocal_rank(10),
        ];
        for (metric, expected) in expected.into_iter().enumerate() {
            let what = format!("{id} {}", names[metric]);
            assert_within(looked_up(&found, id, metric), expected, 1e-12, &what);
            sums[metric] += expected;
        }
    }
    for (metric, sum) in sums.into_iter().enumerate() {
        let all = looked_up(&found, "all", metric);
        assert_within(all, sum / 60.0, 1e-12, names[metric]);
    }
}

#[test]
fn plain_formulas_agree_on_generated_runs() {
    generated_runs_equal_the_plain_formulas();
}

/// Measures of `trec_eval`'s output that we have.
fn is_ours(name: &str) -> bool {
    let exact = [
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "map",
        "Rprec",
        "recip_rank",
        "ndcg",
    ];
    let with_cutoff = ["P_", "recall_", "ndcg_cut_", "map_cut_", "success_"];
    let has_cutoff = |prefix: &&str| {
        let rest = name.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    exact.contains(&name) || with_cutoff.iter().any(has_cutoff)
}

/// `out.test.aq` of `trec_eval` 9.0.4: `trec_eval -a -q qrels.test results.test`, 4 digits.
#[test]
fn trec_eval_prints_the_same_values() {
    let Some(folder) = reference_data("trec_eval") else {
        generated_runs_equal_the_plain_formulas();
        return;
    };
    let output = std::fs::read_to_string(folder.join("out.test.aq")).unwrap();
    let lines: Vec<[&str; 3]> = output
        .lines()
        .map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            <[&str; 3]>::try_from(columns.get(..3).unwrap_or(&["", "", ""])).unwrap()
        })
        .filter(|[name, _, _]| is_ours(name))
        .collect();
    let mut names: Vec<&str> = lines.iter().map(|[name, _, _]| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 8 + 4 * 9 + 3); // success has three cutoffs
    let (judgments, run) = read(
        &folder.join("qrels.test"),
        &folder.join("results.test"),
        Order::Score,
    );
    // The run answers every judged query, so both query sets are the same one.
    for set in [QuerySet::Judged, QuerySet::OnlyAnswered] {
        let found = evaluate(&measurement(&names), &judgments, &run, set).unwrap();
        for [name, query, value] in &lines {
            let metric = names.binary_search(name).unwrap();
            let expected: f64 = value.parse().unwrap();
            let what = format!("{name} {query}");
            assert_within(looked_up(&found, query, metric), expected, 5e-5, &what);
        }
    }
    // Three queries and `all`; num_q stands under `all` only.
    assert_eq!(lines.len(), names.len() * 4 - 3);
}

/// Names of the golden file that are not `trec_eval`'s own.
fn golden_name(name: &str) -> String {
    match name.strip_prefix("ndcg_exp_cut_") {
        Some(cutoff) => format!("nDCG(dcg='exp-log2')@{cutoff}"),
        None => name.to_owned(),
    }
}

/// Checks one run and returns the number of compared values.
fn check_golden(folder: &Path, run_name: &str, expected: &serde_json::Map<String, Value>) -> usize {
    let collection = run_name.split('.').next().unwrap();
    let qrels = folder.join(format!("{collection}.qrels"));
    let run = folder.join(format!("{run_name}.run.gz"));
    let (judgments, run) = read(&qrels, &run, Order::Rank);
    let first = expected.values().find_map(Value::as_object).unwrap();
    let golden_names: Vec<&String> = first.keys().collect();
    let names: Vec<String> = golden_names.iter().map(|name| golden_name(name)).collect();
    let found = evaluate(&measurement(&names), &judgments, &run, QuerySet::Judged).unwrap();
    assert_eq!(found.counts.queries, expected.len());
    assert_eq!(found.counts.ignored_run_queries, 0);
    let mut checked = 0;
    for (query, values) in expected {
        if values.is_null() {
            let id = QueryId::try_from(query.as_str()).unwrap();
            assert!(run.answer(&id).is_none_or(<[_]>::is_empty), "{query}");
        }
        for (metric, name) in golden_names.iter().enumerate() {
            // Null for a whole query: nothing was retrieved, which is worth 0.
            let expected = if values.is_null() {
                0.0
            } else {
                values[name.as_str()].as_f64().unwrap()
            };
            let what = format!("{run_name} {query} {name}");
            assert_within(looked_up(&found, query, metric), expected, 1e-9, &what);
            checked += 1;
        }
    }
    // Exponential gain as the declared gain is the exponential metric by name.
    let declared = Measurement {
        gains: Gains::Exponential,
        depth: NonZeroU32::MIN,
        top_grade: grade(4.0),
        ..measurement(&["nDCG@10", "nDCG(dcg='exp-log2')@10"])
    };
    let declared = evaluate(&declared, &judgments, &run, QuerySet::Judged).unwrap();
    assert_eq!(declared.all[0], declared.all[1]);
    checked
}

/// Values of `trec_eval` and ranx for runs of a real Lucene, in rank order.
#[test]
fn golden_runs_have_the_values_of_other_tools() {
    let Some(folder) = reference_data("golden") else {
        generated_runs_equal_the_plain_formulas();
        return;
    };
    let file = File::open(folder.join("expected.json.gz")).unwrap();
    let expected: Value = serde_json::from_reader(GzDecoder::new(file)).unwrap();
    let runs = expected.as_object().unwrap();
    assert_eq!(runs.len(), 5);
    let checked: usize = runs
        .iter()
        .map(|(name, queries)| check_golden(&folder, name, queries.as_object().unwrap()))
        .sum();
    // 3 runs of 135 queries and 2 of 225, 21 values each.
    assert_eq!(checked, (3 * 135 + 2 * 225) * 21);
}
