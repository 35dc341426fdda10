//! What the unjudged hits of two runs may hide.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use evalfarm_dataset::trec::Run;
use evalfarm_domain::{CandidateId, DocId, Judgments, Measurement, QueryId};
use evalfarm_gate::Unjudged;
use evalfarm_metrics::{UnjudgedDocument, UnjudgedQuery};

use crate::commands::measuring::MeasuringArgs;
use crate::failure::Failure;

/// Hits of a run that are looked at for condensed lists, as deep as a job looks.
const DEPTH: usize = 1_000;

/// Two runs on the same judged queries.
pub(super) struct Runs<'a> {
    pub(super) measuring: &'a MeasuringArgs,
    pub(super) judgments: &'a Judgments,
    pub(super) baseline: &'a Run,
    pub(super) candidate: &'a Run,
}

/// What was seen, queries in the order of the judgments.
pub(super) struct Seen {
    /// One entry for each metric of the measurement.
    pub(super) unjudged: Vec<Unjudged>,
    /// Unjudged documents, the most decisive first.
    pub(super) next: Vec<(QueryId, DocId)>,
}

impl Runs<'_> {
    /// Compares the runs through their holes on the metrics of the measurement; bounds and what to judge next are of the first.
    pub(super) fn seen(
        &self,
        measurement: &Measurement,
        candidate: &CandidateId,
    ) -> Result<Seen, Failure> {
        let metrics = measurement.metrics.iter();
        let mut unjudged: Vec<Unjudged> = metrics
            .map(|metric| Unjudged {
                candidate: candidate.clone(),
                metric: metric.name(),
                condensed_baseline: Vec::new(),
                condensed_candidate: Vec::new(),
                lowest: Some(Vec::new()),
                highest: Some(Vec::new()),
            })
            .collect();
        let mut documents: Vec<(&QueryId, UnjudgedDocument)> = Vec::new();
        for (query, judged) in self.judgments.iter() {
            let seen = UnjudgedQuery {
                measurement,
                judgments: Some(judged),
            };
            let lists = (
                self.list(self.baseline, query),
                self.list(self.candidate, query),
            );
            let condensed = |list: &[DocId]| seen.condensed(list).map_err(Failure::input);
            let before = condensed(&lists.0)?;
            let after = condensed(&lists.1)?;
            let pair = seen.pair(&lists.0, &lists.1).map_err(Failure::input)?;
            for (at, metric) in unjudged.iter_mut().enumerate() {
                metric.condensed_baseline.push(before[at]);
                metric.condensed_candidate.push(after[at]);
                let ends = (&mut metric.lowest, &mut metric.highest);
                if let (Some(bounds), (Some(lowest), Some(highest))) = (pair.bounds[at], ends) {
                    lowest.push(bounds.lowest);
                    highest.push(bounds.highest);
                } else {
                    metric.lowest = None;
                    metric.highest = None;
                }
            }
            documents.extend(pair.documents.into_iter().map(|one| (query, one)));
        }
        documents.retain(|(_, one)| one.swing.abs() > 0.0);
        documents.sort_by(|a, b| {
            let by_size = b.1.swing.abs().total_cmp(&a.1.swing.abs());
            by_size.then_with(|| (a.0, &a.1.document).cmp(&(b.0, &b.1.document)))
        });
        Ok(Seen {
            unjudged,
            next: documents
                .into_iter()
                .map(|(query, one)| (query.clone(), one.document))
                .collect(),
        })
    }

    fn list(&self, run: &Run, query: &QueryId) -> Vec<DocId> {
        let hits = run.queries.get(query).into_iter().flatten();
        let documents = hits.map(|hit| &hit.document);
        let kept = documents.filter(|document| !self.measuring.drops(query, document));
        kept.take(DEPTH).cloned().collect()
    }
}

/// Columns of the table of what to judge next.
const COLUMNS: [&str; 4] = ["query_id", "query", "docid", "rating"];

/// Refuses to write over anything but a former table of what to judge next in which nobody has judged anything yet.
pub(super) fn may_replace(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(Failure::infrastructure(format!(
                "failed to look at `{shown}`: {error}"
            )));
        }
    };
    if !kind.is_file() && !kind.is_dir() {
        // A terminal or a pipe keeps nothing that could be lost.
        return Ok(());
    }
    let unfilled = kind.is_file() && is_unfilled(path);
    if unfilled {
        return Ok(());
    }
    Err(Failure::input(format!(
        "`--judge-next {shown}` would overwrite a file that is no list of pairs without ratings"
    ))
    .with_hint("name a new file"))
}

fn is_unfilled(path: &Path) -> bool {
    let Ok(mut table) = csv::Reader::from_path(path) else {
        return false;
    };
    let named = table.headers().is_ok_and(|header| header == COLUMNS[..]);
    named
        && table
            .records()
            .all(|row| row.is_ok_and(|row| row.get(3) == Some("")))
}

/// Writes what to judge next as a table of ratings. TREC files have no query texts, so each query's id stands in their place.
pub(super) fn write_next(path: &Path, next: &[(QueryId, DocId)]) -> Result<(), Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let written = table.write_record(COLUMNS).and_then(|()| {
        next.iter().try_for_each(|(query, document)| {
            table.write_record([query.as_str(), query.as_str(), document.as_str(), ""])
        })
    });
    written.map_err(Failure::infrastructure)?;
    let bytes = table
        .into_inner()
        .map_err(|error| Failure::infrastructure(error.to_string()))?;
    fs::write(path, bytes).map_err(|error| {
        Failure::infrastructure(format!("failed to write `{}`: {error}", path.display()))
    })
}
