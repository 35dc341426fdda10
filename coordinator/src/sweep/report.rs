//! What a finished sweep says beside its winner: how much was really different, and what changed nothing.

use std::collections::{BTreeMap, BTreeSet};

use evalfarm_domain::{CandidateId, Combine, FieldName};
use serde::Serialize;

use super::{Alias, Observation, ResultClass, SelectionFold, Space, Stage, Sweep, Visit};

/// What a field's weight did over the candidates that differ in nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldEffect {
    /// No two candidates differ only in this field.
    NotCompared,
    /// All results are the same, with and without the field.
    Nothing,
    /// The weight changes nothing as long as it is above 0, but leaving the field out does.
    OnlyPresence,
    /// Results differ between weights above 0.
    Changes,
}

/// What was learnt of one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldReport {
    /// The field.
    pub field: FieldName,
    /// What its weight did.
    pub effect: FieldEffect,
    /// Candidates that differ from at least one other in this field alone.
    pub compared: usize,
}

/// One candidate on a response curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Ratio of the field to the anchor.
    pub ratio: f64,
    /// Mean of the primary metric.
    pub value: f64,
    /// The candidate.
    pub candidate: CandidateId,
    /// The class of its result.
    pub class: ResultClass,
}

/// How the primary metric answers to one field, everything else as in the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResponseCurve {
    /// The field.
    pub field: FieldName,
    /// The candidates that differ from the baseline in this field alone, and the baseline, by ascending ratio.
    pub points: Vec<CurvePoint>,
    /// Largest minus smallest value on the curve.
    pub sensitivity: f64,
}

/// The candidate that a sweep chose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Best {
    /// The candidate.
    pub candidate: CandidateId,
    /// What people call it.
    pub label: String,
    /// The stage that proposed it.
    pub stage: Stage,
    /// Position in evaluation order, from 1; the baseline is 1.
    pub position: usize,
    /// Mean of the primary metric on the queries that the sweep selected on.
    pub value: f64,
    /// The class of its result; a second evaluation has to give the same.
    pub class: ResultClass,
}

/// A candidate that gave the same result as the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchanged {
    /// The candidate.
    pub candidate: CandidateId,
    /// What people call it.
    pub label: String,
}

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepReport {
    /// The queries that values are means over.
    pub fold: SelectionFold,
    /// Different configurations evaluated, the baseline included.
    pub configurations: usize,
    /// Different results among them.
    pub distinct_results: usize,
    /// Candidates that gave the same result as the baseline, in evaluation order.
    pub unchanged: Vec<Unchanged>,
    /// Configurations that were not evaluated, because they are the same candidate as another one.
    pub aliases: Vec<Alias>,
    /// What was learnt of each field.
    pub fields: Vec<FieldReport>,
    /// Response curves around the baseline, of each field of the space that was varied; none for a list.
    pub curves: Vec<ResponseCurve>,
    /// The first best in evaluation order.
    pub best: Best,
}

struct Seen<'a> {
    visit: &'a Visit,
    observation: Observation,
}

impl SweepReport {
    /// Summarises what was observed so far; nothing when nothing was.
    ///
    /// `fields` are all fields of the sweep, in the order in which they are reported; `space` is that of the sweep, if
    /// it moves in one.
    pub fn new(sweep: &Sweep, fields: &[FieldName], space: Option<&Space>) -> Option<Self> {
        let seen: Vec<Seen<'_>> = sweep
            .visits()
            .iter()
            .zip(sweep.observations().iter())
            .map(|(visit, observed)| Seen {
                visit,
                observation: observed.observation,
            })
            .collect();
        let baseline = seen.first()?;
        let class = baseline.observation.class();
        let same = |other: &&Seen<'_>| other.observation.class() == class;
        let classes: BTreeSet<ResultClass> =
            seen.iter().map(|entry| entry.observation.class()).collect();
        Some(Self {
            fold: baseline.observation.fold(),
            configurations: seen.len(),
            distinct_results: classes.len(),
            unchanged: seen
                .iter()
                .skip(1)
                .filter(same)
                .map(|entry| Unchanged {
                    candidate: entry.visit.id.clone(),
                    label: entry.visit.configuration.label.clone(),
                })
                .collect(),
            aliases: sweep.aliases().to_vec(),
            fields: fields
                .iter()
                .map(|field| field_report(field, &seen))
                .collect(),
            curves: space.map_or_else(Vec::new, |space| curves(space, &seen)),
            best: best(sweep)?,
        })
    }
}

fn best(sweep: &Sweep) -> Option<Best> {
    let observed = sweep.observations().best()?;
    let position = sweep
        .visits()
        .iter()
        .position(|visit| visit.id == observed.candidate)?;
    let visit = &sweep.visits()[position];
    Some(Best {
        candidate: visit.id.clone(),
        label: visit.configuration.label.clone(),
        stage: visit.stage.clone(),
        position: position + 1,
        value: observed.observation.value(),
        class: observed.observation.class(),
    })
}

/// What two candidates share when they differ in one field alone: how they combine, and the ratios of the other
/// weights to the largest of them, in f32 as candidates keep them.
type Rest = (String, Vec<(FieldName, u32)>);

fn rest(visit: &Visit, field: &FieldName) -> Rest {
    let others = || {
        let weights = visit.configuration.weights.iter();
        weights.filter(|(other, weight)| *other != field && **weight > 0.0)
    };
    let largest = others().fold(0.0_f64, |largest, (_, &weight)| largest.max(weight));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is the canonical form of a candidate"
    )]
    let ratios = others().map(|(other, weight)| {
        let ratio = (weight / largest) as f32;
        (other.clone(), ratio.to_bits())
    });
    let combine = match visit.configuration.candidate.combine {
        Combine::BestFields { tie_breaker } => format!("best_fields {tie_breaker}"),
        Combine::MostFields => "most_fields".to_owned(),
    };
    (combine, ratios.collect())
}

fn field_report(field: &FieldName, seen: &[Seen<'_>]) -> FieldReport {
    let mut groups: BTreeMap<Rest, Vec<&Seen<'_>>> = BTreeMap::new();
    for entry in seen {
        groups
            .entry(rest(entry.visit, field))
            .or_default()
            .push(entry);
    }
    groups.retain(|_, group| group.len() > 1);
    let compared = groups.values().map(Vec::len).sum();
    let classes = |group: &[&Seen<'_>], with_absent: bool| {
        let weight = |entry: &Seen<'_>| {
            entry
                .visit
                .configuration
                .candidate
                .weights
                .weight(field.as_str())
        };
        group
            .iter()
            .filter(|entry| with_absent || weight(entry) > 0.0)
            .map(|entry| entry.observation.class())
            .collect::<BTreeSet<_>>()
            .len()
    };
    let effect = if groups.is_empty() {
        FieldEffect::NotCompared
    } else if groups.values().any(|group| classes(group, false) > 1) {
        FieldEffect::Changes
    } else if groups.values().any(|group| classes(group, true) > 1) {
        FieldEffect::OnlyPresence
    } else {
        FieldEffect::Nothing
    };
    FieldReport {
        field: field.clone(),
        effect,
        compared,
    }
}

fn curves(space: &Space, seen: &[Seen<'_>]) -> Vec<ResponseCurve> {
    let Some(centre) = seen
        .first()
        .and_then(|entry| entry.visit.configuration.point.as_ref())
    else {
        return Vec::new();
    };
    let on_axis = |ratios: &[f64], axis: usize| {
        let pairs = ratios.iter().zip(centre.ratios()).enumerate();
        pairs
            .filter(|&(position, _)| position != axis)
            .all(|(_, (ratio, own))| ratio.total_cmp(own).is_eq())
    };
    let curve = |(axis, field): (usize, &FieldName)| {
        let mut points: Vec<CurvePoint> = seen
            .iter()
            .filter_map(|entry| {
                let ratios = entry.visit.configuration.point.as_ref()?.ratios();
                on_axis(ratios, axis).then(|| CurvePoint {
                    ratio: ratios[axis],
                    value: entry.observation.value(),
                    candidate: entry.visit.id.clone(),
                    class: entry.observation.class(),
                })
            })
            .collect();
        points.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let values = || points.iter().map(|point| point.value);
        let sensitivity =
            values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
        (points.len() > 1).then(|| ResponseCurve {
            field: field.clone(),
            points,
            sensitivity,
        })
    };
    space
        .fields()
        .iter()
        .enumerate()
        .filter_map(curve)
        .collect()
}
