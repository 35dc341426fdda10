//! BEIR folders: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, each gzipped or not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalfarm_domain::{Query, QueryId};
use serde_json::Value;

use crate::catalogue::{FieldMap, read_catalogue};
use crate::content::{DatasetContent, Imported, JoinOptions};
use crate::fault::{Fault, list, shorten};
use crate::json::object;
use crate::source::Lines;
use crate::trec::read_qrels;
use crate::{InputError, QrelsOptions, SourceFile};

/// How a BEIR folder is read.
#[derive(Debug, Clone, PartialEq)]
pub struct BeirOptions {
    /// Which judgments: the file `qrels/<split>.tsv`.
    pub split: String,
    /// Fields of the documents; BEIR's are `title` and `text`.
    pub fields: Vec<FieldMap>,
    /// How grades are read.
    pub grades: QrelsOptions,
    /// What to do where the files do not cover each other. `queries.jsonl` has the queries of all splits, so those that
    /// this one does not judge are left out unless they are asked for.
    pub join: JoinOptions,
}

/// Reads a BEIR folder.
pub fn import(folder: &Path, options: &BeirOptions) -> Result<Imported, InputError> {
    let corpus_path = plain_or_gz(folder, "corpus.jsonl");
    let queries_path = plain_or_gz(folder, "queries.jsonl");
    let qrels_path = plain_or_gz(&folder.join("qrels"), &format!("{}.tsv", options.split));
    let corpus = read_catalogue(&corpus_path, "_id", &options.fields)?;
    let queries = read_queries(&queries_path)?;
    let qrels = read_qrels(&qrels_path, &options.grades)?;
    let mut warnings = qrels.warnings;
    let (content, more) = DatasetContent::join(corpus, queries, qrels.judgments, options.join)
        .map_err(|fault| InputError::file(&qrels_path, fault))?;
    warnings.extend(more);
    let sources = [corpus_path, queries_path, qrels_path].map(|path| SourceFile::of(&path));
    Ok(Imported {
        content,
        sources: sources.into_iter().collect::<Result<_, _>>()?,
        warnings,
    })
}

/// Returns the path of a file, or of its gzipped form where only that is there.
fn plain_or_gz(folder: &Path, name: &str) -> PathBuf {
    let (plain, zipped) = (folder.join(name), folder.join(format!("{name}.gz")));
    if zipped.is_file() && !plain.is_file() {
        zipped
    } else {
        plain
    }
}

fn read_queries(path: &Path) -> Result<Vec<Query>, InputError> {
    let mut lines = Lines::open(path)?;
    let mut queries = Vec::new();
    let mut seen: BTreeMap<QueryId, u64> = BTreeMap::new();
    while let Some((line, text)) = lines.next()? {
        let query = query(text).map_err(|fault| InputError::line(path, line, fault))?;
        if let Some(&first_line) = seen.get(&query.id) {
            let fault = Fault::IdTwice {
                kind: "query",
                id: query.id.to_string(),
                first_line,
            };
            return Err(InputError::line(path, line, fault));
        }
        seen.insert(query.id.clone(), line);
        queries.push(query);
    }
    Ok(queries)
}

fn query(line: &str) -> Result<Query, Fault> {
    let object = object(line)?;
    let text = |key: &str| match object.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) if key == "_id" && !number.is_f64() => Ok(number.to_string()),
        Some(other) => Err(Fault::Value {
            name: key.to_owned(),
            value: shorten(&other.to_string()),
            expected: "a text",
        }),
        None => Err(Fault::Missing {
            kind: "key",
            name: key.to_owned(),
            found: list(object.keys().map(String::as_str)),
        }),
    };
    Ok(Query::new(QueryId::try_from(text("_id")?)?, text("text")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Warning;

    fn folder(queries: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let corpus = r#"{"_id": "d1", "title": "A title", "text": "some text", "metadata": {"x": 1}}
{"_id": "d 2", "title": "", "text": "more", "metadata": {}}
"#;
        fs::write(folder.path().join("corpus.jsonl"), corpus).unwrap();
        fs::write(folder.path().join("queries.jsonl"), queries).unwrap();
        fs::create_dir(folder.path().join("qrels")).unwrap();
        let qrels = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td 2\t0\n";
        fs::write(folder.path().join("qrels/test.tsv"), qrels).unwrap();
        folder
    }

    fn options(split: &str) -> BeirOptions {
        BeirOptions {
            split: split.to_owned(),
            fields: vec!["title".parse().unwrap(), "text".parse().unwrap()],
            grades: QrelsOptions::default(),
            join: JoinOptions::default(),
        }
    }

    #[test]
    fn p4_a_beir_folder_is_read() {
        let queries = "{\"_id\": \"q1\", \"text\": \"one\", \"metadata\": {}}\n{\"_id\": \"q2\", \"text\": \"two\"}\n";
        let folder = folder(queries);
        let imported = import(folder.path(), &options("test")).unwrap();
        let content = imported.content;
        assert_eq!(content.corpus.documents[0].id.as_str(), "d 2");
        assert_eq!(content.corpus.documents[1].fields, ["A title", "some text"]);
        assert_eq!(content.judgments.query("q1").unwrap().len(), 2);
        assert_eq!(content.queries.len(), 1);
        let left_out = Warning::UnjudgedQueries {
            count: 1,
            first: "q2".to_owned(),
        };
        assert_eq!(imported.warnings, [left_out]);
        let error = import(folder.path(), &options("dev")).unwrap_err();
        assert!(error.to_string().contains("dev.tsv"));
    }

    #[test]
    fn queries_that_do_not_fit_are_refused() {
        for (queries, expected) in [
            (
                "{\"_id\": \"q2\", \"text\": \"two\"}\n",
                "1 judged queries have no text, e.g. `q1`",
            ),
            ("{\"_id\": \"q1\"}\n", "there is no key `text`, found `_id`"),
            (
                "{\"_id\": 1.5, \"text\": \"\"}\n",
                "_id is `1.5`, expected a text",
            ),
            (
                "{\"_id\": \"q1\", \"text\": \"a\"}\n{\"_id\": \"q1\", \"text\": \"a\"}",
                "query `q1` occurs again, first in line 1",
            ),
        ] {
            let error = import(folder(queries).path(), &options("test")).unwrap_err();
            assert_eq!(error.fault().unwrap().to_string(), expected);
        }
    }
}
