//! Progress on standard error: a bar with rate and time left on a terminal, one line for each finished step elsewhere.

use std::sync::Mutex;
use std::time::Duration;

use evalfarm_coordinator::Progress;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Printer;

/// Shows how far a job is. A step is one batch of candidates on one fold.
#[derive(Debug)]
pub(crate) struct Bars<'a> {
    printer: &'a Printer,
    quiet: bool,
    unit: &'static str,
    current: Mutex<Option<ProgressBar>>,
}

impl<'a> Bars<'a> {
    /// Returns bars that write to standard error, or nowhere.
    pub(crate) fn new(printer: &'a Printer, quiet: bool) -> Self {
        Self {
            printer,
            quiet,
            unit: "query evaluations",
            current: Mutex::new(None),
        }
    }

    /// Returns bars that count something else, e.g. `bytes`.
    #[must_use]
    pub(crate) fn counting(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    fn with_current(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        // A panic elsewhere while a bar was being drawn leaves nothing in it that could be wrong.
        let mut current = self
            .current
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        act(&mut current);
    }
}

impl Progress for Bars<'_> {
    fn begin(&self, step: &str, evaluations: u64) {
        if self.quiet {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(evaluations), ProgressDrawTarget::stderr());
        let style = "{msg:28} {wide_bar} {human_pos}/{human_len}  {per_sec}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_message(step.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.with_current(|current| *current = Some(bar));
    }

    fn advance(&self, evaluations: u64) {
        self.with_current(|current| {
            if let Some(bar) = current {
                bar.inc(evaluations);
            }
        });
    }

    fn end(&self) {
        self.with_current(|current| {
            let Some(bar) = current.take() else { return };
            let seconds = bar.elapsed().as_secs_f64().max(1e-9);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rate for people: whole evaluations a second"
            )]
            let rate = (bar.position() as f64 / seconds) as u64;
            let line = format!(
                "{:28} {} {} in {seconds:.1} s ({}/s)",
                bar.message(),
                HumanCount(bar.position()),
                self.unit,
                HumanCount(rate),
            );
            bar.finish_and_clear();
            self.printer.note(&line);
        });
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            self.printer.note(line);
        }
    }
}
