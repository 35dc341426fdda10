//! `[sweep]`: which candidates are proposed.

use std::collections::BTreeMap;

use evalfarm_domain::FieldName;
use serde::Serialize;

use super::baseline::{Baseline, combine, weights};
use super::error::SweepFileError;
use super::moves::{MovesReader, RANDOM_KEYS};
use super::reader::{Entry, Place, Section, words};
use crate::sweep::strategy::{
    AxisScanSettings, Configuration, DEFAULT_MAX_RATIO, DescentSettings, GridSettings,
    RandomSettings, RefineSettings, StagedSettings,
};
use crate::sweep::values::to_digits;
use crate::sweep::{BASELINE, LARGEST_RATIO, Point, SMALLEST_RATIO, Space};

/// How a sweep moves in its space.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moves {
    /// Every combination of given ratios.
    Grid(GridSettings),
    /// One field at a time around the baseline.
    AxisScan(AxisScanSettings),
    /// One field after another, moving when it pays.
    CoordinateDescent(DescentSettings),
    /// Quasi-random points around the baseline.
    Random(RandomSettings),
    /// Small steps around the baseline.
    Refine(RefineSettings),
    /// Scan, descent, random points, descent, refinement.
    Staged(StagedSettings),
}

/// Which candidates a sweep proposes.
#[derive(Debug, Clone, PartialEq)]
pub enum SweepPlan {
    /// These, in this order.
    List(Vec<Configuration>),
    /// Points of a space.
    InSpace {
        /// The space.
        space: Space,
        /// The point of the baseline.
        baseline: Point,
        /// How the sweep moves.
        moves: Moves,
    },
}

impl SweepPlan {
    /// Whether what is proposed depends on values seen before.
    pub fn is_adaptive(&self) -> bool {
        match self {
            Self::List(_) => false,
            Self::InSpace { moves, .. } => match moves {
                Moves::CoordinateDescent(_) | Moves::Staged(_) => true,
                Moves::Grid(_) | Moves::AxisScan(_) | Moves::Random(_) | Moves::Refine(_) => false,
            },
        }
    }
}

const STRATEGIES: [&str; 7] = [
    "list",
    "grid",
    "axis_scan",
    "coordinate_descent",
    "random",
    "refine",
    "staged",
];
const SPACE_KEYS: [&str; 3] = ["strategy", "anchor", "max_ratio"];
const DESCENT_KEYS: [&str; 4] = ["levels", "passes", "min_improvement", "vary_dead_fields"];

/// Reads `[sweep]`.
pub(super) fn plan(
    document: &mut Section<'_>,
    baseline: &Baseline,
) -> Result<SweepPlan, SweepFileError> {
    let entry = document.require("sweep", "a table with `strategy`")?;
    let mut section = entry.open_table("a table with `strategy`")?;
    let strategies = format!("one of {}", words(&STRATEGIES));
    let strategy = section.require("strategy", &strategies)?;
    let chosen = STRATEGIES[strategy.choice(&STRATEGIES)?];
    if chosen == "list" {
        section.check(&["candidates"])?;
        return list(&mut section, baseline).map(SweepPlan::List);
    }
    let own: Vec<&str> = match chosen {
        "grid" => vec!["ratios", "combine", "tie_breaker"],
        "axis_scan" => vec!["fields", "levels"],
        "coordinate_descent" => [&DESCENT_KEYS[..], &["fields"]].concat(),
        "random" => RANDOM_KEYS.to_vec(),
        "refine" => vec!["fields", "factors"],
        _ => [
            &DESCENT_KEYS[..],
            &RANDOM_KEYS,
            &["second_passes", "random_points", "factors"],
        ]
        .concat(),
    };
    section.check(&[&SPACE_KEYS[..], &own].concat())?;
    let (space, point) = space(&mut section, baseline, &strategy)?;
    let reader = MovesReader {
        section,
        space: &space,
        baseline: &point,
    };
    let moves = match chosen {
        "grid" => Moves::Grid(reader.grid()?),
        "axis_scan" => Moves::AxisScan(reader.axis_scan()?),
        "coordinate_descent" => Moves::CoordinateDescent(reader.descent()?),
        "random" => Moves::Random(reader.random()?),
        "refine" => Moves::Refine(reader.refine()?),
        _ => Moves::Staged(reader.staged()?),
    };
    Ok(SweepPlan::InSpace {
        space,
        baseline: point,
        moves,
    })
}

fn list(
    section: &mut Section<'_>,
    baseline: &Baseline,
) -> Result<Vec<Configuration>, SweepFileError> {
    let allowed = "at least one `[[sweep.candidates]]` with `name` and `weights`";
    let entries = section.require("candidates", allowed)?;
    let place = entries.place();
    let mut candidates: Vec<Configuration> = Vec::new();
    for entry in entries.list(allowed)? {
        let mut table = entry.table(&["name", "weights", "combine", "tie_breaker"])?;
        let name = table.require("name", "a name, in quotes")?;
        let label = name.text("a name, in quotes")?;
        if label.trim().is_empty() || label == BASELINE {
            return Err(name.not_allowed("a name that is neither empty nor `baseline`"));
        }
        if candidates.iter().any(|other| other.label == label) {
            return Err(name.not_allowed("a name that no other candidate has"));
        }
        let entry = table.require("weights", "a table of a number for each field")?;
        let whole = entry.place();
        let weights = weights(entry)?;
        known_fields(&weights, baseline, &whole)?;
        let combine = combine(&mut table, baseline.configuration.candidate.combine)?;
        let weights: BTreeMap<FieldName, f64> = weights.into_iter().collect();
        let configuration =
            Configuration::new(label, weights, combine).map_err(|error| whole.refused(error))?;
        candidates.push(configuration);
    }
    if candidates.is_empty() {
        return Err(place.conflict("is empty; list at least one candidate"));
    }
    Ok(candidates)
}

fn known_fields(
    weights: &[(FieldName, f64)],
    baseline: &Baseline,
    place: &Place,
) -> Result<(), SweepFileError> {
    let unknown = weights
        .iter()
        .map(|(field, _)| field)
        .find(|field| !baseline.fields.contains(field));
    unknown.map_or(Ok(()), |field| {
        let fields: Vec<&str> = baseline.fields.iter().map(FieldName::as_str).collect();
        Err(place.clone().conflict(format!(
            "names the field `{field}`, which `baseline.weights` does not have (it has {}); give it the weight 0 there if \
             the baseline does not search it",
            words(&fields)
        )))
    })
}

/// Reads anchor and bounds, and finds the baseline in the space.
fn space(
    section: &mut Section<'_>,
    baseline: &Baseline,
    strategy: &Entry<'_>,
) -> Result<(Space, Point), SweepFileError> {
    let weights = &baseline.configuration.weights;
    let weight = |field: &FieldName| weights.get(field).copied().unwrap_or(0.0);
    let anchor = match section.take("anchor") {
        None => baseline
            .fields
            .iter()
            .reduce(|best, field| {
                if weight(field) > weight(best) {
                    field
                } else {
                    best
                }
            })
            .ok_or_else(|| strategy.conflict("needs fields in `baseline.weights`"))?
            .clone(),
        Some(entry) => {
            let fields: Vec<&str> = baseline.fields.iter().map(FieldName::as_str).collect();
            let anchor = &baseline.fields[entry.choice(&fields)?];
            if weight(anchor) <= 0.0 {
                return Err(entry.not_allowed(
                    "a field whose weight in the baseline is above 0, because ratios are ratios to it",
                ));
            }
            anchor.clone()
        }
    };
    let allowed = format!("a number from {SMALLEST_RATIO:e} to {LARGEST_RATIO}");
    let max_ratio = section.number("max_ratio", &allowed, |ratio| {
        (SMALLEST_RATIO..=LARGEST_RATIO).contains(&ratio)
    })?;
    let max_ratio = max_ratio.unwrap_or(DEFAULT_MAX_RATIO);
    let others = baseline.fields.iter().filter(|field| **field != anchor);
    let fields: Vec<FieldName> = others.cloned().collect();
    let mut ratios = Vec::new();
    for field in &fields {
        let ratio = to_digits(weight(field) / weight(&anchor), 12);
        if ratio > 0.0 && !(SMALLEST_RATIO..=max_ratio).contains(&ratio) {
            return Err(strategy.conflict(format!(
                "cannot start from the baseline: its ratio of `{field}` to the anchor `{anchor}` is {ratio}, outside \
                 {SMALLEST_RATIO:e} to `max_ratio` {max_ratio}; choose another `anchor` or `max_ratio`"
            )));
        }
        ratios.push(ratio);
    }
    let combine = baseline.configuration.candidate.combine;
    let space = Space::new(anchor, fields, max_ratio, combine);
    let space = space.map_err(|error| strategy.refused(error))?;
    let point = space
        .point(&ratios)
        .map_err(|error| strategy.refused(error))?;
    Ok((space, point))
}
