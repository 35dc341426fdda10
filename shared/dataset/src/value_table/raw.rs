//! A table of cells before it is known what its columns mean.

use std::path::PathBuf;

/// One cell, as far as its file says what it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Nothing, or null.
    Empty,
    /// A finite number.
    Number(f64),
    /// NaN or an infinity, as the file spells it.
    NotFinite(String),
    /// A truth value.
    Bool(bool),
    /// A whole number that may be an id: its digits, and its value.
    Whole(String, f64),
    /// Anything else.
    Text(String),
}

impl Cell {
    /// Reads a cell of a CSV file, where only the text says what it is.
    pub(crate) fn of_text(text: String) -> Self {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Self::Empty;
        }
        match trimmed.parse::<f64>() {
            // Digits are kept, because a query id of digits is a text.
            Ok(number) if number.is_finite() => Self::Whole(text, number),
            Ok(_) => Self::NotFinite(text),
            Err(_) => Self::Text(text),
        }
    }

    /// Returns the cell as the text of an identifier.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Whole(text, _) | Self::NotFinite(text) => Some(text),
            Self::Empty | Self::Number(_) | Self::Bool(_) => None,
        }
    }

    /// Returns a finite number.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) | Self::Whole(_, number) => Some(*number),
            Self::Empty | Self::NotFinite(_) | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// Returns the cell as a message shows it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::NotFinite(text) | Self::Whole(text, _) | Self::Text(text) => text.clone(),
        }
    }
}

/// Where a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which of the table's files.
    pub(crate) file: usize,
    /// The line or row, counted from 1.
    pub(crate) at: u64,
}

/// Columns of cells, all of one length.
#[derive(Debug, Default)]
pub(crate) struct RawTable {
    pub(crate) files: Vec<PathBuf>,
    /// Whether places are lines of a text rather than rows.
    pub(crate) lines: bool,
    pub(crate) places: Vec<Place>,
    pub(crate) columns: Vec<(String, Vec<Cell>)>,
}

impl RawTable {
    /// Returns the place of the first of several column names, whatever their case.
    pub(crate) fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            let mut columns = self.columns.iter();
            columns.position(|(column, _)| column.eq_ignore_ascii_case(name))
        })
    }

    /// Adds the rows of another table. A column that only one of them has is empty in the rows of the other.
    pub(crate) fn append(&mut self, other: Self) {
        let (before, added) = (self.places.len(), other.places.len());
        let file = self.files.len();
        self.files.extend(other.files);
        self.lines = other.lines;
        let places = other.places.into_iter();
        self.places.extend(places.map(|place| Place {
            file: file + place.file,
            at: place.at,
        }));
        for (name, cells) in other.columns {
            let at = self.columns.iter().position(|(known, _)| *known == name);
            let at = at.unwrap_or_else(|| {
                self.columns.push((name, vec![Cell::Empty; before]));
                self.columns.len() - 1
            });
            self.columns[at].1.extend(cells);
        }
        for (_, cells) in &mut self.columns {
            cells.resize(before + added, Cell::Empty);
        }
    }

    /// Keeps the rows for which `keep` is set.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let kept = |at: &mut usize| {
            let keep = keep.get(*at).copied().unwrap_or(false);
            *at += 1;
            keep
        };
        let mut at = 0;
        self.places.retain(|_| kept(&mut at));
        for (_, cells) in &mut self.columns {
            let mut at = 0;
            cells.retain(|_| kept(&mut at));
        }
    }
}
