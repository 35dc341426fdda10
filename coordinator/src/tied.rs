//! Whether the files of a stored job are of one job: each says what the others have to say too.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_domain::{Digest, Fold, QueryId};
use evalfarm_results::{JobFolder, JobQuery};
use serde_json::{Map, Value};

use crate::job::{EVALUATION, JobRecord, ids_digest};
use crate::rejudge::{RejudgeError, Stored};
use crate::sweep::Judge;

const JOB: &str = "`job.json`";
const VERDICT: &str = "`verdict.json`";

/// Keys of a policy that a sweep may leave open and the verdict's policy has filled in.
const FILLED_IN: [&str; 2] = ["guards", "correction"];

/// Compares what the files of a job say of it, and returns the queries that it was judged on.
///
/// `verdict.json` and `job.json` have to agree on job, evaluation, dataset, folds, sweep, judge, metrics and policy, and the
/// stored queries have to be those of every fold. Whoever changed one of the files, or put one in from another job, is told
/// which value differs.
pub(crate) fn judged_queries(
    folder: &JobFolder,
    created: &JobRecord,
    stored: &Stored,
    verdict: &Map<String, Value>,
) -> Result<Vec<JobQuery>, RejudgeError> {
    let path = folder.path();
    if created.evaluation != EVALUATION {
        return Err(RejudgeError::Evaluation {
            path: path.to_owned(),
            found: created.evaluation,
            expected: EVALUATION,
        });
    }
    let outer = Value::from(folder.job().as_str());
    let same = |what: &str, found: &Value, expected: &Value| {
        equal(path, what, (VERDICT, found), (JOB, expected))
    };
    let record = serde_json::json!(created);
    equal(
        path,
        "the job",
        ("its record", &record["job"]),
        (JOB, &outer),
    )?;
    let provenance = said(verdict, "provenance");
    same("the job", said(verdict, "job"), &outer)?;
    same("the name", said(verdict, "sweep"), &record["name"])?;
    same(
        "the evaluation",
        &provenance["evaluation"],
        &record["evaluation"],
    )?;
    same(
        "the dataset's fingerprint",
        &provenance["fingerprint"],
        &record["dataset"],
    )?;
    alike(path, "fold", &provenance["folds"], &record["folds"], &[])?;
    let sweep = &created.sweep;
    same("the judge", said(verdict, "judge"), &sweep["judge"])?;
    let fold = match stored.judge {
        Judge::WinnerOnHoldout => Fold::Holdout,
        Judge::AllOnAll => Fold::All,
    };
    same(
        "the judged fold",
        said(verdict, "judged_on"),
        &Value::from(fold.as_str()),
    )?;
    same("the metrics", &provenance["metrics"], &metrics(sweep))?;
    let policy = said(verdict, "policy");
    alike(path, "policy value", policy, &sweep["policy"], &FILLED_IN)?;
    alike(path, "sweep value", &provenance["sweep"], sweep, &[])?;
    let mut queries = folder.queries().map_err(RejudgeError::Results)?;
    check_folds(&queries, &created.folds)?;
    queries.retain(|query| query.fold == fold);
    Ok(queries)
}

fn said<'a>(object: &'a Map<String, Value>, key: &str) -> &'a Value {
    object.get(key).unwrap_or(&Value::Null)
}

/// Every metric of a sweep in canonical form, the primary first.
fn metrics(sweep: &Value) -> Value {
    let metrics = &sweep["metrics"];
    let lists = ["guards", "report"].map(|key| metrics[key].as_array());
    let others = lists.into_iter().flatten().flatten();
    std::iter::once(&metrics["primary"])
        .chain(others)
        .cloned()
        .collect()
}

fn equal(
    path: &Path,
    what: &str,
    (place, found): (&'static str, &Value),
    (other, expected): (&'static str, &Value),
) -> Result<(), RejudgeError> {
    if found == expected {
        return Ok(());
    }
    let shown = |value: &Value| match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    Err(RejudgeError::Untied {
        path: path.to_owned(),
        what: what.into(),
        place,
        found: shown(found).into(),
        other,
        expected: shown(expected).into(),
    })
}

/// Compares two objects by key, so that an error names the one that differs. `filled_in` may be null on the side of the job
/// and not on that of the verdict.
fn alike(
    path: &Path,
    what: &str,
    found: &Value,
    expected: &Value,
    filled_in: &[&str],
) -> Result<(), RejudgeError> {
    let (Some(one), Some(other)) = (found.as_object(), expected.as_object()) else {
        return equal(path, what, (VERDICT, found), (JOB, expected));
    };
    for key in other.keys().chain(one.keys()) {
        let (found, expected) = (said(one, key), said(other, key));
        let open = expected.is_null() && !found.is_null() && filled_in.contains(&key.as_str());
        if !open {
            let what = format!("{what} `{key}`");
            equal(path, &what, (VERDICT, found), (JOB, expected))?;
        }
    }
    Ok(())
}

/// Compares the stored queries with those that the job was created with, fold by fold.
fn check_folds(
    queries: &[JobQuery],
    expected: &BTreeMap<Fold, Digest>,
) -> Result<(), RejudgeError> {
    let mut ids: BTreeMap<Fold, Vec<QueryId>> = BTreeMap::new();
    for &fold in expected.keys() {
        ids.insert(fold, Vec::new());
    }
    for query in queries {
        let ids = ids.entry(query.fold).or_default();
        ids.push(query.query.id.clone());
    }
    for (fold, ids) in ids {
        let found = ids_digest(&ids);
        let expected = expected.get(&fold).copied();
        if expected != Some(found) {
            return Err(RejudgeError::Queries {
                fold,
                found,
                expected,
            });
        }
    }
    Ok(())
}
