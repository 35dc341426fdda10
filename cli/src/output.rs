//! The one place that prints: data on standard output, everything else on standard error.

use std::io::{self, Write as _};
use std::process::ExitCode;

use evalfarm_process::ErrorChain;
use serde::Serialize;

use crate::exit_code;
use crate::failure::Failure;

/// What a command's data looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Tables and sentences for people.
    Text,
    /// Exactly one JSON object.
    Json,
}

/// Prints the data of a command in the chosen format.
#[derive(Debug)]
pub(crate) struct Printer {
    format: Format,
}

impl Printer {
    /// Returns a printer for that format.
    pub(crate) fn new(format: Format) -> Self {
        Self { format }
    }

    /// Prints the result of a command: `text` for people or `json` for programs, never both.
    pub(crate) fn data<T: Serialize>(
        &self,
        text: impl FnOnce() -> String,
        json: &T,
    ) -> Result<(), Failure> {
        print(match self.format {
            Format::Text => text(),
            Format::Json => serde_json::to_string_pretty(json).map_err(Failure::infrastructure)?,
        })
    }

    /// Prints the result of a command that another machine had a say in, as [`data`](Self::data) does, with control
    /// characters spelled out.
    pub(crate) fn foreign_data<T: Serialize>(
        &self,
        text: impl FnOnce() -> String,
        json: &T,
    ) -> Result<(), Failure> {
        print(match self.format {
            Format::Text => harmless(&text()),
            Format::Json => {
                let json = serde_json::to_string_pretty(json).map_err(Failure::infrastructure)?;
                harmless_json(json)
            }
        })
    }

    /// Says something that is not data.
    #[expect(clippy::unused_self, reason = "only who holds the printer prints")]
    pub(crate) fn note(&self, line: &str) {
        stderr(&format!("{}\n", harmless(line)));
    }

    /// Says something that the user should look at.
    pub(crate) fn warning(&self, line: &str) {
        self.note(&format!("warning: {line}"));
    }

    /// Says why the command failed, with all causes, and what to do next.
    pub(crate) fn failure(&self, failure: &Failure) {
        let (text, hint) = match failure {
            Failure::Input { error, hint } | Failure::Infrastructure { error, hint } => (
                format!("error: {}", ErrorChain(error.as_ref())),
                hint.clone(),
            ),
            Failure::Interrupted { hint } => ("interrupted".to_owned(), Some(hint.clone())),
        };
        self.note(&text);
        if let Some(hint) = hint {
            self.note(&format!("\nhint: {hint}"));
        }
    }
}

/// Prints what clap has to say: help and version are data, anything else is a usage error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do when the terminal is gone.
    drop(error.print());
    ExitCode::from(if error.use_stderr() {
        exit_code::INVALID_INPUT
    } else {
        exit_code::DONE
    })
}

/// Returns a message with the control characters that it quotes from a file spelled out: they could write anything to
/// the terminal.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            character if character.is_control() => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}

/// Returns JSON without control characters but for line feeds. JSON escapes most of them itself; the rest (U+007F to U+009F)
/// stand inside strings, where an escape means the same.
fn harmless_json(json: String) -> String {
    let odd = |character: char| character.is_control() && character != '\n';
    if !json.contains(odd) {
        return json;
    }
    json.chars()
        .map(|character| match character {
            character if odd(character) => format!("\\u{:04x}", u32::from(character)),
            character => character.to_string(),
        })
        .collect()
}

/// Returns a message that takes one line, whatever it quotes.
pub(crate) fn one_line(text: &str) -> String {
    harmless(&text.replace(['\n', '\t'], " "))
}

fn print(mut data: String) -> Result<(), Failure> {
    if !data.ends_with('\n') {
        data.push('\n');
    }
    let mut out = io::stdout().lock();
    match out.write_all(data.as_bytes()).and_then(|()| out.flush()) {
        // The reader has seen enough, as in `evalfarm … | head -1`; the exit code still says the verdict.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(Failure::infrastructure),
    }
}

fn stderr(text: &str) {
    // A closed standard error must not turn a verdict into a failure.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
