//! Jobs being followed: a bar for each on a terminal, one line for each finished step elsewhere.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use evalfarm_coordinator::api::{JobStatus, Stage};
use evalfarm_domain::JobId;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text;
use crate::embedded::interrupted;
use crate::failure::Failure;
use crate::farm::{Client, Update, follow};
use crate::output::{Printer, one_line};

/// Pause between looks at whether the user has interrupted.
const TICK: Duration = Duration::from_millis(100);

/// Jobs that are followed at the same time.
#[derive(Debug)]
pub(super) struct Following<'a> {
    client: &'a Client,
    printer: &'a Printer,
    quiet: bool,
    bars: MultiProgress,
    updates: Receiver<Update>,
    sender: Sender<Update>,
    jobs: BTreeMap<JobId, Followed>,
    lost: bool,
}

/// One of them.
#[derive(Debug, Default)]
struct Followed {
    status: Option<JobStatus>,
    bar: Option<ProgressBar>,
    over: bool,
}

impl<'a> Following<'a> {
    /// Returns a follower of no job yet. A quiet one shows nothing.
    pub(super) fn new(client: &'a Client, printer: &'a Printer, quiet: bool) -> Self {
        let (sender, updates) = mpsc::channel();
        Self {
            client,
            printer,
            quiet,
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            updates,
            sender,
            jobs: BTreeMap::new(),
            lost: false,
        }
    }

    /// Follows a job, unless it is followed already.
    pub(super) fn add(&mut self, job: &JobId) {
        if self.jobs.contains_key(job) {
            return;
        }
        self.jobs.insert(job.clone(), Followed::default());
        let (client, id, sender) = (self.client.clone(), job.clone(), self.sender.clone());
        // The thread ends with the job, or with the command.
        drop(thread::spawn(move || follow(&client, &id, &sender)));
    }

    /// Whether any job is not over yet.
    pub(super) fn any(&self) -> bool {
        self.jobs.values().any(|job| !job.over)
    }

    /// Takes in updates for so long, or until every job is over.
    pub(super) fn step(&mut self, time: Duration) -> Result<(), Failure> {
        let until = Instant::now() + time;
        while self.any() && Instant::now() < until {
            if interrupted() {
                self.clear();
                return Err(Failure::Interrupted {
                    hint: "the jobs go on without this command; `evalfarm watch` follows them again and `evalfarm cancel JOB` ends one"
                        .to_owned(),
                });
            }
            match self.updates.recv_timeout(TICK) {
                Ok(update) => self.take(update)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
        Ok(())
    }

    /// Returns what is known of each job.
    pub(super) fn into_statuses(self) -> Vec<JobStatus> {
        let jobs = self.jobs.into_values();
        jobs.filter_map(|job| job.status).collect()
    }

    fn take(&mut self, update: Update) -> Result<(), Failure> {
        match update {
            Update::Status(status) => {
                self.lost = false;
                self.show(*status);
                Ok(())
            }
            Update::Lost => {
                if !self.lost {
                    self.say("the connection to the coordinator is lost, trying again");
                }
                self.lost = true;
                Ok(())
            }
            Update::Failed(error) => {
                self.clear();
                Err(error.into())
            }
        }
    }

    fn show(&mut self, status: JobStatus) {
        let Some(followed) = self.jobs.get_mut(&status.job) else {
            return;
        };
        let before = followed.status.take();
        let bar = followed.bar.take();
        let over = status.state.is_over();
        followed.over = over;
        let bar = if self.quiet {
            None
        } else {
            for line in news(before.as_ref(), &status) {
                self.say(&line);
            }
            let bar = bar.unwrap_or_else(|| self.new_bar());
            draw(&bar, &status);
            if over {
                bar.finish_and_clear();
                self.bars.remove(&bar);
            }
            Some(bar).filter(|_| !over)
        };
        if let Some(followed) = self.jobs.get_mut(&status.job) {
            followed.bar = bar;
            followed.status = Some(status);
        }
    }

    fn new_bar(&self) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(0));
        if let Ok(style) = ProgressStyle::with_template("{prefix:24!} {wide_bar} {msg}") {
            bar.set_style(style);
        }
        bar
    }

    /// Says a line above the bars.
    fn say(&self, line: &str) {
        if !self.quiet {
            self.bars.suspend(|| self.printer.note(line));
        }
    }

    fn clear(&self) {
        // Nothing is left to do when the terminal is gone.
        drop(self.bars.clear());
    }
}

fn draw(bar: &ProgressBar, status: &JobStatus) {
    bar.set_prefix(one_line(&status.name));
    match &status.step {
        Some(step) => {
            bar.set_length(step.total);
            bar.set_position(step.done);
            bar.set_message(format!(
                "{}  {}  {}  {} left",
                one_line(&step.name),
                text::done(step),
                text::rate(step),
                text::left(step),
            ));
        }
        None => bar.set_message(text::outcome(status)),
    }
}

/// Returns what became known since the last status, as lines.
pub(super) fn news(before: Option<&JobStatus>, now: &JobStatus) -> Vec<String> {
    let name = format!("{} ({})", now.name, now.job);
    let mut lines = Vec::new();
    if before.is_none_or(|before| before.state != now.state) && !now.state.is_over() {
        lines.push(format!("{name}: {}", text::outcome(now)));
    }
    let step_before = before.and_then(|before| before.step.as_ref());
    if let Some(ended) = step_before.filter(|step| is_other(step, now.step.as_ref())) {
        // The last status of a step may have come before its last task.
        let at = if ended.rate >= 1.0 {
            format!(" at {}", text::rate(ended))
        } else {
            // It was over before a rate was known.
            String::new()
        };
        lines.push(format!(
            "{name}: {} done, {} query evaluations{at}",
            ended.name, ended.total,
        ));
    }
    let known = before.map_or(&[][..], |before| &before.notes);
    let fresh = fresh_notes(known, &now.notes);
    lines.extend(fresh.iter().map(|note| format!("{name}: {note}")));
    if now.state.is_over() {
        lines.push(format!("{name}: {}", text::outcome(now)));
    }
    lines.iter().map(|line| one_line(line)).collect()
}

fn is_other(step: &Stage, now: Option<&Stage>) -> bool {
    now.is_none_or(|now| now.name != step.name || now.done < step.done)
}

/// Returns the notes that were not there before. Both lists are windows of one longer list, oldest first.
pub(super) fn fresh_notes<'a>(before: &[String], now: &'a [String]) -> &'a [String] {
    let overlap = (0..=before.len().min(now.len()))
        .rev()
        .find(|&shared| before.ends_with(&now[..shared]))
        .unwrap_or(0);
    &now[overlap..]
}
