//! Ratings: `query,docid,rating`, with columns that describe the query where there are any.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalfarm_domain::{DocId, Judgments, QUERY_WEIGHTS, Query, QueryId};

use crate::delimited::Delimited;
use crate::fault::{Fault, shorten};
use crate::judging::JudgmentsBuilder;
use crate::{InputError, QrelsOptions, Warning};

/// Queries and judgments of a file of ratings.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    /// The queries, in the order in which the file first has them.
    pub queries: Vec<Query>,
    /// The judgments.
    pub judgments: Judgments,
    /// What was accepted and should be known.
    pub warnings: Vec<Warning>,
}

/// Where the columns are.
struct Columns {
    id: Option<usize>,
    text: usize,
    document: usize,
    grade: usize,
    weight: Option<usize>,
    cluster: Option<usize>,
    /// The others, with their names.
    others: Vec<(usize, String)>,
}

impl Columns {
    fn of(table: &Delimited) -> Result<Self, InputError> {
        let mut columns = Self {
            id: table.find(&["query_id", "query-id", "qid"]),
            text: table.require(&["query", "query_text", "text"])?,
            document: table.require(&["docid", "doc_id", "document", "product_id", "id"])?,
            grade: table.require(&["rating", "grade", "relevance", "label", "score"])?,
            weight: table.find(&["weight"]),
            cluster: table.find(&["cluster"]),
            others: Vec::new(),
        };
        let named: Vec<usize> = [
            Some(columns.text),
            Some(columns.document),
            Some(columns.grade),
        ]
        .into_iter()
        .chain([columns.id, columns.weight, columns.cluster])
        .flatten()
        .collect();
        let others = table.header().iter().cloned().enumerate();
        columns.others = others.filter(|(at, _)| !named.contains(at)).collect();
        Ok(columns)
    }
}

/// Reads ratings, CSV or TSV, gzipped or not. The header names the columns: `query` (the text), `docid`, `rating`, and
/// where present `query_id`, `weight` (within [`QUERY_WEIGHTS`]) and `cluster`; any other column is kept with the query.
///
/// Without `query_id`, queries with the same text are one, and get the ids `q0001`, `q0002` and so on in the order in
/// which the file first has them. Text, weight and cluster of a query must be the same in all its rows; another column
/// that is not belongs to the judgment, and is dropped with a warning.
pub fn read_ratings(path: &Path, grades: &QrelsOptions) -> Result<Ratings, InputError> {
    let mut table = Delimited::open(path)?;
    let columns = Columns::of(&table)?;
    let mut queries = Queries::default();
    let mut judgments = JudgmentsBuilder::default();
    while let Some((line, cells)) = table.next()? {
        row(
            &cells,
            line,
            &columns,
            grades,
            (&mut queries, &mut judgments),
        )
        .map_err(|fault| InputError::line(path, line, fault))?;
    }
    let (judgments, count, mut warnings) = judgments.finish();
    if count == 0 {
        return Err(InputError::file(path, Fault::Empty { what: "rating" }));
    }
    let dropped = queries.dropped.into_iter();
    warnings.extend(dropped.map(|(column, first)| Warning::ColumnNotKept { column, first }));
    Ok(Ratings {
        queries: queries.list.into_iter().map(|(query, _)| query).collect(),
        judgments,
        warnings,
    })
}

fn row(
    cells: &[String],
    line: u64,
    columns: &Columns,
    grades: &QrelsOptions,
    (queries, judgments): (&mut Queries, &mut JudgmentsBuilder),
) -> Result<(), Fault> {
    let id = queries.id(cells, line, columns)?;
    let document = DocId::try_from(cells[columns.document].as_str())?;
    let grade = grades.grade(cells[columns.grade].trim())?;
    judgments.add(id, document, grade, line)
}

/// The queries met so far.
#[derive(Default)]
struct Queries {
    /// Each query with the line that it was first met on.
    list: Vec<(Query, u64)>,
    /// Place of a query by its id, or by its text when the file has no ids.
    places: BTreeMap<String, usize>,
    /// Columns that differ within a query, with the line of the first difference.
    dropped: BTreeMap<String, u64>,
}

impl Queries {
    /// Returns the id of the query that a row is of.
    fn id(&mut self, cells: &[String], line: u64, columns: &Columns) -> Result<QueryId, Fault> {
        let key = &cells[columns.id.unwrap_or(columns.text)];
        let known: BTreeSet<&String> = self.dropped.keys().collect();
        let mut query = described(cells, columns)?;
        query.columns.retain(|column, _| !known.contains(column));
        let Some(&place) = self.places.get(key) else {
            if columns.id.is_some() {
                query.id = QueryId::try_from(key.as_str())?;
            } else {
                query.id = QueryId::try_from(format!("q{:04}", self.list.len() + 1))?;
            }
            self.places.insert(key.clone(), self.list.len());
            let id = query.id.clone();
            self.list.push((query, line));
            return Ok(id);
        };
        let (first, first_line) = &mut self.list[place];
        let cluster = |query: &Query| query.cluster.clone().unwrap_or_default();
        let must_agree = [
            ("text", query.text.clone(), first.text.clone()),
            ("weight", query.weight.to_string(), first.weight.to_string()),
            ("cluster", cluster(&query), cluster(first)),
        ];
        for (kind, value, first_value) in must_agree {
            if value != first_value {
                return Err(Fault::Inconsistent {
                    kind: kind.to_owned(),
                    query: shorten(key),
                    value: shorten(&value),
                    first_value: shorten(&first_value),
                    first_line: *first_line,
                });
            }
        }
        let id = first.id.clone();
        if query.columns != first.columns {
            let differing: Vec<String> = columns
                .others
                .iter()
                .map(|(_, name)| name)
                .filter(|name| query.columns.get(*name) != first.columns.get(*name))
                .cloned()
                .collect();
            for name in differing {
                for (query, _) in &mut self.list {
                    query.columns.remove(&name);
                }
                self.dropped.insert(name, line);
            }
        }
        Ok(id)
    }
}

/// Returns what a row says about its query, under a placeholder id.
fn described(cells: &[String], columns: &Columns) -> Result<Query, Fault> {
    let placeholder = QueryId::try_from("q")?;
    let mut query = Query::new(placeholder, cells[columns.text].clone());
    if let Some(at) = columns.weight {
        query.weight = weight(&cells[at])?;
    }
    let filled = |at: usize| Some(cells[at].clone()).filter(|text| !text.is_empty());
    query.cluster = columns.cluster.and_then(filled);
    let others = columns.others.iter();
    query.columns = others
        .filter_map(|(at, name)| Some((name.clone(), filled(*at)?)))
        .collect();
    Ok(query)
}

fn weight(text: &str) -> Result<f64, Fault> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|weight| QUERY_WEIGHTS.contains(weight))
        .ok_or_else(|| Fault::Value {
            name: "weight".to_owned(),
            value: shorten(text),
            expected: "a number from 1e-9 to 1e9",
        })
}
