//! `evalfarm workers`: who works for a farm.

use clap::Args;
use evalfarm_coordinator::api::WorkerList;

use super::text;
use crate::exit_code;
use crate::failure::Failure;
use crate::farm::Connection;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm workers
  evalfarm workers --format json | jq '[.workers[] | select(.alive) | .slots] | add'

A worker counts as alive when it was heard of within three heartbeats.";

/// Arguments of `evalfarm workers`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkersArgs {
    #[command(flatten)]
    connection: Connection,
}

/// Prints the workers.
pub(crate) fn workers(args: &WorkersArgs, printer: &Printer) -> Result<u8, Failure> {
    let list: WorkerList = args.connection.client()?.get(&["workers"])?;
    printer.foreign_data(|| text::workers(&list.workers), &list)?;
    Ok(exit_code::DONE)
}
