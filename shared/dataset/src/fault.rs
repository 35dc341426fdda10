//! What is wrong with an input, and where.

use std::io;
use std::path::{Path, PathBuf};

use evalfarm_domain::{DocId, GradeError, IdError, QueryId};

/// An input file that could not be accepted.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file could not be opened, read or decompressed.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// One line is not what the format says.
    #[error("`{path}`, line {line}: {fault}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// One row of a Parquet file is not what the format says.
    #[error("`{path}`, row {row}: {fault}")]
    Row {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1.
        row: u64,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// The file as a whole is not what the format says.
    #[error("`{path}`: {fault}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: Box<Fault>,
    },
    /// A Parquet file could not be read.
    #[error("failed to read columns from `{path}`")]
    Columns {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: evalfarm_columnar::ColumnarError,
    },
}

impl InputError {
    /// Returns what is wrong with the input, or nothing when it could not be read at all.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Line { fault, .. } | Self::Row { fault, .. } | Self::File { fault, .. } => {
                Some(fault)
            }
            Self::Read { .. } | Self::Columns { .. } => None,
        }
    }

    /// Returns the line or row that is wrong, counted from 1.
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Line { line, .. } => Some(*line),
            Self::Row { row, .. } => Some(*row),
            Self::Read { .. } | Self::File { .. } | Self::Columns { .. } => None,
        }
    }

    /// Returns what to do next, where there is something to say.
    pub fn hint(&self) -> Option<&'static str> {
        self.fault().and_then(Fault::hint)
    }

    pub(crate) fn line(path: &Path, line: u64, fault: impl Into<Fault>) -> Self {
        Self::Line {
            path: path.to_owned(),
            line,
            fault: Box::new(fault.into()),
        }
    }

    pub(crate) fn row(path: &Path, row: u64, fault: impl Into<Fault>) -> Self {
        Self::Row {
            path: path.to_owned(),
            row,
            fault: Box::new(fault.into()),
        }
    }

    pub(crate) fn file(path: &Path, fault: impl Into<Fault>) -> Self {
        Self::File {
            path: path.to_owned(),
            fault: Box::new(fault.into()),
        }
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            source,
        }
    }
}

/// What is wrong with a line, a row or a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The bytes are not UTF-8.
    #[error("the bytes are not UTF-8")]
    NotUtf8,
    /// A line has a carriage return in it.
    #[error("a carriage return stands within the line")]
    CarriageReturn,
    /// A line has too few or too many columns.
    #[error("`{text}` has {found} columns, expected {expected}")]
    ColumnCount {
        /// The line, shortened.
        text: String,
        /// Columns found.
        found: usize,
        /// The columns expected, by name.
        expected: &'static str,
    },
    /// A judgment line has three columns and there was no header that explains them.
    #[error(
        "`{text}` has 3 columns and no header came before it, expected `query iteration document grade`"
    )]
    ThreeColumns {
        /// The line, shortened.
        text: String,
    },
    /// An identifier was refused.
    #[error("{0}")]
    Id(IdError),
    /// A grade is neither a number nor a known label.
    #[error("grade `{value}` is not a number")]
    GradeLabel {
        /// The rejected text.
        value: String,
    },
    /// A label is not in the label map.
    #[error("grade `{value}` is not in the label map, which has {known}")]
    UnknownLabel {
        /// The rejected text.
        value: String,
        /// Every label of the map.
        known: String,
    },
    /// A grade has a fraction and fractions were not asked for.
    #[error("grade `{value}` has a fraction, expected a whole number")]
    FractionalGrade {
        /// The rejected text.
        value: String,
    },
    /// A grade is out of range.
    #[error("{0}")]
    Grade(GradeError),
    /// The rank column of a run is not a whole number.
    #[error("rank `{value}` is not a whole number, expected `query Q0 document rank score tag`")]
    Rank {
        /// The rejected text.
        value: String,
    },
    /// Ranks are trusted, and one is below 1.
    #[error("rank `{rank}` is not at least 1, and the file's ranks are to be trusted")]
    RankBelowOne {
        /// The rejected rank.
        rank: i64,
    },
    /// Ranks are trusted, and two documents of a query have the same.
    #[error("rank {rank} of query `{query}` is given twice, first in line {first_line}")]
    RankTwice {
        /// The query.
        query: QueryId,
        /// The rank.
        rank: i64,
        /// Line of the first.
        first_line: u64,
    },
    /// The score column is not a finite number.
    #[error("score `{value}` is not a finite number")]
    Score {
        /// The rejected text.
        value: String,
    },
    /// A pair was judged twice with different grades.
    #[error(
        "document `{document}` of query `{query}` is judged {grade} here and {first_grade} in line {first_line}"
    )]
    ConflictingJudgment {
        /// The query.
        query: QueryId,
        /// The document.
        document: DocId,
        /// The grade of this line.
        grade: String,
        /// The grade given before.
        first_grade: String,
        /// Where it was given.
        first_line: u64,
    },
    /// A ranking has a document twice.
    #[error(
        "document `{document}` is twice in the ranking of query `{query}`, first in line {first_line}"
    )]
    DocumentTwice {
        /// The query.
        query: QueryId,
        /// The document.
        document: DocId,
        /// Line of the first.
        first_line: u64,
    },
    /// An identifier that must be unique occurs again.
    #[error("{kind} `{id}` occurs again, first in line {first_line}")]
    IdTwice {
        /// What is identified, e.g. `document`.
        kind: &'static str,
        /// The identifier.
        id: String,
        /// Where it occurred before.
        first_line: u64,
    },
    /// One identifier comes with two different values.
    #[error("{kind} of query `{query}` is `{value}` here and `{first_value}` in line {first_line}")]
    Inconsistent {
        /// What differs, e.g. `text`.
        kind: String,
        /// The query.
        query: String,
        /// The value of this line.
        value: String,
        /// The value given before.
        first_value: String,
        /// Where it was given.
        first_line: u64,
    },
    /// An element of a TREC file is missing or not closed.
    #[error("{problem}")]
    Markup {
        /// What is wrong.
        problem: String,
    },
    /// A line or file is not JSON of the expected form.
    #[error("not the expected JSON: {problem}")]
    Json {
        /// What is wrong.
        problem: String,
    },
    /// JSON has a literal `NaN` or `Infinity`, which JSON does not know.
    #[error("`{literal}` is not JSON and not a value, expected a finite number or `null`")]
    JsonNonFinite {
        /// The literal.
        literal: &'static str,
    },
    /// A CSV record could not be read.
    #[error("not the expected table: {problem}")]
    Csv {
        /// What is wrong.
        problem: String,
    },
    /// A column or key is missing.
    #[error("there is no {kind} `{name}`, found {found}")]
    Missing {
        /// `column` or `key`.
        kind: &'static str,
        /// What was looked for.
        name: String,
        /// What there is.
        found: String,
    },
    /// A value has a form that its place does not allow.
    #[error("{name} is `{value}`, expected {expected}")]
    Value {
        /// The column or key.
        name: String,
        /// The rejected value, shortened.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Nothing was in the file.
    #[error("there is no {what} in it")]
    Empty {
        /// What was expected, e.g. `judgment`.
        what: &'static str,
    },
    /// Judged queries have no text.
    #[error("{count} judged queries have no text, e.g. `{example}`")]
    NoText {
        /// How many.
        count: usize,
        /// The first, by id.
        example: QueryId,
    },
    /// Judged documents are not in the corpus, and that was to be an error.
    #[error("{count} judged documents are not in the corpus, e.g. `{document}` of query `{query}`")]
    NotInCorpus {
        /// How many judgments.
        count: u64,
        /// The first, by query and document id.
        document: DocId,
        /// Its query.
        query: QueryId,
    },
    /// A table of values has rows of several candidates.
    #[error("rows of {count} candidates are in it, e.g. {examples}")]
    SeveralCandidates {
        /// How many.
        count: usize,
        /// The first few ids.
        examples: String,
    },
    /// The wanted candidate has no rows.
    #[error("candidate `{candidate}` has no rows in it")]
    NoSuchCandidate {
        /// The wanted candidate.
        candidate: String,
    },
}

impl Fault {
    /// Returns what to do next, where there is something to say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotUtf8 => Some("save the file as UTF-8"),
            Self::CarriageReturn => Some("save the file with lines that end in LF or CRLF"),
            Self::ThreeColumns { .. } => Some(
                "a BEIR file starts with the header `query-id`, `corpus-id`, `score`, separated by tabs",
            ),
            Self::GradeLabel { .. } | Self::UnknownLabel { .. } => {
                Some("give a label map that says which grade each label is, e.g. `E=3,S=2,C=1,I=0`")
            }
            Self::FractionalGrade { .. } => {
                Some("allow fractional grades, if they are meant as gains")
            }
            Self::DocumentTwice { .. } => {
                Some("ask for `--dedupe first` to keep the best place of each document")
            }
            Self::RankTwice { .. } | Self::RankBelowOne { .. } => {
                Some("order by score instead, or number the ranks from 1")
            }
            Self::NoText { .. } => Some(
                "topics are joined with judgments by id; if the judgments count topics from 1, ask for topics to be numbered by position",
            ),
            Self::SeveralCandidates { .. } | Self::NoSuchCandidate { .. } => {
                Some("name one candidate by its id")
            }
            Self::JsonNonFinite { .. } => Some(
                "Python's json module writes such literals; write `null` or leave the query out",
            ),
            _ => None,
        }
    }
}

impl From<IdError> for Fault {
    fn from(error: IdError) -> Self {
        Self::Id(error)
    }
}

impl From<GradeError> for Fault {
    fn from(error: GradeError) -> Self {
        Self::Grade(error)
    }
}

/// Returns at most 80 characters of a text, for messages.
pub(crate) fn shorten(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(80).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

/// Returns at most eight names in backticks, and how many more there are.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let shown: Vec<String> = names
        .iter()
        .take(8)
        .map(|name| format!("`{}`", shorten(name)))
        .collect();
    match names.len() {
        0 => "none".to_owned(),
        count if count > shown.len() => {
            format!("{} and {} more", shown.join(", "), count - shown.len())
        }
        _ => shown.join(", "),
    }
}
