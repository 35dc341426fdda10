//! What is known of one job while it runs: written by whoever runs it, read by whoever asks.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

use evalfarm_domain::JobId;
use tokio::sync::watch;

use crate::Progress;
use crate::api::{EndOfJob, JobState, JobStatus, Stage, TaskCounts};

/// Notes that are kept of a job: the last ones.
const MAX_NOTES: usize = 20;

/// Longest note, in characters: more than a chain of causes has.
const MAX_NOTE: usize = 2_000;

/// The state of one job. Nothing here decides anything, and all of it may be lost.
#[derive(Debug)]
pub(crate) struct Board {
    now: Mutex<Now>,
    /// Counts changes, so that watchers wake up.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct Now {
    status: JobStatus,
    step_began: Instant,
}

impl Board {
    /// Returns the board of a job that waits.
    pub(crate) fn new(job: JobId, name: String, submitter: String, submitted: u64) -> Self {
        let status = JobStatus {
            job,
            name,
            submitter,
            submitted,
            state: JobState::Queued,
            step: None,
            tasks: TaskCounts::default(),
            notes: Vec::new(),
            end: None,
        };
        Self {
            now: Mutex::new(Now {
                status,
                step_began: Instant::now(),
            }),
            changed: watch::Sender::new(0),
        }
    }

    /// Returns how far the job is.
    pub(crate) fn status(&self) -> JobStatus {
        let now = self.lock();
        let mut status = now.status.clone();
        if let Some(step) = &mut status.step {
            let seconds = now.step_began.elapsed().as_secs_f64();
            step.rate = step.done as f64 / seconds.max(1e-9);
            let left = step.total.saturating_sub(step.done) as f64;
            step.eta_seconds = (step.done > 0).then(|| left / step.rate);
        }
        status
    }

    /// Returns what the job is doing.
    pub(crate) fn state(&self) -> JobState {
        self.lock().status.state
    }

    /// Tells about changes from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Says that the job runs, or waits to be run.
    pub(crate) fn enter(&self, state: JobState) {
        self.change(|now| {
            now.status.state = state;
            now.status.end = None;
        });
    }

    /// Changes the counts of tasks.
    pub(crate) fn count(&self, change: impl FnOnce(&mut TaskCounts)) {
        self.change(|now| change(&mut now.status.tasks));
    }

    /// Says how the job ended.
    pub(crate) fn close(&self, end: EndOfJob) {
        self.change(|now| {
            now.status.state = match &end {
                EndOfJob::Judged { .. } => JobState::Judged,
                EndOfJob::Cancelled { .. } => JobState::Cancelled,
                EndOfJob::Failed { .. } => JobState::Failed,
            };
            now.status.step = None;
            now.status.end = Some(end);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.lock());
        self.changed
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Now> {
        // A panic while a status was written leaves at worst a stale one.
        self.now
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Progress for Board {
    fn begin(&self, step: &str, evaluations: u64) {
        self.change(|now| {
            now.step_began = Instant::now();
            now.status.step = Some(Stage {
                name: step.to_owned(),
                done: 0,
                total: evaluations,
                rate: 0.0,
                eta_seconds: None,
            });
        });
    }

    fn advance(&self, evaluations: u64) {
        self.change(|now| {
            if let Some(step) = &mut now.status.step {
                step.done = step.done.saturating_add(evaluations);
            }
        });
    }

    fn end(&self) {
        self.change(|now| now.status.step = None);
    }

    fn note(&self, line: &str) {
        let line = one_line(line);
        // A broker that is away for an hour is one note and one line of the log.
        if self.lock().status.notes.last() == Some(&line) {
            return;
        }
        tracing::info!(note = line);
        self.change(|now| {
            let mut notes = VecDeque::from(std::mem::take(&mut now.status.notes));
            notes.push_back(line);
            while notes.len() > MAX_NOTES {
                notes.pop_front();
            }
            now.status.notes = notes.into();
        });
    }
}

/// Returns a text as a note: what engines and workers say may hold line ends and the codes of terminals.
fn one_line(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.take(MAX_NOTE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Board {
        let job = JobId::try_from("j1").unwrap();
        Board::new(job, "shop".to_owned(), "mia".to_owned(), 0)
    }

    #[test]
    fn the_last_notes_are_kept_and_the_same_one_is_said_once() {
        let board = board();
        for _ in 0..100 {
            board.note("waiting for the broker");
        }
        assert_eq!(board.status().notes, ["waiting for the broker"]);
        for number in 0..100 {
            board.note(&format!("note {number}"));
        }
        let notes = board.status().notes;
        assert_eq!(notes.len(), MAX_NOTES);
        assert_eq!(notes.last().unwrap(), "note 99");
    }

    #[test]
    fn a_note_is_one_line_that_does_nothing_to_a_terminal() {
        let board = board();
        board.note("failed\n2026-12-01 INFO all is well\u{1b}[2J\r");
        board.note(&"x".repeat(1_000_000));
        let notes = board.status().notes;
        assert_eq!(notes[0], "failed 2026-12-01 INFO all is well [2J ");
        assert_eq!(notes[1].len(), MAX_NOTE);
    }
}
