//! The command line. Doc comments here are the help texts.

use clap::{Parser, Subcommand};

use crate::commands::compare::CompareArgs;
use crate::commands::dataset::DatasetCommand;
use crate::commands::evaluate::EvaluateArgs;
use crate::commands::farm::{
    CancelArgs, ResultsArgs, StatusArgs, SubmitArgs, WatchArgs, WorkersArgs,
};
use crate::commands::gate::GateArgs;
use crate::commands::power::PowerArgs;
use crate::commands::run::RunArgs;
use crate::commands::selfcheck::SelfcheckArgs;
use crate::output::Format;

const EXIT_CODES: &str = "\
Exit codes:
  0    done, or the verdict is PROMOTE
  1    the verdict is BLOCK
  2    the command line or an input file is not valid
  3    something needed does not work, nothing could be judged
  4    the verdict is INSUFFICIENT_EVIDENCE
  130  interrupted";

/// Evaluates ranking configurations on judged queries and says whether a change is real: PROMOTE, BLOCK or
/// INSUFFICIENT_EVIDENCE, with every number behind it.
#[derive(Debug, Parser)]
#[command(name = "evalfarm", version, after_help = EXIT_CODES)]
pub(crate) struct Options {
    /// What the data on standard output looks like
    #[arg(long, global = true, value_enum, default_value = "text")]
    pub(crate) format: Format,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Evaluate the candidates of a sweep file and judge the best
    Run(RunArgs),
    /// Print metric values of a run against judgments
    Evaluate(EvaluateArgs),
    /// Judge a candidate against a baseline from results that you already have
    Compare(Box<CompareArgs>),
    /// Judge the stored rows of a job again, under its own policy or another
    Gate(GateArgs),
    /// Check that the judge keeps its promises on your data
    Selfcheck(SelfcheckArgs),
    /// Say how large an effect can be found, and how many queries it takes
    Power(PowerArgs),
    /// Bring data in: import, generate, inspect, split, verify
    #[command(subcommand)]
    Dataset(DatasetCommand),
    /// Submit a sweep to a farm
    Submit(SubmitArgs),
    /// Say how far the jobs of a farm are
    Status(StatusArgs),
    /// Follow jobs of a farm until they end
    Watch(WatchArgs),
    /// End a job of a farm before it is finished
    Cancel(CancelArgs),
    /// Fetch the folder of a job from a farm
    Results(ResultsArgs),
    /// Say who works for a farm
    Workers(WorkersArgs),
}
