//! Tables to Parquet, the same bytes for the same table.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::UInt32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array,
    LargeStringArray, RecordBatch, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};

use crate::seal::{CHECKSUM_KEY, PLACEHOLDER, seal};
use crate::table::RESERVED_PREFIX;
use crate::{Column, ColumnType, ColumnarError, Labels, Table};

/// Most rows in one row group, so that a reader's memory does not grow with the file.
pub const ROWS_PER_GROUP: usize = 1 << 17;

/// Rows handed to the Parquet writer at a time.
const ROWS_PER_BATCH: usize = 1 << 14;

/// Writer named in every file. Without it the version of the parquet crate would be part of the bytes.
const CREATED_BY: &str = "evalfarm";

pub(crate) const NAME_KEY: &str = "evalfarm.schema";
pub(crate) const VERSION_KEY: &str = "evalfarm.schema_version";

/// Returns the table as the bytes of a Parquet file: the same table gives the same bytes, and so does a text column
/// whether it holds texts or labels.
///
/// Snappy, dictionaries where they help, row groups of at most [`ROWS_PER_GROUP`] rows, statistics by row group, no page index.
/// The file's metadata has the table's own, the schema's name and version (`evalfarm.schema`,
/// `evalfarm.schema_version`), each column's description (`evalfarm.column.<name>`), and the SHA-256 of the
/// file with zeros in its own place (`evalfarm.sha256`).
pub fn to_bytes(table: &Table) -> Result<Vec<u8>, ColumnarError> {
    let schema = arrow_schema(table);
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_compression(Compression::SNAPPY)
        .set_created_by(CREATED_BY.to_owned())
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), Arc::clone(&schema), options)
        .map_err(ColumnarError::encode)?;
    let dictionaries: Vec<Option<ArrayRef>> = table.columns().iter().map(dictionary).collect();
    let rows = table.rows();
    for start in (0..rows).step_by(ROWS_PER_BATCH) {
        let range = start..rows.min(start + ROWS_PER_BATCH);
        let arrays = table
            .columns()
            .iter()
            .zip(&dictionaries)
            .map(|(column, labels)| array(column, labels.as_ref(), range.clone()))
            .collect();
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(ColumnarError::encode)?;
        writer.write(&batch).map_err(ColumnarError::encode)?;
    }
    for (key, value) in file_metadata(table) {
        writer.append_key_value_metadata(KeyValue::new(key, value));
    }
    let mut bytes = writer.into_inner().map_err(ColumnarError::encode)?;
    seal(&mut bytes)?;
    Ok(bytes)
}

/// Returns the file's metadata in the order in which it is written: what the table says, then what this crate says.
fn file_metadata(table: &Table) -> Vec<(String, String)> {
    let schema = table.schema();
    let mut entries: Vec<(String, String)> = table.metadata().clone().into_iter().collect();
    entries.push((NAME_KEY.to_owned(), schema.name.clone()));
    entries.push((VERSION_KEY.to_owned(), schema.version.to_string()));
    for field in &schema.fields {
        let key = format!("{RESERVED_PREFIX}column.{}", field.name);
        entries.push((key, field.description.clone()));
    }
    entries.push((CHECKSUM_KEY.to_owned(), PLACEHOLDER.to_owned()));
    entries
}

fn arrow_schema(table: &Table) -> Arc<ArrowSchema> {
    let fields: Vec<ArrowField> = table
        .schema()
        .fields
        .iter()
        .zip(table.columns())
        .map(|(field, column)| {
            let kind = match column {
                Column::Labels(_) => {
                    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::LargeUtf8))
                }
                _ => data_type(field.kind),
            };
            ArrowField::new(&field.name, kind, field.nullable)
        })
        .collect();
    Arc::new(ArrowSchema::new(fields))
}

/// Returns the arrow type from which a column is written. Text has 64-bit offsets in memory, so that long texts cannot
/// overflow them; Parquet knows one text type.
fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Text => DataType::LargeUtf8,
        ColumnType::F64 => DataType::Float64,
        ColumnType::F32 => DataType::Float32,
        ColumnType::I64 => DataType::Int64,
        ColumnType::U64 => DataType::UInt64,
        ColumnType::Bool => DataType::Boolean,
    }
}

fn dictionary(column: &Column) -> Option<ArrayRef> {
    let Column::Labels(labels) = column else {
        return None;
    };
    let labels = labels.labels().iter().map(|label| Some(&**label));
    Some(Arc::new(labels.collect::<LargeStringArray>()))
}

fn array(column: &Column, dictionary: Option<&ArrayRef>, range: Range<usize>) -> ArrayRef {
    match column {
        Column::Text(cells) => {
            let texts = cells[range].iter().map(Option::as_deref);
            Arc::new(texts.collect::<LargeStringArray>())
        }
        Column::Labels(labels) => labelled(labels, dictionary, range),
        Column::F64(cells) => collected::<Float64Array, _>(&cells[range]),
        Column::F32(cells) => collected::<Float32Array, _>(&cells[range]),
        Column::I64(cells) => collected::<Int64Array, _>(&cells[range]),
        Column::U64(cells) => collected::<UInt64Array, _>(&cells[range]),
        Column::Bool(cells) => collected::<BooleanArray, _>(&cells[range]),
    }
}

fn collected<A, T>(cells: &[Option<T>]) -> ArrayRef
where
    A: Array + FromIterator<Option<T>> + 'static,
    T: Copy,
{
    Arc::new(cells.iter().copied().collect::<A>())
}

fn labelled(labels: &Labels, dictionary: Option<&ArrayRef>, range: Range<usize>) -> ArrayRef {
    let keys: UInt32Array = labels.codes()[range].iter().copied().collect();
    let values = dictionary.map_or_else(
        || Arc::new(LargeStringArray::from_iter_values([""; 0])) as ArrayRef,
        Arc::clone,
    );
    Arc::new(
        DictionaryArray::<UInt32Type>::try_new(keys, values)
            .expect("codes are less than the number of labels"),
    )
}
