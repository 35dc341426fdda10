//! The keys of each strategy that moves in a space.

use evalfarm_domain::{Combine, FieldName};

use super::error::SweepFileError;
use super::reader::{Entry, Section, words};
use crate::sweep::strategy::{
    AxisScanSettings, DEFAULT_LEVELS, DescentSettings, GridSettings, MAX_GRID, RandomPoints,
    RandomSettings, RefineSettings, StagedSettings,
};
use crate::sweep::{Point, SMALLEST_RATIO, Space, range};

/// Keys of the random box.
pub(super) const RANDOM_KEYS: [&str; 4] = ["points", "zero_probability", "spread", "min_ratio"];

/// Most passes of a descent. A descent that still moves after so many is going up and down by rounding.
const MAX_PASSES: u32 = 100;

/// Reads the keys of one strategy.
pub(super) struct MovesReader<'s, 'i> {
    pub(super) section: Section<'i>,
    pub(super) space: &'s Space,
    pub(super) baseline: &'s Point,
}

impl<'s> MovesReader<'s, '_> {
    fn fields(&self) -> Vec<&'s str> {
        self.space.fields().iter().map(FieldName::as_str).collect()
    }

    /// Reads ratios: one number, a list, or a range.
    fn ratios(&self, entry: Entry<'_>) -> Result<Vec<f64>, SweepFileError> {
        let max = self.space.max_ratio();
        let each = format!("0, or a number from {SMALLEST_RATIO:e} to `max_ratio` {max}");
        let within = |ratio: f64| ratio == 0.0 || (SMALLEST_RATIO..=max).contains(&ratio);
        values(entry, &each, within)
    }

    fn levels(&mut self) -> Result<Vec<f64>, SweepFileError> {
        if let Some(entry) = self.section.take("levels") {
            return self.ratios(entry);
        }
        let max = self.space.max_ratio();
        let within = DEFAULT_LEVELS.into_iter().filter(|level| *level <= max);
        Ok(within.collect())
    }

    /// Reads which fields are varied, and in which order; all of them unless the file says otherwise.
    fn axes(&mut self) -> Result<Vec<usize>, SweepFileError> {
        let fields = self.fields();
        let Some(entry) = self.section.take("fields") else {
            return Ok((0..fields.len()).collect());
        };
        let place = entry.place();
        let mut axes = Vec::new();
        for entry in entry.list("a list of fields, without the anchor")? {
            let axis = entry.choice(&fields)?;
            if axes.contains(&axis) {
                return Err(entry.not_allowed("each field once"));
            }
            axes.push(axis);
        }
        if axes.is_empty() {
            return Err(place.conflict("is empty; leave it out to vary all fields"));
        }
        Ok(axes)
    }

    fn factors(&mut self) -> Result<Vec<f64>, SweepFileError> {
        let Some(entry) = self.section.take("factors") else {
            return Ok(RefineSettings::all(self.space).factors);
        };
        values(entry, "a number above 0, at most 1000", |factor| {
            factor > 0.0 && factor <= 1000.0
        })
    }

    /// Reads the keys of `grid`.
    pub(super) fn grid(mut self) -> Result<GridSettings, SweepFileError> {
        let fields = self.fields();
        let mut ratios: Vec<Vec<f64>> = self.baseline.ratios().iter().map(|&r| vec![r]).collect();
        let allowed = "a table of ratios for each field, e.g. `{ brand = \"0..1 step 0.1\", category = [0, 0.3] }`";
        let entry = self.section.take("ratios");
        let place = entry.as_ref().map(Entry::place);
        for (name, entry) in entry.map_or(Ok(Vec::new()), |entry| entry.pairs(allowed))? {
            let Some(axis) = fields.iter().position(|field| *field == name) else {
                let problem = format!(
                    "is not a field that can vary; these can: {}",
                    words(&fields)
                );
                return Err(entry.conflict(problem));
            };
            ratios[axis] = self.ratios(entry)?;
        }
        let settings = GridSettings {
            ratios,
            combines: self.combines()?,
        };
        let combinations = settings.combinations();
        match place {
            Some(place) if combinations > MAX_GRID => Err(place.conflict(format!(
                "asks for {combinations} combinations; at most {MAX_GRID} are possible"
            ))),
            None if combinations == 1 => Err(self.section.missing("ratios", allowed)),
            Some(_) | None => Ok(settings),
        }
    }

    /// Reads the ways to combine fields: each tie breaker of `best_fields`, and `most_fields`, as far as listed.
    fn combines(&mut self) -> Result<Vec<Combine>, SweepFileError> {
        let own = self.space.combine();
        let (mut best, mut most) = match own {
            Combine::BestFields { .. } => (true, false),
            Combine::MostFields => (false, true),
        };
        if let Some(entry) = self.section.take("combine") {
            (best, most) = (false, false);
            let allowed = "a list of `\"best_fields\"`, `\"most_fields\"`";
            let place = entry.place();
            for entry in entry.list(allowed)? {
                match entry.choice(&["best_fields", "most_fields"])? {
                    0 => best = true,
                    _ => most = true,
                }
            }
            if !best && !most {
                return Err(
                    place.conflict("is empty; leave it out to combine fields as the baseline does")
                );
            }
        }
        let mut combines = Vec::new();
        match self.section.take("tie_breaker") {
            Some(entry) if !best => {
                return Err(
                    entry.conflict("belongs to `best_fields`, which `combine` does not list")
                );
            }
            Some(entry) => {
                let place = entry.place();
                let ties = values(entry, "a number from 0 to 1", |tie| {
                    (0.0..=1.0).contains(&tie)
                })?;
                for tie in ties {
                    let combine = Combine::best_fields(tie);
                    combines.push(combine.map_err(|error| place.clone().refused(error))?);
                }
            }
            None if best => combines.push(match own {
                Combine::BestFields { .. } => own,
                Combine::MostFields => Combine::BestFields { tie_breaker: 0.0 },
            }),
            None => {}
        }
        combines.extend(most.then_some(Combine::MostFields));
        Ok(combines)
    }

    /// Reads the keys of `axis_scan`.
    pub(super) fn axis_scan(mut self) -> Result<AxisScanSettings, SweepFileError> {
        Ok(AxisScanSettings {
            axes: self.axes()?,
            levels: self.levels()?,
        })
    }

    /// Reads the keys of `coordinate_descent`.
    pub(super) fn descent(mut self) -> Result<DescentSettings, SweepFileError> {
        let defaults = DescentSettings::all(self.space);
        let passes = self.section.count("passes", 1..=MAX_PASSES)?;
        Ok(DescentSettings {
            axes: self.axes()?,
            levels: self.levels()?,
            passes: passes.unwrap_or(defaults.passes),
            min_improvement: self.min_improvement(defaults.min_improvement)?,
            vary_dead_fields: self.section.flag("vary_dead_fields")?.unwrap_or(false),
        })
    }

    fn min_improvement(&mut self, default: f64) -> Result<f64, SweepFileError> {
        let least = |least: f64| least >= 0.0;
        let improvement =
            self.section
                .number("min_improvement", "a number of at least 0", least)?;
        Ok(improvement.unwrap_or(default))
    }

    /// Reads the keys of `random`.
    pub(super) fn random(mut self) -> Result<RandomSettings, SweepFileError> {
        self.random_box()
    }

    fn random_box(&mut self) -> Result<RandomSettings, SweepFileError> {
        let defaults = RandomSettings::default();
        let max = self.space.max_ratio();
        let section = &mut self.section;
        let most = u32::try_from(MAX_GRID).unwrap_or(u32::MAX);
        let points = section.count("points", 1..=most)?;
        let zero = "a number from 0 to less than 1";
        let zero = section.number("zero_probability", zero, |p| (0.0..1.0).contains(&p))?;
        let spread = section.number("spread", "a number above 1, at most 1000", |spread| {
            spread > 1.0 && spread <= 1000.0
        })?;
        let allowed = format!("a number from {SMALLEST_RATIO:e} to `max_ratio` {max}");
        let min_ratio = section.number("min_ratio", &allowed, |ratio| {
            (SMALLEST_RATIO..=max).contains(&ratio)
        })?;
        Ok(RandomSettings {
            points: points.unwrap_or(defaults.points),
            zero_probability: zero.unwrap_or(defaults.zero_probability),
            spread: spread.unwrap_or(defaults.spread),
            min_ratio: min_ratio.unwrap_or(defaults.min_ratio.min(max)),
        })
    }

    /// Reads the keys of `refine`.
    pub(super) fn refine(mut self) -> Result<RefineSettings, SweepFileError> {
        Ok(RefineSettings {
            axes: self.axes()?,
            factors: self.factors()?,
        })
    }

    /// Reads the keys of `staged`.
    pub(super) fn staged(mut self) -> Result<StagedSettings, SweepFileError> {
        let defaults = StagedSettings::default();
        let passes = self.section.count("passes", 1..=MAX_PASSES)?;
        let second_passes = self.section.count("second_passes", 1..=MAX_PASSES)?;
        Ok(StagedSettings {
            levels: self.levels()?,
            passes: passes.unwrap_or(defaults.passes),
            second_passes: second_passes.unwrap_or(defaults.second_passes),
            min_improvement: self.min_improvement(defaults.min_improvement)?,
            random: self.random_points()?,
            factors: self.factors()?,
            vary_dead_fields: self.section.flag("vary_dead_fields")?.unwrap_or(false),
        })
    }

    /// Reads the points of the random stage: given ones, or the settings of the generator.
    fn random_points(&mut self) -> Result<RandomPoints, SweepFileError> {
        let Some(entry) = self.section.take("random_points") else {
            return self.random_box().map(RandomPoints::Generated);
        };
        for key in RANDOM_KEYS {
            if let Some(other) = self.section.take(key) {
                return Err(
                    other.conflict("is given beside `sweep.random_points`; keep one of them")
                );
            }
        }
        let fields = self.fields();
        let mut points = Vec::new();
        for entry in entry.list("a list of tables with a ratio for each field")? {
            let place = entry.place();
            let mut table = entry.table(&fields)?;
            let mut ratios = Vec::new();
            for field in &fields {
                let entry = table.require(field, "the ratio of the field to the anchor")?;
                let allowed = format!("a number from 0 to `max_ratio` {}", self.space.max_ratio());
                let within = |ratio: f64| (0.0..=self.space.max_ratio()).contains(&ratio);
                ratios.push(entry.number(&allowed, within)?);
            }
            let point = self.space.point(&ratios);
            points.push(point.map_err(|error| place.refused(error))?);
        }
        Ok(RandomPoints::Given(points))
    }
}

/// Reads one number, a list of numbers, or a range like `"0..1 step 0.1"`; `each` says what a value may be.
fn values(
    entry: Entry<'_>,
    each: &str,
    allow: impl Fn(f64) -> bool,
) -> Result<Vec<f64>, SweepFileError> {
    let place = entry.place();
    let values: Vec<f64> = if entry.is_list() {
        let entries = entry.list(each)?;
        let numbers = entries.iter().map(|entry| entry.number(each, &allow));
        numbers.collect::<Result<_, _>>()?
    } else if let Some(text) = entry.as_text() {
        let values = range(text).map_err(|error| entry.refused(error))?;
        if let Some(value) = values.iter().find(|value| !allow(**value)) {
            return Err(entry.conflict(format!("reaches {value}, but each value has to be {each}")));
        }
        values
    } else {
        let allowed = format!("{each}; or a list of such, or a range like `\"0..1 step 0.1\"`");
        vec![entry.number(&allowed, allow)?]
    };
    if values.is_empty() {
        return Err(place.conflict("is empty; give at least one value"));
    }
    Ok(values.into_iter().map(|value| value + 0.0).collect()) // -0.0 becomes 0.0
}
