//! `evalfarm dataset verify`: is it what its manifest says?

use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_dataset::split::{SplitError, SplitManifest};
use evalfarm_dataset::verify as verify_dataset;
use serde_json::json;

use super::generate::stored_text;
use crate::commands::run::dataset_failure;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

/// Arguments of `evalfarm dataset verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  evalfarm dataset verify shop\n  evalfarm dataset verify split.json"
)]
pub(crate) struct VerifyArgs {
    /// The folder of a dataset, or the file of a split
    path: PathBuf,
}

/// Recomputes what the manifest says and compares.
pub(crate) fn verify(args: &VerifyArgs, printer: &Printer) -> Result<u8, Failure> {
    if args.path.is_dir() {
        let manifest = verify_dataset(&args.path).map_err(dataset_failure)?;
        let text = || format!("verified: {}", stored_text(&manifest, &args.path));
        printer.data(text, &json!({ "verified": true, "manifest": manifest }))?;
    } else {
        let split = read_split(&args.path)?;
        let side = |name: &str, ids: usize, sha256: String| json!({ "side": name, "queries": ids, "sha256": sha256 });
        let (train, holdout) = (&split.train, &split.holdout);
        let text = || {
            format!(
                "verified: {}\n  train    {} queries, sha256 {}\n  holdout  {} queries, sha256 {}\n",
                args.path.display(),
                train.ids.len(),
                train.sha256,
                holdout.ids.len(),
                holdout.sha256,
            )
        };
        let document = json!({
            "verified": true,
            "sides": [
                side("train", train.ids.len(), train.sha256.to_string()),
                side("holdout", holdout.ids.len(), holdout.sha256.to_string()),
            ],
        });
        printer.data(text, &document)?;
    }
    Ok(exit_code::DONE)
}

/// Reads a split, which verifies it. Errors name the file.
pub(super) fn read_split(path: &Path) -> Result<SplitManifest, Failure> {
    SplitManifest::read(path).map_err(|error| match error {
        SplitError::Read { .. } | SplitError::Json { .. } => Failure::input(error).with_hint(
            "give the folder of a dataset, or a split that `evalfarm dataset split` wrote",
        ),
        error => {
            let hint = error.hint();
            let failure = Failure::input(format!("`{}`: {error}", path.display()));
            match hint {
                Some(hint) => failure.with_hint(hint),
                None => failure,
            }
        }
    })
}

/// Wraps an error of splitting with its own hint.
pub(super) fn split_failure(error: SplitError) -> Failure {
    let hint = error.hint();
    let failure = Failure::input(error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
