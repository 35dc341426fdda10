//! How long the work took. Timings differ from run to run and belong to no claim of identity.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Schema};
use evalfarm_domain::{JobId, TaskId};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, numbers, texts};

/// How long one attempt at a task took.
#[derive(Debug, Clone, PartialEq)]
pub struct TimingRow {
    /// The task.
    pub task: TaskId,
    /// Which delivery of the task this was, from 1.
    pub attempt: u32,
    /// Who did it.
    pub worker: String,
    /// Queries evaluated.
    pub queries: u32,
    /// Candidates evaluated.
    pub candidates: u32,
    /// Wall-clock time in seconds, finite.
    pub seconds: f64,
}

/// Returns the schema of `timings/`.
pub fn timings_schema() -> Schema {
    use ColumnType::{F64, Text, U64};
    Schema {
        name: "timings".to_owned(),
        version: 1,
        fields: vec![
            Field::required("task", Text, "Task."),
            Field::required("attempt", U64, "Delivery of the task, from 1."),
            Field::required("worker", Text, "Who did it."),
            Field::required("queries", U64, "Queries evaluated."),
            Field::required("candidates", U64, "Candidates evaluated."),
            Field::required("seconds", F64, "Wall-clock time in seconds."),
        ],
    }
}

/// Returns timings as the bytes of a Parquet file.
pub fn timings_to_bytes(job: &JobId, rows: &[TimingRow]) -> Result<Vec<u8>, ResultsError> {
    let rows = || rows.iter();
    let columns = vec![
        texts(rows().map(|row| row.task.as_str())),
        numbers(rows().map(|row| row.attempt)),
        texts(rows().map(|row| row.worker.as_str())),
        numbers(rows().map(|row| row.queries)),
        numbers(rows().map(|row| row.candidates)),
        Column::F64(rows().map(|row| Some(row.seconds)).collect()),
    ];
    job_table_to_bytes(timings_schema(), columns, job, &[])
}

/// Reads a file of timings, which must be of this job.
pub fn read_timings(path: &Path, job: &JobId) -> Result<Vec<TimingRow>, ResultsError> {
    let cells = Cells::read_all(path, &timings_schema(), job)?;
    timings_from(&cells).map_err(|error| error.in_file(path))
}

fn timings_from(cells: &Cells) -> Result<Vec<TimingRow>, ResultsError> {
    let tasks: Vec<TaskId> = cells.ids("task", "a task id")?;
    let attempts = cells.required_u32("attempt")?;
    let workers = cells.required("worker", "text", |text| Some(text.to_owned()))?;
    let queries = cells.required_u32("queries")?;
    let candidates = cells.required_u32("candidates")?;
    let seconds = cells.required_f64("seconds")?;
    Ok(tasks
        .into_iter()
        .zip(workers)
        .enumerate()
        .map(|(at, (task, worker))| TimingRow {
            task,
            attempt: attempts[at],
            worker,
            queries: queries[at],
            candidates: candidates[at],
            seconds: seconds[at],
        })
        .collect())
}
