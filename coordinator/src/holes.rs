//! What workers found out about unjudged hits, for the gate and for whoever judges next.

use std::collections::{BTreeMap, HashMap};

use evalfarm_domain::{CandidateId, Metric, Query, QueryId};
use evalfarm_gate::{FamilyJudgement, Unjudged, Verdict};
use evalfarm_results::{CondensedRow, JudgeNext, UnjudgedRow};

/// Candidates that are examined beside the leader, the best first. More would be promoted only in a family of equals, and
/// the gate promotes nobody who was not examined.
const MOST_EXAMINED: usize = 16;

/// Lines of the list of what to judge next: more than anybody judges in a month.
const MOST_TO_JUDGE: usize = 5_000;

/// Returns the candidates whose lists have to be examined before the verdict stands: the leader, and those that would be
/// promoted, by falling improvement.
pub(crate) fn to_examine(family: &FamilyJudgement) -> Vec<CandidateId> {
    let mut promoted: Vec<(f64, &CandidateId)> = family
        .judgements
        .iter()
        .filter(|judgement| {
            judgement.verdict == Verdict::Promote && judgement.candidate != family.leader
        })
        .map(|judgement| (judgement.metrics[0].delta.abs(), &judgement.candidate))
        .collect();
    promoted.sort_by(|a, b| b.0.total_cmp(&a.0));
    std::iter::once(&family.leader)
        .chain(promoted.into_iter().map(|(_, id)| id))
        .take(1 + MOST_EXAMINED)
        .cloned()
        .collect()
}

/// Returns what is known of the holes of each examined candidate and metric on these queries. A candidate that lacks a row
/// was not examined.
pub(crate) fn unjudged(
    rows: &[CondensedRow],
    baseline: &CandidateId,
    candidates: &[CandidateId],
    metrics: &[Metric],
    queries: &[QueryId],
) -> Vec<Unjudged> {
    let by_query: HashMap<(&CandidateId, &QueryId), &CondensedRow> = rows
        .iter()
        .map(|row| ((&row.candidate, &row.query), row))
        .collect();
    let column = |id: &CandidateId| -> Option<Vec<&CondensedRow>> {
        let rows = queries
            .iter()
            .map(|query| by_query.get(&(id, query)).copied());
        rows.collect()
    };
    let Some(before) = column(baseline) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for candidate in candidates {
        let Some(after) = column(candidate) else {
            continue;
        };
        for (at, metric) in metrics.iter().enumerate() {
            let bounds = |pick: fn(&CondensedRow) -> &Vec<Option<f64>>| -> Option<Vec<f64>> {
                after.iter().map(|row| pick(row)[at]).collect()
            };
            found.push(Unjudged {
                candidate: candidate.clone(),
                metric: metric.name(),
                condensed_baseline: before.iter().map(|row| row.values[at]).collect(),
                condensed_candidate: after.iter().map(|row| row.values[at]).collect(),
                lowest: bounds(|row| &row.lowest),
                highest: bounds(|row| &row.highest),
            });
        }
    }
    found
}

/// Returns what to judge next to settle a candidate's comparison, the most decisive first: by how far the mean difference
/// would move, then by query and document. What moves nothing is left out.
pub(crate) fn judge_next(
    rows: &[UnjudgedRow],
    candidate: &CandidateId,
    queries: &[Query],
) -> Vec<JudgeNext> {
    let known: BTreeMap<&QueryId, &Query> =
        queries.iter().map(|query| (&query.id, query)).collect();
    let mut next: Vec<(f64, &UnjudgedRow, &Query)> = rows
        .iter()
        .filter(|row| row.candidate == *candidate && row.swing.abs() > 0.0)
        .filter_map(|row| {
            let query = known.get(&row.query)?;
            Some((row.swing.abs() * query.weight, row, *query))
        })
        .collect();
    next.sort_by(|a, b| {
        let by_size = b.0.total_cmp(&a.0);
        by_size.then_with(|| (&a.1.query, &a.1.document).cmp(&(&b.1.query, &b.1.document)))
    });
    next.into_iter()
        .take(MOST_TO_JUDGE)
        .map(|(_, row, query)| JudgeNext {
            query: row.query.clone(),
            text: query.text.clone(),
            document: row.document.clone(),
        })
        .collect()
}
