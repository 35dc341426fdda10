//! This project's own rows: several candidates, values and scored values.

use std::collections::BTreeSet;

use super::ValueTableOptions;
use crate::fault::{Fault, list};

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
    let fold = options.fold.map(evalfarm_domain::Fold::as_str);
    let keep = rows
        .iter()
        .map(|row| row.candidate == wanted && (fold.is_none() || row.split == fold));
    Ok(keep.collect())
}
