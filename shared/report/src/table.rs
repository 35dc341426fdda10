//! Text tables: columns aligned, two spaces apart, no lines to draw.

/// Which edge of its column a cell touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table with a heading row.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns an empty table with these columns.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|&(name, align)| (name.to_owned(), align))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty and cells beyond the last column are left out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Returns the table, each line indented by two spaces and ended by a line feed; nothing when it has no rows.
    pub fn text(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&heading).chain(&self.rows).collect();
        let empty = String::new();
        let cell =
            |line: &'_ Vec<String>, column: usize| line.get(column).unwrap_or(&empty).clone();
        let width = |column: usize| {
            let widths = lines.iter().map(|line| cell(line, column).chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for line in &lines {
            let mut row = String::new();
            for (column, (&width, &(_, align))) in widths.iter().zip(&self.columns).enumerate() {
                let cell = cell(line, column);
                row.push_str("  ");
                let aligned = match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                };
                row.push_str(&aligned);
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let mut table = Table::new(&[
            ("metric", Align::Left),
            ("n", Align::Right),
            ("", Align::Left),
        ]);
        table.row(["nDCG@10".to_owned(), "600".to_owned()]);
        table.row(["RR".to_owned(), "7".to_owned(), "é".to_owned()]);
        assert_eq!(
            table.text(),
            "  metric     n\n  nDCG@10  600\n  RR         7  é\n"
        );
    }
}
