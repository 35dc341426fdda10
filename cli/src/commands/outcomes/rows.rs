//! Rows of unit, arm and outcome, as a file has them.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_dataset::Delimited;
use evalfarm_stats::{Arm, ArmRow, Better, Clustering, Outcome, Share, TwoSampleError};

use crate::commands::measuring;
use crate::failure::Failure;

/// The rows of a file.
pub(super) struct Gathered {
    pub(super) hypotheses: BTreeMap<String, Rows>,
    pub(super) clustering: Clustering,
    /// Columns and arms that are not looked at, in sentences.
    pub(super) ignored: Vec<String>,
}

/// Reads the rows of two arms, by hypothesis, and whether they are in clusters.
pub(super) fn gathered(file: &Path, arms: &[String; 2]) -> Result<Gathered, Failure> {
    let shown = file.display();
    let mut table = Delimited::open(file).map_err(measuring::input)?;
    let columns = Columns::of(table.header()).map_err(|wrong| {
        Failure::input(format!("`{shown}`, line 1: {wrong}"))
            .with_hint("the header names `unit`, `arm` and `outcome`, and where there are any `hypothesis` and `cluster`")
    })?;
    let mut hypotheses: BTreeMap<String, Rows> = BTreeMap::new();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    while let Some((line, cells)) = table.next().map_err(measuring::input)? {
        let row = Row::of(&cells, &columns, arms)
            .map_err(|problem| problem.into_failure(&format!("`{shown}`, line {line}")))?;
        match row {
            Row::Other(arm) => *others.entry(arm.to_owned()).or_default() += 1,
            Row::Case(case) => hypotheses
                .entry(case.hypothesis.to_owned())
                .or_default()
                .add(&case, line)
                .map_err(|problem| problem.into_failure(&format!("`{shown}`, line {line}")))?,
        }
    }
    if hypotheses.is_empty() {
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
    let unknown = columns.unknown.iter();
    let unknown = unknown.map(|name| format!("`{shown}`: column `{name}` is not looked at"));
    let rows = others
        .iter()
        .map(|(arm, rows)| format!("`{shown}`: {rows} rows of arm `{arm}` are not compared"));
    Ok(Gathered {
        ignored: unknown.chain(rows).collect(),
        clustering: match columns.cluster {
            Some(_) => Clustering::Units,
            None => Clustering::Rows,
        },
        hypotheses,
    })
}

/// What is wrong with a row, and what to do about it.
struct Problem {
    text: String,
    hint: Option<String>,
}

impl From<String> for Problem {
    fn from(text: String) -> Self {
        Self { text, hint: None }
    }
}

impl Problem {
    fn into_failure(self, place: &str) -> Failure {
        let failure = Failure::input(format!("{place}: {}", self.text));
        match self.hint {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

/// A row of the file.
enum Row<'a> {
    Case(Case<'a>),
    /// Of an arm that is not compared.
    Other(&'a str),
}

struct Case<'a> {
    hypothesis: &'a str,
    unit: &'a str,
    cluster: Option<&'a str>,
    arm: Arm,
    outcome: Outcome,
}

impl<'a> Row<'a> {
    fn of(cells: &'a [String], columns: &Columns, arms: &[String; 2]) -> Result<Self, Problem> {
        if let Some(cell) = cells.iter().find(|cell| cell.trim().contains(['\n', '\r'])) {
            let start: String = cell.chars().take(40).collect();
            return Err(Problem {
                text: format!("a cell that begins with {start:?} goes over several lines"),
                hint: Some("a quote was opened and not closed in its line".to_owned()),
            });
        }
        let cell = |at: usize| cells[at].trim();
        let filled = |what: &str, at: usize| match cell(at) {
            "" => Err(Problem::from(format!("the {what} is empty"))),
            text => Ok(text),
        };
        let arm = match cell(columns.arm) {
            arm if arm == arms[0] => Arm::Baseline,
            arm if arm == arms[1] => Arm::Candidate,
            other => {
                let alike = arms.iter().find(|arm| bare(arm) == bare(other));
                return match alike {
                    None => Ok(Self::Other(other)),
                    Some(meant) => Err(Problem {
                        text: format!("arm `{other}` is `{meant}` but for case, blanks or quotes"),
                        hint: Some(format!(
                            "write it `{meant}`, or rename the arm if it is another one"
                        )),
                    }),
                };
            }
        };
        let outcome = outcome(cell(columns.outcome)).ok_or_else(|| {
            format!(
                "outcome `{}` is no finite number, `true`, `false` or empty for a failure",
                cell(columns.outcome)
            )
        })?;
        Ok(Self::Case(Case {
            hypothesis: match columns.hypothesis {
                Some(at) => filled("hypothesis", at)?,
                None => "outcome",
            },
            unit: filled("unit", columns.unit)?,
            cluster: columns
                .cluster
                .map(|at| filled("cluster", at))
                .transpose()?,
            arm,
            outcome,
        }))
    }
}

/// Returns what is left of an arm's name without what a typo changes.
fn bare(arm: &str) -> String {
    let kept = |c: &char| !(c.is_whitespace() || ['"', '\''].contains(c));
    arm.to_lowercase().chars().filter(kept).collect()
}

fn outcome(text: &str) -> Option<Outcome> {
    match text {
        "" => Some(Outcome::Failed),
        "true" | "True" | "TRUE" => Some(Outcome::Value(1.0)),
        "false" | "False" | "FALSE" => Some(Outcome::Value(0.0)),
        number => {
            let number: f64 = number.parse().ok()?;
            number.is_finite().then_some(Outcome::Value(number))
        }
    }
}

/// Where the columns are; their names may be written in any case.
struct Columns {
    unit: usize,
    arm: usize,
    outcome: usize,
    hypothesis: Option<usize>,
    cluster: Option<usize>,
    unknown: Vec<String>,
}

impl Columns {
    fn of(header: &[String]) -> Result<Self, String> {
        const KNOWN: [&str; 5] = ["unit", "arm", "outcome", "hypothesis", "cluster"];
        let find = |name: &str| -> Result<Option<usize>, String> {
            let named = |&at: &usize| header[at].eq_ignore_ascii_case(name);
            let mut found = (0..header.len()).filter(named);
            match (found.next(), found.next()) {
                (Some(first), Some(second)) => Err(format!(
                    "columns `{}` and `{}` are both `{name}`",
                    header[first], header[second]
                )),
                (found, _) => Ok(found),
            }
        };
        let need = |name: &str| find(name)?.ok_or(format!("there is no column `{name}`"));
        let known = |name: &String| KNOWN.iter().any(|known| known.eq_ignore_ascii_case(name));
        Ok(Self {
            unit: need("unit")?,
            arm: need("arm")?,
            outcome: need("outcome")?,
            hypothesis: find("hypothesis")?,
            cluster: find("cluster")?,
            unknown: header.iter().filter(|name| !known(name)).cloned().collect(),
        })
    }
}

/// Where a unit of a cluster was first seen.
struct Member {
    cluster: String,
    arm: Arm,
    line: u64,
}

/// The rows of one hypothesis, with where they stood and what their units (clusters, when there are any) are called.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) cases: Vec<ArmRow>,
    lines: Vec<u64>,
    units: BTreeMap<String, u32>,
    /// Units within clusters, by name.
    members: BTreeMap<String, Member>,
}

impl Rows {
    fn add(&mut self, case: &Case<'_>, line: u64) -> Result<(), Problem> {
        if let Some(cluster) = case.cluster {
            self.check_member(case, cluster, line)?;
        }
        let name = case.cluster.unwrap_or(case.unit);
        let next = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        let unit = *self.units.entry(name.to_owned()).or_insert(next);
        self.cases.push(ArmRow {
            unit,
            arm: case.arm,
            outcome: case.outcome,
        });
        self.lines.push(line);
        Ok(())
    }

    /// A unit belongs to one cluster and one arm.
    fn check_member(&mut self, case: &Case<'_>, cluster: &str, line: u64) -> Result<(), Problem> {
        let unit = case.unit;
        let first = self
            .members
            .entry(unit.to_owned())
            .or_insert_with(|| Member {
                cluster: cluster.to_owned(),
                arm: case.arm,
                line,
            });
        if first.arm != case.arm {
            return Err(Problem {
                text: format!("unit `{unit}` is in the other arm in line {}: it has rows in both arms", first.line),
                hint: Some("a unit is assigned to one arm; compare both sides of the same cases as value tables".to_owned()),
            });
        }
        if first.cluster != cluster {
            return Err(Problem {
                text: format!(
                    "unit `{unit}` is in cluster `{cluster}` here and in cluster `{}` in line {}",
                    first.cluster, first.line
                ),
                hint: Some(
                    "clusters that share units are not independent: give them one name".to_owned(),
                ),
            });
        }
        Ok(())
    }

    /// Returns the first value that is neither 0 nor 1, with its line.
    pub(super) fn not_binary(&self) -> Option<(u64, f64)> {
        let rows = self.cases.iter().zip(&self.lines);
        rows.filter_map(|(row, &line)| match row.outcome {
            Outcome::Value(value) => Some((line, value)),
            Outcome::Failed => None,
        })
        .find(|(_, value)| value.abs() > 0.0 && value.to_bits() != 1.0_f64.to_bits())
    }

    /// Counts an arm's successes, failures as the worst; nothing when a value is neither 0 nor 1.
    pub(super) fn successes(&self, arm: Arm, better: Better) -> Option<Share> {
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

    /// Counts an arm's failures.
    pub(super) fn failed(&self, arm: Arm) -> usize {
        let failed = |row: &&ArmRow| row.arm == arm && matches!(row.outcome, Outcome::Failed);
        self.cases.iter().filter(failed).count()
    }

    /// Says what is wrong in terms of the file.
    pub(super) fn failure(&self, error: TwoSampleError, file: &str, hypothesis: &str) -> Failure {
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
