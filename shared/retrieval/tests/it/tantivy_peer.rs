//! tantivy 0.27's own BM25 as a peer, where its statistics are Lucene's: every document has every field.
//!
//! No query uses a term of every document: tantivy computes its idf, `ln(1 + tiny)`, in f32 and is off by 1e-4 there.

use evalfarm_domain::{Candidate, Combine, EngineSettings};
use evalfarm_retrieval::{Bm25Index, Rankings, ScoredDocument};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, Query, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, STRING, Schema, TEXT, Value as _};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use crate::generated::{best_fields, candidate, lists, numbered_corpus};

const FIELDS: [&str; 3] = ["title", "brand", "notes"];
const WEIGHTS: [f32; 3] = [1.0, 0.3, 0.7];

/// tantivy keeps the factor k1 + 1.
const K1_PLUS_1: f32 = 2.2;

/// Checks that among many candidates, which are pruned for, this one has the best ten of its whole list.
fn pruned_lists_begin_it(
    index: &Bm25Index,
    text: &str,
    candidate: &Candidate,
    whole: &[ScoredDocument],
) {
    let mut rankings = Rankings::default();
    let prepared = index.prepare(&vec![candidate.clone(); 16]).unwrap();
    index
        .searcher()
        .rank_many(text, &prepared, 10, &mut rankings)
        .unwrap();
    let positions = rankings.iter().next().unwrap().iter();
    let rows: Vec<u32> = positions
        .map(|&position| rankings.rows()[position as usize])
        .collect();
    let expected: Vec<u32> = whole.iter().take(10).map(|hit| hit.row).collect();
    assert_eq!(rows, expected, "{text}");
}

#[test]
fn scores_equal_tantivys_where_every_document_has_every_field() {
    let mut corpus = numbered_corpus(&FIELDS, 1500);
    for document in &mut corpus.documents {
        for text in &mut document.fields {
            text.push_str(" every");
        }
    }
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING | STORED);
    let fields = FIELDS.map(|name| schema.add_text_field(name, TEXT));
    let peer = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = peer.writer_with_num_threads(1, 50_000_000).unwrap();
    for document in &corpus.documents {
        let mut texts = TantivyDocument::default();
        texts.add_text(id, document.id.as_str());
        for (&field, text) in fields.iter().zip(&document.fields) {
            texts.add_text(field, text);
        }
        writer.add_document(texts).unwrap();
    }
    writer.commit().unwrap();
    let searcher = peer.reader().unwrap().searcher();

    let index = Bm25Index::build(&corpus, &EngineSettings::default()).unwrap();
    let weights: Vec<_> = FIELDS.into_iter().zip(WEIGHTS.map(f64::from)).collect();
    for combine in [best_fields(0.0), best_fields(0.3), Combine::MostFields] {
        for words in [
            &["w1", "w30"][..],
            &["w7"],
            &["w0", "w400"],
            &["w2", "w3", "w1900"],
        ] {
            let field_queries = fields.iter().zip(WEIGHTS).map(|(&field, weight)| {
                let terms = words.iter().map(|word| {
                    let term = Term::from_field_text(field, word);
                    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                    (Occur::Should, Box::new(query) as Box<dyn Query>)
                });
                let terms = Box::new(BooleanQuery::new(terms.collect()));
                Box::new(BoostQuery::new(terms, weight)) as Box<dyn Query>
            });
            let field_queries: Vec<Box<dyn Query>> = field_queries.collect();
            let query: Box<dyn Query> = match combine {
                Combine::BestFields { tie_breaker } => Box::new(
                    DisjunctionMaxQuery::with_tie_breaker(field_queries, tie_breaker),
                ),
                Combine::MostFields => Box::new(BooleanQuery::union(field_queries)),
            };
            let top = TopDocs::with_limit(corpus.documents.len()).order_by_score();
            let theirs = searcher.search(&query, &top).unwrap();
            let mut theirs: Vec<(String, f32)> = theirs
                .into_iter()
                .map(|(score, address)| {
                    let document: TantivyDocument = searcher.doc(address).unwrap();
                    let id = document.get_first(id).unwrap().as_str().unwrap().to_owned();
                    (id, score)
                })
                .collect();
            let candidate = candidate(combine, &weights);
            let text = words.join(" ");
            let ours = lists(&index, &text, std::slice::from_ref(&candidate), usize::MAX).remove(0);
            pruned_lists_begin_it(&index, &text, &candidate, &ours);
            let mut ours: Vec<(String, f32)> = ours
                .iter()
                .map(|hit| {
                    let id = corpus.documents[hit.row as usize].id.to_string();
                    (id, hit.score * K1_PLUS_1)
                })
                .collect();
            assert!(!ours.is_empty());
            theirs.sort_by(|a, b| a.0.cmp(&b.0));
            ours.sort_by(|a, b| a.0.cmp(&b.0));
            assert_eq!(ours.len(), theirs.len(), "{words:?}");
            for ((id, ours), (other, theirs)) in ours.iter().zip(&theirs) {
                assert_eq!(id, other);
                assert!(
                    (ours - theirs).abs() <= 1e-5 * theirs,
                    "{id}: {ours} is not {theirs}"
                );
            }
        }
    }
}
