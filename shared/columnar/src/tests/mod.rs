//! Tests of the whole crate: files in, files out.

mod damage;
mod foreign;
mod round_trip;
mod strict;

use std::collections::BTreeMap;

use crate::{Column, ColumnType, ColumnarError, Field, Schema, Table};

/// Returns a table with one column of each type, with empty cells in `count` and `note`.
fn sample() -> Table {
    let schema = Schema {
        name: "sample".to_owned(),
        version: 3,
        fields: vec![
            Field::required("id", ColumnType::Text, "identifier"),
            Field::required("value", ColumnType::F64, "a value"),
            Field::required("score", ColumnType::F32, "a score"),
            Field::nullable("count", ColumnType::I64, "a count"),
            Field::required("digest", ColumnType::U64, "a digest"),
            Field::required("seen", ColumnType::Bool, "whether it was seen"),
            Field::nullable("note", ColumnType::Text, "a remark"),
        ],
    };
    let columns = vec![
        texts(&[Some("007"), Some("x\u{e9}"), Some("")]),
        Column::F64(vec![Some(0.1), Some(-0.0), Some(f64::MIN_POSITIVE)]),
        Column::F32(vec![Some(0.1), Some(2.0), Some(f32::MAX)]),
        Column::I64(vec![Some(i64::MIN), None, Some(7)]),
        Column::U64(vec![Some(u64::MAX), Some(0), Some(1)]),
        Column::Bool(vec![Some(true), Some(false), Some(true)]),
        texts(&[None, None, None]),
    ];
    let metadata = BTreeMap::from([("job".to_owned(), "j1".to_owned())]);
    Table::new(schema, columns, metadata).unwrap()
}

fn texts(cells: &[Option<&str>]) -> Column {
    Column::Text(cells.iter().map(|cell| cell.map(Box::from)).collect())
}

/// Returns a table with one column.
fn single(field: Field, column: Column) -> Result<Table, ColumnarError> {
    let schema = Schema {
        name: "single".to_owned(),
        version: 1,
        fields: vec![field],
    };
    Table::new(schema, vec![column], BTreeMap::new())
}
