//! Content as typed tables and back.

use std::collections::BTreeMap;
use std::vec::IntoIter;

use evalfarm_columnar::{Column, ColumnType, ColumnarError, Field, Schema, Table};
use evalfarm_domain::{Corpus, DocId, Document, FieldName, Grade, Judgments, Query, QueryId};

use super::ContentError;
use super::manifest::SCHEMA_VERSION;

/// Prefix of the columns that hold the fields of documents, so that a field may be called `id`.
const FIELD_PREFIX: &str = "field_";

/// Prefix of the columns that hold the named columns of queries.
const COLUMN_PREFIX: &str = "column_";

/// Why a table could not become content again.
pub(crate) enum TableError {
    Columnar(ColumnarError),
    Content(ContentError),
}

impl From<ColumnarError> for TableError {
    fn from(error: ColumnarError) -> Self {
        Self::Columnar(error)
    }
}

impl From<ContentError> for TableError {
    fn from(error: ContentError) -> Self {
        Self::Content(error)
    }
}

fn schema(name: &str, fields: Vec<Field>) -> Schema {
    Schema {
        name: name.to_owned(),
        version: SCHEMA_VERSION,
        fields,
    }
}

pub(crate) fn documents_schema(fields: &[FieldName]) -> Schema {
    let id = Field::required(
        "id",
        ColumnType::Text,
        "document id, rows in bytewise order of it",
    );
    let texts = fields.iter().map(|field| {
        let name = format!("{FIELD_PREFIX}{field}");
        let description = format!("text of the field `{field}`, empty when the document lacks it");
        Field::required(name, ColumnType::Text, description)
    });
    schema(
        "dataset_documents",
        std::iter::once(id).chain(texts).collect(),
    )
}

pub(crate) fn queries_schema(columns: &[String]) -> Schema {
    let mut fields = vec![
        Field::required(
            "id",
            ColumnType::Text,
            "query id, rows in bytewise order of it",
        ),
        Field::required("text", ColumnType::Text, "what the user typed"),
        Field::required(
            "weight",
            ColumnType::F64,
            "share of traffic, positive; 1 when nothing is known",
        ),
        Field::nullable(
            "cluster",
            ColumnType::Text,
            "queries of one cluster are not independent",
        ),
    ];
    fields.extend(columns.iter().map(|column| {
        let name = format!("{COLUMN_PREFIX}{column}");
        Field::nullable(
            name,
            ColumnType::Text,
            format!("the source's column `{column}`"),
        )
    }));
    schema("dataset_queries", fields)
}

pub(crate) fn judgments_schema() -> Schema {
    schema(
        "dataset_judgments",
        vec![
            Field::required("query", ColumnType::Text, "query id"),
            Field::required("document", ColumnType::Text, "document id"),
            Field::required(
                "grade",
                ColumnType::F64,
                "how relevant the document was judged to be",
            ),
        ],
    )
}

/// Makes a text column.
fn texts<'a>(cells: impl Iterator<Item = Option<&'a str>>) -> Column {
    Column::Text(cells.map(|cell| cell.map(Into::into)).collect())
}

pub(crate) fn documents_table(corpus: &Corpus) -> Result<Table, ColumnarError> {
    let documents = || corpus.documents.iter();
    let ids = texts(documents().map(|document| Some(document.id.as_str())));
    let fields = (0..corpus.fields.len())
        .map(|field| texts(documents().map(|document| Some(document.fields[field].as_str()))));
    let columns = std::iter::once(ids).chain(fields).collect();
    Table::new(documents_schema(&corpus.fields), columns, BTreeMap::new())
}

pub(crate) fn queries_table(queries: &[Query], names: &[String]) -> Result<Table, ColumnarError> {
    let queries = || queries.iter();
    let mut columns = vec![
        texts(queries().map(|query| Some(query.id.as_str()))),
        texts(queries().map(|query| Some(query.text.as_str()))),
        Column::F64(queries().map(|query| Some(query.weight)).collect()),
        texts(queries().map(|query| query.cluster.as_deref())),
    ];
    let named = names.iter().map(|name| {
        let values = queries().map(|query| query.columns.get(name));
        texts(values.map(|value| value.map(String::as_str)))
    });
    columns.extend(named);
    Table::new(queries_schema(names), columns, BTreeMap::new())
}

pub(crate) fn judgments_table(judgments: &Judgments) -> Result<Table, ColumnarError> {
    let judgments = || {
        judgments.iter().flat_map(|(query, of_query)| {
            of_query
                .iter()
                .map(move |(document, grade)| (query, document, grade))
        })
    };
    let columns = vec![
        texts(judgments().map(|(query, ..)| Some(query.as_str()))),
        texts(judgments().map(|(_, document, _)| Some(document.as_str()))),
        Column::F64(
            judgments()
                .map(|(_, _, grade)| Some(grade.value()))
                .collect(),
        ),
    ];
    Table::new(judgments_schema(), columns, BTreeMap::new())
}

/// Takes the next column as text cells.
fn take_text(columns: &mut IntoIter<Column>) -> impl Iterator<Item = Option<String>> + use<> {
    let cells: Vec<Option<Box<str>>> = match columns.next() {
        Some(Column::Text(cells)) => cells,
        Some(Column::Labels(labels)) => labels.iter().map(|label| label.map(Into::into)).collect(),
        _ => Vec::new(),
    };
    cells.into_iter().map(|cell| cell.map(String::from))
}

/// Takes the next column as numbers.
fn take_numbers(columns: &mut IntoIter<Column>) -> Vec<Option<f64>> {
    match columns.next() {
        Some(Column::F64(cells)) => cells,
        _ => Vec::new(),
    }
}

pub(crate) fn corpus_from(table: Table, fields: &[FieldName]) -> Result<Corpus, TableError> {
    let mut columns = table.into_columns().into_iter();
    let mut documents = Vec::new();
    for id in take_text(&mut columns) {
        documents.push(Document {
            id: DocId::try_from(id.unwrap_or_default()).map_err(ContentError::Id)?,
            fields: Vec::with_capacity(fields.len()),
        });
    }
    for _ in fields {
        for (document, text) in documents.iter_mut().zip(take_text(&mut columns)) {
            document.fields.push(text.unwrap_or_default());
        }
    }
    Ok(Corpus {
        fields: fields.to_vec(),
        documents,
    })
}

pub(crate) fn queries_from(table: Table, names: &[String]) -> Result<Vec<Query>, TableError> {
    let mut columns = table.into_columns().into_iter();
    let (ids, texts) = (take_text(&mut columns), take_text(&mut columns));
    let weights = take_numbers(&mut columns);
    let clusters = take_text(&mut columns);
    let mut queries = Vec::new();
    for (((id, text), weight), cluster) in ids.zip(texts).zip(weights).zip(clusters) {
        let id = QueryId::try_from(id.unwrap_or_default()).map_err(ContentError::Id)?;
        queries.push(Query {
            weight: weight.unwrap_or_default(),
            cluster,
            ..Query::new(id, text.unwrap_or_default())
        });
    }
    for name in names {
        for (query, value) in queries.iter_mut().zip(take_text(&mut columns)) {
            if let Some(value) = value {
                query.columns.insert(name.clone(), value);
            }
        }
    }
    Ok(queries)
}

pub(crate) fn judgments_from(table: Table) -> Result<Judgments, TableError> {
    let mut columns = table.into_columns().into_iter();
    let (queries, documents) = (take_text(&mut columns), take_text(&mut columns));
    let grades = take_numbers(&mut columns);
    let mut judgments = Judgments::default();
    for ((query, document), grade) in queries.zip(documents).zip(grades) {
        let query = QueryId::try_from(query.unwrap_or_default()).map_err(ContentError::Id)?;
        let document = DocId::try_from(document.unwrap_or_default()).map_err(ContentError::Id)?;
        let grade = Grade::try_from(grade.unwrap_or(f64::NAN)).map_err(ContentError::Grade)?;
        judgments.insert(query, document, grade);
    }
    Ok(judgments)
}
