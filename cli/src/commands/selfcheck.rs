//! `evalfarm selfcheck`: is the judge honest here?

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_coordinator::stored_evidence;
use evalfarm_gate::{Evidence, GatePolicy, RawGatePolicy, SelfCheck, selfcheck as check};
use evalfarm_report::{Align, Table};
use evalfarm_results::JobFolder;
use serde_json::json;

use super::gate::{failure, unopened};
use super::pair::{Pair, example};
use super::policy::read_policy;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm selfcheck
  evalfarm selfcheck evalfarm-jobs/shop-weights-j1a2b3c4d
  evalfarm selfcheck baseline.json candidate.json --policy policy.toml --copies 2000

Without a job or two tables, differences of a made-up experiment are used. What is checked: the baseline against itself is
never promoted; the order of the queries changes nothing; where baseline and candidate change places at random on half of
the queries, the test rejects at its level and the gate promotes in at most half of it; a planted effect of the size that
verdicts call detectable is found about as often as they say.

The exit code is 1 when a check fails. An honest judge fails one of the last three checks about once in a hundred times.";

/// Arguments of `evalfarm selfcheck`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SelfcheckArgs {
    /// Folder of a finished job, or per-query values of a baseline
    baseline: Option<PathBuf>,
    /// Per-query values of a candidate
    #[arg(requires = "baseline")]
    candidate: Option<PathBuf>,
    /// Gate policy, a TOML file; see docs/policy.md
    #[arg(long)]
    policy: Option<PathBuf>,
    /// Copies of the rows for each of the last three checks
    #[arg(long, default_value = "400")]
    copies: NonZeroU32,
}

/// Checks and prints.
pub(crate) fn selfcheck(args: &SelfcheckArgs, printer: &Printer) -> Result<u8, Failure> {
    let policy = args.policy.as_deref().map(read_policy).transpose()?;
    let (policy, evidence) = match (&args.baseline, &args.candidate) {
        (None, _) => with_policy(policy, example()?)?,
        (Some(job), None) => of_job(job, policy)?,
        (Some(baseline), Some(candidate)) => {
            with_policy(policy, Pair::read(baseline, candidate)?.evidence()?)?
        }
    };
    let checks = check(&policy, &evidence, args.copies).map_err(Failure::input)?;
    let failed = checks.iter().any(|check| check.passed == Some(false));
    let document = json!({
        "passed": !failed,
        "queries": evidence.queries(),
        "copies": args.copies,
        "checks": checks,
        "policy": policy,
    });
    printer.data(|| text(&checks, evidence.queries(), failed), &document)?;
    Ok(if failed {
        exit_code::BLOCKED
    } else {
        exit_code::DONE
    })
}

fn with_policy(
    raw: Option<RawGatePolicy>,
    evidence: Evidence,
) -> Result<(GatePolicy, Evidence), Failure> {
    let policy = GatePolicy::try_from(raw.unwrap_or_default()).map_err(Failure::input)?;
    Ok((policy, evidence))
}

fn of_job(job: &Path, policy: Option<RawGatePolicy>) -> Result<(GatePolicy, Evidence), Failure> {
    let folder = JobFolder::open(job).map_err(|error| unopened(error, job))?;
    stored_evidence(&folder, policy).map_err(failure)
}

fn text(checks: &[SelfCheck], queries: usize, failed: bool) -> String {
    let mut table = Table::new(&[
        ("", Align::Left),
        ("check", Align::Left),
        ("expected", Align::Left),
        ("observed", Align::Left),
    ]);
    for check in checks {
        let outcome = match check.passed {
            Some(true) => "passed",
            Some(false) => "FAILED",
            None => "not told",
        };
        table.row([
            outcome.to_owned(),
            check.check.to_owned(),
            check.expected.clone(),
            check.observed.clone(),
        ]);
    }
    let verdict = if failed {
        "FAILED: do not trust verdicts on these data before you know why"
    } else {
        "the judge keeps its promises on these data"
    };
    format!("{verdict} ({queries} queries)\n\n{}", table.text())
}
