//! What a table or a file must not be.

use std::collections::BTreeMap;

use super::{sample, single, texts};
use crate::{
    Column, ColumnType, ColumnarError, Field, Labels, Schema, Table, read_bytes, read_path,
    to_bytes,
};

/// Reads the sample under a changed schema and returns the message.
fn refused(change: impl FnOnce(&mut Schema)) -> String {
    let table = sample();
    let mut expected = table.schema().clone();
    change(&mut expected);
    let error = read_bytes(to_bytes(&table).unwrap(), &expected).unwrap_err();
    error.to_string()
}

#[test]
fn q3_a_number_that_is_not_finite_is_refused() {
    let field = || Field::nullable("ndcg_10", ColumnType::F64, "");
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let column = Column::F64(vec![Some(1.0), None, Some(bad)]);
        let error = single(field(), column).unwrap_err();
        assert!(
            matches!(&error, ColumnarError::NotFinite { column, row: 2, .. } if column == "ndcg_10"),
            "{error}"
        );
    }
    let narrow = Field::required("score", ColumnType::F32, "");
    let error = single(narrow, Column::F32(vec![Some(f32::NAN)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `score` holds `NaN` in row 0, which is not a finite number"
    );
}

#[test]
fn q5_another_name_or_version_or_column_is_refused() {
    assert_eq!(
        refused(|schema| schema.name = "rows".to_owned()),
        "the file holds `sample`, not `rows`"
    );
    assert_eq!(
        refused(|schema| schema.version = 4),
        "the file holds `sample` of version 3, this program reads version 4"
    );
    assert_eq!(
        refused(|schema| schema
            .fields
            .push(Field::nullable("added", ColumnType::F64, ""))),
        "column `added` is missing"
    );
    assert_eq!(
        refused(|schema| {
            schema.fields.pop();
        }),
        "column `note` does not belong to the schema"
    );
    assert_eq!(
        refused(|schema| schema.fields[4].kind = ColumnType::I64),
        "column `digest` holds UInt64, not i64"
    );
    assert_eq!(
        refused(|schema| schema.fields[3].nullable = false),
        "column `count` is declared optional, the schema says required"
    );
}

#[test]
fn q11_the_order_of_columns_does_not_matter_when_reading() {
    let table = sample();
    let mut expected = table.schema().clone();
    expected.fields.reverse();
    let back = read_bytes(to_bytes(&table).unwrap(), &expected).unwrap();
    assert_eq!(back.schema().fields[0].name, "note");
    assert_eq!(back.f64("value").unwrap(), table.f64("value").unwrap());
}

#[test]
fn columns_that_do_not_fit_their_schema_are_refused() {
    let required = || Field::required("id", ColumnType::Text, "");
    let error = single(required(), texts(&[Some("a"), None])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `id` is empty in row 1, but must not be"
    );
    let error = single(required(), Column::I64(vec![])).unwrap_err();
    assert_eq!(error.to_string(), "column `id` holds i64, not text");

    let schema = |names: [&str; 2]| Schema {
        name: "pair".to_owned(),
        version: 1,
        fields: names
            .map(|name| Field::required(name, ColumnType::U64, ""))
            .to_vec(),
    };
    let one = || Column::U64(vec![Some(1)]);
    let longer = Column::U64(vec![Some(1), Some(2)]);
    let build = |names, columns| Table::new(schema(names), columns, BTreeMap::new()).unwrap_err();
    assert!(matches!(
        build(["a", "b"], vec![one(), longer]),
        ColumnarError::Length {
            found: 2,
            expected: 1,
            ..
        }
    ));
    assert!(matches!(
        build(["a", "b"], vec![one()]),
        ColumnarError::ColumnCount {
            columns: 1,
            fields: 2
        }
    ));
    assert!(matches!(
        build(["a", "a"], vec![one(), one()]),
        ColumnarError::DuplicateColumn { .. }
    ));
    assert!(matches!(
        Labels::new(vec!["a".into()], vec![Some(0), Some(1)]),
        Err(ColumnarError::Code {
            row: 1,
            code: 1,
            labels: 1
        })
    ));
}

#[test]
fn reserved_metadata_is_refused() {
    for key in ["evalfarm.schema", "ARROW:schema"] {
        let metadata = BTreeMap::from([(key.to_owned(), String::new())]);
        let table = sample();
        let error = Table::new(table.schema().clone(), table.into_columns(), metadata);
        assert!(matches!(error, Err(ColumnarError::ReservedKey { .. })));
    }
}

#[test]
fn an_accessor_names_the_column_it_cannot_give() {
    let table = sample();
    assert_eq!(
        table.f64("id").unwrap_err().to_string(),
        "column `id` holds text, not f64"
    );
    assert_eq!(
        table.text("nothing").unwrap_err().to_string(),
        "column `nothing` is missing"
    );
    assert!(table.labels("id").is_err());
}

#[test]
fn an_error_names_the_file_and_its_source_the_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t1.parquet");
    let table = sample();
    std::fs::write(&path, to_bytes(&table).unwrap()).unwrap();
    let mut expected = table.schema().clone();
    expected.fields.pop();
    let error = read_path(&path, &expected).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("failed to read `{}`", path.display())
    );
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(
        source.to_string(),
        "column `note` does not belong to the schema"
    );
    let absent = read_path(&folder.path().join("absent"), &expected).unwrap_err();
    let source = std::error::Error::source(&absent).unwrap();
    assert_eq!(source.to_string(), "the file could not be opened or read");
}
