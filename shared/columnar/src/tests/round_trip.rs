//! What is written is what is read.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{sample, single, texts};
use crate::{
    Column, ColumnType, Field, Labels, ROWS_PER_GROUP, Schema, Table, read_bytes, read_path,
    read_selected, to_bytes,
};

#[test]
fn every_type_and_the_metadata_come_back() {
    let table = sample();
    let back = read_bytes(to_bytes(&table).unwrap(), table.schema()).unwrap();
    assert_eq!(back, table);
    assert_eq!(
        back.f64("value").unwrap()[1].unwrap().to_bits(),
        (-0.0_f64).to_bits()
    );
}

#[test]
fn the_same_table_gives_the_same_bytes() {
    assert_eq!(to_bytes(&sample()).unwrap(), to_bytes(&sample()).unwrap());
}

#[test]
fn q1_a_column_without_any_value_keeps_its_type() {
    for kind in [
        ColumnType::Text,
        ColumnType::F64,
        ColumnType::F32,
        ColumnType::I64,
        ColumnType::U64,
        ColumnType::Bool,
    ] {
        let column = match kind {
            ColumnType::Text => Column::Text(vec![None; 2]),
            ColumnType::F64 => Column::F64(vec![None; 2]),
            ColumnType::F32 => Column::F32(vec![None; 2]),
            ColumnType::I64 => Column::I64(vec![None; 2]),
            ColumnType::U64 => Column::U64(vec![None; 2]),
            ColumnType::Bool => Column::Bool(vec![None; 2]),
        };
        let table = single(Field::nullable("empty", kind, ""), column).unwrap();
        let back = read_bytes(to_bytes(&table).unwrap(), table.schema()).unwrap();
        assert_eq!(back, table);
    }
}

#[test]
fn q7_a_table_without_rows_is_a_file() {
    let field = Field::required("id", ColumnType::Text, "");
    for column in [texts(&[]), Column::Labels(Labels::default())] {
        let table = single(field.clone(), column).unwrap();
        let back = read_bytes(to_bytes(&table).unwrap(), table.schema()).unwrap();
        assert_eq!(back.rows(), 0);
    }
}

#[test]
fn labels_are_written_as_the_texts_they_stand_for() {
    let words = ["b", "a", "b", "", "b", "c"];
    let field = || Field::nullable("word", ColumnType::Text, "");
    let plain: Vec<Option<&str>> = words.into_iter().map(Some).chain([None]).collect();
    let plain = single(field(), texts(&plain)).unwrap();
    // The labels are in another order than their first use, and one is never used.
    let labels = ["unused", "", "a", "b", "c"].map(Box::from).to_vec();
    let codes = vec![Some(3), Some(2), Some(3), Some(1), Some(3), Some(4), None];
    let labelled = Column::Labels(Labels::new(labels, codes).unwrap());
    let labelled = single(field(), labelled).unwrap();
    assert_eq!(to_bytes(&labelled).unwrap(), to_bytes(&plain).unwrap());
}

#[test]
fn more_rows_than_a_group_are_read_across_groups() {
    let rows = ROWS_PER_GROUP + 5;
    let ids: Vec<String> = (0..rows).map(|row| format!("q{row}")).collect();
    let schema = Schema {
        name: "long".to_owned(),
        version: 1,
        fields: vec![
            Field::required("id", ColumnType::Text, ""),
            Field::required("value", ColumnType::F64, ""),
            Field::required("kind", ColumnType::Text, ""),
        ],
    };
    let columns = vec![
        Column::Text(ids.iter().map(|id| Some(Box::from(id.as_str()))).collect()),
        Column::F64((0..rows).map(|row| Some(row as f64 / 7.0)).collect()),
        Column::Labels((0..rows).map(|row| ["a", "b", "c"][row / 60_000]).collect()),
    ];
    let table = Table::new(schema, columns, BTreeMap::new()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    std::fs::write(&path, to_bytes(&table).unwrap()).unwrap();

    let back = read_path(&path, table.schema()).unwrap();
    assert_eq!(back.f64("value").unwrap(), table.f64("value").unwrap());
    assert_eq!(back.text("id").unwrap(), table.text("id").unwrap());

    let chosen = read_selected(&path, table.schema(), &["kind", "id"]).unwrap();
    assert_eq!(
        chosen.labels("kind").unwrap(),
        table.labels("kind").unwrap()
    );
    let read: Vec<Option<&str>> = chosen.labels("id").unwrap().iter().collect();
    assert!(
        read.iter()
            .zip(&ids)
            .all(|(read, id)| *read == Some(id.as_str()))
    );
    assert_eq!(read.len(), rows);
    assert!(chosen.column("value").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cells_come_back(cells in prop::collection::vec(
        (
            prop::option::of(".{0,12}"),
            prop::option::of(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO),
            prop::option::of(any::<u64>()),
            prop::option::of(any::<bool>()),
        ),
        0..40,
    )) {
        let schema = Schema {
            name: "any".to_owned(),
            version: 1,
            fields: vec![
                Field::nullable("text", ColumnType::Text, ""),
                Field::nullable("f64", ColumnType::F64, ""),
                Field::nullable("u64", ColumnType::U64, ""),
                Field::nullable("bool", ColumnType::Bool, ""),
            ],
        };
        let columns = vec![
            Column::Text(cells.iter().map(|c| c.0.as_deref().map(Box::from)).collect()),
            Column::F64(cells.iter().map(|c| c.1).collect()),
            Column::U64(cells.iter().map(|c| c.2).collect()),
            Column::Bool(cells.iter().map(|c| c.3).collect()),
        ];
        let table = Table::new(schema, columns, BTreeMap::new()).unwrap();
        let bytes = to_bytes(&table).unwrap();
        let back = read_bytes(bytes.clone(), table.schema()).unwrap();
        prop_assert_eq!(&back, &table);
        prop_assert_eq!(to_bytes(&back).unwrap(), bytes);
    }
}
