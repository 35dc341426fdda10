//! `evalfarm power`: how large an effect a comparison can find, and how many queries it takes.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evalfarm_report::{Align, Table, count, share, value};
use evalfarm_stats::{
    Design, PairedChange, PairedDifferences, PowerGoal, PowerSimulation, Resamples, ResamplingPlan,
    ShareTest, TwoShares, paired_t_detectable, paired_t_power, paired_t_sample_size,
    simulated_detectable, standard_deviation_of_difference, two_shares_detectable,
};
use serde_json::{Map, Value, json};

use crate::commands::pair::Pair;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm power pilot baseline.json candidate.json --effect 0.01 --hypotheses 4
  evalfarm power means --sd 0.35 --correlation 0.9 --queries 600
  evalfarm power flips --gained 0.06 --lost 0.03 --queries 1400
  evalfarm power proportions 0.50 0.60
  evalfarm power proportions 0.50 0.60 --test z --per-arm 194

The standard deviation that decides is that of the paired differences. One system's own says nothing of it: give `means` the
correlation of both systems' values too, or a pilot pair of result tables.";

/// Fewer changed queries than this are simulated: the normal approximation is too optimistic for them.
const FEW_CHANGED: usize = 100;

/// Simulated samples: the power then has a standard error below .013.
const SIMULATIONS: u32 = 1_000;

/// Resamples of each simulated test.
const RESAMPLES: u32 = 1_000;

/// Arguments of `evalfarm power`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PowerArgs {
    /// Level of the test, two-sided
    #[arg(long, default_value_t = 0.05, global = true)]
    alpha: f64,
    /// Wanted probability to find the effect
    #[arg(long, default_value_t = 0.80, global = true)]
    power: f64,
    /// Hypotheses that are tested together: the level is divided among them
    #[arg(long, default_value = "1", global = true)]
    hypotheses: NonZeroUsize,
    #[command(subcommand)]
    what: PowerOf,
}

#[derive(Debug, Subcommand)]
enum PowerOf {
    /// Paired means, from the differences of a pilot pair of value tables
    Pilot(PilotArgs),
    /// Paired means, from a standard deviation
    Means(MeansArgs),
    /// A metric that is 0 or 1, on the same queries
    Flips(FlipsArgs),
    /// Two proportions of independent arms
    Proportions(ProportionsArgs),
}

#[derive(Debug, Args)]
struct PilotArgs {
    /// Per-query values of a baseline
    baseline: PathBuf,
    /// Per-query values of a candidate
    candidate: PathBuf,
    /// Metric
    #[arg(long, default_value = "nDCG@10")]
    metric: String,
    /// Effect to plan for
    #[arg(long)]
    effect: Option<f64>,
    /// Queries to plan for (default: those of the pilot)
    #[arg(long)]
    queries: Option<u64>,
    /// Seed of the simulation
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct MeansArgs {
    /// Standard deviation of the paired differences, or with --correlation of each system's values
    #[arg(long)]
    sd: f64,
    /// Correlation of both systems' values over the queries
    #[arg(long)]
    correlation: Option<f64>,
    /// Effect to plan for
    #[arg(long)]
    effect: Option<f64>,
    /// Queries to plan for
    #[arg(long)]
    queries: Option<u64>,
}

#[derive(Debug, Args)]
struct FlipsArgs {
    /// Share of queries that go from wrong to right
    #[arg(long)]
    gained: f64,
    /// Share of queries that go from right to wrong
    #[arg(long)]
    lost: f64,
    /// Queries to plan for
    #[arg(long)]
    queries: Option<u64>,
}

#[derive(Debug, Args)]
struct ProportionsArgs {
    /// True share of the baseline
    baseline: f64,
    /// True share of the candidate
    candidate: f64,
    /// Test that will be used
    #[arg(long, value_enum, default_value = "fisher")]
    test: TestArg,
    /// Cases in each arm
    #[arg(long)]
    per_arm: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestArg {
    /// Fisher's exact test, which `evalfarm compare` uses
    Fisher,
    /// The z test
    Z,
}

/// Lines of the answer: what, its value for people, its value for programs.
#[derive(Debug, Default)]
struct Answer {
    lines: Vec<(String, String)>,
    document: Map<String, Value>,
}

impl Answer {
    fn say(&mut self, what: impl Into<String>, shown: impl Into<String>) {
        self.lines.push((what.into(), shown.into()));
    }

    fn add(&mut self, key: &str, value: impl Into<Value>) {
        self.document.insert(key.to_owned(), value.into());
    }

    fn text(&self) -> String {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        for (what, shown) in &self.lines {
            table.row([what.clone(), shown.clone()]);
        }
        table.text()
    }
}

/// Answers and prints.
pub(crate) fn power(args: &PowerArgs, printer: &Printer) -> Result<u8, Failure> {
    let goal = PowerGoal::new(args.alpha, args.power).map_err(Failure::input)?;
    let corrected = goal.corrected_for(args.hypotheses);
    let mut answer = Answer::default();
    let hypotheses = args.hypotheses.get();
    answer.say(
        "level",
        match hypotheses {
            1 => format!("{} two-sided", args.alpha),
            many => format!("{} two-sided, divided among {many} hypotheses", args.alpha),
        },
    );
    answer.say("power", share(args.power));
    answer.add("alpha", args.alpha);
    answer.add("power", args.power);
    answer.add("hypotheses", hypotheses);
    match &args.what {
        PowerOf::Pilot(pilot) => of_pilot(pilot, corrected, &mut answer)?,
        PowerOf::Means(means) => of_means(means, corrected, &mut answer)?,
        PowerOf::Flips(flips) => of_flips(flips, corrected, &mut answer)?,
        PowerOf::Proportions(shares) => of_proportions(shares, corrected, &mut answer)?,
    }
    printer.data(|| answer.text(), &Value::Object(answer.document.clone()))?;
    Ok(exit_code::DONE)
}

fn of_pilot(args: &PilotArgs, goal: PowerGoal, answer: &mut Answer) -> Result<(), Failure> {
    let differences = pilot(args)?;
    let n = differences.as_slice().len();
    let design = Design::independent(n).map_err(Failure::input)?;
    let resamples = Resamples {
        count: std::num::NonZeroU32::new(RESAMPLES).unwrap_or(std::num::NonZeroU32::MIN),
        seed: args.seed,
    };
    let plan = ResamplingPlan::new(design, resamples);
    let grid = plan.grid(&differences).map_err(Failure::input)?;
    answer.say(
        "pilot",
        format!(
            "{} queries, {} changed {}",
            count(n),
            grid.changed(),
            args.metric
        ),
    );
    answer.add(
        "pilot",
        json!({"queries": n, "changed": grid.changed(), "delta": grid.mean()}),
    );
    let Some(sd) = differences.standard_deviation().filter(|sd| *sd > 0.0) else {
        return Err(Failure::input(
            "the pilot's differences do not vary: nothing can be planned from them",
        )
        .with_hint(
            "take a pair of configurations that differ about as much as those you mean to compare",
        ));
    };
    let planned = args.queries.unwrap_or(n as u64);
    spread(sd, planned, args.effect, goal, answer)?;
    if grid.changed() < FEW_CHANGED {
        let units = args
            .queries
            .map_or(n, |queries| usize::try_from(queries).unwrap_or(usize::MAX));
        let simulation = PowerSimulation {
            pilot: &grid,
            units,
            simulations: SIMULATIONS,
            resamples,
        };
        simulated(&simulation, args.effect, goal, answer);
    }
    Ok(())
}

/// Adds what samples like the pilot's show, because few changes make the approximation too optimistic.
fn simulated(
    simulation: &PowerSimulation<'_>,
    effect: Option<f64>,
    goal: PowerGoal,
    answer: &mut Answer,
) {
    let detectable = simulated_detectable(simulation, goal);
    answer.say(
        format!("simulated, as fewer than {FEW_CHANGED} queries changed"),
        detectable.map_or(
            "no effect is found, too few queries change".to_owned(),
            |effect| format!("smallest detectable effect {}", value(effect)),
        ),
    );
    answer.add("simulated_detectable_effect", detectable);
    if let Some(effect) = effect
        && let Some(found) = simulation.power(effect, goal.alpha())
    {
        answer.say(
            format!("simulated power for {}", value(effect)),
            share(found.value()),
        );
        answer.add("simulated_power", found.value());
    }
}

fn of_means(args: &MeansArgs, goal: PowerGoal, answer: &mut Answer) -> Result<(), Failure> {
    let sd = match args.correlation {
        None => args.sd,
        Some(correlation) if (-1.0..1.0).contains(&correlation) => {
            standard_deviation_of_difference(args.sd, correlation)
        }
        Some(correlation) => {
            return Err(Failure::input(format!(
                "correlation `{correlation}` is not at least -1 and less than 1"
            )));
        }
    };
    if !(args.sd > 0.0 && sd.is_finite()) {
        return Err(Failure::input(format!(
            "standard deviation `{}` is not positive and finite",
            args.sd
        )));
    }
    if args.queries.is_none() && args.effect.is_none() {
        return Err(
            Failure::input("neither `--queries` nor `--effect` is given").with_hint(
                "with queries the smallest effect is computed, with an effect the queries",
            ),
        );
    }
    let Some(queries) = args.queries else {
        let effect = args.effect.unwrap_or_default();
        answer.say("sd of the paired differences", value(sd));
        answer.add("sd", sd);
        return needed(sd, effect, goal, answer);
    };
    spread(sd, queries, args.effect, goal, answer)
}

/// Adds what so many queries with this standard deviation of the differences can find.
fn spread(
    sd: f64,
    queries: u64,
    effect: Option<f64>,
    goal: PowerGoal,
    answer: &mut Answer,
) -> Result<(), Failure> {
    answer.say("sd of the paired differences", value(sd));
    answer.add("sd", sd);
    answer.add("queries", queries);
    let detectable = paired_t_detectable(queries, goal)
        .map(|standardised| standardised * sd)
        .ok_or_else(|| {
            Failure::input(format!(
                "`{queries}` queries have no spread: at least 2 are needed"
            ))
        })?;
    answer.say(
        format!(
            "smallest detectable effect with {} queries",
            count(as_size(queries))
        ),
        value(detectable),
    );
    answer.add("detectable_effect", detectable);
    if let Some(effect) = effect {
        let found = paired_t_power(queries, effect / sd, goal.alpha());
        answer.say(
            format!(
                "power for {} with {} queries",
                value(effect),
                count(as_size(queries))
            ),
            share(found),
        );
        answer.add("power_at_effect", found);
        needed(sd, effect, goal, answer)?;
    }
    Ok(())
}

fn needed(sd: f64, effect: f64, goal: PowerGoal, answer: &mut Answer) -> Result<(), Failure> {
    let queries = paired_t_sample_size(effect / sd, goal).map_err(Failure::input)?;
    answer.say(
        format!("queries needed for {}", value(effect)),
        count(as_size(queries)),
    );
    answer.add("effect", effect);
    answer.add("queries_needed", queries);
    Ok(())
}

fn of_flips(args: &FlipsArgs, goal: PowerGoal, answer: &mut Answer) -> Result<(), Failure> {
    let change = PairedChange::new(args.gained, args.lost).map_err(Failure::input)?;
    answer.say(
        "test",
        "McNemar, exact; beyond 2,000 queries z corrected for continuity",
    );
    answer.add("test", "mcnemar");
    if let Some(queries) = args.queries {
        let found = change.power(queries, goal.alpha());
        answer.say(
            format!("power with {} queries", count(as_size(queries))),
            share(found),
        );
        answer.add("queries", queries);
        answer.add("power_at_queries", found);
    }
    let queries = change.sample_size(goal).map_err(Failure::input)?;
    answer.say("queries needed", count(as_size(queries)));
    answer.add("queries_needed", queries);
    Ok(())
}

fn of_proportions(
    args: &ProportionsArgs,
    goal: PowerGoal,
    answer: &mut Answer,
) -> Result<(), Failure> {
    let shares = TwoShares::new(args.baseline, args.candidate).map_err(Failure::input)?;
    let (test, named) = match args.test {
        TestArg::Fisher => (
            ShareTest::Fisher,
            "Fisher, exact; beyond 2,000 cases z corrected for continuity",
        ),
        TestArg::Z => (ShareTest::Z, "z, pooled variance"),
    };
    answer.say("test", named);
    answer.add(
        "test",
        serde_json::to_value(test).map_err(Failure::infrastructure)?,
    );
    let per_arm = shares.sample_size(test, goal).map_err(Failure::input)?;
    answer.say(
        format!(
            "cases needed in each arm for {} to {}",
            share(args.baseline),
            share(args.candidate)
        ),
        count(as_size(per_arm)),
    );
    answer.add("per_arm_needed", per_arm);
    if let Some(per_arm) = args.per_arm {
        let cases = count(as_size(per_arm));
        let found = shares.power(test, per_arm, goal.alpha());
        answer.say(format!("power with {cases} in each arm"), share(found));
        answer.add("per_arm", per_arm);
        answer.add("power_at_per_arm", found);
        let detectable =
            two_shares_detectable(test, args.baseline, per_arm, goal).map_err(Failure::input)?;
        answer.say(
            format!("smallest detectable share with {cases} in each arm"),
            detectable.map_or("none, not even 100 %".to_owned(), share),
        );
        answer.add("detectable_share", detectable);
    }
    Ok(())
}

fn as_size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the paired differences of a pilot over the queries that both tables have.
fn pilot(args: &PilotArgs) -> Result<PairedDifferences, Failure> {
    let pair = Pair::read(&args.baseline, &args.candidate)?;
    let (before, after) = pair.columns(&args.metric)?;
    PairedDifferences::new(before, after).map_err(Failure::input)
}
