//! Between columns and the values they stand for.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_columnar::{Column, ColumnarError, Labels, Schema, Table, read_selected, to_bytes};
use evalfarm_domain::{Grade, JobId};

use crate::ResultsError;

/// The metadata key under which every file names its job.
const JOB_KEY: &str = "job";

/// Returns the bytes of a table that belongs to a job.
pub(crate) fn job_table_to_bytes(
    schema: Schema,
    columns: Vec<Column>,
    job: &JobId,
    more: &[(&str, &str)],
) -> Result<Vec<u8>, ResultsError> {
    let mut metadata = BTreeMap::from([(JOB_KEY.to_owned(), job.as_str().to_owned())]);
    metadata.extend(
        more.iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned())),
    );
    Ok(to_bytes(&Table::new(schema, columns, metadata)?)?)
}

/// Returns a text column.
pub(crate) fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> Column {
    Column::Labels(texts.collect())
}

/// Returns a text column with empty cells.
pub(crate) fn optional_texts<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Column {
    Column::Labels(texts.collect())
}

/// Returns a column of small numbers.
pub(crate) fn numbers(numbers: impl Iterator<Item = u32>) -> Column {
    Column::U64(numbers.map(|number| Some(u64::from(number))).collect())
}

/// Returns a column of small numbers with empty cells.
pub(crate) fn optional_numbers(numbers: impl Iterator<Item = Option<u32>>) -> Column {
    Column::U64(numbers.map(|number| number.map(u64::from)).collect())
}

/// A table of a job while its columns become values.
pub(crate) struct Cells {
    table: Table,
}

impl Cells {
    /// Reads the named columns of a file, which must belong to `job`.
    pub(crate) fn read(
        path: &Path,
        schema: &Schema,
        columns: &[&str],
        job: &JobId,
    ) -> Result<Self, ResultsError> {
        let table = read_selected(path, schema, columns)?;
        let found = table.metadata().get(JOB_KEY).map_or("", String::as_str);
        if found == job.as_str() {
            Ok(Self { table })
        } else {
            Err(ResultsError::OtherJob {
                found: found.to_owned(),
                expected: job.clone(),
            }
            .in_file(path))
        }
    }

    /// Reads every column of a file, which must belong to `job`.
    pub(crate) fn read_all(
        path: &Path,
        schema: &Schema,
        job: &JobId,
    ) -> Result<Self, ResultsError> {
        let columns: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
        Self::read(path, schema, &columns, job)
    }

    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        self.table.metadata().get(key).map(String::as_str)
    }

    /// Returns a text column as it is stored.
    pub(crate) fn labels(&self, column: &str) -> Result<&Labels, ResultsError> {
        Ok(self.table.labels(column)?)
    }

    /// Returns what each label of a text column stands for, parallel to the labels.
    pub(crate) fn meanings<T>(
        &self,
        column: &str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ResultsError> {
        let labels = self.table.labels(column)?;
        let parsed = labels.labels().iter().enumerate().map(|(code, label)| {
            parse(label).ok_or_else(|| ResultsError::Cell {
                column: column.to_owned(),
                row: first_row(labels, code),
                value: label.to_string(),
                expected,
            })
        });
        parsed.collect()
    }

    /// Returns what each row of a text column stands for.
    pub(crate) fn parsed<T: Clone>(
        &self,
        column: &str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<Option<T>>, ResultsError> {
        let meanings = self.meanings(column, expected, parse)?;
        let codes = self.table.labels(column)?.codes().iter();
        Ok(codes
            .map(|code| code.map(|code| meanings[code as usize].clone()))
            .collect())
    }

    /// Returns what each row of a text column without empty cells stands for.
    pub(crate) fn required<T: Clone>(
        &self,
        column: &str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ResultsError> {
        complete(column, self.parsed(column, expected, parse)?)
    }

    /// Returns the identifiers of a column.
    pub(crate) fn ids<T>(
        &self,
        column: &str,
        expected: &'static str,
    ) -> Result<Vec<T>, ResultsError>
    where
        T: Clone + for<'a> TryFrom<&'a str>,
    {
        self.required(column, expected, |text| T::try_from(text).ok())
    }

    pub(crate) fn f64(&self, column: &str) -> Result<&[Option<f64>], ResultsError> {
        Ok(self.table.f64(column)?)
    }

    pub(crate) fn required_f64(&self, column: &str) -> Result<Vec<f64>, ResultsError> {
        complete(column, self.table.f64(column)?.to_vec())
    }

    pub(crate) fn required_f32(&self, column: &str) -> Result<Vec<f32>, ResultsError> {
        complete(column, self.table.f32(column)?.to_vec())
    }

    pub(crate) fn required_u64(&self, column: &str) -> Result<Vec<u64>, ResultsError> {
        complete(column, self.table.u64(column)?.to_vec())
    }

    pub(crate) fn required_bool(&self, column: &str) -> Result<Vec<bool>, ResultsError> {
        complete(column, self.table.bool(column)?.to_vec())
    }

    pub(crate) fn u32(&self, column: &str) -> Result<Vec<Option<u32>>, ResultsError> {
        let cells = self.table.u64(column)?.iter().enumerate();
        cells
            .map(|(row, &cell)| {
                cell.map(|number| {
                    u32::try_from(number).map_err(|_| ResultsError::Cell {
                        column: column.to_owned(),
                        row,
                        value: number.to_string(),
                        expected: "a number below 2^32",
                    })
                })
                .transpose()
            })
            .collect()
    }

    pub(crate) fn required_u32(&self, column: &str) -> Result<Vec<u32>, ResultsError> {
        complete(column, self.u32(column)?)
    }

    /// Returns the grades of a column.
    pub(crate) fn grades(&self, column: &str) -> Result<Vec<Option<Grade>>, ResultsError> {
        let cells = self.table.f64(column)?.iter().enumerate();
        cells
            .map(|(row, &cell)| {
                cell.map(|value| {
                    Grade::try_from(value).map_err(|_| ResultsError::Cell {
                        column: column.to_owned(),
                        row,
                        value: value.to_string(),
                        expected: "a grade",
                    })
                })
                .transpose()
            })
            .collect()
    }
}

fn first_row(labels: &Labels, code: usize) -> usize {
    let mut codes = labels.codes().iter();
    codes
        .position(|&at| at.is_some_and(|at| at as usize == code))
        .unwrap_or(0)
}

/// Returns the cells of a column that has no empty one, as the schema promised.
pub(crate) fn complete<T>(column: &str, cells: Vec<Option<T>>) -> Result<Vec<T>, ResultsError> {
    let mut values = Vec::with_capacity(cells.len());
    for (row, cell) in cells.into_iter().enumerate() {
        match cell {
            Some(value) => values.push(value),
            None => {
                return Err(ResultsError::Columnar(ColumnarError::Null {
                    column: column.to_owned(),
                    row,
                }));
            }
        }
    }
    Ok(values)
}
