//! `evalfarm gate`: stored rows judged again.

use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_coordinator::{RejudgeError, Rejudged, rejudge};
use evalfarm_gate::EvidenceError;
use evalfarm_report::{Findings, findings_text, slices_text};
use evalfarm_results::{JobFolder, ResultsError};
use serde_json::Value;

use super::policy::read_policy;
use crate::commands::verdict_code;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm gate evalfarm-jobs/shop-weights-j1a2b3c4d
  evalfarm gate evalfarm-jobs/shop-weights-j1a2b3c4d --policy strict.toml
  evalfarm gate job --policy strict.toml --format json | jq .reasons

Nothing is retrieved, and no candidate is chosen anew. Without --policy the job's own policy is used, and the verdict is
the job's own. Another policy is another look, counted beside the dataset and said. The folder is not changed.
docs/policy.md describes policies.";

/// Arguments of `evalfarm gate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GateArgs {
    /// Folder of a finished job
    job: PathBuf,
    /// Gate policy, a TOML file; what it leaves open of primary, guards and seed is the job's
    #[arg(long)]
    policy: Option<PathBuf>,
}

/// Judges the rows and prints the verdict.
pub(crate) fn gate(args: &GateArgs, printer: &Printer) -> Result<u8, Failure> {
    let policy = args.policy.as_deref().map(read_policy).transpose()?;
    let folder = JobFolder::open(&args.job).map_err(|error| unopened(error, &args.job))?;
    let judged = match rejudge(&folder, policy) {
        Ok(judged) => judged,
        Err(error @ (RejudgeError::Unfinished { .. } | RejudgeError::MissingRows(_))) => {
            // An incomplete job is not an error of the user's: it cannot be decided, and scripts learn that by the code.
            let hint = "finish it with `evalfarm run SWEEP --out DIR --resume`";
            printer.failure(&Failure::input(error).with_hint(hint));
            return Ok(exit_code::INSUFFICIENT_EVIDENCE);
        }
        Err(error) => return Err(failure(error)),
    };
    printer.data(|| text(&judged, &args.job), &document(&judged, &args.job))?;
    Ok(verdict_code(judged.leading.verdict))
}

fn text(judged: &Rejudged, job: &Path) -> String {
    let leading = &judged.leading;
    let findings = Findings {
        verdict: leading.verdict,
        candidate: &format!("{} ({})", judged.candidate, leading.candidate),
        baseline: &format!("{} ({})", judged.baseline, leading.baseline),
        reasons: &leading.reasons,
        criteria: &leading.criteria,
        metrics: &leading.metrics,
        family: &leading.family,
        limits: &leading.limits,
    };
    let changed = if leading.verdict == judged.stored {
        "as the job's own verdict".to_owned()
    } else {
        format!("the job's own verdict is {}", judged.stored)
    };
    findings_text(&findings)
        + &slices_text(&leading.slices)
        + &format!("\njudged again from {}, {changed}\n", job.display())
}

fn document(judged: &Rejudged, job: &Path) -> Value {
    let mut document = judged.record.clone();
    if let Some(object) = document.as_object_mut() {
        object.insert("out".to_owned(), Value::String(job.display().to_string()));
        let stored = Value::String(judged.stored.to_string());
        object.insert("stored_verdict".to_owned(), stored);
    }
    document
}

/// Wraps an error of a folder that is no job's.
pub(crate) fn unopened(error: ResultsError, job: &Path) -> Failure {
    match error {
        ResultsError::NoJob { .. } => Failure::input(error).with_hint(format!(
            "`{}` has to be the folder that `evalfarm run` printed as `stored in`",
            job.display()
        )),
        error => Failure::infrastructure(error),
    }
}

/// Wraps an error of a stored job.
pub(crate) fn failure(error: RejudgeError) -> Failure {
    let hint = match &error {
        RejudgeError::Evidence(EvidenceError::NotMeasured { .. }) => Some(
            "a stored job can be judged only on what it measured; add the metric to `[metrics]` of the sweep and run it again",
        ),
        RejudgeError::Looks(_) => {
            Some("correct the line or move the file away; it counts the looks at the holdout")
        }
        RejudgeError::Form { .. }
        | RejudgeError::Queries { .. }
        | RejudgeError::Untied { .. }
        | RejudgeError::Evaluation { .. } => Some(
            "the folder was changed, or another version of evalfarm made it: run the sweep again",
        ),
        _ => None,
    };
    let failure = match error {
        RejudgeError::Results(error) => Failure::infrastructure(error),
        error @ RejudgeError::Looks(_) => Failure::infrastructure(error),
        error => Failure::input(error),
    };
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
