//! Our own files: everything in them must be as the schema says.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::sink::Sink;
use crate::seal::check_seal;
use crate::table::is_reserved;
use crate::write::{NAME_KEY, VERSION_KEY};
use crate::{ColumnType, ColumnarError, Field, Schema, Table};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 1 << 14;

/// Reads a file that [`crate::to_bytes`] wrote: name, version, checksum, columns, types and nullability must be those of
/// `expected`. Columns come back in the order of `expected`, text as [`crate::Column::Text`].
pub fn read_bytes(bytes: Vec<u8>, expected: &Schema) -> Result<Table, ColumnarError> {
    guarded(|| read_strict(Bytes::from(bytes), expected, None))
}

/// Reads a file as [`read_bytes`] does; errors name the file.
pub fn read_path(path: &Path, expected: &Schema) -> Result<Table, ColumnarError> {
    load(path)
        .and_then(|bytes| read_bytes(bytes, expected))
        .map_err(|error| error.in_file(path))
}

/// Checks a file as [`read_path`] does, but decodes only the named columns, text as [`crate::Column::Labels`].
///
/// The table's schema has the named columns alone, in the order in which they were named.
pub fn read_selected(
    path: &Path,
    expected: &Schema,
    columns: &[&str],
) -> Result<Table, ColumnarError> {
    load(path)
        .and_then(|bytes| guarded(|| read_strict(Bytes::from(bytes), expected, Some(columns))))
        .map_err(|error| error.in_file(path))
}

fn load(path: &Path) -> Result<Vec<u8>, ColumnarError> {
    fs::read(path).map_err(|source| ColumnarError::Io { source })
}

/// Runs a reader so that a panic of the Parquet crate on damaged content is an error like any other.
pub(super) fn guarded(
    read: impl FnOnce() -> Result<Table, ColumnarError>,
) -> Result<Table, ColumnarError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ColumnarError::damaged("the Parquet reader panicked")))
}

fn read_strict(
    bytes: Bytes,
    expected: &Schema,
    columns: Option<&[&str]>,
) -> Result<Table, ColumnarError> {
    check_seal(&bytes)?;
    // The schema that arrow may have stored says how a tool held the data, not what the data is.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let footer = ArrowReaderMetadata::load(&bytes, options).map_err(ColumnarError::damaged)?;
    let mut stored = stored_metadata(&footer);
    check_header(&stored, expected)?;
    check_columns(footer.schema(), expected)?;
    let fields = match columns {
        None => expected.fields.clone(),
        Some(names) => selected(expected, names)?,
    };
    stored.retain(|key, _| !is_reserved(key));
    let schema = Schema {
        name: expected.name.clone(),
        version: expected.version,
        fields,
    };
    let as_labels = columns.is_some();
    decode(bytes, &footer, schema, stored, as_labels)
}

/// Returns the file's metadata; of a key that occurs twice the last value.
pub(super) fn stored_metadata(footer: &ArrowReaderMetadata) -> BTreeMap<String, String> {
    let entries = footer.metadata().file_metadata().key_value_metadata();
    entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.key.clone(), entry.value.clone()?)))
        .collect()
}

fn check_header(stored: &BTreeMap<String, String>, expected: &Schema) -> Result<(), ColumnarError> {
    let name = stored
        .get(NAME_KEY)
        .ok_or(ColumnarError::MissingKey { key: NAME_KEY })?;
    if *name != expected.name {
        return Err(ColumnarError::SchemaName {
            found: name.clone(),
            expected: expected.name.clone(),
        });
    }
    let version: u32 = stored
        .get(VERSION_KEY)
        .and_then(|text| text.parse().ok())
        .ok_or(ColumnarError::MissingKey { key: VERSION_KEY })?;
    if version != expected.version {
        return Err(ColumnarError::SchemaVersion {
            name: name.clone(),
            found: version,
            expected: expected.version,
        });
    }
    Ok(())
}

/// Compares the file's columns with the schema's. Their order in the file does not matter.
fn check_columns(found: &ArrowSchema, expected: &Schema) -> Result<(), ColumnarError> {
    for field in &expected.fields {
        let column = || field.name.clone();
        let mut same_name = found.fields().iter().filter(|f| *f.name() == field.name);
        let Some(arrow) = same_name.next() else {
            return Err(ColumnarError::MissingColumn { column: column() });
        };
        if same_name.next().is_some() {
            return Err(ColumnarError::DuplicateColumn { column: column() });
        }
        if own_type(arrow.data_type()) != Some(field.kind) {
            return Err(ColumnarError::ColumnType {
                column: column(),
                found: arrow.data_type().to_string(),
                expected: field.kind,
            });
        }
        if arrow.is_nullable() != field.nullable {
            return Err(ColumnarError::Nullability {
                column: column(),
                found: arrow.is_nullable(),
            });
        }
    }
    let extra = found
        .fields()
        .iter()
        .find(|field| expected.position(field.name()).is_none());
    match extra {
        None => Ok(()),
        Some(field) => Err(ColumnarError::ExtraColumn {
            column: field.name().clone(),
        }),
    }
}

/// Returns the column type that our own writer stores in this form.
fn own_type(kind: &DataType) -> Option<ColumnType> {
    match kind {
        DataType::Utf8 => Some(ColumnType::Text),
        DataType::Float64 => Some(ColumnType::F64),
        DataType::Float32 => Some(ColumnType::F32),
        DataType::Int64 => Some(ColumnType::I64),
        DataType::UInt64 => Some(ColumnType::U64),
        DataType::Boolean => Some(ColumnType::Bool),
        _ => None,
    }
}

fn selected(expected: &Schema, names: &[&str]) -> Result<Vec<Field>, ColumnarError> {
    names
        .iter()
        .map(|&name| {
            let at = expected
                .position(name)
                .ok_or_else(|| ColumnarError::MissingColumn {
                    column: name.to_owned(),
                })?;
            Ok(expected.fields[at].clone())
        })
        .collect()
}

/// Decodes the columns of `schema`, row group by row group.
pub(super) fn decode<R: ChunkReader + 'static>(
    input: R,
    footer: &ArrowReaderMetadata,
    schema: Schema,
    metadata: BTreeMap<String, String>,
    as_labels: bool,
) -> Result<Table, ColumnarError> {
    let roots = schema.fields.iter().map(|field| {
        let roots = footer.schema().fields();
        roots.iter().position(|root| *root.name() == field.name)
    });
    let roots: Vec<usize> = roots.flatten().collect();
    let mask = ProjectionMask::roots(footer.parquet_schema(), roots);
    let footer = if as_labels {
        with_dictionaries(footer)?
    } else {
        footer.clone()
    };
    let rows = footer.metadata().file_metadata().num_rows();
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(input, footer)
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(ColumnarError::damaged)?;
    let mut sinks: Vec<Sink> = schema
        .fields
        .iter()
        .map(|field| Sink::new(field.kind, as_labels))
        .collect();
    let mut decoded = 0_usize;
    for batch in reader {
        let batch = batch.map_err(ColumnarError::damaged)?;
        decoded += batch.num_rows();
        for (field, sink) in schema.fields.iter().zip(&mut sinks) {
            let array = batch.column_by_name(&field.name);
            let taken = array.is_some_and(|array| sink.take(array));
            if !taken {
                let problem = format!("column `{}` changes its type", field.name);
                return Err(ColumnarError::damaged(problem));
            }
        }
    }
    if i64::try_from(decoded) != Ok(rows) && !schema.fields.is_empty() {
        let problem = format!("the footer promises {rows} rows, the data has {decoded}");
        return Err(ColumnarError::damaged(problem));
    }
    let columns = sinks.into_iter().map(Sink::finish).collect();
    Table::new(schema, columns, metadata)
}

/// Asks for text columns as codes into dictionaries.
fn with_dictionaries(footer: &ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ColumnarError> {
    let fields: Vec<ArrowField> = footer
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let kind = match field.data_type() {
                DataType::Utf8 => {
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
                }
                other => other.clone(),
            };
            ArrowField::new(field.name(), kind, field.is_nullable())
        })
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(ArrowSchema::new(fields)));
    ArrowReaderMetadata::try_new(Arc::clone(footer.metadata()), options)
        .map_err(ColumnarError::damaged)
}
