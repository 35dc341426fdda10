//! Files of other tools: the schema is inferred.

use std::fs::{self, File};
use std::path::Path;

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::strict::{decode, guarded, stored_metadata};
use crate::seal::{CHECKSUM_KEY, check_seal};
use crate::table::is_reserved;
use crate::write::{NAME_KEY, VERSION_KEY};
use crate::{ColumnType, ColumnarError, Field, Schema, Table};

/// Name of the schema of a table that was read from a file of another tool.
const FOREIGN: &str = "foreign";

/// Reads any flat Parquet file, or the named columns of any Parquet file, in the order in which they are named.
///
/// Text of every kind becomes text, whole numbers become i64 or u64, floats become f64, truth values bool. The inferred
/// schema is called `foreign`, version 0, and keeps which columns may hold empty cells. NaN and infinities are errors
/// that name column and row; so are columns of other types (dates, decimals, lists, bytes) among those asked for. A file
/// that says that this project wrote it has to have the checksum that it was written with.
pub fn read_foreign(path: &Path, columns: Option<&[&str]>) -> Result<Table, ColumnarError> {
    guarded(|| read(path, columns)).map_err(|error| error.in_file(path))
}

/// Checks that a file is as this project wrote it, whatever it holds.
pub fn check_sealed(path: &Path) -> Result<(), ColumnarError> {
    check_sealed_bytes(path).map_err(|error| error.in_file(path))
}

fn check_sealed_bytes(path: &Path) -> Result<(), ColumnarError> {
    let bytes = fs::read(path).map_err(|source| ColumnarError::Io { source })?;
    check_seal(&bytes)
}

fn read(path: &Path, columns: Option<&[&str]>) -> Result<Table, ColumnarError> {
    let io_error = |source| ColumnarError::Io { source };
    let file = File::open(path).map_err(io_error)?;
    let len = file.metadata().map_err(io_error)?.len();
    if len < 12 {
        // The marks at both ends and the footer's length.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        return Err(ColumnarError::NotParquet { len });
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let footer = ArrowReaderMetadata::load(&file, options).map_err(ColumnarError::damaged)?;
    let schema = Schema {
        name: FOREIGN.to_owned(),
        version: 0,
        fields: inferred(&footer, columns)?,
    };
    check_compression(footer.metadata(), &schema)?;
    let mut metadata = stored_metadata(&footer);
    let ours = [CHECKSUM_KEY, NAME_KEY, VERSION_KEY];
    if ours.iter().any(|key| metadata.contains_key(*key)) {
        check_sealed_bytes(path)?;
    }
    metadata.retain(|key, _| !is_reserved(key));
    decode(file, &footer, schema, metadata, false)
}

fn inferred(
    footer: &ArrowReaderMetadata,
    columns: Option<&[&str]>,
) -> Result<Vec<Field>, ColumnarError> {
    let found = footer.schema().fields();
    let all: Vec<&str> = found.iter().map(|field| field.name().as_str()).collect();
    let mut fields = Vec::new();
    for &name in columns.unwrap_or(&all) {
        let mut same_name = found.iter().filter(|field| field.name() == name);
        let Some(field) = same_name.next() else {
            return Err(ColumnarError::MissingColumn {
                column: name.to_owned(),
            });
        };
        if same_name.next().is_some() {
            return Err(ColumnarError::DuplicateColumn {
                column: name.to_owned(),
            });
        }
        let Some(kind) = widened(field.data_type()) else {
            return Err(ColumnarError::UnsupportedType {
                column: name.to_owned(),
                found: field.data_type().to_string(),
            });
        };
        fields.push(Field {
            name: name.to_owned(),
            kind,
            nullable: field.is_nullable(),
            description: String::new(),
        });
    }
    Ok(fields)
}

/// Returns the column type that takes every value of an arrow type.
fn widened(kind: &DataType) -> Option<ColumnType> {
    match kind {
        DataType::Utf8 => Some(ColumnType::Text),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some(ColumnType::F64),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Some(ColumnType::I64)
        }
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
            Some(ColumnType::U64)
        }
        DataType::Boolean => Some(ColumnType::Bool),
        _ => None,
    }
}

fn check_compression(footer: &ParquetMetaData, schema: &Schema) -> Result<(), ColumnarError> {
    for chunk in footer
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns)
    {
        let name = chunk.column_path().parts().first();
        let Some(name) = name.filter(|name| schema.position(name).is_some()) else {
            continue;
        };
        match chunk.compression() {
            Compression::UNCOMPRESSED | Compression::SNAPPY => {}
            codec => {
                return Err(ColumnarError::UnsupportedCompression {
                    column: name.clone(),
                    codec: codec.to_string(),
                });
            }
        }
    }
    Ok(())
}
