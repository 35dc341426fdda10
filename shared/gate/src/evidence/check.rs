//! The checks that evidence passes before any statistic is computed.

use std::collections::BTreeSet;

use evalfarm_domain::QueryId;

use super::{EvidenceError, EvidenceParts, Side, Unjudged};

pub(super) fn check_names(parts: &EvidenceParts) -> Result<(), EvidenceError> {
    distinct(
        "queries",
        "query",
        parts.queries.iter().map(QueryId::as_str),
    )?;
    distinct(
        "metrics",
        "metric",
        parts.metrics.iter().map(|metric| metric.name.as_str()),
    )?;
    let ids = parts.candidates.iter().map(|side| side.id.as_str());
    distinct("candidates", "candidate", ids)
}

fn distinct<'a>(
    what: &'static str,
    one: &'static str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<(), EvidenceError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(EvidenceError::Twice {
                what: one,
                id: id.to_owned(),
            });
        }
    }
    if seen.is_empty() {
        return Err(EvidenceError::Empty { what });
    }
    Ok(())
}

pub(super) fn check_context(parts: &EvidenceParts) -> Result<(), EvidenceError> {
    let context = [
        ("the noise band".to_owned(), parts.context.noise_band),
        (
            "the number of relevant judgments a query".to_owned(),
            parts.context.relevant_per_query,
        ),
    ];
    let worst = parts.metrics.iter().map(|metric| {
        (
            format!("the worst value of `{}`", metric.name),
            metric.worst,
        )
    });
    for (what, value) in context.into_iter().chain(worst) {
        if let Some(value) = value.filter(|value| !(0.0..f64::INFINITY).contains(value)) {
            let value = value.to_string();
            return Err(EvidenceError::Context { what, value });
        }
    }
    Ok(())
}

pub(super) fn check_side(parts: &EvidenceParts, side: &Side) -> Result<(), EvidenceError> {
    let rows = parts.queries.len();
    let length = |what: &str, found: usize, expected: usize| {
        if found == expected {
            return Ok(());
        }
        Err(EvidenceError::Length {
            side: side.id.clone(),
            what: what.to_owned(),
            found,
            expected,
        })
    };
    length("metric columns", side.values.len(), parts.metrics.len())?;
    length("failure entries", side.failures.len(), rows)?;
    for (what, found) in [
        (
            "zero-result entries",
            side.zero_results.as_ref().map(Vec::len),
        ),
        ("rewrite statuses", side.rewrite.as_ref().map(Vec::len)),
        ("rerank statuses", side.rerank.as_ref().map(Vec::len)),
        ("judged shares", side.judged.as_ref().map(Vec::len)),
    ] {
        length(what, found.unwrap_or(rows), rows)?;
    }
    for (metric, column) in parts.metrics.iter().zip(&side.values) {
        length(&format!("values of `{}`", metric.name), column.len(), rows)?;
        if let Some(row) = column.iter().position(|value| !is_usable(*value)) {
            return Err(EvidenceError::NotFinite {
                side: side.id.clone(),
                metric: metric.name.clone(),
                query: parts.queries[row].clone(),
                value: column[row].to_string(),
            });
        }
    }
    for (query, share) in parts.queries.iter().zip(side.judged.iter().flatten()) {
        if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(EvidenceError::JudgedShare {
                side: side.id.clone(),
                query: query.clone(),
                value: share.to_string(),
            });
        }
    }
    Ok(())
}

/// What is known of the queries and of missing judgments has to be about these queries and be finite.
pub(super) fn check_descriptions(parts: &EvidenceParts) -> Result<(), EvidenceError> {
    let queries = &parts.queries;
    if let Some(described) = &parts.context.descriptions {
        let found = |row: usize| described.get(row).map_or("", |query| query.id.as_str());
        let wrong = (0..queries.len().max(described.len()))
            .find(|&row| queries.get(row).is_none_or(|id| id.as_str() != found(row)));
        if let Some(row) = wrong {
            let query = &queries[row.min(queries.len() - 1)];
            return Err(EvidenceError::Described {
                query: query.clone(),
                found: found(row).to_owned(),
            });
        }
    }
    for unjudged in parts.context.unjudged.iter().flatten() {
        for column in unjudged.columns() {
            check_column(parts, unjudged, column)?;
        }
    }
    Ok(())
}

fn check_column(
    parts: &EvidenceParts,
    unjudged: &Unjudged,
    column: &[f64],
) -> Result<(), EvidenceError> {
    let (side, metric) = (&unjudged.candidate, &unjudged.metric);
    if column.len() != parts.queries.len() {
        return Err(EvidenceError::Length {
            side: side.clone(),
            what: format!("condensed values of `{metric}`"),
            found: column.len(),
            expected: parts.queries.len(),
        });
    }
    match column.iter().position(|value| !is_usable(*value)) {
        None => Ok(()),
        Some(row) => Err(EvidenceError::NotFinite {
            side: side.clone(),
            metric: metric.clone(),
            query: parts.queries[row].clone(),
            value: column[row].to_string(),
        }),
    }
}

/// Largest magnitude of a value. Sums of squares of a billion such values are still finite, so that no mean, spread or
/// statistic of accepted values can overflow into a verdict.
const LARGEST_VALUE: f64 = 1e100;

/// Whether a value can be judged; NaN cannot.
fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST_VALUE
}
