//! Weights of the baseline and of listed candidates.

use std::collections::BTreeMap;

use evalfarm_domain::{Combine, FieldName};

use super::error::SweepFileError;
use super::reader::{Entry, Section};
use crate::sweep::{BASELINE, Configuration};

/// The configuration that candidates are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// All fields of the sweep, in the order of the file; a field of weight 0 is not searched by the baseline.
    pub fields: Vec<FieldName>,
    /// The configuration.
    pub configuration: Configuration,
}

const WEIGHTS: &str =
    "a table of a number of at least 0 for each field, e.g. `{ title = 4.0, brand = 2.5 }`";

/// Reads a table of weights, in the order of the file.
pub(super) fn weights(entry: Entry<'_>) -> Result<Vec<(FieldName, f64)>, SweepFileError> {
    let pairs = entry.pairs(WEIGHTS)?;
    let weight = |(name, entry): (String, Entry<'_>)| {
        let field = FieldName::try_from(name).map_err(|error| entry.refused(error))?;
        let weight = entry.number("a number of at least 0", |weight| weight >= 0.0)?;
        Ok((field, weight + 0.0)) // -0.0 becomes 0.0
    };
    pairs.into_iter().map(weight).collect()
}

/// Takes `combine` and `tie_breaker`; what is missing is as in `default`.
pub(super) fn combine(
    section: &mut Section<'_>,
    default: Combine,
) -> Result<Combine, SweepFileError> {
    let default_tie = match default {
        Combine::BestFields { tie_breaker } => tie_breaker,
        Combine::MostFields => 0.0,
    };
    let best = match section.take("combine") {
        None => matches!(default, Combine::BestFields { .. }),
        Some(entry) => entry.choice(&["best_fields", "most_fields"])? == 0,
    };
    match section.take("tie_breaker") {
        Some(entry) if !best => {
            Err(entry.conflict("belongs to `best_fields`; `most_fields` has no tie breaker"))
        }
        Some(entry) => {
            let tie = entry.number("a number from 0 to 1", |tie| (0.0..=1.0).contains(&tie))?;
            Combine::best_fields(tie).map_err(|error| entry.refused(error))
        }
        None if best => Ok(Combine::BestFields {
            tie_breaker: default_tie,
        }),
        None => Ok(Combine::MostFields),
    }
}

/// Reads `[baseline]`.
pub(super) fn baseline(document: &mut Section<'_>) -> Result<Baseline, SweepFileError> {
    let entry = document.require("baseline", "a table with `weights`")?;
    let mut section = entry.table(&["weights", "combine", "tie_breaker"])?;
    let entry = section.require("weights", WEIGHTS)?;
    let place = entry.place();
    let weights = weights(entry)?;
    let plain = Combine::BestFields { tie_breaker: 0.0 };
    let combine = combine(&mut section, plain)?;
    let fields = weights.iter().map(|(field, _)| field.clone()).collect();
    let weights: BTreeMap<FieldName, f64> = weights.into_iter().collect();
    let configuration = Configuration::new(BASELINE.to_owned(), weights, combine)
        .map_err(|error| place.refused(error))?;
    Ok(Baseline {
        fields,
        configuration,
    })
}
