//! What a job's folder keeps about unjudged hits, and the queries that it is about.

use evalfarm_domain::{DocId, Metric, QueryId, TaskId};

use super::job::{CONDENSED, Finished, JUDGE_NEXT, JobFolder, QUERIES, UNJUDGED};
use super::publish::Commit;
use crate::{
    CondensedRow, JobQuery, ResultsError, UnjudgedRow, condensed_schema, condensed_to_bytes,
    queries_to_bytes, read_condensed, read_queries, read_unjudged, unjudged_schema,
    unjudged_to_bytes,
};

/// A query and a document whose judgment is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeNext {
    /// The query.
    pub query: QueryId,
    /// Its text.
    pub text: String,
    /// The document.
    pub document: DocId,
}

impl JobFolder {
    /// Publishes the condensed values of a task, as [`Self::commit_rows`] does rows.
    pub fn commit_condensed(
        &self,
        task: &TaskId,
        metrics: &[Metric],
        rows: &[CondensedRow],
    ) -> Result<Commit, ResultsError> {
        let bytes = condensed_to_bytes(self.job(), metrics, rows)?;
        self.commit(CONDENSED, task, &bytes)
    }

    /// Publishes the unjudged documents of a task, as [`Self::commit_rows`] does rows.
    pub fn commit_unjudged(
        &self,
        task: &TaskId,
        rows: &[UnjudgedRow],
    ) -> Result<Commit, ResultsError> {
        self.commit(UNJUDGED, task, &unjudged_to_bytes(self.job(), rows)?)
    }

    /// Returns the tasks whose condensed values are there, as [`Self::finished`] does for rows.
    pub fn finished_condensed(&self, metrics: &[Metric]) -> Result<Finished, ResultsError> {
        self.sound(CONDENSED, &condensed_schema(metrics))
    }

    /// Returns the tasks whose unjudged documents are there, as [`Self::finished`] does for rows.
    pub fn finished_unjudged(&self) -> Result<Finished, ResultsError> {
        self.sound(UNJUDGED, &unjudged_schema())
    }

    /// Returns every condensed row, file by file in the order of their names.
    pub fn condensed(&self, metrics: &[Metric]) -> Result<Vec<CondensedRow>, ResultsError> {
        self.gathered(CONDENSED, |path, job| read_condensed(path, job, metrics))
    }

    /// Returns every unjudged document, file by file in the order of their names.
    pub fn unjudged(&self) -> Result<Vec<UnjudgedRow>, ResultsError> {
        self.gathered(UNJUDGED, read_unjudged)
    }

    /// Publishes the queries of the job in place of what may be there.
    pub fn write_queries(&self, rows: &[JobQuery]) -> Result<(), ResultsError> {
        self.publish_beside(QUERIES, &queries_to_bytes(self.job(), rows)?)
    }

    /// Returns the queries of the job.
    pub fn queries(&self) -> Result<Vec<JobQuery>, ResultsError> {
        read_queries(&self.path().join(QUERIES), self.job())
    }

    /// Publishes what should be judged next, in that order, in place of what may be there: a table of ratings whose last
    /// column waits to be filled in, as `evalfarm dataset import catalogue` reads it.
    ///
    /// # Panics
    ///
    /// Never: writing to memory cannot fail.
    pub fn write_judge_next(&self, rows: &[JudgeNext]) -> Result<(), ResultsError> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let written = table
            .write_record(["query_id", "query", "docid", "rating"])
            .and_then(|()| {
                rows.iter().try_for_each(|row| {
                    let [query, document] = [row.query.as_str(), row.document.as_str()];
                    table.write_record([query, &row.text, document, ""])
                })
            });
        written.expect("memory can be written to");
        let bytes = table.into_inner().expect("memory can be written to");
        self.publish_beside(JUDGE_NEXT, &bytes)
    }
}
