//! Digests over content: independent of Parquet, of compression and of who wrote it.
//!
//! Every text is preceded by its length in bytes and every list by its number of items, both as 64-bit little-endian
//! numbers; floats are the 64 bits of their value, little-endian. Lists are in the order of ids. The first text of every
//! stream names what it is over and in which form, so that digests of different things never coincide.

use evalfarm_domain::{Corpus, Digest, Gains, Grade, Judgments, Query};
use sha2::{Digest as _, Sha256};

struct Canonical(Sha256);

impl Canonical {
    fn new(what: &str) -> Self {
        let mut stream = Self(Sha256::new());
        stream.text(what);
        stream
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text.as_bytes());
    }

    fn number(&mut self, number: f64) {
        self.0.update(number.to_bits().to_le_bytes());
    }

    fn finish(self) -> Digest {
        Digest::from_bytes(self.0.finalize().into())
    }
}

/// Returns the digest of the documents: what an index is built from.
pub(crate) fn corpus_digest(corpus: &Corpus) -> Digest {
    let mut stream = Canonical::new("evalfarm corpus 1");
    stream.count(corpus.fields.len());
    for field in &corpus.fields {
        stream.text(field.as_str());
    }
    stream.count(corpus.documents.len());
    for document in &corpus.documents {
        stream.text(document.id.as_str());
        for text in &document.fields {
            stream.text(text);
        }
    }
    stream.finish()
}

/// Returns the digest of the queries with their weights, clusters and columns.
pub(crate) fn queries_digest(queries: &[Query]) -> Digest {
    let mut stream = Canonical::new("evalfarm queries 1");
    stream.count(queries.len());
    for query in queries {
        stream.text(query.id.as_str());
        stream.text(&query.text);
        stream.number(query.weight);
        stream.count(query.cluster.iter().len());
        if let Some(cluster) = &query.cluster {
            stream.text(cluster);
        }
        stream.count(query.columns.len());
        for (column, value) in &query.columns {
            stream.text(column);
            stream.text(value);
        }
    }
    stream.finish()
}

/// Returns the digest of the judgments.
pub(crate) fn judgments_digest(judgments: &Judgments) -> Digest {
    let mut stream = Canonical::new("evalfarm judgments 1");
    stream.count(judgments.len());
    for (query, of_query) in judgments.iter() {
        stream.text(query.as_str());
        stream.count(of_query.len());
        for (document, grade) in of_query.iter() {
            stream.text(document.as_str());
            stream.number(grade.value());
        }
    }
    stream.finish()
}

/// What grades mean in a dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale<'a> {
    pub(crate) gains: &'a Gains,
    pub(crate) relevant_from: Grade,
    pub(crate) top_grade: Grade,
    pub(crate) synthetic: bool,
}

impl Scale<'_> {
    fn digest(self) -> Digest {
        let mut stream = Canonical::new("evalfarm scale 1");
        match self.gains {
            Gains::Linear => stream.text("linear"),
            Gains::Exponential => stream.text("exponential"),
            Gains::Map(map) => {
                stream.text("map");
                stream.count(map.entries().len());
                for &(grade, gain) in map.entries() {
                    stream.number(grade.value());
                    stream.number(gain);
                }
            }
        }
        stream.number(self.relevant_from.value());
        stream.number(self.top_grade.value());
        stream.count(usize::from(self.synthetic));
        stream.finish()
    }
}

/// Returns the fingerprint of a dataset from the digests of its parts and the meaning of its grades.
pub(crate) fn fingerprint(parts: [Digest; 3], scale: Scale<'_>) -> Digest {
    let scale = scale.digest();
    let [corpus, queries, judgments] = &parts;
    let texts: [&[u8]; 5] = [
        b"evalfarm dataset 1",
        corpus.as_bytes(),
        queries.as_bytes(),
        judgments.as_bytes(),
        scale.as_bytes(),
    ];
    Digest::of_parts(texts)
}
