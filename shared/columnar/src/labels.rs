//! Text columns with few distinct values.

use std::collections::HashMap;

use crate::ColumnarError;

/// A text column as codes into a list of labels: one small number a row instead of one text.
///
/// It is written as plain text, to the same bytes as the texts it stands for.
///
/// Invariant: every code is less than the number of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    labels: Vec<Box<str>>,
    codes: Vec<Option<u32>>,
}

impl Labels {
    /// Checks the codes; `None` is an empty cell.
    pub fn new(labels: Vec<Box<str>>, codes: Vec<Option<u32>>) -> Result<Self, ColumnarError> {
        let labels_len = labels.len();
        for (row, code) in codes.iter().enumerate() {
            if let Some(code) = code.filter(|&code| code as usize >= labels_len) {
                return Err(ColumnarError::Code {
                    row,
                    code,
                    labels: labels_len,
                });
            }
        }
        Ok(Self { labels, codes })
    }

    /// Returns a column with the same text in each of `rows` rows.
    pub fn repeated(label: &str, rows: usize) -> Self {
        Self {
            labels: vec![label.into()],
            codes: vec![Some(0); rows],
        }
    }

    /// Returns the labels. After reading, each occurs once and in the order in which the rows first use them.
    pub fn labels(&self) -> &[Box<str>] {
        &self.labels
    }

    /// Returns the code of each row, `None` for an empty cell.
    pub fn codes(&self) -> &[Option<u32>] {
        &self.codes
    }

    /// Returns the text of a row, or nothing when the cell is empty or the row does not exist.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = self.codes.get(row).copied().flatten()?;
        self.labels.get(code as usize).map(AsRef::as_ref)
    }

    /// Returns the text of each row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        (0..self.codes.len()).map(|row| self.get(row))
    }
}

/// Builds [`Labels`] row by row.
#[derive(Debug, Default)]
pub struct LabelsBuilder {
    labels: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
    codes: Vec<Option<u32>>,
}

impl LabelsBuilder {
    /// Returns the code of a label, which is new when the label was not seen before.
    ///
    /// # Panics
    ///
    /// After 2^32 different labels, which fit in no memory.
    pub fn code(&mut self, label: &str) -> u32 {
        // Rows repeat the label before them more often than not.
        if let Some(last) = self.codes.last().copied().flatten()
            && &*self.labels[last as usize] == label
        {
            return last;
        }
        if let Some(&code) = self.known.get(label) {
            return code;
        }
        let code = u32::try_from(self.labels.len()).expect("fewer than 2^32 labels fit in memory");
        self.labels.push(label.into());
        self.known.insert(label.into(), code);
        code
    }

    /// Adds a row.
    pub fn push(&mut self, label: Option<&str>) {
        let code = label.map(|label| self.code(label));
        self.codes.push(code);
    }

    /// Adds a row with a code that [`Self::code`] returned.
    pub(crate) fn push_code(&mut self, code: Option<u32>) {
        self.codes.push(code);
    }

    /// Returns the column.
    pub fn finish(self) -> Labels {
        Labels {
            labels: self.labels,
            codes: self.codes,
        }
    }
}

impl<'a> FromIterator<Option<&'a str>> for Labels {
    fn from_iter<I: IntoIterator<Item = Option<&'a str>>>(texts: I) -> Self {
        let mut builder = LabelsBuilder::default();
        for text in texts {
            builder.push(text);
        }
        builder.finish()
    }
}

impl<'a> FromIterator<&'a str> for Labels {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        texts.into_iter().map(Some).collect()
    }
}
