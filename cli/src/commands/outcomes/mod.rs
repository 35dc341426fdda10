//! `evalfarm compare` on two independent arms: success counts, or rows of unit, arm and outcome.

mod rows;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use evalfarm_gate::{Arms, ArmsHypothesis, ArmsJudgement, GatePolicy, judge_arms};
use evalfarm_report::{Align, Table, p_value, share, signed};
use evalfarm_stats::{Arm, Better, Clustering, OutcomeScale, Share, TwoSample, TwoSampleError};

use self::rows::{Rows, gathered};
use crate::commands::verdict_code;
use crate::failure::Failure;
use crate::output::Printer;

/// Arguments of `evalfarm compare` for independent arms.
#[derive(Debug, Args)]
pub(crate) struct OutcomeArgs {
    /// CSV with columns `unit`, `arm`, `outcome` and optionally `hypothesis` and `cluster`; BASELINE and CANDIDATE are then two of its
    /// arms. An empty outcome is a failure: it counts as the worst, and more of them than the policy's `max_failed_share` never promote
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
                    failed: [0, 0],
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
        for ignored in &gathered.ignored {
            printer.warning(ignored);
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
                failed: [Arm::Baseline, Arm::Candidate].map(|arm| rows.failed(arm)),
            });
        }
        Ok(Arms::Rows(sample))
    }
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
