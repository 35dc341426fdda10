//! What a table's columns are called, hold and mean.

use std::fmt;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// Finite 64-bit floats.
    F64,
    /// Finite 32-bit floats.
    F32,
    /// Signed 64-bit integers.
    I64,
    /// Unsigned 64-bit integers.
    U64,
    /// Truth values.
    Bool,
}

impl ColumnType {
    /// Returns the type's name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::Bool => "bool",
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One column of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name of the column, unique in its schema.
    pub name: String,
    /// What the column holds.
    pub kind: ColumnType,
    /// Whether a cell may be empty.
    pub nullable: bool,
    /// What the column means, for people who find the file; stored in it.
    pub description: String,
}

impl Field {
    /// Returns a column whose every cell has a value.
    pub fn required(
        name: impl Into<String>,
        kind: ColumnType,
        description: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            nullable: false,
            description: description.into(),
        }
    }

    /// Returns a column whose cells may be empty.
    pub fn nullable(
        name: impl Into<String>,
        kind: ColumnType,
        description: impl Into<String>,
    ) -> Self {
        Self {
            nullable: true,
            ..Self::required(name, kind, description)
        }
    }
}

/// The columns of a kind of file, under a name and a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Which kind of file this is, e.g. `rows`.
    pub name: String,
    /// Rises whenever a column is added, removed, renamed, or changes its type or meaning.
    pub version: u32,
    /// The columns, in the order in which they are written.
    pub fields: Vec<Field>,
}

impl Schema {
    /// Returns the position of a column, or nothing when there is none of that name.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == column)
    }
}
