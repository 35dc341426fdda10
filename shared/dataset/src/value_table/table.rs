//! What the columns of a table of values mean.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use evalfarm_domain::{
    CandidateId, FailureKind, Fold, MetricName, QueryId, RerankStatus, RewriteStatus,
};

use super::columns::{Role, other_ids, roles};
use super::own::{Belonging, choose, is_own};
use super::raw::{Cell, RawTable};
use super::{parquet, text};
use crate::InputError;
use crate::fault::{Fault, shorten};
use crate::source::{inner_extension, open};

/// What is read of a table of values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueTableOptions {
    /// Whose rows, when rows of several candidates are in one file or folder.
    pub candidate: Option<CandidateId>,
    /// Which side of the split, when the rows say so; all rows when absent.
    pub fold: Option<Fold>,
    /// Whether a table without any metric is accepted, for what it says of stages.
    pub statuses_only: bool,
}

/// Per-query values, queries in bytewise order of their ids, each once.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueTable {
    /// The file or folder.
    pub path: PathBuf,
    /// The queries.
    pub queries: Vec<QueryId>,
    /// The metrics in the order of their columns, with one value for each query: nothing where it was not measured.
    pub metrics: Vec<(MetricName, Vec<Option<f64>>)>,
    /// What this project's judge used for each query, for its own rows; empty for other tables.
    pub scored: Vec<(MetricName, Vec<f64>)>,
    /// Whether nothing was returned, where the table says so.
    pub zero_result: Option<Vec<bool>>,
    /// Why a query has no values. [`FailureKind::Missing`] also where all its values are empty and nothing is said.
    pub failure: Vec<Option<FailureKind>>,
    /// Share of the returned hits that are judged, where the table says so; nothing when nothing was returned.
    pub judged: Option<Vec<Option<f64>>>,
    /// Whether a rewrite or rerank stage was asked for and did not do its work, where the table says so.
    pub degraded: Option<Vec<bool>>,
    /// Whose values these are, for this project's own rows.
    pub candidate: Option<String>,
    /// Which job they are of, for this project's own rows that say so.
    pub job: Option<String>,
    /// Columns that were left aside because they are neither numbers nor known.
    pub ignored: Vec<String>,
}

/// First bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// What a column `failure` may hold.
const FAILURE: &str =
    "empty, missing, timeout, transport_error, invalid_response or internal_error";

/// What a column of a stage's statuses may hold.
const STATUS: &str = "empty, or the status of a stage, e.g. `applied`";

/// Reads a table of values. The format is that of the file's name, or of its first bytes when the name says nothing.
pub fn read_value_table(
    path: &Path,
    options: &ValueTableOptions,
) -> Result<ValueTable, InputError> {
    let raw = match inner_extension(path).as_str() {
        _ if path.is_dir() => parquet::read(path, options)?,
        "parquet" => parquet::read(path, options)?,
        "csv" | "tsv" | "tab" => text::read_delimited(path)?,
        "jsonl" | "ndjson" => text::read_jsonl(path)?,
        "json" => text::read_json(path)?,
        _ => {
            let mut reader = open(path)?;
            let start = reader
                .fill_buf()
                .map_err(|error| InputError::read(path, error))?;
            if start.starts_with(PARQUET_MAGIC) {
                parquet::read(path, options)?
            } else if start.trim_ascii_start().starts_with(b"{")
                || start.trim_ascii_start().starts_with(b"[")
            {
                text::read_json(path)?
            } else {
                text::read_delimited(path)?
            }
        }
    };
    Reader::new(path, raw, options)?.read()
}

struct Reader<'a> {
    path: &'a Path,
    raw: RawTable,
    roles: Vec<Role>,
    own: bool,
}

impl<'a> Reader<'a> {
    fn new(
        path: &'a Path,
        mut raw: RawTable,
        options: &ValueTableOptions,
    ) -> Result<Self, InputError> {
        let own = is_own(raw.columns.iter().map(|(name, _)| name.as_str()));
        if own {
            let cell = |name: &str, row: usize| {
                raw.find(&[name]).and_then(|at| raw.columns[at].1[row].id())
            };
            let rows = (0..raw.places.len()).map(|row| Belonging {
                candidate: cell("candidate", row),
                split: cell("split", row),
            });
            let keep = choose(&rows.collect::<Vec<_>>(), options);
            let keep = keep.map_err(|fault| InputError::file(path, fault))?;
            raw.retain(&keep);
        }
        if raw.places.is_empty() {
            return Err(InputError::file(path, Fault::Empty { what: "row" }));
        }
        let roles = roles(&raw, own).map_err(|fault| InputError::file(path, fault))?;
        let measured = roles.iter().any(|role| matches!(role, Role::Metric { .. }));
        if !measured && !options.statuses_only {
            let what = "column of metric values";
            return Err(InputError::file(path, Fault::Empty { what }));
        }
        Ok(Self {
            path,
            raw,
            roles,
            own,
        })
    }

    fn fail(&self, row: usize, fault: impl Into<Fault>) -> InputError {
        let place = self.raw.places[row];
        let path = self
            .raw
            .files
            .get(place.file)
            .map_or(self.path, PathBuf::as_path);
        if self.raw.lines {
            InputError::line(path, place.at, fault)
        } else {
            InputError::row(path, place.at, fault)
        }
    }

    /// Reports a cell that is not what its column holds.
    fn reject(&self, column: usize, row: usize, expected: &'static str) -> InputError {
        let (name, cells) = &self.raw.columns[column];
        let fault = Fault::Value {
            name: format!("column `{name}`"),
            value: shorten(&cells[row].shown()),
            expected,
        };
        self.fail(row, fault)
    }

    fn read(self) -> Result<ValueTable, InputError> {
        let (order, queries) = self.order()?;
        let failure = self.failures(&order)?;
        let mut table = ValueTable {
            path: self.path.to_owned(),
            queries,
            metrics: Vec::new(),
            scored: Vec::new(),
            zero_result: None,
            failure,
            judged: None,
            degraded: self.degraded(&order)?,
            candidate: self.own_text("candidate"),
            job: self.own_text("job"),
            ignored: Vec::new(),
        };
        for (column, role) in self.roles.iter().enumerate() {
            match role {
                Role::Metric { name, complete } => {
                    let values = self.numbers(column, &order)?;
                    let hole = values
                        .iter()
                        .zip(&table.failure)
                        .position(|(value, failure)| value.is_none() && failure.is_none());
                    if let Some(hole) = hole.filter(|_| *complete) {
                        let expected = "a finite number, because the query has other values";
                        return Err(self.reject(column, order[hole], expected));
                    }
                    self.refuse_second(&table.metrics, name)?;
                    table.metrics.push((name.clone(), values));
                }
                Role::Scored(name) => {
                    let values = self.numbers(column, &order)?;
                    let hole = values.iter().position(Option::is_none);
                    if let Some(hole) = hole {
                        return Err(self.reject(column, order[hole], "a finite number"));
                    }
                    let values = values.into_iter().flatten().collect();
                    table.scored.push((name.clone(), values));
                }
                Role::Judged => table.judged = Some(self.numbers(column, &order)?),
                Role::ZeroResult => table.zero_result = Some(self.flags(column, &order)?),
                Role::Ignored => table.ignored.push(self.raw.columns[column].0.clone()),
                Role::Query | Role::Failure | Role::Rewrite | Role::Rerank | Role::Beside => {}
            }
        }
        Ok(table)
    }

    /// Returns the rows by query id, and the ids.
    fn order(&self) -> Result<(Vec<usize>, Vec<QueryId>), InputError> {
        let column = self
            .roles
            .iter()
            .position(|role| *role == Role::Query)
            .unwrap_or_default();
        let mut rows: BTreeMap<QueryId, usize> = BTreeMap::new();
        for (row, cell) in self.raw.columns[column].1.iter().enumerate() {
            let id = cell
                .id()
                .ok_or_else(|| self.reject(column, row, "a query id: a text or a whole number"))?;
            let id = QueryId::try_from(id).map_err(|error| self.fail(row, error))?;
            if let Some(&first) = rows.get(&id) {
                let fault = Fault::IdTwice {
                    kind: "query",
                    id: id.to_string(),
                    first_line: self.raw.places[first].at,
                };
                return Err(self.fail(row, fault));
            }
            rows.insert(id, row);
        }
        for other in other_ids(&self.raw, &self.roles) {
            let cells = self.raw.columns[other]
                .1
                .iter()
                .zip(&self.raw.columns[column].1);
            if let Some(row) = cells
                .map(|(other, id)| other.id() == id.id())
                .position(|same| !same)
            {
                return Err(self.reject(other, row, "the same query id as in the other id column"));
            }
        }
        let (queries, order) = rows.into_iter().unzip();
        Ok((order, queries))
    }

    fn refuse_second(
        &self,
        metrics: &[(MetricName, Vec<Option<f64>>)],
        name: &MetricName,
    ) -> Result<(), InputError> {
        if metrics.iter().any(|(known, _)| known == name) {
            let problem = format!("two columns are `{name}`");
            return Err(InputError::file(self.path, Fault::Csv { problem }));
        }
        Ok(())
    }

    fn numbers(&self, column: usize, order: &[usize]) -> Result<Vec<Option<f64>>, InputError> {
        let cells = &self.raw.columns[column].1;
        let numbers = order
            .iter()
            .map(|&row| match (&cells[row], cells[row].number()) {
                (Cell::Empty, _) => Ok(None),
                (_, Some(number)) => Ok(Some(number)),
                (_, None) => Err(self.reject(column, row, "a finite number")),
            });
        numbers.collect()
    }

    fn flags(&self, column: usize, order: &[usize]) -> Result<Vec<bool>, InputError> {
        let cells = &self.raw.columns[column].1;
        let flags = order.iter().map(|&row| {
            let cell = &cells[row];
            let known = match cell {
                Cell::Bool(value) => Some(*value),
                Cell::Text(text) if text.eq_ignore_ascii_case("true") => Some(true),
                Cell::Text(text) if text.eq_ignore_ascii_case("false") => Some(false),
                _ => match cell.number() {
                    Some(1.0) => Some(true),
                    Some(0.0) => Some(false),
                    _ => None,
                },
            };
            known.ok_or_else(|| self.reject(column, row, "true or false"))
        });
        flags.collect()
    }

    /// Returns the name that a cell states; nothing when it is empty. Numbers and truth values are no names.
    fn stated(
        &self,
        column: usize,
        row: usize,
        expected: &'static str,
    ) -> Result<Option<&str>, InputError> {
        match &self.raw.columns[column].1[row] {
            Cell::Empty => Ok(None),
            cell => match cell.id() {
                Some(name) => Ok(Some(name)),
                None => Err(self.reject(column, row, expected)),
            },
        }
    }

    /// Returns why queries have no values: what the table says, or that all their values are empty.
    fn failures(&self, order: &[usize]) -> Result<Vec<Option<FailureKind>>, InputError> {
        let said = self.roles.iter().position(|role| *role == Role::Failure);
        let failures = order.iter().map(|&row| {
            if let Some(column) = said
                && let Some(text) = self.stated(column, row, FAILURE)?
            {
                let kind = FailureKind::from_name(text);
                let kind = kind.ok_or_else(|| self.reject(column, row, FAILURE))?;
                return Ok(Some(kind));
            }
            let metrics = self.roles.iter().zip(&self.raw.columns);
            let mut metrics = metrics
                .filter(|(role, _)| matches!(role, Role::Metric { .. }))
                .peekable();
            let all_empty = metrics.peek().is_some()
                && metrics.all(|(_, (_, cells))| cells[row] == Cell::Empty);
            Ok((all_empty && !self.own).then_some(FailureKind::Missing))
        });
        failures.collect()
    }

    /// Returns which queries a stage failed on, when the table has a column for a stage.
    fn degraded(&self, order: &[usize]) -> Result<Option<Vec<bool>>, InputError> {
        let mut degraded: Option<Vec<bool>> = None;
        for (column, role) in self.roles.iter().enumerate() {
            let is_degraded: fn(&str) -> Option<bool> = match role {
                Role::Rewrite => {
                    |name| RewriteStatus::from_name(name).map(RewriteStatus::is_degraded)
                }
                Role::Rerank => |name| RerankStatus::from_name(name).map(RerankStatus::is_degraded),
                _ => continue,
            };
            let so_far = degraded.get_or_insert_with(|| vec![false; order.len()]);
            for (flag, &row) in so_far.iter_mut().zip(order) {
                let Some(text) = self.stated(column, row, STATUS)? else {
                    continue;
                };
                // Notes in brackets after the status are other tools' doing.
                let status = text
                    .split('(')
                    .next()
                    .unwrap_or_default()
                    .trim()
                    .to_ascii_lowercase();
                let failed = is_degraded(&status);
                *flag |= failed.ok_or_else(|| self.reject(column, row, STATUS))?;
            }
        }
        Ok(degraded)
    }

    /// Returns the first row's text in a column of our own rows.
    fn own_text(&self, name: &str) -> Option<String> {
        let column = self.raw.find(&[name]).filter(|_| self.own)?;
        self.raw.columns[column].1.first()?.id().map(str::to_owned)
    }
}
