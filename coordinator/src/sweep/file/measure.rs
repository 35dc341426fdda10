//! What is measured, and the engine settings that decide the scores.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evalfarm_domain::{
    AnalyzerKind, EngineName, EngineSettings, GainMap, Gains, Grade, Measure, Measurement, Metric,
};
use serde::Serialize;

use super::error::SweepFileError;
use super::reader::{Entry, Section};

/// Fewest hits retrieved unless a file says otherwise.
const LEAST_DEPTH: u32 = 10;

/// Hits retrieved when a metric without cutoff looks at all of them. Source: `trec_eval` runs are cut at 1,000.
const FULL_DEPTH: u32 = 1_000;

/// Largest depth. A query's list then still fits a few hundred kilobytes.
const MAX_DEPTH: u32 = 10_000;

/// What a sweep file says about metrics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricSettings {
    /// The metric that strategies climb and the verdict is about.
    pub primary: Metric,
    /// Metrics that must not fall.
    pub guards: Vec<Metric>,
    /// Metrics that are measured and reported only.
    pub report: Vec<Metric>,
    /// Hits retrieved for each query, at least the largest cutoff.
    pub depth: NonZeroU32,
    /// Gains, when the file overrides those of the dataset.
    pub gains: Option<Gains>,
    /// Lowest relevant grade, when the file overrides that of the dataset.
    pub relevant_from: Option<Grade>,
}

impl MetricSettings {
    /// Returns every metric once: the primary, the guards, then the others, in the order of the file.
    pub fn metrics(&self) -> Vec<Metric> {
        let others = self.guards.iter().chain(&self.report).copied();
        std::iter::once(self.primary).chain(others).collect()
    }

    /// Returns what is measured for each query, with the dataset's gains and relevance level where the file says
    /// nothing.
    pub fn measurement(
        &self,
        gains: &Gains,
        relevant_from: Grade,
        top_grade: Grade,
    ) -> Measurement {
        Measurement {
            metrics: self.metrics(),
            depth: self.depth,
            gains: self.gains.clone().unwrap_or_else(|| gains.clone()),
            relevant_from: self.relevant_from.unwrap_or(relevant_from),
            top_grade,
        }
    }
}

/// Reads `[engine]`: what decides the scores, where everything has Lucene's defaults, and which engine answers.
pub(super) fn engine(
    document: &mut Section<'_>,
) -> Result<(EngineSettings, Option<EngineName>), SweepFileError> {
    let mut settings = EngineSettings::default();
    let Some(mut section) = document.table("engine", &["name", "analyzer", "k1", "b"])? else {
        return Ok((settings, None));
    };
    let served_by = match section.take("name") {
        Some(entry) => Some(engine_name(&entry)?),
        None => None,
    };
    if let Some(analyzer) = section.take("analyzer") {
        settings.analyzer = match analyzer.choice(&["standard", "english"])? {
            0 => AnalyzerKind::Standard,
            _ => AnalyzerKind::English,
        };
    }
    let single = |number: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "scores are f32, as Lucene's are"
        )]
        let single = number as f32 + 0.0; // -0.0 becomes 0.0
        single
    };
    let k1 = section.number("k1", "a number from 0 to 1000", |k1| {
        (0.0..=1000.0).contains(&k1)
    })?;
    let b = section.number("b", "a number from 0 to 1", |b| (0.0..=1.0).contains(&b))?;
    settings.k1 = k1.map_or(settings.k1, single);
    settings.b = b.map_or(settings.b, single);
    Ok((settings, served_by))
}

/// Reads the name of an engine. It names one that workers are configured with, and is never an address.
fn engine_name(entry: &Entry<'_>) -> Result<EngineName, SweepFileError> {
    let expected =
        "the name of an engine in the workers' configuration: letters, digits, `-` and `_`";
    let name = entry.text(expected)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.bytes().all(allowed) {
        return Err(entry.not_allowed(expected));
    }
    EngineName::try_from(name).map_err(|error| entry.refused(error))
}

const METRIC: &str =
    "the name of a metric, e.g. `\"nDCG@10\"`, `\"RR@10\"`, `\"R@10\"`, `\"P@10\"`";

fn metric(entry: &Entry<'_>) -> Result<Metric, SweepFileError> {
    let name = entry.text(METRIC)?;
    name.parse()
        .map_err(|error: evalfarm_domain::MetricError| entry.refused(error))
}

fn metric_list(entry: Entry<'_>, taken: &mut Vec<Metric>) -> Result<Vec<Metric>, SweepFileError> {
    let mut metrics = Vec::new();
    for entry in entry.list("a list of metric names")? {
        let metric = metric(&entry)?;
        if taken.contains(&metric) {
            return Err(entry.conflict("is measured already; name each metric once"));
        }
        taken.push(metric);
        metrics.push(metric);
    }
    Ok(metrics)
}

/// Reads `[metrics]`; the defaults are nDCG@10 with the guards RR@10, R@10 and P@10.
pub(super) fn metrics(document: &mut Section<'_>) -> Result<MetricSettings, SweepFileError> {
    let known = [
        "primary",
        "guards",
        "report",
        "depth",
        "gains",
        "relevant_from",
    ];
    let mut section = document.table("metrics", &known)?;
    let mut take = |key: &str| section.as_mut().and_then(|section| section.take(key));
    let primary = match take("primary") {
        None => Metric::NDCG_10,
        Some(entry) => primary(&entry)?,
    };
    let mut taken = vec![primary];
    let guards = match take("guards") {
        Some(entry) => metric_list(entry, &mut taken)?,
        None => default_guards(primary),
    };
    taken.extend(&guards);
    let report = take("report").map_or(Ok(Vec::new()), |entry| metric_list(entry, &mut taken))?;
    let least = least_depth(&taken);
    let depth = match take("depth") {
        None => least.max(LEAST_DEPTH).max(full_depth(&taken)),
        Some(entry) => {
            let depth = entry.count(1..=MAX_DEPTH)?;
            if depth < least {
                let allowed = format!("at least the largest cutoff of the metrics, {least}");
                return Err(entry.not_allowed(&allowed));
            }
            depth
        }
    };
    Ok(MetricSettings {
        primary,
        guards,
        report,
        depth: NonZeroU32::new(depth).unwrap_or(NonZeroU32::MIN),
        gains: take("gains").map(gains).transpose()?,
        relevant_from: take("relevant_from")
            .map(|entry| grade(&entry))
            .transpose()?,
    })
}

fn primary(entry: &Entry<'_>) -> Result<Metric, SweepFileError> {
    let primary = metric(entry)?;
    match primary.measure() {
        Measure::Judged | Measure::NumQ | Measure::NumRel | Measure::NumRet => Err(entry
            .not_allowed(
                "a metric of relevance or `zero_result`: this one does not say what is better",
            )),
        _ => Ok(primary),
    }
}

/// Returns RR@10, R@10 and P@10, without the primary metric.
fn default_guards(primary: Metric) -> Vec<Metric> {
    let cutoff = NonZeroU32::new(10);
    [Measure::ReciprocalRank, Measure::Recall, Measure::Precision]
        .into_iter()
        .filter_map(|measure| Metric::new(measure, cutoff).ok())
        .filter(|guard| *guard != primary)
        .collect()
}

fn least_depth(metrics: &[Metric]) -> u32 {
    let cutoffs = metrics.iter().filter_map(|metric| metric.cutoff());
    cutoffs.map(NonZeroU32::get).max().unwrap_or(1)
}

/// Returns the depth that metrics without cutoff need, 0 when there are none.
fn full_depth(metrics: &[Metric]) -> u32 {
    let looks_at_all = |metric: &Metric| {
        metric.cutoff().is_none()
            && !matches!(
                metric.measure(),
                Measure::ZeroResult | Measure::NumQ | Measure::NumRel
            )
    };
    if metrics.iter().any(looks_at_all) {
        FULL_DEPTH
    } else {
        0
    }
}

fn grade(entry: &Entry<'_>) -> Result<Grade, SweepFileError> {
    let number = entry.number("a grade, e.g. `1`", |_| true)?;
    Grade::try_from(number).map_err(|error| entry.refused(error))
}

/// Reads gains: `"linear"`, `"exponential"`, or a table of a gain for each grade.
fn gains(entry: Entry<'_>) -> Result<Gains, SweepFileError> {
    let allowed = "`\"linear\"`, `\"exponential\"` or a table like `{ 0 = 0, 1 = 1, 2 = 3 }`";
    if entry.as_text().is_some() {
        return match entry.choice(&["linear", "exponential"])? {
            0 => Ok(Gains::Linear),
            _ => Ok(Gains::Exponential),
        };
    }
    let whole = entry.place();
    let mut map = BTreeMap::new();
    for (key, entry) in entry.pairs(allowed)? {
        let number = key.parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            return Err(entry.conflict("is no grade; grades are numbers, e.g. `2 = 3`"));
        };
        let grade = Grade::try_from(number).map_err(|error| entry.refused(error))?;
        let gain = entry.number("a number of at least 0", |gain| gain >= 0.0)?;
        if map.insert(grade, gain).is_some() {
            return Err(entry.conflict("gives this grade a second gain; keep one of them"));
        }
    }
    let map = GainMap::new(map).map_err(|error| whole.refused(error))?;
    Ok(Gains::Map(map))
}
