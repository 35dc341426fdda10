//! This project's own rows: several candidates, values and scored values.

use std::collections::BTreeSet;

use evalfarm_domain::Fold;

use super::ValueTableOptions;
use crate::fault::{Fault, list, shorten};

/// Prefix of columns with what was measured.
pub(crate) const VALUE: &str = "value_";

/// Prefix of columns with what the judge used.
pub(crate) const SCORED: &str = "scored_";

/// Whether these are the columns of our own rows.
pub(crate) fn is_own<'a>(mut columns: impl Iterator<Item = &'a str> + Clone) -> bool {
    columns.clone().any(|name| name == "candidate") && columns.any(|name| name.starts_with(SCORED))
}

/// What a row says about whose and of which side it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Belonging<'a> {
    pub(crate) candidate: Option<&'a str>,
    pub(crate) split: Option<&'a str>,
}

/// Returns which rows are wanted: those of the one candidate, or of the one that is named, on the wanted side.
pub(crate) fn choose(
    rows: &[Belonging<'_>],
    options: &ValueTableOptions,
) -> Result<Vec<bool>, Fault> {
    let splits = rows.iter().any(|row| row.split.is_some());
    let sides = [Fold::Train, Fold::Holdout, Fold::All].map(Fold::as_str);
    for (at, row) in (1..).zip(rows) {
        let reject = |name: &str, value: Option<&str>, expected| Fault::Value {
            name: format!("column `{name}` of row {at}"),
            value: shorten(value.unwrap_or_default()),
            expected,
        };
        if row.candidate.is_none() {
            return Err(reject("candidate", None, "the id of a candidate"));
        }
        if splits && !row.split.is_some_and(|split| sides.contains(&split)) {
            return Err(reject("split", row.split, "train, holdout or all"));
        }
    }
    let candidates: BTreeSet<&str> = rows.iter().filter_map(|row| row.candidate).collect();
    let wanted = match (&options.candidate, candidates.first()) {
        (Some(named), _) => {
            if !candidates.contains(named.as_str()) {
                return Err(Fault::NoSuchCandidate {
                    candidate: named.to_string(),
                });
            }
            Some(named.as_str())
        }
        (None, first) if candidates.len() <= 1 => first.copied(),
        (None, _) => {
            return Err(Fault::SeveralCandidates {
                count: candidates.len(),
                examples: list(candidates),
            });
        }
    };
    let fold = options.fold.map(Fold::as_str);
    let keep = rows
        .iter()
        .map(|row| row.candidate == wanted && (fold.is_none() || row.split == fold));
    Ok(keep.collect())
}
