//! Cells of Parquet files of other tools.

use evalfarm_columnar::Column;

/// Returns a cell as the text of an identifier: text as it is, whole numbers in decimal. Nothing for an empty cell and for
/// types that are no identifiers.
pub(crate) fn id_text(column: &Column, row: usize) -> Option<String> {
    match column {
        Column::I64(cells) => cells.get(row)?.map(|number| number.to_string()),
        Column::U64(cells) => cells.get(row)?.map(|number| number.to_string()),
        Column::Text(_) | Column::Labels(_) => text(column, row).map(str::to_owned),
        Column::F64(_) | Column::F32(_) | Column::Bool(_) => None,
    }
}

/// Returns the text of a cell; nothing for an empty one and for columns of another type.
pub(crate) fn text(column: &Column, row: usize) -> Option<&str> {
    match column {
        Column::Text(cells) => cells.get(row)?.as_deref(),
        Column::Labels(labels) => labels.get(row),
        Column::F64(_) | Column::F32(_) | Column::I64(_) | Column::U64(_) | Column::Bool(_) => None,
    }
}
