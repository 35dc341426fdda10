//! Random corpora, queries and candidates: the engine's lists are those of [`crate::reference`], bit for bit.

use evalfarm_domain::{AnalyzerKind, Candidate, Combine, Corpus, EngineSettings};
use evalfarm_retrieval::{Bm25Index, CacheBudget, Rankings, ScoredDocument};
use proptest::prelude::*;
use proptest::sample::select;

use crate::generated::{best_fields, candidate, corpus, lists};
use crate::reference::{Reference, smallfloat_decode, smallfloat_encode};

const FIELDS: [&str; 3] = ["a", "b", "c"];

/// Few words, so that scores tie often; some are one word after analysis, some are none.
fn text() -> impl Strategy<Value = String> {
    let words = vec![
        "red", "Red", "blue", "bags", "bag", "the", "ünit", "unit", "®", "-", "x",
    ];
    prop::collection::vec(select(words), 0..9).prop_map(|words| words.join(" "))
}

fn random_corpus() -> impl Strategy<Value = Corpus> {
    let id = "[a-zA-Z0-9é]{1,3}";
    let documents = prop::collection::btree_map(id, [text(), text(), text()], 0..40);
    documents.prop_map(|documents| {
        let texts: Vec<(&str, Vec<&str>)> = documents
            .iter()
            .map(|(id, texts)| (id.as_str(), texts.iter().map(String::as_str).collect()))
            .collect();
        let rows: Vec<(&str, &[&str])> = texts
            .iter()
            .map(|(id, texts)| (*id, texts.as_slice()))
            .collect();
        corpus(&FIELDS, &rows)
    })
}

fn combine() -> impl Strategy<Value = Combine> {
    prop_oneof![
        Just(best_fields(0.0)),
        Just(best_fields(1.0)),
        (1_u32..1000).prop_map(|thousandths| best_fields(f64::from(thousandths) / 1000.0)),
        Just(Combine::MostFields),
    ]
}

fn random_candidate() -> impl Strategy<Value = Candidate> {
    let weight = || prop_oneof![Just(0.0), Just(1.0), Just(1e-6), 0.01..10.0];
    let weights = (weight(), weight(), weight());
    let weights = weights.prop_filter("some weight", |w| w.0 + w.1 + w.2 > 0.0);
    (combine(), weights)
        .prop_map(|(combine, (a, b, c))| candidate(combine, &[("a", a), ("b", b), ("c", c)]))
}

fn settings() -> impl Strategy<Value = EngineSettings> {
    let analyzer = select(vec![AnalyzerKind::Standard, AnalyzerKind::English]);
    let tenths = (1_u8..30).prop_map(|tenths| f32::from(tenths) / 10.0);
    let k1 = prop_oneof![Just(1.2_f32), Just(0.0), tenths];
    let b = prop_oneof![Just(0.75_f32), Just(0.0), Just(1.0)];
    (analyzer, k1, b).prop_map(|(analyzer, k1, b)| EngineSettings { analyzer, k1, b })
}

fn bits(list: &[ScoredDocument]) -> Vec<(u32, u32)> {
    list.iter()
        .map(|hit| (hit.row, hit.score.to_bits()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lists_equal_the_slow_implementation(
        corpus in random_corpus(),
        settings in settings(),
        queries in prop::collection::vec(text(), 1..4),
        candidates in prop::collection::vec(random_candidate(), 1..6),
        depth in prop_oneof![0_usize..8, Just(50), Just(usize::MAX)],
    ) {
        let index = Bm25Index::build(&corpus, &settings).unwrap();
        let reference = Reference::new(&corpus, settings);
        let prepared = index.prepare(&candidates).unwrap();
        let mut searcher = index.searcher();
        for query in &queries {
            // One searcher for all queries: nothing of one may remain in the next.
            let mut lists = Vec::new();
            searcher.search_many(query, &prepared, depth, &mut |_, hits| lists.push(bits(hits))).unwrap();
            for (candidate, list) in candidates.iter().zip(&lists) {
                let expected = reference.search(query, candidate, depth);
                let expected: Vec<_> = expected.iter().map(|&(row, score)| (row, score.to_bits())).collect();
                prop_assert_eq!(list, &expected, "{} under {}", query, candidate);
            }
        }
    }

    #[test]
    fn rankings_of_many_candidates_are_the_lists_of_each(
        corpus in random_corpus(),
        queries in prop::collection::vec(text(), 1..4),
        rounds in prop::collection::vec(prop::collection::vec(random_candidate(), 1..70), 1..4),
        depth in prop_oneof![0_usize..8, Just(50), Just(usize::MAX)],
        bytes in prop_oneof![Just(0_usize), Just(3000), Just(1 << 20)],
    ) {
        let index = Bm25Index::build(&corpus, &EngineSettings::default()).unwrap();
        let cache = index.sweep_cache(CacheBudget { terms: bytes, contenders: bytes });
        let mut rankings = Rankings::default();
        // Rounds of candidates over the same queries, as an adaptive sweep asks for them, by two threads.
        for candidates in &rounds {
            for mut searcher in [cache.searcher(), cache.searcher()] {
                let prepared = index.prepare(candidates).unwrap();
                for query in &queries {
                    searcher.rank_many(query, &prepared, depth, &mut rankings).unwrap();
                    let row = |&position: &u32| rankings.rows()[position as usize];
                    let rows = |ranking: &[u32]| ranking.iter().map(row).collect();
                    let distinct: Vec<Vec<u32>> = rankings.iter().map(rows).collect();
                    prop_assert_eq!(rankings.codes().len(), candidates.len());
                    for (candidate, &code) in candidates.iter().zip(rankings.codes()) {
                        let list = lists(&index, query, std::slice::from_ref(candidate), depth).remove(0);
                        let rows: Vec<u32> = list.iter().map(|hit| hit.row).collect();
                        prop_assert_eq!(&distinct[code as usize], &rows, "{} under {}", query, candidate);
                    }
                }
            }
        }
    }

    #[test]
    fn explanations_and_matched_fields_agree_with_the_lists(
        corpus in random_corpus(),
        query in text(),
        candidate in random_candidate(),
    ) {
        let index = Bm25Index::build(&corpus, &EngineSettings::default()).unwrap();
        let list = lists(&index, &query, std::slice::from_ref(&candidate), usize::MAX).remove(0);
        let prepared = index.prepare(std::slice::from_ref(&candidate)).unwrap();
        let rows: Vec<u32> = (0..index.documents()).collect();
        let mut searcher = index.searcher();
        let matched = searcher.matched_fields(&query, &prepared, 0, &rows).unwrap();
        for (&row, matched) in rows.iter().zip(&matched) {
            let position = list.iter().position(|hit| hit.row == row);
            let explanation = index.explain(&query, row, &candidate).unwrap();
            let explained: Vec<_> = explanation.fields.iter().map(|field| &field.field).collect();
            prop_assert_eq!(matched, &explained);
            let score = position.map(|position| list[position].score.to_bits());
            prop_assert_eq!(explanation.score.map(f32::to_bits), score);
        }
    }

    #[test]
    fn the_order_of_words_does_not_matter_to_the_last_bit(
        corpus in random_corpus(),
        words in prop::collection::vec(select(vec!["red", "blue", "bag", "unit", "x"]), 1..6),
        candidate in random_candidate(),
    ) {
        let index = Bm25Index::build(&corpus, &EngineSettings::default()).unwrap();
        let list = |words: &[&str]| {
            let lists = lists(&index, &words.join(" "), std::slice::from_ref(&candidate), 50);
            bits(&lists[0])
        };
        let mut reversed = words.clone();
        reversed.reverse();
        prop_assert_eq!(list(&words), list(&reversed));
    }
}

#[test]
fn length_bytes_are_lucenes() {
    // Lucene's SmallFloat, written out a second time in reference.rs.
    use tantivy::fieldnorm::FieldNormReader;
    for byte in 0..=u8::MAX {
        let length = smallfloat_decode(byte);
        assert_eq!(FieldNormReader::id_to_fieldnorm(byte), length);
        for length in [length, length.saturating_add(1), length.saturating_sub(1)] {
            if length <= i32::MAX.unsigned_abs() {
                let byte = smallfloat_encode(length);
                assert_eq!(FieldNormReader::fieldnorm_to_id(length), byte, "{length}");
            }
        }
    }
}
