//! Documents of a catalogue.

use std::collections::BTreeSet;
use std::path::Path;

use evalfarm_domain::{Corpus, DocId, FieldName};

use super::FieldMap;
use super::records::{Entry, Form, Record, Records};
use crate::InputError;
use crate::content::{CorpusBuilder, append_text};
use crate::fault::{Fault, list, shorten};

/// Reads the documents of a catalogue: one a record, identified by the value of `id_key`, with the fields of `fields` in
/// that order. A field whose keys occur in no record is an error, because it is most likely misspelt.
pub fn read_catalogue(
    path: &Path,
    id_key: &str,
    fields: &[FieldMap],
) -> Result<Corpus, InputError> {
    let names: Vec<FieldName> = fields.iter().map(|field| field.name.clone()).collect();
    let mut records = Records::open(path)?;
    let mut corpus = CorpusBuilder::with_fields(&names);
    let mut used = vec![false; fields.len()];
    let mut keys: BTreeSet<String> = BTreeSet::new();
    while let Some(record) = records.next()? {
        let line = record.line;
        document(&record, id_key, fields, &mut used)
            .map(|(id, texts)| corpus.add(id, texts, line))
            .map_err(|fault| InputError::line(records.path(), line, fault))?;
        for entry in record.entries {
            if !keys.contains(&entry.key) {
                keys.insert(entry.key);
            }
        }
    }
    let corpus = corpus
        .finish()
        .map_err(|(line, fault)| InputError::line(path, line, fault))?;
    if let Some((field, _)) = fields.iter().zip(used).find(|(_, used)| !used) {
        let fault = Fault::Missing {
            kind: "key for the field",
            name: field.to_string(),
            found: list(keys.iter().map(String::as_str)),
        };
        return Err(InputError::file(path, fault));
    }
    Ok(corpus)
}

fn document(
    record: &Record,
    id_key: &str,
    fields: &[FieldMap],
    used: &mut [bool],
) -> Result<(DocId, Vec<String>), Fault> {
    let id = record.entries.iter().find(|entry| entry.key == id_key);
    let id = id.ok_or_else(|| Fault::Missing {
        kind: "key",
        name: id_key.to_owned(),
        found: list(record.entries.iter().map(|entry| entry.key.as_str())),
    })?;
    let rejected = |entry: &Entry, expected| Fault::Value {
        name: entry.key.clone(),
        value: shorten(&entry.text),
        expected,
    };
    if !matches!(id.form, Form::Text | Form::Whole) {
        return Err(rejected(id, "a text or a whole number below 2^64"));
    }
    let mut texts = vec![String::new(); fields.len()];
    for entry in &record.entries {
        for (at, _) in fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.takes(&entry.key))
        {
            if entry.form == Form::Object {
                return Err(rejected(entry, "a text, a number or a list of these"));
            }
            used[at] = true;
            append_text(&mut texts[at], &entry.text);
        }
    }
    Ok((DocId::try_from(id.text.as_str())?, texts))
}
