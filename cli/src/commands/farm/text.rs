//! Jobs and workers for a terminal.

use evalfarm_coordinator::api::{EndOfJob, JobState, JobStatus, Stage, WorkerEntry};
use evalfarm_report::{Align, Table, count};

use crate::output::one_line;

/// Tasks of a worker that are named before the rest is only counted.
const SHOWN: usize = 2;

/// Returns the table of jobs.
pub(super) fn jobs(jobs: &[JobStatus]) -> String {
    if jobs.is_empty() {
        return "no jobs: submit one with `evalfarm submit FILE`\n".to_owned();
    }
    let mut table = Table::new(&[
        ("job", Align::Left),
        ("name", Align::Left),
        ("state", Align::Left),
        ("step", Align::Left),
        ("done", Align::Right),
        ("rate", Align::Right),
        ("left", Align::Right),
        ("by", Align::Left),
    ]);
    for job in jobs {
        let step = job.step.as_ref();
        let of_step = |text: fn(&Stage) -> String| step.map_or(String::new(), text);
        table.row([
            one_line(job.job.as_str()),
            one_line(&job.name),
            outcome(job),
            of_step(|step| one_line(&step.name)),
            of_step(done),
            of_step(rate),
            of_step(left),
            one_line(&job.submitter),
        ]);
    }
    table.text()
}

/// Returns everything about one job.
pub(super) fn job(job: &JobStatus) -> String {
    let mut lines = vec![
        ("job", one_line(job.job.as_str())),
        ("name", one_line(&job.name)),
        ("submitted by", one_line(&job.submitter)),
        ("state", outcome(job)),
    ];
    if let Some(step) = &job.step {
        lines.push(("step", one_line(&step.name)));
        lines.push(("done", format!("{} query evaluations", done(step))));
        lines.push(("rate", rate(step)));
        lines.push(("left", left(step)));
    }
    let tasks = job.tasks;
    let counts = [
        (tasks.retried, "tried again after a failure"),
        (tasks.offered_again, "offered a second time"),
        (tasks.dead, "given up, their queries count as failed"),
    ];
    let mut text = vec![format!(
        "{} of {} tasks",
        number(tasks.done),
        number(tasks.planned)
    )];
    let told = counts.iter().filter(|(count, _)| *count > 0);
    text.extend(told.map(|(count, what)| format!("{} {what}", number(*count))));
    lines.push(("tasks", text.join(", ")));
    match &job.end {
        None => {}
        Some(EndOfJob::Judged { verdict }) => lines.push(("verdict", verdict.to_string())),
        Some(EndOfJob::Cancelled { by, reason }) => {
            lines.push(("cancelled by", one_line(by)));
            if !reason.is_empty() {
                lines.push(("reason", one_line(reason)));
            }
        }
        Some(EndOfJob::Failed { error, .. }) => lines.push(("error", one_line(error))),
    }
    let lines = lines
        .iter()
        .map(|(key, value)| format!("{key:<14}{value}\n"));
    let notes = job
        .notes
        .iter()
        .map(|note| format!("  {}\n", one_line(note)));
    lines.chain(notes).collect()
}

/// Returns the table of workers.
pub(super) fn workers(workers: &[WorkerEntry]) -> String {
    if workers.is_empty() {
        return "no workers: start `evalfarm-worker`, and see that it reaches the broker of this farm\n"
            .to_owned();
    }
    let mut table = Table::new(&[
        ("worker", Align::Left),
        ("release", Align::Left),
        ("state", Align::Left),
        ("busy", Align::Right),
        ("last beat", Align::Right),
        ("up", Align::Right),
        ("works on", Align::Left),
    ]);
    for worker in workers {
        let state = if worker.alive { "alive" } else { "silent" };
        let mut current: Vec<String> = worker
            .current
            .iter()
            .take(SHOWN)
            .map(|task| one_line(task.as_str()))
            .collect();
        if let Some(rest) = worker
            .current
            .len()
            .checked_sub(SHOWN)
            .filter(|&rest| rest > 0)
        {
            current.push(format!("and {rest} more"));
        }
        table.row([
            one_line(worker.worker.as_str()),
            one_line(&worker.release),
            state.to_owned(),
            format!("{}/{}", worker.current.len(), worker.slots),
            format!("{} ago", duration(worker.silent_seconds)),
            duration(worker.up_seconds),
            current.join(", "),
        ]);
    }
    table.text()
}

/// Returns what a job is doing or how it ended, in a word or two.
pub(super) fn outcome(job: &JobStatus) -> String {
    if let Some(EndOfJob::Judged { verdict }) = &job.end {
        return verdict.to_string();
    }
    match job.state {
        JobState::Queued => "queued",
        JobState::Running => "running",
        JobState::Judged => "judged",
        JobState::Cancelled => "cancelled",
        JobState::Failed => "failed",
    }
    .to_owned()
}

/// Returns how much of a step is done.
pub(super) fn done(step: &Stage) -> String {
    format!("{}/{}", number(step.done), number(step.total))
}

/// Returns the rate of a step.
pub(super) fn rate(step: &Stage) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for people, and a cast saturates"
    )]
    let whole = step.rate.round() as u64;
    format!("{}/s", number(whole))
}

/// Returns the time that a step will still take.
pub(super) fn left(step: &Stage) -> String {
    step.eta_seconds.map_or("-".to_owned(), duration)
}

/// Returns a time span with its two largest units.
fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".to_owned();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole seconds for people, and a cast saturates"
    )]
    let whole = seconds.round() as u64;
    let (minutes, seconds) = (whole / 60, whole % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let (days, hours) = (hours / 24, hours % 24);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {seconds} s"),
        (0, _, _) => format!("{hours} h {minutes} min"),
        _ => format!("{} d {hours} h", number(days)),
    }
}

fn number(number: u64) -> String {
    usize::try_from(number).map_or_else(|_| number.to_string(), count)
}
