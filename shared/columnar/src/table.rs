//! Columns under a schema, checked once.

use std::collections::BTreeMap;

use crate::{ColumnType, ColumnarError, Labels, Schema};

/// Prefix of the metadata keys that this crate writes itself.
pub(crate) const RESERVED_PREFIX: &str = "evalfarm.";

/// The key under which arrow stores its own schema.
pub(crate) const ARROW_KEY: &str = "ARROW:schema";

/// The cells of one column; `None` is an empty cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Text, one allocation a cell.
    Text(Vec<Option<Box<str>>>),
    /// Text with few distinct values; the same column type as [`Self::Text`], and the same bytes when written.
    Labels(Labels),
    /// 64-bit floats.
    F64(Vec<Option<f64>>),
    /// 32-bit floats.
    F32(Vec<Option<f32>>),
    /// Signed integers.
    I64(Vec<Option<i64>>),
    /// Unsigned integers.
    U64(Vec<Option<u64>>),
    /// Truth values.
    Bool(Vec<Option<bool>>),
}

impl Column {
    /// Returns what the column holds.
    pub fn kind(&self) -> ColumnType {
        match self {
            Self::Text(_) | Self::Labels(_) => ColumnType::Text,
            Self::F64(_) => ColumnType::F64,
            Self::F32(_) => ColumnType::F32,
            Self::I64(_) => ColumnType::I64,
            Self::U64(_) => ColumnType::U64,
            Self::Bool(_) => ColumnType::Bool,
        }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Labels(labels) => labels.codes().len(),
            Self::F64(cells) => cells.len(),
            Self::F32(cells) => cells.len(),
            Self::I64(cells) => cells.len(),
            Self::U64(cells) => cells.len(),
            Self::Bool(cells) => cells.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn first_empty(&self) -> Option<usize> {
        fn first<T>(cells: &[Option<T>]) -> Option<usize> {
            cells.iter().position(Option::is_none)
        }
        match self {
            Self::Text(cells) => first(cells),
            Self::Labels(labels) => first(labels.codes()),
            Self::F64(cells) => first(cells),
            Self::F32(cells) => first(cells),
            Self::I64(cells) => first(cells),
            Self::U64(cells) => first(cells),
            Self::Bool(cells) => first(cells),
        }
    }

    fn first_not_finite(&self) -> Option<(usize, f64)> {
        fn first(cells: impl Iterator<Item = Option<f64>>) -> Option<(usize, f64)> {
            cells
                .enumerate()
                .find_map(|(row, cell)| cell.filter(|v| !v.is_finite()).map(|v| (row, v)))
        }
        match self {
            Self::F64(cells) => first(cells.iter().copied()),
            Self::F32(cells) => first(cells.iter().map(|cell| cell.map(f64::from))),
            Self::Text(_) | Self::Labels(_) | Self::I64(_) | Self::U64(_) | Self::Bool(_) => None,
        }
    }
}

/// Columns under a schema.
///
/// Invariants: one column for each field, of the field's type; all of one length; no empty cell in a field that is not
/// nullable; every number finite; no two fields of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    schema: Schema,
    columns: Vec<Column>,
    metadata: BTreeMap<String, String>,
}

impl Table {
    /// Checks the columns against the schema. `metadata` is free text that is stored with the table, by key; keys
    /// that begin with `evalfarm.` are reserved.
    pub fn new(
        schema: Schema,
        columns: Vec<Column>,
        metadata: BTreeMap<String, String>,
    ) -> Result<Self, ColumnarError> {
        if columns.len() != schema.fields.len() {
            return Err(ColumnarError::ColumnCount {
                columns: columns.len(),
                fields: schema.fields.len(),
            });
        }
        if let Some(key) = metadata.keys().find(|key| is_reserved(key)) {
            return Err(ColumnarError::ReservedKey { key: key.clone() });
        }
        let rows = columns.first().map_or(0, Column::len);
        for (index, (field, column)) in schema.fields.iter().zip(&columns).enumerate() {
            let name = || field.name.clone();
            if schema.position(&field.name) != Some(index) {
                return Err(ColumnarError::DuplicateColumn { column: name() });
            }
            if column.kind() != field.kind {
                return Err(ColumnarError::ColumnType {
                    column: name(),
                    found: column.kind().to_string(),
                    expected: field.kind,
                });
            }
            if column.len() != rows {
                return Err(ColumnarError::Length {
                    column: name(),
                    found: column.len(),
                    expected: rows,
                });
            }
            if let Some(row) = column.first_empty().filter(|_| !field.nullable) {
                return Err(ColumnarError::Null {
                    column: name(),
                    row,
                });
            }
            if let Some((row, value)) = column.first_not_finite() {
                return Err(ColumnarError::NotFinite {
                    column: name(),
                    row,
                    value,
                });
            }
        }
        Ok(Self {
            schema,
            columns,
            metadata,
        })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the free text stored with the table, by key.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns a column, or nothing when there is none of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.schema.position(name).map(|at| &self.columns[at])
    }

    /// Returns the columns in the schema's order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the columns in the schema's order, without copying them.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    fn existing(&self, name: &str) -> Result<&Column, ColumnarError> {
        self.column(name)
            .ok_or_else(|| ColumnarError::MissingColumn {
                column: name.to_owned(),
            })
    }
}

macro_rules! typed_accessor {
    ($(#[$meta:meta])* $name:ident, $variant:ident, $cells:ty) => {
        impl Table {
            $(#[$meta])*
            pub fn $name(&self, name: &str) -> Result<&$cells, ColumnarError> {
                match self.existing(name)? {
                    Column::$variant(cells) => Ok(cells),
                    other => Err(ColumnarError::ColumnType {
                        column: name.to_owned(),
                        found: match other {
                            Column::Labels(_) => "labels".to_owned(),
                            _ => other.kind().to_string(),
                        },
                        expected: ColumnType::$variant,
                    }),
                }
            }
        }
    };
}

typed_accessor! {
    /// Returns the cells of a text column that was built or read as [`Column::Text`].
    text, Text, [Option<Box<str>>]
}
typed_accessor! {
    /// Returns the cells of a column of 64-bit floats.
    f64, F64, [Option<f64>]
}
typed_accessor! {
    /// Returns the cells of a column of 32-bit floats.
    f32, F32, [Option<f32>]
}
typed_accessor! {
    /// Returns the cells of a column of signed integers.
    i64, I64, [Option<i64>]
}
typed_accessor! {
    /// Returns the cells of a column of unsigned integers.
    u64, U64, [Option<u64>]
}
typed_accessor! {
    /// Returns the cells of a column of truth values.
    bool, Bool, [Option<bool>]
}

impl Table {
    /// Returns a text column that was built or read as [`Column::Labels`].
    pub fn labels(&self, name: &str) -> Result<&Labels, ColumnarError> {
        match self.existing(name)? {
            Column::Labels(labels) => Ok(labels),
            other => Err(ColumnarError::ColumnType {
                column: name.to_owned(),
                found: format!("{} cell by cell, not labels,", other.kind()),
                expected: ColumnType::Text,
            }),
        }
    }
}

/// Whether this crate or arrow writes the key itself.
pub(crate) fn is_reserved(key: &str) -> bool {
    key.starts_with(RESERVED_PREFIX) || key == ARROW_KEY
}
