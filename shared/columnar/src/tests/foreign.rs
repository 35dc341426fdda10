//! Files as other tools write them, made here with the arrow writer and its defaults.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Date32Array, DictionaryArray, Float32Array, Float64Array, Int16Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, StructArray, UInt32Array,
};
use arrow_schema::{DataType, Field as ArrowField};
use parquet::arrow::ArrowWriter;

use crate::{Column, ColumnType, ColumnarError, read_foreign};

/// Writes the columns as a tool would: with arrow's own schema in the file.
fn foreign(folder: &tempfile::TempDir, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let path = folder.path().join("foreign.parquet");
    fs::write(&path, writer.into_inner().unwrap()).unwrap();
    path
}

fn source(error: &ColumnarError) -> String {
    std::error::Error::source(error).unwrap().to_string()
}

#[test]
fn every_text_and_number_type_is_widened() {
    let folder = tempfile::tempdir().unwrap();
    let dictionary: DictionaryArray<Int32Type> = vec![Some("x"), None].into_iter().collect();
    let path = foreign(
        &folder,
        vec![
            (
                "utf8",
                Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef,
            ),
            ("large", Arc::new(LargeStringArray::from(vec!["a", "b"]))),
            ("view", Arc::new(StringViewArray::from(vec!["a", "b"]))),
            ("dictionary", Arc::new(dictionary)),
            ("i16", Arc::new(Int16Array::from(vec![-3, 4]))),
            ("u32", Arc::new(UInt32Array::from(vec![3, u32::MAX]))),
            ("f32", Arc::new(Float32Array::from(vec![0.5, 0.25]))),
            ("f64", Arc::new(Float64Array::from(vec![Some(0.1), None]))),
        ],
    );
    let table = read_foreign(&path, None).unwrap();
    let ab: Vec<Option<Box<str>>> = vec![Some("a".into()), Some("b".into())];
    for name in ["utf8", "large", "view"] {
        assert_eq!(table.text(name).unwrap(), ab, "{name}");
    }
    assert_eq!(table.text("dictionary").unwrap(), [Some("x".into()), None]);
    assert_eq!(table.i64("i16").unwrap(), [Some(-3), Some(4)]);
    assert_eq!(
        table.u64("u32").unwrap(),
        [Some(3), Some(u64::from(u32::MAX))]
    );
    assert_eq!(table.f64("f32").unwrap(), [Some(0.5), Some(0.25)]);
    assert_eq!(table.f64("f64").unwrap(), [Some(0.1), None]);

    let chosen = read_foreign(&path, Some(&["f64", "utf8"])).unwrap();
    assert_eq!(chosen.schema().fields[1].kind, ColumnType::Text);
    assert!(matches!(&chosen.columns()[0], Column::F64(_)));
    let error = read_foreign(&path, Some(&["f65"])).unwrap_err();
    assert_eq!(source(&error), "column `f65` is missing");
}

#[test]
fn q3_nan_in_a_foreign_file_is_an_error_with_column_and_row() {
    let folder = tempfile::tempdir().unwrap();
    let values = Float64Array::from(vec![Some(1.0), None, Some(f64::NAN)]);
    let path = foreign(&folder, vec![("ndcg_10", Arc::new(values) as ArrayRef)]);
    let error = read_foreign(&path, None).unwrap_err();
    assert_eq!(
        source(&error),
        "column `ndcg_10` holds `NaN` in row 2, which is not a finite number"
    );
}

#[test]
fn a_type_that_tables_do_not_have_matters_only_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let inner: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let nested = StructArray::from(vec![(
        Arc::new(ArrowField::new("x", DataType::Float64, false)),
        inner,
    )]);
    let path = foreign(
        &folder,
        vec![
            ("day", Arc::new(Date32Array::from(vec![1])) as ArrayRef),
            ("nested", Arc::new(nested) as ArrayRef),
            ("id", Arc::new(StringArray::from(vec!["a"]))),
        ],
    );
    let error = read_foreign(&path, None).unwrap_err();
    assert_eq!(
        source(&error),
        "column `day` holds Date32, which is neither text, number nor truth value"
    );
    assert!(read_foreign(&path, Some(&["nested"])).is_err());
    let table = read_foreign(&path, Some(&["id"])).unwrap();
    assert_eq!(table.text("id").unwrap(), [Some("a".into())]);
}

#[test]
fn q8_an_empty_or_short_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.parquet");
    for bytes in [&b""[..], b"PAR1", b"query,value\n1,0.5\n"] {
        fs::write(&path, bytes).unwrap();
        assert!(read_foreign(&path, None).is_err());
    }
}
