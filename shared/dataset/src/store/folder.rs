//! The folder of a dataset: written whole, opened only when it is what its manifest says.

use std::fs;
use std::io;
use std::path::Path;

use evalfarm_columnar::{Schema, Table, read_bytes, to_bytes};
use evalfarm_domain::{Corpus, Digest, Judgments, QUERY_WEIGHTS, Query};

use super::manifest::{About, Manifest, StoredFile};
use super::tables::{
    TableError, corpus_from, documents_schema, documents_table, judgments_from, judgments_schema,
    judgments_table, queries_from, queries_schema, queries_table,
};
use super::{ContentError, DatasetError};
use crate::DatasetContent;

const MANIFEST: &str = "manifest.json";
const DOCUMENTS: &str = "documents.parquet";
const QUERIES: &str = "queries.parquet";
const JUDGMENTS: &str = "judgments.parquet";

/// Judged queries and documents, held to their manifest.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// What the dataset is.
    pub manifest: Manifest,
    /// The documents, by id.
    pub corpus: Corpus,
    /// The queries, by id bytes.
    pub queries: Vec<Query>,
    /// The judgments.
    pub judgments: Judgments,
}

impl Dataset {
    /// Opens a dataset. Every file must have the bytes that its manifest records; the fingerprint over content was
    /// computed from these bytes when they were stored and is not computed again, see [`verify`].
    pub fn open(folder: &Path) -> Result<Self, DatasetError> {
        let path = folder.join(MANIFEST);
        let bytes = read_file(folder, MANIFEST)?;
        let text = String::from_utf8(bytes).map_err(|error| DatasetError::Read {
            path: path.clone(),
            source: io::Error::new(io::ErrorKind::InvalidData, error),
        })?;
        let manifest = Manifest::parse(&text, &path)?;
        let corpus = read_table(
            folder,
            &manifest,
            DOCUMENTS,
            &documents_schema(&manifest.fields),
            |table| corpus_from(table, &manifest.fields),
        )?;
        let columns = &manifest.query_columns;
        let queries = read_table(
            folder,
            &manifest,
            QUERIES,
            &queries_schema(columns),
            |table| queries_from(table, columns),
        )?;
        let judgments = read_table(
            folder,
            &manifest,
            JUDGMENTS,
            &judgments_schema(),
            judgments_from,
        )?;
        Ok(Self {
            manifest,
            corpus,
            queries,
            judgments,
        })
    }

    /// Returns the content without its manifest.
    pub fn into_content(self) -> DatasetContent {
        DatasetContent {
            corpus: self.corpus,
            queries: self.queries,
            judgments: self.judgments,
        }
    }
}

/// Opens a dataset and recomputes from its content everything that the manifest says about it.
pub fn verify(folder: &Path) -> Result<Manifest, DatasetError> {
    let dataset = Dataset::open(folder)?;
    let recorded = dataset.manifest.clone();
    let content = dataset.into_content();
    check(&content).map_err(DatasetError::Content)?;
    let found = Manifest::describe(&content, recorded.about()).map_err(DatasetError::Content)?;
    let counts = |manifest: &Manifest| format!("{:?}", manifest.counts);
    let columns = |manifest: &Manifest| manifest.query_columns.join(", ");
    let differences = [
        (
            "documents",
            found.corpus_digest.to_string(),
            recorded.corpus_digest.to_string(),
        ),
        (
            "queries",
            found.queries_digest.to_string(),
            recorded.queries_digest.to_string(),
        ),
        (
            "judgments",
            found.judgments_digest.to_string(),
            recorded.judgments_digest.to_string(),
        ),
        (
            "fingerprint and grades",
            found.fingerprint.to_string(),
            recorded.fingerprint.to_string(),
        ),
        ("counts", counts(&found), counts(&recorded)),
        ("query columns", columns(&found), columns(&recorded)),
    ];
    for (what, found, recorded) in differences {
        if found != recorded {
            return Err(DatasetError::Mismatch {
                folder: folder.to_owned(),
                what,
                found,
                recorded,
            });
        }
    }
    Ok(recorded)
}

/// Stores a dataset: writes it into a staging folder beside `folder`, which is then renamed. `folder` must not exist, or
/// be empty.
pub fn store(
    folder: &Path,
    mut content: DatasetContent,
    about: About,
) -> Result<Manifest, DatasetError> {
    content.corpus.documents.sort_by(|a, b| a.id.cmp(&b.id));
    content.queries.sort_by(|a, b| a.id.cmp(&b.id));
    check(&content).map_err(DatasetError::Content)?;
    let mut manifest = Manifest::describe(&content, about).map_err(DatasetError::Content)?;
    let encode = |file, table: Result<Table, _>| {
        table
            .and_then(|table| to_bytes(&table))
            .map_err(|source| DatasetError::Encode { file, source })
    };
    let files = [
        (
            DOCUMENTS,
            encode(DOCUMENTS, documents_table(&content.corpus))?,
        ),
        (
            QUERIES,
            encode(
                QUERIES,
                queries_table(&content.queries, &manifest.query_columns),
            )?,
        ),
        (
            JUDGMENTS,
            encode(JUDGMENTS, judgments_table(&content.judgments))?,
        ),
    ];
    manifest.files = files
        .iter()
        .map(|(name, bytes)| StoredFile {
            name: (*name).to_owned(),
            bytes: bytes.len() as u64,
            sha256: Digest::of(bytes),
        })
        .collect();
    let json = manifest.to_json();
    let all = files
        .iter()
        .map(|(name, bytes)| (*name, bytes.as_slice()))
        .chain([(MANIFEST, json.as_bytes())]);
    publish(folder, all)?;
    Ok(manifest)
}

/// Writes files into a folder beside `folder` and renames that.
fn publish<'a>(
    folder: &Path,
    files: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> Result<(), DatasetError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| DatasetError::Write { path, source }
    };
    let occupied = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    if occupied {
        return Err(DatasetError::Exists {
            path: folder.to_owned(),
        });
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(failed(parent))?;
    // The temporary folder is its owner's alone and goes away on any error; the one inside it has the usual permissions.
    let temporary = tempfile::Builder::new()
        .prefix(".dataset-")
        .tempdir_in(parent)
        .map_err(failed(parent))?;
    let staging = temporary.path().join("dataset");
    fs::create_dir(&staging).map_err(failed(&staging))?;
    for (name, bytes) in files {
        let path = staging.join(name);
        fs::write(&path, bytes).map_err(failed(&path))?;
        fs::File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(failed(&path))?;
    }
    fs::rename(&staging, folder).map_err(failed(folder))
}

fn read_file(folder: &Path, name: &str) -> Result<Vec<u8>, DatasetError> {
    let path = folder.join(name);
    fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => DatasetError::Missing {
            folder: folder.to_owned(),
            file: name.to_owned(),
        },
        _ => DatasetError::Read { path, source },
    })
}

fn read_table<T>(
    folder: &Path,
    manifest: &Manifest,
    name: &str,
    schema: &Schema,
    convert: impl FnOnce(Table) -> Result<T, TableError>,
) -> Result<T, DatasetError> {
    let path = folder.join(name);
    let bytes = read_file(folder, name)?;
    let recorded = manifest.files.iter().find(|file| file.name == name);
    let found = Digest::of(&bytes);
    // A manifest that does not list a file records no digest of it, which no file can have.
    let recorded = recorded.map_or(Digest::from_bytes([0; 32]), |file| file.sha256);
    if found != recorded {
        return Err(DatasetError::Changed {
            path,
            found,
            recorded,
        });
    }
    read_bytes(bytes, schema)
        .map_err(TableError::Columnar)
        .and_then(convert)
        .map_err(|error| match error {
            TableError::Columnar(source) => DatasetError::Columns { path, source },
            TableError::Content(error) => DatasetError::Content(error),
        })
}

/// Checks the rules that every stored content keeps. Documents and queries must be in order.
fn check(content: &DatasetContent) -> Result<(), ContentError> {
    let DatasetContent {
        corpus,
        queries,
        judgments,
    } = content;
    if corpus.documents.is_empty() {
        return Err(ContentError::NoDocuments);
    }
    if queries.is_empty() {
        return Err(ContentError::NoQueries);
    }
    let mut fields = corpus.fields.clone();
    fields.sort_unstable();
    if let Some(pair) = fields.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(ContentError::FieldTwice(pair[0].clone()));
    }
    let expected = corpus.fields.len();
    for (at, document) in corpus.documents.iter().enumerate() {
        if document.fields.len() != expected {
            return Err(ContentError::Texts {
                document: document.id.clone(),
                found: document.fields.len(),
                fields: expected,
            });
        }
        if at > 0 && corpus.documents[at - 1].id == document.id {
            return Err(ContentError::DocumentTwice(document.id.clone()));
        }
    }
    for (at, query) in queries.iter().enumerate() {
        let (id, weight) = (query.id.clone(), query.weight);
        if !QUERY_WEIGHTS.contains(&weight) {
            return Err(ContentError::Weight { query: id, weight });
        }
        if at > 0 && queries[at - 1].id == id {
            return Err(ContentError::QueryTwice(id));
        }
    }
    let known = |id| queries.binary_search_by(|query| query.id.cmp(id)).is_ok();
    match judgments.iter().find(|(query, _)| !known(query)) {
        Some((query, _)) => Err(ContentError::JudgedQuery(query.clone())),
        None => Ok(()),
    }
}
