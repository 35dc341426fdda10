//! `evalfarm compare` on two independent arms: success counts, or rows of unit, arm and outcome.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evalfarm_gate::{Arms, ArmsHypothesis, ArmsJudgement, GatePolicy, judge_arms};
use evalfarm_report::{Align, Table, p_value, share, signed};
use evalfarm_stats::{
    Arm, ArmRow, Better, Clustering, Outcome, OutcomeScale, Share, TwoSample, TwoSampleError,
};

use crate::commands::verdict_code;
use crate::failure::Failure;
use crate::output::Printer;

/// Arguments of `evalfarm compare` for independent arms.
#[derive(Debug, Args)]
pub(crate) struct OutcomeArgs {
    /// CSV with columns `unit`, `arm`, `outcome` and optionally `hypothesis` and `cluster`; BASELINE and CANDIDATE are then two of its
    /// arms. An empty outcome is a failure and counts as the worst
    #[arg(long, value_name = "CSV", conflicts_with_all = ["qrels", "primary", "guards", "metrics", "lower_is_better", "baseline_id", "candidate_id", "split"])]
    outcomes: Option<PathBuf>,
    /// What an outcome is: `success` (0 or 1), `positive` (a duration, a cost), or its bounds, e.g. `1..5`
    #[arg(long, value_parser = scale, default_value = "success", requires = "outcomes")]
    scale: Scale,
    /// Which way an outcome is better
    #[arg(long, value_enum, default_value = "higher")]
    better: BetterArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BetterArg {
    /// More is better
    Higher,
    /// Less is better
    Lower,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Success,
    Positive,
    Bounded { low: f64, high: f64 },
}

fn scale(text: &str) -> Result<Scale, String> {
    match text {
        "success" => return Ok(Scale::Success),
        "positive" => return Ok(Scale::Positive),
        _ => {}
    }
    let bounds = text
        .split_once("..")
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    match bounds {
        Some((low, high)) if low < high => Ok(Scale::Bounded { low, high }),
        _ => Err("expected `success`, `positive`, or bounds such as `1..5`".to_owned()),
    }
}

impl OutcomeArgs {
    /// Judges independent arms when the command line is about such, and returns the exit code.
    ///
    /// It is when `--outcomes` is given, or when both sides are written as successes of cases, e.g. `194/388`, and are no
    /// files.
    pub(crate) fn compare(
        &self,
        baseline: &Path,
        candidate: &Path,
        policy: &GatePolicy,
        printer: &Printer,
    ) -> Result<Option<u8>, Failure> {
        let hypotheses = match (&self.outcomes, counts(baseline), counts(candidate)) {
            (Some(file), _, _) => self.read(file, [baseline, candidate], printer)?,
            (None, Some(before), Some(after)) => vec![ArmsHypothesis {
                name: "success".to_owned(),
                arms: Arms::Shares {
                    baseline: before?,
                    candidate: after?,
                    better: self.better(),
                },
            }],
            (None, _, _) => return Ok(None),
        };
        let judgement = judge_arms(policy, &hypotheses).map_err(Failure::input)?;
        let names = [baseline, candidate].map(|side| side.display().to_string());
        printer.data(|| text(&judgement, &names), &judgement)?;
        Ok(Some(verdict_code(judgement.verdict)))
    }

    fn better(&self) -> Better {
        match self.better {
            BetterArg::Higher => Better::Higher,
            BetterArg::Lower => Better::Lower,
        }
    }

    /// Reads rows and gathers them by hypothesis.
    fn read(
        &self,
        file: &Path,
        arms: [&Path; 2],
        printer: &Printer,
    ) -> Result<Vec<ArmsHypothesis>, Failure> {
        let shown = file.display();
        let arms = arms.map(|arm| arm.display().to_string());
        if arms[0] == arms[1] {
            return Err(Failure::input(format!("both sides are arm `{}`", arms[0])));
        }
        let gathered = gathered(file, &arms)?;
        for (arm, rows) in &gathered.others {
            printer.warning(&format!(
                "`{shown}`: {rows} rows of arm `{arm}` are not compared"
            ));
        }
        let clustering = gathered.clustering;
        gathered
            .hypotheses
            .into_iter()
            .map(|(name, rows)| {
                if let (Scale::Success, Some((line, value))) = (self.scale, rows.not_binary()) {
                    return Err(Failure::input(format!(
                        "`{shown}`, line {line}: outcome `{value}` is no success: 0 and 1 are"
                    ))
                    .with_hint("say what an outcome is with `--scale`"));
                }
                let arms = self
                    .arms(&rows, clustering)
                    .map_err(|error| rows.failure(error, &shown.to_string(), &name))?;
                Ok(ArmsHypothesis { name, arms })
            })
            .collect()
    }

    /// Independent successes are counted; everything else is compared as rows.
    fn arms(&self, rows: &Rows, clustering: Clustering) -> Result<Arms, TwoSampleError> {
        let better = self.better();
        let scale = match self.scale {
            Scale::Success => OutcomeScale::Bounded {
                low: 0.0,
                high: 1.0,
                better,
            },
            Scale::Bounded { low, high } => OutcomeScale::Bounded { low, high, better },
            Scale::Positive => OutcomeScale::Positive { better },
        };
        let sample = TwoSample::new(&rows.cases, scale, clustering)?;
        if self.scale == Scale::Success
            && clustering == Clustering::Rows
            && let (Some(baseline), Some(candidate)) = (
                rows.successes(Arm::Baseline, better),
                rows.successes(Arm::Candidate, better),
            )
        {
            return Ok(Arms::Shares {
                baseline,
                candidate,
                better,
            });
        }
        Ok(Arms::Rows(sample))
    }
}

/// The rows of a file.
struct Gathered {
    hypotheses: BTreeMap<String, Rows>,
    clustering: Clustering,
    /// Rows of each arm that is not compared.
    others: BTreeMap<String, usize>,
}

/// Reads the rows of two arms, by hypothesis, and whether they are in clusters.
fn gathered(file: &Path, arms: &[String; 2]) -> Result<Gathered, Failure> {
    let shown = file.display();
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_path(file)
        .map_err(|error| {
            Failure::input(format!("failed to read the outcomes `{shown}`: {error}"))
        })?;
    let headers = reader.headers().map_err(Failure::input)?.clone();
    let columns = Columns::of(&headers).map_err(|wrong| {
        Failure::input(format!("`{shown}`, line 1: {wrong}"))
            .with_hint("the header names `unit`, `arm` and `outcome`, and where there are any `hypothesis` and `cluster`")
    })?;
    let mut gathered: BTreeMap<String, Rows> = BTreeMap::new();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| Failure::input(format!("`{shown}`: {error}")))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default();
        let arm = match cell(columns.arm) {
            arm if arm == arms[0] => Arm::Baseline,
            arm if arm == arms[1] => Arm::Candidate,
            other => {
                *others.entry(other.to_owned()).or_default() += 1;
                continue;
            }
        };
        let outcome = outcome(cell(columns.outcome)).ok_or_else(|| {
            Failure::input(format!(
                "`{shown}`, line {line}: outcome `{}` is no finite number, `true`, `false` or empty for a failure",
                cell(columns.outcome)
            ))
        })?;
        let unit = cell(columns.cluster.unwrap_or(columns.unit));
        if unit.is_empty() {
            return Err(Failure::input(format!(
                "`{shown}`, line {line}: the unit is empty"
            )));
        }
        let hypothesis = columns.hypothesis.map_or("outcome", cell);
        if hypothesis.is_empty() {
            return Err(Failure::input(format!(
                "`{shown}`, line {line}: the hypothesis is empty"
            )));
        }
        gathered
            .entry(hypothesis.to_owned())
            .or_default()
            .add(unit, arm, outcome, line);
    }
    if gathered.is_empty() {
        let found: Vec<String> = others.keys().map(|arm| format!("`{arm}`")).collect();
        let found = if found.is_empty() {
            "it has no rows at all".to_owned()
        } else {
            format!("only of {}", found.join(", "))
        };
        return Err(Failure::input(format!(
            "`{shown}` has no row of the arms `{}` and `{}`: {found}",
            arms[0], arms[1],
        )));
    }
    let clustering = match columns.cluster {
        Some(_) => Clustering::Units,
        None => Clustering::Rows,
    };
    Ok(Gathered {
        hypotheses: gathered,
        clustering,
        others,
    })
}

/// Most cases of an arm: nobody has more, and exact sums over more tables take minutes.
const MOST_CASES: u64 = 1_000_000_000_000;

/// Reads `successes/cases`, or returns nothing when it is not written so or names a file.
fn counts(side: &Path) -> Option<Result<Share, Failure>> {
    let text = side.to_str()?;
    let (successes, cases) = text.split_once('/')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_file = side.try_exists().unwrap_or(false);
    (digits(successes) && digits(cases) && !is_file).then(|| {
        let counted = (successes.parse().ok(), cases.parse().ok());
        let (Some(successes), Some(cases @ ..=MOST_CASES)) = counted else {
            return Err(Failure::input(format!(
                "`{text}` is too large: at most {MOST_CASES} cases can be compared"
            )));
        };
        Share::new(successes, cases).map_err(|error| {
            Failure::input(error).with_hint(format!(
                "`{text}` has to be successes of cases, e.g. 194/388"
            ))
        })
    })
}

fn outcome(text: &str) -> Option<Outcome> {
    match text.trim() {
        "" => Some(Outcome::Failed),
        "true" | "True" | "TRUE" => Some(Outcome::Value(1.0)),
        "false" | "False" | "FALSE" => Some(Outcome::Value(0.0)),
        number => {
            let number: f64 = number.parse().ok()?;
            number.is_finite().then_some(Outcome::Value(number))
        }
    }
}

struct Columns {
    unit: usize,
    arm: usize,
    outcome: usize,
    hypothesis: Option<usize>,
    cluster: Option<usize>,
}

impl Columns {
    fn of(headers: &csv::StringRecord) -> Result<Self, String> {
        let find = |name: &str| -> Result<Option<usize>, String> {
            let named = |(_, header): &(usize, &str)| header.trim_start_matches('\u{feff}') == name;
            let mut found = headers.iter().enumerate().filter(named);
            match (found.next(), found.next()) {
                (_, Some(_)) => Err(format!("column `{name}` is there twice")),
                (found, None) => Ok(found.map(|(at, _)| at)),
            }
        };
        let need = |name: &str| find(name)?.ok_or(format!("there is no column `{name}`"));
        Ok(Self {
            unit: need("unit")?,
            arm: need("arm")?,
            outcome: need("outcome")?,
            hypothesis: find("hypothesis")?,
            cluster: find("cluster")?,
        })
    }
}

/// The rows of one hypothesis, with where they stood and what their units are called.
#[derive(Default)]
struct Rows {
    cases: Vec<ArmRow>,
    lines: Vec<u64>,
    units: BTreeMap<String, u32>,
}

impl Rows {
    fn add(&mut self, unit: &str, arm: Arm, outcome: Outcome, line: u64) {
        let next = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        let unit = *self.units.entry(unit.to_owned()).or_insert(next);
        self.cases.push(ArmRow { unit, arm, outcome });
        self.lines.push(line);
    }

    /// Returns the first value that is neither 0 nor 1, with its line.
    fn not_binary(&self) -> Option<(u64, f64)> {
        let rows = self.cases.iter().zip(&self.lines);
        rows.filter_map(|(row, &line)| match row.outcome {
            Outcome::Value(value) => Some((line, value)),
            Outcome::Failed => None,
        })
        .find(|(_, value)| value.abs() > 0.0 && value.to_bits() != 1.0_f64.to_bits())
    }

    /// Counts an arm's successes, failures as the worst; nothing when a value is neither 0 nor 1.
    fn successes(&self, arm: Arm, better: Better) -> Option<Share> {
        let (mut successes, mut cases) = (0, 0);
        for row in self.cases.iter().filter(|row| row.arm == arm) {
            cases += 1;
            successes += match (row.outcome, better) {
                (Outcome::Value(value), _) if value.to_bits() == 1.0_f64.to_bits() => 1,
                (Outcome::Value(value), _) if value.abs() < f64::MIN_POSITIVE => 0,
                (Outcome::Value(_), _) => return None,
                (Outcome::Failed, Better::Higher) => 0,
                (Outcome::Failed, Better::Lower) => 1,
            };
        }
        Share::new(successes, cases).ok()
    }

    /// Says what is wrong in terms of the file.
    fn failure(&self, error: TwoSampleError, file: &str, hypothesis: &str) -> Failure {
        let line = |row: usize| self.lines.get(row).copied().unwrap_or_default();
        let name = |unit: u32| {
            let found = self.units.iter().find(|(_, number)| **number == unit);
            found.map_or(String::new(), |(name, _)| name.clone())
        };
        match error {
            TwoSampleError::RepeatedUnit { unit, first, row } => Failure::input(format!(
                "`{file}`: unit `{}` is in line {} and again in line {}, and no cluster is declared",
                name(unit),
                line(first),
                line(row),
            ))
            .with_hint(
                "rows of one person are not independent: add a column `cluster`, and whole clusters are compared",
            ),
            TwoSampleError::UnitInBothArms { unit, row } => Failure::input(format!(
                "`{file}`, line {}: cluster `{}` has rows in both arms",
                line(row),
                name(unit),
            ))
            .with_hint("a cluster is assigned to one arm as a whole; compare both sides of the same cases as value tables"),
            TwoSampleError::Value { row, value, high, .. } if high >= f64::MAX => Failure::input(format!(
                "`{file}`, line {}: outcome `{value}` is below 0",
                line(row),
            ))
            .with_hint("`--scale positive` is for durations and costs"),
            TwoSampleError::Value { row, value, low, high } => Failure::input(format!(
                "`{file}`, line {}: outcome `{value}` is outside [{low}, {high}]",
                line(row),
            ))
            .with_hint("say what an outcome is with `--scale`"),
            TwoSampleError::EmptyArm(arm) => {
                let side = match arm {
                    Arm::Baseline => "baseline",
                    Arm::Candidate => "candidate",
                };
                Failure::input(format!("`{file}`: the {side}'s arm has no rows of `{hypothesis}`"))
            }
            error @ TwoSampleError::Scale { .. } => Failure::input(error),
        }
    }
}

fn text(judgement: &ArmsJudgement, names: &[String; 2]) -> String {
    let mut table = Table::new(&[
        ("hypothesis", Align::Left),
        ("verdict", Align::Left),
        ("baseline", Align::Right),
        ("candidate", Align::Right),
        ("effect", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("q", Align::Right),
        ("why", Align::Left),
    ]);
    for result in &judgement.results {
        let side = |value: Option<f64>, counts: evalfarm_stats::ArmCounts| match value {
            Some(value) => format!("{} of {}", share(value), counts.rows),
            None if counts.clusters == counts.rows => format!("{} rows", counts.rows),
            None => format!("{} rows, {} clusters", counts.rows, counts.clusters),
        };
        table.row([
            result.hypothesis.clone(),
            result.verdict.to_string(),
            side(result.baseline_share, result.baseline),
            side(result.candidate_share, result.candidate),
            signed(result.effect),
            result.interval.map_or("-".to_owned(), |interval| {
                format!("[{}, {}]", signed(interval.low), signed(interval.high))
            }),
            p_value(result.p.value()),
            p_value(result.q.value()),
            result.reason.clone(),
        ]);
    }
    format!(
        "{}\n  candidate  {}\n  baseline   {}\n\n{}\nfamily of {}, corrected by Holm; at least {} independent cases needed in each arm\n",
        judgement.verdict,
        names[1],
        names[0],
        table.text(),
        judgement.family,
        judgement.min_per_arm,
    )
}
