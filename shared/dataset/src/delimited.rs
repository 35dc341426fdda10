//! Tables with a header: CSV with quoting, TSV without.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use crate::InputError;
use crate::fault::{Fault, list};
use crate::source::{inner_extension, open};

/// The rows of a table with a header. Every row has as many cells as the header; blank lines are skipped.
#[expect(
    missing_debug_implementations,
    reason = "a reader in the middle of a file"
)]
pub struct Delimited {
    path: PathBuf,
    reader: csv::Reader<Tidy>,
    header: Vec<String>,
    quoting: bool,
}

impl Delimited {
    /// Opens a file and reads its header. `.tsv` and `.tab` are separated by tabs and have no quoting.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        let tabs = matches!(inner_extension(path).as_str(), "tsv" | "tab");
        let tidy = Tidy::new(open(path)?);
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(if tabs { b'\t' } else { b',' })
            .quoting(!tabs)
            .from_reader(tidy);
        let mut table = Self {
            path: path.to_owned(),
            reader,
            header: Vec::new(),
            quoting: !tabs,
        };
        let Some((line, names)) = table.record()? else {
            return Err(InputError::file(path, Fault::Empty { what: "header" }));
        };
        table.header = names.iter().map(|name| name.trim().to_owned()).collect();
        let mut seen = BTreeSet::new();
        for name in &table.header {
            if !seen.insert(name.as_str()) {
                let problem = format!("column `{name}` occurs twice in the header");
                return Err(InputError::line(path, line, Fault::Csv { problem }));
            }
        }
        Ok(table)
    }

    /// Returns the names of the columns, without blanks around them.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// Returns the place of the first of several names that the header has, whatever their case.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            let mut header = self.header.iter();
            header.position(|column| column.eq_ignore_ascii_case(name))
        })
    }

    /// Returns the place of the first of several names that the header has, or an error that lists the header.
    pub(crate) fn require(&self, names: &[&str]) -> Result<usize, InputError> {
        self.find(names).ok_or_else(|| {
            let fault = Fault::Missing {
                kind: "column",
                name: names.first().copied().unwrap_or_default().to_owned(),
                found: list(self.header.iter().map(String::as_str)),
            };
            InputError::line(&self.path, 1, fault)
        })
    }

    /// Returns the next row, with the line on which it starts.
    #[expect(
        clippy::should_implement_trait,
        reason = "after an error there is no next row, which an iterator would have to promise"
    )]
    pub fn next(&mut self) -> Result<Option<(u64, Vec<String>)>, InputError> {
        let Some((line, cells)) = self.record()? else {
            return Ok(None);
        };
        if cells.len() != self.header.len() {
            let problem = format!(
                "{} cells, but the header has {} columns",
                cells.len(),
                self.header.len()
            );
            return Err(InputError::line(&self.path, line, Fault::Csv { problem }));
        }
        Ok(Some((line, cells)))
    }

    fn record(&mut self) -> Result<Option<(u64, Vec<String>)>, InputError> {
        let mut record = csv::ByteRecord::new();
        loop {
            let more = self
                .reader
                .read_byte_record(&mut record)
                .map_err(|error| InputError::read(&self.path, io::Error::other(error)))?;
            if !more {
                return Ok(None);
            }
            if record.len() > 1 || !record.iter().all(|cell| cell.trim_ascii().is_empty()) {
                break;
            }
        }
        // Blank lines before a record belong to it for the csv crate, so the first line is counted back from the end.
        let inner = record.as_slice().split(|&byte| byte == b'\n').count() as u64 - 1;
        let after = self.reader.position();
        let tidy = self.reader.get_ref();
        let line = after.line().saturating_sub(1 + inner).max(1);
        // A quote that is never closed takes everything up to the end, the last line end included.
        let open_quote = self.quoting
            && after.byte() == tidy.bytes
            && tidy.last_byte != b'"'
            && record
                .iter()
                .next_back()
                .is_some_and(|cell| cell.ends_with(b"\n"));
        if open_quote {
            let problem = "a quoted cell is not closed".to_owned();
            let fault = Fault::Csv { problem };
            return Err(InputError::line(&self.path, line + 1, fault));
        }
        let cells: Result<Vec<String>, _> = record
            .iter()
            .map(|cell| String::from_utf8(cell.to_vec()))
            .collect();
        match cells {
            Ok(cells) => Ok(Some((line, cells))),
            Err(_) => Err(InputError::line(&self.path, line, Fault::NotUtf8)),
        }
    }
}

/// A text without byte order mark whose every line, the last one too, ends in LF.
struct Tidy {
    inner: Box<dyn BufRead>,
    line: Vec<u8>,
    at: usize,
    /// Bytes handed out so far.
    bytes: u64,
    first: bool,
    /// Last byte of the last line that is not empty.
    last_byte: u8,
}

impl Tidy {
    fn new(inner: Box<dyn BufRead>) -> Self {
        Self {
            inner,
            line: Vec::new(),
            at: 0,
            bytes: 0,
            first: true,
            last_byte: 0,
        }
    }
}

impl Read for Tidy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.line.clear();
            self.at = 0;
            if self.inner.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(0);
            }
            if std::mem::take(&mut self.first) && self.line.starts_with("\u{feff}".as_bytes()) {
                self.line.drain(.."\u{feff}".len());
            }
            let content = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
            let length = content.strip_suffix(b"\r").unwrap_or(content).len();
            self.line.truncate(length);
            self.last_byte = self.line.last().copied().unwrap_or(self.last_byte);
            self.line.push(b'\n');
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        self.bytes += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str, text: &str) -> Result<Vec<(u64, Vec<String>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let shown = |error: InputError| match error {
            InputError::Line { line, fault, .. } => format!("{line}: {fault}"),
            other => other.to_string(),
        };
        let mut table = Delimited::open(&path).map_err(shown)?;
        let mut rows = vec![(0, table.header().to_vec())];
        while let Some(row) = table.next().map_err(shown)? {
            rows.push(row);
        }
        Ok(rows)
    }

    fn row(line: u64, cells: [&str; 2]) -> (u64, Vec<String>) {
        (line, cells.map(str::to_owned).to_vec())
    }

    #[test]
    fn p1_p2_p6_lines_are_counted_whatever_ends_them() {
        let plain = "a,b\n\"x\ny\",1\n\n 15\" tv,2\n\"a \"\"b\"\"\",3";
        let expected = vec![
            row(0, ["a", "b"]),
            row(2, ["x\ny", "1"]),
            row(5, [" 15\" tv", "2"]),
            row(6, ["a \"b\"", "3"]),
        ];
        for text in [
            plain.to_owned(),
            format!("{plain}\n \n"),
            format!("\u{feff}{}", plain.replace('\n', "\r\n")),
        ] {
            assert_eq!(rows("t.csv", &text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn tsv_has_no_quoting() {
        let expected = vec![row(0, ["a", "b"]), row(2, ["\"x", "y\""])];
        assert_eq!(rows("t.tsv", "a\tb\n\"x\ty\"\n").unwrap(), expected);
    }

    #[test]
    fn rows_that_do_not_fit_the_header_are_errors() {
        assert_eq!(
            rows("t.csv", "a,b\n1,2\n\n1\n").unwrap_err(),
            "4: not the expected table: 1 cells, but the header has 2 columns"
        );
        assert_eq!(
            rows("t.csv", "a,b\n1,2,3\n").unwrap_err(),
            "2: not the expected table: 3 cells, but the header has 2 columns"
        );
        assert_eq!(
            rows("t.csv", "a,a\n").unwrap_err(),
            "1: not the expected table: column `a` occurs twice in the header"
        );
        assert_eq!(
            rows("t.csv", "a,b\n1,2\n3,\"x\n4,5\n6,7\n").unwrap_err(),
            "3: not the expected table: a quoted cell is not closed"
        );
        assert!(
            rows("t.csv", "\n")
                .unwrap_err()
                .ends_with("there is no header in it")
        );
    }
}
