//! What may be known beside the two results: reruns, stage statuses, where to write what to judge next.

use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_dataset::value_table::{ValueTableOptions, read_value_table};
use evalfarm_domain::RerankStatus;
use evalfarm_gate::{EvidenceParts, GatePolicy, Side, rerun};

use super::unjudged::may_replace;
use crate::commands::measuring::input;
use crate::failure::Failure;

/// Arguments of `evalfarm compare` for what may be known beside the two results.
#[derive(Debug, Args)]
pub(super) struct MoreArgs {
    /// Results of the candidate run again, or of baseline and candidate run again: what differs is noise
    #[arg(long, num_args = 1..=2, value_name = "RERUN")]
    pub(super) repeat: Vec<PathBuf>,
    /// Table with the candidate's stage statuses (columns `rerank_status`, `rewrite_status`), one row a query; a stage
    /// that failed by it or by the results has failed
    #[arg(long, value_name = "TABLE")]
    statuses: Option<PathBuf>,
    /// Table with the baseline's stage statuses
    #[arg(long, value_name = "TABLE")]
    baseline_statuses: Option<PathBuf>,
    /// File for the (query, document) pairs to judge next, the most decisive first, as CSV
    #[arg(long, value_name = "CSV", requires = "qrels")]
    pub(super) judge_next: Option<PathBuf>,
}

impl MoreArgs {
    /// Refuses more reruns than there are sides, and a file for pairs that would be lost.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if let [_, _, third, ..] = self.repeat.as_slice() {
            return Err(Failure::input(format!(
                "`--repeat` takes one or two reruns, and `{}` is a third",
                third.display()
            ))
            .with_hint("give the candidate's rerun, or the baseline's and the candidate's"));
        }
        self.judge_next.as_deref().map_or(Ok(()), may_replace)
    }

    /// Adds statuses and reruns to the evidence.
    pub(super) fn add(
        &self,
        policy: &GatePolicy,
        reruns: &[Side],
        parts: &mut EvidenceParts,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.statuses {
            let known = parts.candidates[0].rerank.take();
            parts.candidates[0].rerank = Some(combined(known, statuses(path, parts)?));
        }
        if let Some(path) = &self.baseline_statuses {
            let known = parts.baseline.rerank.take();
            parts.baseline.rerank = Some(combined(known, statuses(path, parts)?));
        }
        // One rerun is the candidate's; of two the first is the baseline's.
        let firsts = [&parts.candidates[0], &parts.baseline, &parts.candidates[0]];
        let firsts = if reruns.len() > 1 {
            &firsts[1..]
        } else {
            &firsts[..1]
        };
        let mut found = Vec::new();
        for ((first, second), path) in firsts.iter().zip(reruns).zip(&self.repeat) {
            if let Some(row) = second.failures.iter().position(Option::is_some) {
                return Err(Failure::input(format!(
                    "`{}` has no result for query `{}`",
                    path.display(),
                    parts.queries[row]
                ))
                .with_hint("a rerun has to answer the same queries, or its noise cannot be told from its failures"));
            }
            for (index, metric) in parts.metrics.iter().enumerate() {
                let values = (&first.values[index], &second.values[index]);
                found
                    .push(rerun(policy, &metric.name, values.0, values.1).map_err(Failure::input)?);
            }
        }
        parts.context.reruns = found;
        Ok(())
    }
}

/// Joins what the results say with what another table says: a stage that failed by either has failed.
fn combined(known: Option<Vec<RerankStatus>>, said: Vec<RerankStatus>) -> Vec<RerankStatus> {
    let Some(known) = known else {
        return said;
    };
    let either = |(known, said): (RerankStatus, RerankStatus)| {
        if known.is_degraded() { known } else { said }
    };
    known.into_iter().zip(said).map(either).collect()
}

/// Returns the statuses of the evidence's queries. A table that knows nothing of a query says nothing about the whole.
fn statuses(path: &Path, parts: &EvidenceParts) -> Result<Vec<RerankStatus>, Failure> {
    let options = ValueTableOptions {
        statuses_only: true,
        ..ValueTableOptions::default()
    };
    let table = read_value_table(path, &options).map_err(input)?;
    let shown = path.display();
    let Some(degraded) = &table.degraded else {
        return Err(Failure::input(format!("`{shown}` has no column with statuses of a stage"))
            .with_hint("it is called `rerank_status` or `rewrite_status` and holds e.g. `applied`, `no_change` or `timeout`"));
    };
    let status = |row: usize| {
        // The table says whether a stage failed; the gate counts the failures of both stages together.
        if degraded[row] {
            RerankStatus::InternalError
        } else {
            RerankStatus::NoChange
        }
    };
    let found = parts.queries.iter().map(|query| {
        let row = table.queries.binary_search(query);
        row.map(status)
            .map_err(|_| Failure::input(format!("`{shown}` has no status for query `{query}`")))
    });
    found.collect()
}
