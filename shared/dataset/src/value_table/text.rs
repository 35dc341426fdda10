//! Tables of values in CSV, TSV, JSONL and JSON.

use std::path::Path;

use serde_json::{Map, Value};

use super::raw::{Cell, Place, RawTable};
use crate::InputError;
use crate::delimited::Delimited;
use crate::fault::{Fault, list, shorten};
use crate::json::{json_fault, object, value};
use crate::source::{Lines, read_text};

pub(crate) fn read_delimited(path: &Path) -> Result<RawTable, InputError> {
    let mut rows = Delimited::open(path)?;
    let mut table = empty(path, true);
    table.columns = rows
        .header()
        .iter()
        .map(|name| (name.clone(), Vec::new()))
        .collect();
    while let Some((line, cells)) = rows.next()? {
        table.places.push(Place { file: 0, at: line });
        for ((_, column), cell) in table.columns.iter_mut().zip(cells) {
            column.push(Cell::of_text(cell));
        }
    }
    Ok(table)
}

pub(crate) fn read_jsonl(path: &Path) -> Result<RawTable, InputError> {
    let mut lines = Lines::open(path)?;
    let mut table = empty(path, true);
    while let Some((line, text)) = lines.next()? {
        let object = object(text).map_err(|fault| InputError::line(path, line, fault))?;
        push(&mut table, line, object);
    }
    Ok(table)
}

/// Reads a list of objects, or an object whose `queries` is one. A text of several objects is JSONL under another name.
pub(crate) fn read_json(path: &Path) -> Result<RawTable, InputError> {
    let text = read_text(path)?;
    let value = match value(&text) {
        Ok(value) => value,
        Err(_)
            if text
                .lines()
                .next()
                .is_some_and(|first| object(first).is_ok()) =>
        {
            return read_jsonl(path);
        }
        Err(error) => {
            let line = error.line().max(1) as u64;
            return Err(InputError::line(path, line, json_fault(&text, &error)));
        }
    };
    let rows = match value {
        Value::Array(rows) => rows,
        Value::Object(mut object) => {
            let Some(Value::Array(rows)) = object.shift_remove("queries") else {
                let fault = Fault::Missing {
                    kind: "list",
                    name: "queries".to_owned(),
                    found: list(object.keys().map(String::as_str)),
                };
                return Err(InputError::file(path, fault));
            };
            rows
        }
        other => {
            let problem = format!("`{}` is not a list of objects", shorten(&other.to_string()));
            return Err(InputError::file(path, Fault::Json { problem }));
        }
    };
    let mut table = empty(path, false);
    for (at, row) in (1..).zip(rows) {
        match row {
            Value::Object(object) => push(&mut table, at, object),
            other => {
                let problem = format!("`{}` is not an object", shorten(&other.to_string()));
                return Err(InputError::row(path, at, Fault::Json { problem }));
            }
        }
    }
    Ok(table)
}

fn empty(path: &Path, lines: bool) -> RawTable {
    RawTable {
        files: vec![path.to_owned()],
        lines,
        ..RawTable::default()
    }
}

/// Adds a row; columns are in the order in which keys are first met.
fn push(table: &mut RawTable, at: u64, object: Map<String, Value>) {
    let rows = table.places.len();
    table.places.push(Place { file: 0, at });
    for (key, value) in object {
        let place = table.columns.iter().position(|(name, _)| *name == key);
        let place = place.unwrap_or_else(|| {
            table.columns.push((key, vec![Cell::Empty; rows]));
            table.columns.len() - 1
        });
        table.columns[place].1.push(cell(value));
    }
    for (_, cells) in &mut table.columns {
        cells.resize(rows + 1, Cell::Empty);
    }
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Empty,
        Value::Bool(value) => Cell::Bool(value),
        Value::String(text) => Cell::Text(text),
        Value::Number(number) => {
            let value = number.as_f64().unwrap_or(f64::NAN);
            if !value.is_finite() {
                Cell::NotFinite(number.to_string())
            } else if number.is_f64() {
                Cell::Number(value)
            } else {
                Cell::Whole(number.to_string(), value)
            }
        }
        Value::Array(_) | Value::Object(_) => Cell::Text(value.to_string()),
    }
}
