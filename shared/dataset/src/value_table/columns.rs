//! Which columns a table has, and what each is.

use evalfarm_domain::{Measure, MetricName};

use super::names::metric_of_column;
use super::own::{SCORED, VALUE};
use super::raw::{Cell, RawTable};
use crate::fault::{Fault, list};

/// Names of the column with the query's id. `query` comes last: beside another of these it is the text.
const QUERY: [&str; 4] = ["query_id", "query-id", "qid", "query"];

/// What a column is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Role {
    Query,
    /// A metric; `complete` when every query without a failure must have a value.
    Metric {
        name: MetricName,
        complete: bool,
    },
    Scored(MetricName),
    ZeroResult,
    Judged,
    Failure,
    Rewrite,
    Rerank,
    /// An index, the query's text, or what our own rows have beside what is read.
    Beside,
    /// Neither a number nor known.
    Ignored,
}

/// Returns what each column is, the one with the ids being `Role::Query`.
pub(super) fn roles(raw: &RawTable, own: bool) -> Result<Vec<Role>, Fault> {
    refuse_alike(raw)?;
    let query = raw.find(&QUERY).ok_or_else(|| Fault::Missing {
        kind: "column",
        name: "query_id".to_owned(),
        found: list(raw.columns.iter().map(|(name, _)| name.as_str())),
    })?;
    let role = |(name, cells): &(String, Vec<Cell>)| {
        if own {
            own_role(name)
        } else {
            role(name, cells)
        }
    };
    let mut roles: Vec<Role> = raw.columns.iter().map(role).collect();
    roles[query] = Role::Query;
    let judged = roles.iter().zip(&raw.columns);
    let mut judged = judged.filter(|(role, _)| **role == Role::Judged);
    if let (Some((_, first)), Some((_, second))) = (judged.next(), judged.next()) {
        let problem = format!(
            "`{}` and `{}` both say which share is judged, keep one",
            first.0, second.0
        );
        return Err(Fault::Csv { problem });
    }
    Ok(roles)
}

/// Returns the other columns that say which query a row is about.
pub(super) fn other_ids(raw: &RawTable, roles: &[Role]) -> Vec<usize> {
    let is_id = |name: &str| {
        let mut names = QUERY.iter().filter(|known| **known != "query");
        names.any(|known| known.eq_ignore_ascii_case(name.trim()))
    };
    (0..roles.len())
        .filter(|&at| roles[at] != Role::Query && is_id(&raw.columns[at].0))
        .collect()
}

/// Refuses two columns of one name, whatever their case, and a column that looks as if it said what `failure` says.
fn refuse_alike(raw: &RawTable) -> Result<(), Fault> {
    let plain = |name: &str| name.trim().to_ascii_lowercase();
    for (at, (name, _)) in raw.columns.iter().enumerate() {
        let name_of = plain(name);
        let mut before = raw.columns[..at].iter();
        if let Some((first, _)) = before.find(|(first, _)| plain(first) == name_of)
            && !name_of.is_empty()
        {
            let problem = format!("two columns have one name: `{first}` and `{name}`");
            return Err(Fault::Csv { problem });
        }
        if name_of == "failed" {
            let problem = format!(
                "column `{name}` is not read: say in a column `failure` why a query failed (missing, timeout, \
                 transport_error, invalid_response or internal_error; empty when it did not)"
            );
            return Err(Fault::Csv { problem });
        }
    }
    Ok(())
}

/// Returns what a column of our own rows is.
fn own_role(name: &str) -> Role {
    let metric = |slug: &str| metric_of_column(slug).map(evalfarm_domain::Metric::name);
    match name {
        "judged_share" => Role::Judged,
        "zero_result" => Role::ZeroResult,
        "failure" => Role::Failure,
        "rewrite_status" => Role::Rewrite,
        "rerank_status" => Role::Rerank,
        _ => {
            let value = name.strip_prefix(VALUE).and_then(metric);
            let scored = name.strip_prefix(SCORED).and_then(metric);
            let complete = false;
            value
                .map(|name| Role::Metric { name, complete })
                .or(scored.map(Role::Scored))
                .unwrap_or(Role::Beside)
        }
    }
}

/// Returns what a column of another tool's table is. An unknown column is a metric of its own name when at least half of
/// its cells that are not empty are numbers, so that one bad cell does not make it a text.
fn role(name: &str, cells: &[Cell]) -> Role {
    match name.to_ascii_lowercase().as_str() {
        "zero_result" => return Role::ZeroResult,
        "judged_share" => return Role::Judged,
        "failure" => return Role::Failure,
        "rewrite_status" => return Role::Rewrite,
        "rerank_status" => return Role::Rerank,
        // what pandas calls an index that was written along, and names that are the query's
        "" | "index" | "__index_level_0__" | "query" | "query_id" | "query-id" | "qid" => {
            return Role::Beside;
        }
        unnamed if unnamed.starts_with("unnamed:") => return Role::Beside,
        _ => {}
    }
    if let Some(metric) = metric_of_column(name) {
        return match metric.measure() {
            Measure::Judged => Role::Judged,
            _ => Role::Metric {
                name: metric.name(),
                complete: true,
            },
        };
    }
    let numbers = cells
        .iter()
        .filter(|cell| cell.number().is_some() || matches!(cell, Cell::NotFinite(_)));
    let others = cells
        .iter()
        .filter(|cell| matches!(cell, Cell::Text(_) | Cell::Bool(_)));
    let (numbers, others) = (numbers.count(), others.count());
    match MetricName::try_from(name) {
        Ok(name) if numbers > 0 && numbers >= others => Role::Metric {
            name,
            complete: false,
        },
        _ => Role::Ignored,
    }
}
