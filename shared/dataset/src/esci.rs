//! The ESCI shopping queries: examples joined with products on locale and product id.
//!
//! Labels become the grades E 3, S 2, C 1, I 0, and what a grade is worth has no default: published scripts disagree with
//! the paper and with each other on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use evalfarm_columnar::{Table, read_foreign};
use evalfarm_domain::{
    Corpus, DocId, FieldName, GainMap, Gains, Grade, GradeError, Judgments, Query, QueryId,
};

use crate::cells::{id_text, text};
use crate::content::{CorpusBuilder, DatasetContent, Imported, JoinOptions};
use crate::fault::{Fault, shorten};
use crate::judging::JudgmentsBuilder;
use crate::{InputError, SourceFile, Warning};

/// Labels with their grades: exact, substitute, complement, irrelevant.
const LABELS: [(&str, f64); 4] = [("E", 3.0), ("S", 2.0), ("C", 1.0), ("I", 0.0)];

/// Columns of the products that become fields, with the names of the fields, in scoring order.
const FIELDS: [(&str, &str); 5] = [
    ("product_title", "title"),
    ("product_brand", "brand"),
    ("product_color", "color"),
    ("product_bullet_point", "bullet_point"),
    ("product_description", "description"),
];

/// What each label is worth. The paper's are 1.0, 0.1, 0.01, 0.0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EsciGains {
    /// Gain of E.
    pub exact: f64,
    /// Gain of S.
    pub substitute: f64,
    /// Gain of C.
    pub complement: f64,
    /// Gain of I.
    pub irrelevant: f64,
}

impl EsciGains {
    /// Returns the gains as a map over the grades that labels become. They may not fall from I over C and S to E.
    pub fn to_gains(self) -> Result<Gains, GradeError> {
        let gains = [
            self.exact,
            self.substitute,
            self.complement,
            self.irrelevant,
        ];
        let mut map = BTreeMap::new();
        for ((_, grade), gain) in LABELS.into_iter().zip(gains) {
            map.insert(Grade::try_from(grade)?, gain);
        }
        Ok(Gains::Map(GainMap::new(map)?))
    }
}

/// Which products are documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EsciCorpus {
    /// Those that a selected example names.
    #[default]
    Judged,
    /// All products of the locale.
    Locale,
}

/// How ESCI is read.
#[derive(Debug, Clone, PartialEq)]
pub struct EsciOptions {
    /// Examples: `shopping_queries_dataset_examples.parquet`.
    pub examples: PathBuf,
    /// Products: `shopping_queries_dataset_products.parquet`.
    pub products: PathBuf,
    /// Locale of examples and products, e.g. `us`. Product ids are unique only within one.
    pub locale: String,
    /// Whether only the reduced version (`small_version` 1) is read.
    pub small_version: bool,
    /// Only examples of this `split`, e.g. `test`; all when absent.
    pub split: Option<String>,
    /// Which products are documents.
    pub corpus: EsciCorpus,
    /// What to do where examples and products do not cover each other.
    pub join: JoinOptions,
}

/// Returns the grade of each label.
pub fn labels() -> Result<BTreeMap<String, Grade>, GradeError> {
    let grades = LABELS
        .into_iter()
        .map(|(label, grade)| Ok((label.to_owned(), Grade::try_from(grade)?)));
    grades.collect()
}

/// Reads and joins examples and products.
pub fn import(options: &EsciOptions) -> Result<Imported, InputError> {
    let examples = read_examples(options)?;
    let judged: BTreeSet<&DocId> = examples
        .judgments
        .iter()
        .flat_map(|(_, of_query)| of_query.iter().map(|(document, _)| document))
        .collect();
    let corpus = read_products(options, &judged)?;
    let mut warnings = examples.warnings;
    let (content, more) =
        DatasetContent::join(corpus, examples.queries, examples.judgments, options.join)
            .map_err(|fault| InputError::file(&options.products, fault))?;
    warnings.extend(more);
    let sources = [&options.examples, &options.products].map(|path| SourceFile::of(path));
    Ok(Imported {
        content,
        sources: sources.into_iter().collect::<Result<_, _>>()?,
        warnings,
    })
}

struct Examples {
    queries: Vec<Query>,
    judgments: Judgments,
    warnings: Vec<Warning>,
}

/// A Parquet file and the columns that are read of it.
struct Source<'a> {
    path: &'a Path,
    table: Table,
}

impl<'a> Source<'a> {
    fn read(path: &'a Path, columns: &[&str]) -> Result<Self, InputError> {
        let table = read_foreign(path, Some(columns)).map_err(|source| InputError::Columns {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self { path, table })
    }

    fn text(&self, column: &str, row: usize) -> Option<&str> {
        self.table
            .column(column)
            .and_then(|column| text(column, row))
    }

    /// Returns a cell as the text of an identifier or small number.
    fn id(&self, column: &str, row: usize) -> Result<String, InputError> {
        let cell = self
            .table
            .column(column)
            .and_then(|column| id_text(column, row));
        cell.ok_or_else(|| {
            let fault = Fault::Value {
                name: column.to_owned(),
                value: String::new(),
                expected: "a text or a whole number",
            };
            self.fail(row, fault)
        })
    }

    fn fail(&self, row: usize, fault: impl Into<Fault>) -> InputError {
        InputError::row(self.path, row as u64 + 1, fault)
    }
}

fn read_examples(options: &EsciOptions) -> Result<Examples, InputError> {
    let mut columns = vec![
        "query",
        "query_id",
        "product_id",
        "product_locale",
        "esci_label",
    ];
    if options.small_version {
        columns.push("small_version");
    }
    if options.split.is_some() {
        columns.push("split");
    }
    let source = Source::read(&options.examples, &columns)?;
    let labels = labels().map_err(|error| InputError::file(&options.examples, error))?;
    let mut queries: BTreeMap<QueryId, (String, u64)> = BTreeMap::new();
    let mut judgments = JudgmentsBuilder::default();
    for row in 0..source.table.rows() {
        let selected = source.text("product_locale", row) == Some(&options.locale)
            && (!options.small_version || source.id("small_version", row)? == "1")
            && (options.split.is_none() || source.text("split", row) == options.split.as_deref());
        if !selected {
            continue;
        }
        let query = QueryId::try_from(source.id("query_id", row)?)
            .map_err(|error| source.fail(row, error))?;
        let text = source.text("query", row).unwrap_or_default();
        let position = row as u64 + 1;
        let (first_text, first_line) = queries
            .entry(query.clone())
            .or_insert_with(|| (text.to_owned(), position));
        if first_text != text {
            let fault = Fault::Inconsistent {
                kind: "text".to_owned(),
                query: query.to_string(),
                value: shorten(text),
                first_value: shorten(first_text),
                first_line: *first_line,
            };
            return Err(source.fail(row, fault));
        }
        let document = DocId::try_from(source.id("product_id", row)?)
            .map_err(|error| source.fail(row, error))?;
        let label = source.text("esci_label", row).unwrap_or_default();
        let grade = labels.get(label).copied().ok_or_else(|| {
            let (value, known) = (shorten(label), "`E`, `S`, `C`, `I`".to_owned());
            source.fail(row, Fault::UnknownLabel { value, known })
        })?;
        judgments
            .add(query, document, grade, position)
            .map_err(|fault| source.fail(row, fault))?;
    }
    let (judgments, count, warnings) = judgments.finish();
    if count == 0 {
        let what = "example of this locale, version and split";
        return Err(InputError::file(&options.examples, Fault::Empty { what }));
    }
    let queries = queries
        .into_iter()
        .map(|(id, (text, _))| Query::new(id, text));
    Ok(Examples {
        queries: queries.collect(),
        judgments,
        warnings,
    })
}

fn read_products(options: &EsciOptions, judged: &BTreeSet<&DocId>) -> Result<Corpus, InputError> {
    let mut columns = vec!["product_id", "product_locale"];
    columns.extend(FIELDS.map(|(column, _)| column));
    let source = Source::read(&options.products, &columns)?;
    let names: Result<Vec<FieldName>, _> = FIELDS
        .into_iter()
        .map(|(_, name)| FieldName::try_from(name))
        .collect();
    let names = names.map_err(|error| InputError::file(&options.products, error))?;
    let mut corpus = CorpusBuilder::with_fields(&names);
    for row in 0..source.table.rows() {
        if source.text("product_locale", row) != Some(&options.locale) {
            continue;
        }
        let id = DocId::try_from(source.id("product_id", row)?)
            .map_err(|error| source.fail(row, error))?;
        if options.corpus == EsciCorpus::Judged && !judged.contains(&id) {
            continue;
        }
        let texts =
            FIELDS.map(|(column, _)| source.text(column, row).unwrap_or_default().to_owned());
        corpus.add(id, texts.into(), row as u64 + 1);
    }
    corpus
        .finish()
        .map_err(|(row, fault)| InputError::row(&options.products, row, fault))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use evalfarm_columnar::{Column, ColumnType, Field, Schema, to_bytes};
    use tempfile::TempDir;

    use super::*;
    use crate::{About, Manifest, store};

    fn text_column(cells: &[&str]) -> Column {
        let cells = cells
            .iter()
            .map(|cell| Some(Box::from(*cell)).filter(|_| !cell.is_empty()));
        Column::Text(cells.collect())
    }

    fn write(path: &Path, columns: Vec<(&str, Column)>) {
        let fields = columns
            .iter()
            .map(|(name, column)| Field::nullable(*name, column.kind(), ""));
        let schema = Schema {
            name: "esci".to_owned(),
            version: 1,
            fields: fields.collect(),
        };
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let table = Table::new(schema, columns, BTreeMap::new()).unwrap();
        assert!(
            table
                .schema()
                .fields
                .iter()
                .all(|field| field.kind != ColumnType::F64)
        );
        fs::write(path, to_bytes(&table).unwrap()).unwrap();
    }

    fn whole(numbers: &[i64]) -> Column {
        Column::I64(numbers.iter().copied().map(Some).collect())
    }

    fn files(labels: &[&str; 6]) -> (TempDir, EsciOptions) {
        let folder = tempfile::tempdir().unwrap();
        let options = EsciOptions {
            examples: folder.path().join("examples.parquet"),
            products: folder.path().join("products.parquet"),
            locale: "us".to_owned(),
            small_version: true,
            split: Some("test".to_owned()),
            corpus: EsciCorpus::Judged,
            join: JoinOptions::default(),
        };
        write(
            &options.examples,
            vec![
                ("example_id", whole(&[0, 1, 2, 3, 4, 5])),
                (
                    "query",
                    text_column(&["tv", "tv", "tv", "tv", "tv", "radio"]),
                ),
                ("query_id", whole(&[7, 7, 7, 7, 7, 8])),
                (
                    "product_id",
                    text_column(&["0545010225", "B1", "B2", "B3", "B4", "B1"]),
                ),
                (
                    "product_locale",
                    text_column(&["us", "us", "us", "us", "es", "us"]),
                ),
                ("esci_label", text_column(labels)),
                ("small_version", whole(&[1, 1, 1, 1, 1, 0])),
                (
                    "split",
                    text_column(&["test", "test", "test", "test", "test", "test"]),
                ),
            ],
        );
        let ids = ["0545010225", "B1", "B2", "B3", "B4", "B9", "B1"];
        let mut columns = vec![
            ("product_id", text_column(&ids)),
            (
                "product_locale",
                text_column(&["us", "us", "us", "us", "us", "us", "es"]),
            ),
        ];
        for (name, _) in FIELDS {
            columns.push((name, text_column(&["x", "y", "", "z", "w", "v", "spanish"])));
        }
        write(&options.products, columns);
        (folder, options)
    }

    const GAINS: EsciGains = EsciGains {
        exact: 1.0,
        substitute: 0.1,
        complement: 0.01,
        irrelevant: 0.0,
    };

    fn stored(options: &EsciOptions, folder: &TempDir) -> Manifest {
        let imported = import(options).unwrap();
        let mut about = About::new("esci");
        about.gains = GAINS.to_gains().unwrap();
        about.labels = labels().unwrap();
        store(&folder.path().join("set"), imported.content, about).unwrap()
    }

    #[test]
    fn m17_p9_labels_products_and_gains_are_joined() {
        let (folder, options) = files(&["E", "S", "C", "I", "E", "E"]);
        let imported = import(&options).unwrap();
        let judged = imported.content.judgments.query("7").unwrap();
        let gains = GAINS.to_gains().unwrap();
        let worth: Vec<(&str, f64, Option<f64>)> = judged
            .iter()
            .map(|(document, grade)| (document.as_str(), grade.value(), gains.gain(grade)))
            .collect();
        let expected = [
            ("0545010225", 3.0, Some(1.0)),
            ("B1", 2.0, Some(0.1)),
            ("B2", 1.0, Some(0.01)),
            ("B3", 0.0, Some(0.0)),
        ];
        assert_eq!(worth, expected);
        assert_eq!(imported.content.queries.len(), 1);
        let documents = &imported.content.corpus.documents;
        assert_eq!(documents.len(), 4);
        assert_eq!(documents[1].fields, ["y"; 5]);
        let manifest = stored(&options, &folder);
        assert_eq!(manifest.gains.to_string(), "0→0 1→0.01 2→0.1 3→1");
        assert_eq!(manifest.labels["S"].value().to_string(), "2");
    }

    #[test]
    fn filters_and_corpus_are_chosen() {
        let (_folder, mut options) = files(&["E", "S", "C", "I", "E", "E"]);
        options.corpus = EsciCorpus::Locale;
        options.small_version = false;
        options.split = None;
        let content = import(&options).unwrap().content;
        assert_eq!(
            (content.corpus.documents.len(), content.queries.len()),
            (6, 2)
        );
        options.split = Some("train".to_owned());
        let error = import(&options).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("there is no example of this locale, version and split in it")
        );
    }

    #[test]
    fn p12_unknown_labels_and_swapped_gains_are_refused() {
        let (_folder, options) = files(&["E", "X", "C", "I", "E", "E"]);
        let error = import(&options).unwrap_err();
        assert_eq!(error.position(), Some(2));
        assert_eq!(
            error.fault().unwrap().to_string(),
            "grade `X` is not in the label map, which has `E`, `S`, `C`, `I`"
        );
        let swapped = EsciGains {
            substitute: 0.01,
            complement: 0.1,
            ..GAINS
        };
        assert!(matches!(
            swapped.to_gains(),
            Err(GradeError::Decreasing { .. })
        ));
    }
}
