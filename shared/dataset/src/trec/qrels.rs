//! Judgments: `query iteration document grade`, or BEIR's TSV with a header.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_domain::{DocId, Grade, Judgments, QueryId};

use crate::fault::{Fault, list, shorten};
use crate::judging::JudgmentsBuilder;
use crate::source::Lines;
use crate::{InputError, Warning};

/// How grades are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QrelsOptions {
    /// Whether a grade may have a fraction. `1.0` is the whole number 1 either way.
    pub fractional: bool,
    /// Grade of each label, for files that have labels instead of numbers.
    pub labels: Option<BTreeMap<String, Grade>>,
}

impl QrelsOptions {
    /// Reads a grade: a label of the map, or else a number in the allowed range.
    pub(crate) fn grade(&self, text: &str) -> Result<Grade, Fault> {
        if let Some(&grade) = self.labels.as_ref().and_then(|labels| labels.get(text)) {
            return Ok(grade);
        }
        let Ok(number) = text.parse::<f64>() else {
            let value = shorten(text);
            return Err(match &self.labels {
                Some(labels) => Fault::UnknownLabel {
                    value,
                    known: list(labels.keys().map(String::as_str)),
                },
                None => Fault::GradeLabel { value },
            });
        };
        let grade = Grade::try_from(number)?;
        if grade.is_integer() || self.fractional {
            Ok(grade)
        } else {
            Err(Fault::FractionalGrade {
                value: shorten(text),
            })
        }
    }
}

/// Judgments of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Qrels {
    /// Every judgment.
    pub judgments: Judgments,
    /// Number of judged pairs.
    pub count: u64,
    /// What was accepted and should be known.
    pub warnings: Vec<Warning>,
}

/// Names of the three columns of a BEIR file, each in the spellings that occur.
const HEADER: [&[&str]; 3] = [
    &["query-id", "query_id", "qid", "query"],
    &[
        "corpus-id",
        "corpus_id",
        "doc-id",
        "doc_id",
        "docid",
        "docno",
    ],
    &["score", "grade", "relevance", "rel", "label", "rating"],
];

/// What the first line says about the others.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Layout {
    Trec,
    /// Query, document, grade, separated by single tabs, so that an id may have a space in it.
    Tabs,
    /// The same three columns, separated by white space.
    Spaces,
}

fn header(line: &str) -> Option<Layout> {
    let names: Vec<String> = line
        .split_ascii_whitespace()
        .map(str::to_ascii_lowercase)
        .collect();
    let matches = names.len() == HEADER.len()
        && names
            .iter()
            .zip(HEADER)
            .all(|(name, known)| known.contains(&name.as_str()));
    match (matches, line.contains('\t')) {
        (false, _) => None,
        (true, true) => Some(Layout::Tabs),
        (true, false) => Some(Layout::Spaces),
    }
}

/// Reads a file of judgments, gzipped or not.
///
/// A pair that is judged twice with the same grade is a warning, with different grades an error. A file whose first line
/// is BEIR's header (`query-id`, `corpus-id`, `score`) has three columns; every other file has four.
pub fn read_qrels(path: &Path, options: &QrelsOptions) -> Result<Qrels, InputError> {
    let mut lines = Lines::open(path)?;
    let mut builder = JudgmentsBuilder::default();
    let mut layout = None;
    while let Some((number, line)) = lines.next()? {
        if layout.is_none() {
            layout = header(line);
            if layout.is_some() {
                continue;
            }
        }
        let layout = *layout.get_or_insert(Layout::Trec);
        judgment(line, layout, options)
            .and_then(|(query, document, grade)| builder.add(query, document, grade, number))
            .map_err(|fault| InputError::line(path, number, fault))?;
    }
    let (judgments, count, warnings) = builder.finish();
    if count == 0 {
        return Err(InputError::file(path, Fault::Empty { what: "judgment" }));
    }
    Ok(Qrels {
        judgments,
        count,
        warnings,
    })
}

fn judgment(
    line: &str,
    layout: Layout,
    options: &QrelsOptions,
) -> Result<(QueryId, DocId, Grade), Fault> {
    let columns: Vec<&str> = match layout {
        Layout::Trec | Layout::Spaces => line.split_ascii_whitespace().collect(),
        Layout::Tabs => line.split('\t').collect(),
    };
    let (query, document, grade) = match (layout, columns.as_slice()) {
        (Layout::Trec, &[query, _, document, grade])
        | (Layout::Tabs | Layout::Spaces, &[query, document, grade]) => (query, document, grade),
        (Layout::Trec, [_, _, _]) => {
            return Err(Fault::ThreeColumns {
                text: shorten(line),
            });
        }
        (layout, columns) => {
            return Err(Fault::ColumnCount {
                text: shorten(line),
                found: columns.len(),
                expected: match layout {
                    Layout::Trec => "4: `query iteration document grade`",
                    Layout::Tabs => "3, separated by tabs: query, document, grade",
                    Layout::Spaces => "3: query, document, grade",
                },
            });
        }
    };
    let grade = options.grade(grade.trim_ascii())?;
    Ok((QueryId::try_from(query)?, DocId::try_from(document)?, grade))
}
