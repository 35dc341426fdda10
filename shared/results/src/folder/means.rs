//! What a job's folder keeps of candidates whose rows it does not.

use evalfarm_domain::{Fold, Metric, TaskId};

use super::job::{Finished, JobFolder, MEANS, file_name};
use super::publish::Commit;
use crate::{MeansRow, ResultsError, means_schema, means_to_bytes, read_means};

impl JobFolder {
    /// Publishes the means of a task's candidates, as [`Self::commit_rows`] does rows.
    pub fn commit_means(
        &self,
        task: &TaskId,
        fold: Fold,
        metrics: &[Metric],
        rows: &[MeansRow],
    ) -> Result<Commit, ResultsError> {
        let bytes = means_to_bytes(self.job(), fold, metrics, rows)?;
        self.commit(MEANS, task, &bytes)
    }

    /// Returns the tasks whose means are there, as [`Self::finished`] does for rows.
    pub fn finished_means(&self, metrics: &[Metric]) -> Result<Finished, ResultsError> {
        self.sound(MEANS, &means_schema(metrics))
    }

    /// Returns the means that a task committed.
    pub fn means(
        &self,
        task: &TaskId,
        fold: Fold,
        metrics: &[Metric],
    ) -> Result<Vec<MeansRow>, ResultsError> {
        let path = self.path().join(MEANS).join(file_name(task)?);
        read_means(&path, self.job(), fold, metrics)
    }
}
