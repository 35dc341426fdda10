//! `evalfarm dataset`: data in.

pub(crate) mod generate;
mod import;
mod inspect;
mod split;
mod verify;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Printer;

/// What to do with a dataset.
#[derive(Debug, Subcommand)]
pub(crate) enum DatasetCommand {
    /// Turn files of a known format into a verified dataset
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// Generate a product catalogue whose complete grades are known
    Generate(generate::GenerateArgs),
    /// Count what is in a dataset
    Inspect(inspect::InspectArgs),
    /// Split queries into train and holdout
    Split(split::SplitArgs),
    /// Check that a dataset or a split is what its manifest says
    Verify(verify::VerifyArgs),
}

/// Does it.
pub(crate) fn dataset(command: DatasetCommand, printer: &Printer) -> Result<u8, Failure> {
    match command {
        DatasetCommand::Import(command) => import::import(&command, printer),
        DatasetCommand::Generate(args) => generate::generate(&args, printer),
        DatasetCommand::Inspect(args) => inspect::inspect(&args, printer),
        DatasetCommand::Split(args) => split::split(&args, printer),
        DatasetCommand::Verify(args) => verify::verify(&args, printer),
    }
}
