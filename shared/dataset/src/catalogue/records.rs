//! Records of a JSONL, CSV or TSV file: keys with values, in the order in which the file has them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::InputError;
use crate::delimited::Delimited;
use crate::json::object;
use crate::source::{Lines, inner_extension};

/// One record: its line, and its keys with their values. A value that is missing or null does not occur.
pub(crate) struct Record {
    pub(crate) line: u64,
    pub(crate) entries: Vec<Entry>,
}

/// A key and its value.
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) form: Form,
}

/// What form a value had in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A text, a truth value, or a list of these.
    Text,
    /// A whole number, every digit of which is kept.
    Whole,
    /// A number that went through a float, so that its text may differ from the file's.
    Float,
    /// An object.
    Object,
}

/// The records of a file whose name says its format.
pub(crate) enum Records {
    Jsonl(Lines),
    Delimited { path: PathBuf, rows: Delimited },
}

impl Records {
    /// Opens a file: `.csv` and `.tsv` are tables with a header, anything else has one JSON object a line.
    pub(crate) fn open(path: &Path) -> Result<Self, InputError> {
        Ok(match inner_extension(path).as_str() {
            "csv" | "tsv" | "tab" => Self::Delimited {
                path: path.to_owned(),
                rows: Delimited::open(path)?,
            },
            _ => Self::Jsonl(Lines::open(path)?),
        })
    }

    /// Returns the next record, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, InputError> {
        match self {
            Self::Jsonl(lines) => {
                let path = lines.path().to_owned();
                let Some((line, text)) = lines.next()? else {
                    return Ok(None);
                };
                let object = object(text).map_err(|fault| InputError::line(&path, line, fault))?;
                let entries = entries(object);
                Ok(Some(Record { line, entries }))
            }
            Self::Delimited { rows, .. } => {
                let Some((line, cells)) = rows.next()? else {
                    return Ok(None);
                };
                let cells = rows.header().iter().cloned().zip(cells);
                let entries = cells.map(|(key, text)| Entry {
                    key,
                    text,
                    form: Form::Text,
                });
                Ok(Some(Record {
                    line,
                    entries: entries.collect(),
                }))
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Jsonl(lines) => lines.path(),
            Self::Delimited { path, .. } => path,
        }
    }
}

fn entries(object: Map<String, Value>) -> Vec<Entry> {
    let entries = object.into_iter().filter_map(|(key, value)| {
        let (text, form) = text_of(value)?;
        Some(Entry { key, text, form })
    });
    entries.collect()
}

/// Returns a value as text, the items of a list joined by a space; nothing for null.
fn text_of(value: Value) -> Option<(String, Form)> {
    match value {
        Value::Null => None,
        Value::String(text) => Some((text, Form::Text)),
        Value::Bool(_) => Some((value.to_string(), Form::Text)),
        Value::Number(ref number) if number.is_f64() => Some((value.to_string(), Form::Float)),
        Value::Number(_) => Some((value.to_string(), Form::Whole)),
        Value::Object(_) => Some((value.to_string(), Form::Object)),
        Value::Array(items) => {
            let items: Vec<(String, Form)> = items.into_iter().filter_map(text_of).collect();
            let nested = items.iter().any(|(_, form)| *form == Form::Object);
            let texts: Vec<String> = items.into_iter().map(|(text, _)| text).collect();
            let form = if nested { Form::Object } else { Form::Text };
            Some((texts.join(" "), form))
        }
    }
}
