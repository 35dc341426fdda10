//! What is searched: the generated catalogue always, real products with real queries where they are at hand.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_dataset::{About, Dataset, DatasetContent, store};
use evalfarm_domain::{
    Candidate, Combine, Corpus, DocId, Document, EngineSettings, FieldName, FieldWeights, Fold,
    Grade, JobId, JobSettings, Judgments, Measurement, Query, QueryId,
};
use evalfarm_retrieval::Bm25Index;
use evalfarm_synthetic::{CatalogueSpec, generate};
use flate2::read::GzDecoder;
use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};

use crate::Outcome;

/// Hits of every list.
pub(crate) const DEPTH: u32 = 10;

/// A word that every field of every document has, so that tantivy, which counts all documents, and Lucene, which counts those
/// with the field, have the same statistics. No query contains it.
const EVERYWHERE: &str = "zzzeverywhere";

/// A judged dataset with its index, and what is measured on it.
pub(crate) struct Collection {
    /// Prefix of the names of its ratios.
    pub(crate) prefix: &'static str,
    pub(crate) dataset: Dataset,
    pub(crate) index: Bm25Index,
    pub(crate) settings: JobSettings,
}

/// Returns the collections of this machine, with or without the generated one.
pub(crate) fn all(with_generated: bool) -> Outcome<Vec<Collection>> {
    let mut all = Vec::new();
    if with_generated {
        all.push(generated(20_000, 500)?);
    }
    let chorus = evalfarm_testkit::reference_data("chorus");
    let published = evalfarm_testkit::reference_data("searchops");
    if let (Some(chorus), Some(published)) = (chorus, published) {
        all.push(real(&chorus, &published)?);
    }
    Ok(all)
}

/// Returns a generated catalogue.
pub(crate) fn generated(products: u32, queries: u32) -> Outcome<Collection> {
    let spec = CatalogueSpec::new(CatalogueSpec::DEFAULT_SEED, products, queries)?;
    let generated = generate(&spec);
    Collection::new(
        "generated-",
        generated.corpus,
        generated.queries,
        Some(generated.judgments),
    )
}

/// Returns the chorus products with the texts of the published train queries.
fn real(chorus: &Path, published: &Path) -> Outcome<Collection> {
    const FIELDS: [&str; 5] = ["title", "name", "short_description", "supplier", "attrs"];
    let mut documents = Vec::new();
    let products = File::open(chorus.join("products.jsonl.gz"))?;
    for line in BufReader::new(GzDecoder::new(products)).lines() {
        let product: Map<String, Value> = serde_json::from_str(&line?)?;
        let text = |key: &str| product.get(key).and_then(Value::as_str).unwrap_or_default();
        let attributes = product.iter().filter(|(key, _)| key.starts_with("attr_t"));
        let attributes: Vec<&str> = attributes.filter_map(|(_, value)| value.as_str()).collect();
        let texts = FIELDS.map(|name| match name {
            "attrs" => attributes.join(" "),
            _ => text(name).to_owned(),
        });
        documents.push(Document {
            id: DocId::try_from(text("id"))?,
            fields: texts.into(),
        });
    }
    documents.sort_by(|one, other| one.id.cmp(&other.id));
    let fields = FIELDS.map(FieldName::try_from);
    let fields = fields.into_iter().collect::<Result<_, _>>()?;
    let train = File::open(published.join("baseline-v7-train.json"))?;
    let train: Value = serde_json::from_reader(BufReader::new(train))?;
    let mut queries = Vec::new();
    for query in train["queries"].as_array().into_iter().flatten() {
        let id = QueryId::try_from(query["query_id"].to_string())?;
        queries.push(Query::new(id, query["query"].as_str().unwrap_or_default()));
    }
    Collection::new("", Corpus { fields, documents }, queries, None)
}

impl Collection {
    fn new(
        prefix: &'static str,
        mut corpus: Corpus,
        queries: Vec<Query>,
        judgments: Option<Judgments>,
    ) -> Outcome<Self> {
        for document in &mut corpus.documents {
            for text in &mut document.fields {
                text.push(' ');
                text.push_str(EVERYWHERE);
            }
        }
        let engine = EngineSettings::default();
        let index = Bm25Index::build(&corpus, &engine)?;
        let judgments = match judgments {
            Some(judgments) => judgments,
            None => made_up(&index, &corpus, &queries)?,
        };
        let folder = tempfile::tempdir()?;
        let folder = folder.path().join("dataset");
        let content = DatasetContent {
            corpus,
            queries,
            judgments,
        };
        store(&folder, content, About::new("bench"))?;
        let dataset = Dataset::open(&folder)?;
        let metrics = ["nDCG@10", "RR@10", "P@10", "R@10"].map(str::parse);
        let about = &dataset.manifest;
        let measurement = Measurement {
            metrics: metrics.into_iter().collect::<Result<_, _>>()?,
            depth: NonZeroU32::new(DEPTH).ok_or("a depth of 0")?,
            gains: about.gains.clone(),
            relevant_from: about.relevant_from,
            top_grade: about.top_grade,
        };
        let ids = dataset.queries.iter().map(|query| query.id.clone());
        let settings = JobSettings {
            job: JobId::try_from("jbench")?,
            dataset: about.fingerprint,
            engine,
            served_by: None,
            measurement,
            folds: BTreeMap::from([(Fold::All, ids.collect())]),
        };
        Ok(Self {
            prefix,
            dataset,
            index,
            settings,
        })
    }

    /// Returns the number of queries.
    pub(crate) fn queries(&self) -> u32 {
        u32::try_from(self.dataset.queries.len()).unwrap_or(u32::MAX)
    }

    /// Returns distinct candidates whose weights lie between a hundredth of the largest and the largest, drawn from a seed.
    pub(crate) fn candidates(&self, count: usize, combine: Combine) -> Outcome<Vec<Candidate>> {
        let mut random = ChaCha8Rng::seed_from_u64(218);
        let mut candidate = || {
            let fields = self.dataset.corpus.fields.iter();
            let weights: BTreeMap<FieldName, f64> = fields
                .map(|field| (field.clone(), 100.0_f64.powf(random.random::<f64>())))
                .collect();
            let weights = FieldWeights::try_from(weights)?;
            Ok(Candidate { combine, weights })
        };
        (0..count).map(|_| candidate()).collect()
    }
}

/// Makes judgments up for queries that have none: about twelve of the best fifty hits under equal weights, by their places.
fn made_up(index: &Bm25Index, corpus: &Corpus, queries: &[Query]) -> Outcome<Judgments> {
    let weights = corpus.fields.iter().map(|field| (field.clone(), 1.0));
    let flat = Candidate {
        combine: Combine::best_fields(0.0)?,
        weights: FieldWeights::try_from(weights.collect::<BTreeMap<_, _>>())?,
    };
    let prepared = index.prepare(&[flat])?;
    let mut searcher = index.searcher();
    let mut random = ChaCha8Rng::seed_from_u64(50);
    let mut judgments = Judgments::default();
    for query in queries {
        let mut rows = Vec::new();
        searcher.search_many(&query.text, &prepared, 50, &mut |_, hits| {
            rows.extend(hits.iter().map(|hit| hit.row as usize));
        })?;
        for row in rows {
            if random.random_ratio(1, 4) {
                let grade = Grade::try_from(f64::from(random.random_range(0..4_u32)))?;
                let document = corpus.documents[row].id.clone();
                judgments.insert(query.id.clone(), document, grade);
            }
        }
    }
    Ok(judgments)
}
