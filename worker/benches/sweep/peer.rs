//! tantivy's own search, one candidate after the other.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use evalfarm_analysis::Analyzer;
use evalfarm_domain::{Candidate, Combine};
use tantivy::collector::TopDocs;
use tantivy::directory::RamDirectory;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TokenizerManager, WhitespaceTokenizer};
use tantivy::{Index, Searcher, SingleSegmentIndexWriter, TantivyDocument, Term};

use crate::Outcome;
use crate::clock::Clock;
use crate::collection::{Collection, DEPTH};

/// tantivy keeps the factor k1 + 1.
const K1_PLUS_1: f32 = 2.2;

/// tantivy over the same documents and tokens, in one segment.
pub(crate) struct Peer {
    searcher: Searcher,
    fields: Vec<Field>,
    queries: Vec<BTreeMap<String, u32>>,
}

impl Peer {
    /// Indexes a collection.
    pub(crate) fn new(collection: &Collection) -> Outcome<Self> {
        let corpus = &collection.dataset.corpus;
        let indexing = TextFieldIndexing::default()
            .set_tokenizer("words")
            .set_index_option(IndexRecordOption::WithFreqs);
        let options = TextOptions::default().set_indexing_options(indexing);
        let mut schema = Schema::builder();
        let fields = corpus.fields.iter();
        let fields: Vec<Field> = fields
            .map(|field| schema.add_text_field(field.as_str(), options.clone()))
            .collect();
        let words = TokenizerManager::default();
        words.register("words", WhitespaceTokenizer::default());
        let mut writer: SingleSegmentIndexWriter = Index::builder()
            .schema(schema.build())
            .tokenizers(words)
            .single_segment_index_writer(RamDirectory::create(), 200_000_000)?;
        for document in &corpus.documents {
            let mut texts = TantivyDocument::default();
            for (&field, text) in fields.iter().zip(&document.fields) {
                texts.add_text(field, Analyzer::Standard.tokens(text).join(" "));
            }
            writer.add_document(texts)?;
        }
        let index = writer.finalize()?;
        let queries = collection.dataset.queries.iter().map(|query| {
            let mut words = BTreeMap::new();
            for token in Analyzer::Standard.tokens(&query.text) {
                *words.entry(token).or_default() += 1;
            }
            words
        });
        Ok(Self {
            searcher: index.reader()?.searcher(),
            fields,
            queries: queries.collect(),
        })
    }

    fn query(&self, words: &BTreeMap<String, u32>, candidate: &Candidate) -> Box<dyn Query> {
        let schema = self.searcher.schema();
        let weighted = self.fields.iter().filter_map(|&field| {
            let weight = candidate.weights.weight(schema.get_field_name(field));
            (weight > 0.0).then_some((field, weight))
        });
        let of_fields = weighted.map(|(field, weight)| {
            let terms = words.iter().map(|(word, &occurrences)| {
                let term = Term::from_field_text(field, word);
                let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
                let query: Box<dyn Query> = match occurrences {
                    1 => Box::new(term),
                    more => Box::new(BoostQuery::new(Box::new(term), more as f32)),
                };
                (Occur::Should, query)
            });
            let terms = Box::new(BooleanQuery::new(terms.collect()));
            Box::new(BoostQuery::new(terms, weight)) as Box<dyn Query>
        });
        let of_fields = of_fields.collect();
        match candidate.combine {
            Combine::BestFields { tie_breaker } => {
                let query = DisjunctionMaxQuery::with_tie_breaker(of_fields, tie_breaker);
                Box::new(query)
            }
            Combine::MostFields => Box::new(BooleanQuery::union(of_fields)),
        }
    }

    /// Returns the time of one candidate on every query: queries are built before, and nothing is done with the hits.
    pub(crate) fn pass(&self, candidate: &Candidate) -> Outcome<Duration> {
        let queries = self.queries.iter();
        let queries: Vec<_> = queries.map(|words| self.query(words, candidate)).collect();
        let top = TopDocs::with_limit(DEPTH as usize).order_by_score();
        let clock = Clock::start();
        for query in &queries {
            black_box(self.searcher.search(&**query, &top)?);
        }
        Ok(clock.ran())
    }

    /// Returns the mean time of several candidates, the least of several rounds.
    pub(crate) fn mean_pass(&self, candidates: &[Candidate], rounds: u32) -> Outcome<Duration> {
        let mut least = Duration::MAX;
        for _ in 0..rounds {
            let mut total = Duration::ZERO;
            for candidate in candidates {
                total += self.pass(candidate)?;
            }
            least = least.min(total / u32::try_from(candidates.len())?);
        }
        Ok(least)
    }

    /// Checks that tantivy's scores are ours, rank by rank, to 1e-5.
    pub(crate) fn check(&self, collection: &Collection, candidate: &Candidate) -> Outcome<()> {
        let prepared = collection.index.prepare(std::slice::from_ref(candidate))?;
        let mut ours = collection.index.searcher();
        let top = TopDocs::with_limit(DEPTH as usize).order_by_score();
        for (words, query) in self
            .queries
            .iter()
            .zip(&collection.dataset.queries)
            .take(200)
        {
            let theirs = self.searcher.search(&*self.query(words, candidate), &top)?;
            let mut scores = Vec::new();
            ours.search_many(&query.text, &prepared, DEPTH as usize, &mut |_, hits| {
                scores.extend(hits.iter().map(|hit| hit.score * K1_PLUS_1));
            })?;
            let equal = |(theirs, ours): (&(f32, _), &f32)| (theirs.0 - ours).abs() <= 1e-5 * ours;
            if theirs.len() != scores.len() || !theirs.iter().zip(&scores).all(equal) {
                return Err(
                    format!("other scores for `{}`: {theirs:?}, {scores:?}", query.text).into(),
                );
            }
        }
        Ok(())
    }
}
