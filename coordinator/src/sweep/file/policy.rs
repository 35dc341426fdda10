//! `[policy]`: which candidates are judged, and the rules of the gate.

use evalfarm_gate::{GatePolicy, RawGatePolicy};
use serde::{Deserialize, Serialize};

use super::error::SweepFileError;
use super::measure::MetricSettings;
use super::plan::SweepPlan;
use super::reader::Section;
use super::source::SplitSource;
use crate::sweep::SelectionFold;

/// Which candidates are judged, and on which queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The best candidate on the train queries is judged once on the holdout.
    WinnerOnHoldout,
    /// Every candidate is judged on every query, as one family.
    AllOnAll,
}

impl Judge {
    /// Returns the queries whose values the sweep selects on.
    pub fn selection_fold(self) -> SelectionFold {
        match self {
            Self::WinnerOnHoldout => SelectionFold::Train,
            Self::AllOnAll => SelectionFold::All,
        }
    }
}

/// Spellings of the two ways to judge; hyphens and underscores mean the same.
const SPELLINGS: [&str; 4] = [
    "winner_on_holdout",
    "all_on_all",
    "winner-on-holdout",
    "all-on-all",
];

/// Reads `judge` and checks that the sweep can be judged so.
pub(super) fn judge(
    document: &Section<'_>,
    policy: Option<&mut Section<'_>>,
    plan: &SweepPlan,
    split: Option<&SplitSource>,
) -> Result<Judge, SweepFileError> {
    let written = policy.and_then(|section| section.take("judge"));
    let judge = match &written {
        None if matches!(plan, SweepPlan::List(_)) => Judge::AllOnAll,
        None => Judge::WinnerOnHoldout,
        Some(entry) => match entry.choice(&SPELLINGS)? {
            0 | 2 => Judge::WinnerOnHoldout,
            _ => Judge::AllOnAll,
        },
    };
    if let (Judge::AllOnAll, true, Some(entry)) = (judge, plan.is_adaptive(), &written) {
        return Err(entry.conflict(
            "cannot be `all_on_all` with this strategy: it chooses candidates by the values of the queries that would \
             judge them; use `winner_on_holdout`, or list the candidates",
        ));
    }
    if judge == Judge::WinnerOnHoldout && split.is_none() {
        let allowed = "a table with `seed`, `train` and `holdout`, because the winner is judged on queries that the sweep \
                       has not seen";
        return Err(document.missing("split", allowed));
    }
    Ok(judge)
}

/// Returns the keys of the gate's own policy, as its serde form spells them.
fn gate_keys() -> Vec<String> {
    let form = serde_json::to_value(RawGatePolicy::default());
    let keys = form
        .ok()
        .and_then(|form| Some(form.as_object()?.keys().cloned().collect()));
    keys.unwrap_or_default()
}

/// Opens `[policy]`, if it is there.
pub(super) fn section<'i>(
    document: &mut Section<'i>,
) -> Result<Option<Section<'i>>, SweepFileError> {
    let Some(entry) = document.take("policy") else {
        return Ok(None);
    };
    let mut section = entry.open_table("a table")?;
    for key in ["primary", "guards"] {
        if let Some(entry) = section.take(key) {
            return Err(entry.conflict(format!("belongs to `[metrics]`; write `metrics.{key}`")));
        }
    }
    let gate_keys = gate_keys();
    let gate_keys = gate_keys.iter().map(String::as_str);
    let own = gate_keys.filter(|key| !["primary", "guards"].contains(key));
    let known: Vec<&str> = std::iter::once("judge").chain(own).collect();
    section.check(&known)?;
    Ok(Some(section))
}

/// Reads the rules of the gate. Primary and guards are those of `[metrics]`; the seed is the job's unless the policy has
/// its own.
pub(super) fn gate(
    policy: Option<Section<'_>>,
    metrics: &MetricSettings,
    seed: u64,
) -> Result<GatePolicy, SweepFileError> {
    let places = policy.as_ref().map(Section::places);
    let mut raw: RawGatePolicy = match policy {
        Some(section) => section.read_rest()?,
        None => RawGatePolicy::default(),
    };
    raw.primary = Some(metrics.primary.to_string());
    raw.guards = Some(metrics.guards.iter().map(ToString::to_string).collect());
    raw.seed.get_or_insert(seed);
    GatePolicy::try_from(raw).map_err(|error| {
        let key = match &error {
            evalfarm_gate::PolicyError::Range { key, .. } => key.as_str(),
            _ => "",
        };
        places.unwrap_or_default().of(key).refused(error)
    })
}
