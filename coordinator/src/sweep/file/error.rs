//! What can be wrong with a sweep file. Every error says where, and what is allowed there.

use std::fmt;
use std::io;
use std::path::PathBuf;

use evalfarm_domain::{CandidateError, GradeError, IdError, MetricError};
use evalfarm_gate::PolicyError;

use crate::sweep::{RangeError, SpaceError};

/// A place in a sweep file, counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Position {
    /// Returns the place of a byte offset.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        Self {
            line: before.matches('\n').count() + 1,
            column: in_line.chars().count() + 1,
        }
    }
}

impl Default for Position {
    /// Returns the start of the file.
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A sweep file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SweepFileError {
    /// The file could not be read as text.
    #[error("failed to read the sweep file `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// Something in the file is wrong.
    #[error("the sweep file `{path}` cannot be used")]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        source: Box<Self>,
    },
    /// The file is not TOML.
    #[error("{at}: not valid TOML: {message}")]
    Syntax {
        /// Where.
        at: Position,
        /// What the parser said, on one line.
        message: String,
    },
    /// A key that means nothing here.
    #[error("{at}: unknown key `{key}`{}; known here: {known}", did_you_mean(nearest.as_deref()))]
    UnknownKey {
        /// Where.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
        /// All keys that are known here.
        known: String,
    },
    /// A key that has to be there is not.
    #[error("{at}: key `{key}` is missing; it takes {allowed}")]
    MissingKey {
        /// Where the table starts.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// What it takes.
        allowed: String,
    },
    /// A value of the wrong type, e.g. a number in quotes.
    #[error("{at}: `{key}` is {found}, but takes {allowed}")]
    Type {
        /// Where the value is.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// What was found: its type and text.
        found: String,
        /// What it takes.
        allowed: String,
    },
    /// A value of the right type that is not allowed.
    #[error("{at}: `{key}` is `{value}`, but takes {allowed}")]
    Value {
        /// Where the value is.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// The rejected value.
        value: String,
        /// What it takes.
        allowed: String,
    },
    /// Two settings that cannot both be.
    #[error("{at}: `{key}` {problem}")]
    Conflict {
        /// Where one of them is.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// What it collides with, and what to do.
        problem: String,
    },
    /// A value that the type which reads it cannot.
    #[error("{at}: `{key}` cannot be read: {message}")]
    Unreadable {
        /// Where the value is.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// What was found and expected, on one line.
        message: String,
    },
    /// A value that another type refuses.
    #[error("{at}: `{key}` is not usable")]
    Refused {
        /// Where the value is.
        at: Position,
        /// The key with the tables it is in.
        key: String,
        /// Why.
        #[source]
        source: Refusal,
    },
}

/// Why a value was refused by the type that it becomes.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not a metric.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Not a candidate.
    #[error(transparent)]
    Candidate(#[from] CandidateError),
    /// Not a grade or gain.
    #[error(transparent)]
    Grade(#[from] GradeError),
    /// Not an identifier.
    #[error(transparent)]
    Id(#[from] IdError),
    /// Not a range.
    #[error(transparent)]
    Range(#[from] RangeError),
    /// Not a space or a point of it.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// Not a policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |key| format!(", did you mean `{key}`?"))
}

/// Returns the known word that looks most like `word`, if one looks like it at all: at most a third of its letters, and
/// at least two, may differ.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(2);
    known
        .iter()
        .map(|&other| (edit_distance(word, other), other))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, other)| other)
}

/// Returns the fewest insertions, deletions and replacements of characters that turn one word into the other
/// (Levenshtein 1966), by Wagner and Fischer's table, one row at a time.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_the_textbook_ones() {
        // Levenshtein's standard example: kitten → sitting takes 3.
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(nearest("levles", &["passes", "levels"]), Some("levels"));
        assert_eq!(nearest("zebra", &["passes", "levels"]), None);
    }

    #[test]
    fn positions_count_characters_from_one() {
        let text = "ä = 1\nbc = 2";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 3), Position { line: 1, column: 3 });
        assert_eq!(Position::of(text, 7), Position { line: 2, column: 1 });
    }
}
