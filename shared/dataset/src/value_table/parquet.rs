//! Tables of values in Parquet.

use std::fs;
use std::path::{Path, PathBuf};

use evalfarm_columnar::{Column, check_sealed, read_foreign};

use super::ValueTableOptions;
use super::own::{Belonging, choose, is_own};
use super::raw::{Cell, Place, RawTable};
use crate::InputError;
use crate::cells::text;
use crate::fault::Fault;

/// Reads one file, or the `*.parquet` files of a folder by name. A job folder stands for its `rows` folder.
pub(crate) fn read(path: &Path, options: &ValueTableOptions) -> Result<RawTable, InputError> {
    if !path.is_dir() {
        return read_files(path, &[path.to_owned()], options);
    }
    let rows = path.join("rows");
    let folder = if rows.is_dir() { rows } else { path.to_owned() };
    let failed = |error| InputError::read(&folder, error);
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file
            .extension()
            .is_some_and(|extension| extension == "parquet")
        {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let what = "`*.parquet` file";
        return Err(InputError::file(&folder, Fault::Empty { what }));
    }
    read_files(path, &files, options)
}

/// Whether a file is one of the rows of a job, which this project alone writes.
fn in_job(file: &Path) -> bool {
    let rows = file.parent().filter(|folder| folder.ends_with("rows"));
    rows.is_some_and(|rows| rows.join("../job.json").is_file())
}

fn read_files(
    path: &Path,
    files: &[PathBuf],
    options: &ValueTableOptions,
) -> Result<RawTable, InputError> {
    let mut tables = Vec::new();
    for file in files {
        let damaged = |source| InputError::Columns {
            path: file.clone(),
            source,
        };
        if in_job(file) {
            check_sealed(file).map_err(damaged)?;
        }
        let table = read_foreign(file, None).map_err(damaged)?;
        tables.push((file, table));
    }
    let own = tables.iter().all(|(_, table)| {
        is_own(
            table
                .schema()
                .fields
                .iter()
                .map(|field| field.name.as_str()),
        )
    });
    // Rows are chosen before cells are made of them: a sweep has hundreds of candidates in its files.
    let mut keep = None;
    if own {
        let belongings = tables.iter().flat_map(|(_, table)| {
            let cell = |name: &str, row| table.column(name).and_then(|column| text(column, row));
            (0..table.rows()).map(move |row| Belonging {
                candidate: cell("candidate", row),
                split: cell("split", row),
            })
        });
        let belongings: Vec<Belonging<'_>> = belongings.collect();
        let chosen = choose(&belongings, options).map_err(|fault| InputError::file(path, fault))?;
        keep = Some(chosen);
    }
    let mut raw = RawTable::default();
    let mut before = 0;
    for (file, table) in &tables {
        let rows: Vec<usize> = (0..table.rows())
            .filter(|row| keep.as_ref().is_none_or(|keep| keep[before + row]))
            .collect();
        before += table.rows();
        let columns = table.schema().fields.iter().zip(table.columns());
        raw.append(RawTable {
            files: vec![(*file).clone()],
            lines: false,
            places: rows
                .iter()
                .map(|&row| Place {
                    file: 0,
                    at: row as u64 + 1,
                })
                .collect(),
            columns: columns
                .map(|(field, column)| {
                    let cells = rows.iter().map(|&row| cell(column, row)).collect();
                    (field.name.clone(), cells)
                })
                .collect(),
        });
    }
    Ok(raw)
}

fn cell(column: &Column, row: usize) -> Cell {
    let number = |number: Option<f64>| number.map_or(Cell::Empty, Cell::Number);
    match column {
        Column::Text(_) | Column::Labels(_) => {
            text(column, row).map_or(Cell::Empty, |text| Cell::Text(text.to_owned()))
        }
        Column::F64(cells) => number(cells[row]),
        Column::F32(cells) => number(cells[row].map(f64::from)),
        Column::I64(cells) => {
            cells[row].map_or(Cell::Empty, |n| Cell::Whole(n.to_string(), n as f64))
        }
        Column::U64(cells) => {
            cells[row].map_or(Cell::Empty, |n| Cell::Whole(n.to_string(), n as f64))
        }
        Column::Bool(cells) => cells[row].map_or(Cell::Empty, Cell::Bool),
    }
}
