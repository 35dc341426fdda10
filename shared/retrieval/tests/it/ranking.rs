//! What is a hit, in which order, and what is refused.

use evalfarm_domain::{Candidate, Combine, EngineSettings, FieldWeights};
use evalfarm_retrieval::{Bm25Index, FieldEvidence, IndexError, RefusedCandidate, SearchError};

use crate::generated::{best_fields, candidate, corpus, field, ids, lists, numbered_corpus};

fn build(corpus: &evalfarm_domain::Corpus) -> Bm25Index {
    Bm25Index::build(corpus, &EngineSettings::default()).unwrap()
}

#[test]
fn m1_equal_scores_are_by_descending_document_id() {
    // cases.md M1: x5, x7 and x9 with equal scores rank x9, x7, x5; bytes decide, so x10 comes last.
    let same: &[&str] = &["laptop"];
    let documents = [("x5", same), ("x7", same), ("x10", same), ("x9", same)];
    let corpus = corpus(&["title"], &documents);
    let index = build(&corpus);
    let lists = lists(
        &index,
        "laptop",
        &[candidate(best_fields(0.0), &[("title", 1.0)])],
        10,
    );
    assert_eq!(ids(&corpus, &lists[0]), ["x9", "x7", "x5", "x10"]);
}

#[test]
fn m2_a_tie_across_the_cut_keeps_the_greater_id() {
    // cases.md M2: a and b have the same score, k = 1: b.
    let corpus = corpus(&["title"], &[("a", &["laptop"]), ("b", &["laptop"])]);
    let index = build(&corpus);
    let lists = lists(
        &index,
        "laptop",
        &[candidate(best_fields(0.0), &[("title", 1.0)])],
        1,
    );
    assert_eq!(ids(&corpus, &lists[0]), ["b"]);
}

#[test]
fn ties_hold_across_the_bounded_selection() {
    // More equal documents than the selection holds at once, and then some better ones.
    let documents: Vec<(String, &str)> = (0..500)
        .map(|n| {
            (
                format!("d{n:03}"),
                if n % 100 == 7 { "laptop bag" } else { "laptop" },
            )
        })
        .collect();
    let texts: Vec<(&str, Vec<&str>)> = documents
        .iter()
        .map(|(id, text)| (id.as_str(), vec![*text]))
        .collect();
    let rows: Vec<(&str, &[&str])> = texts.iter().map(|(id, t)| (*id, t.as_slice())).collect();
    let corpus = corpus(&["title"], &rows);
    let index = build(&corpus);
    let lists = lists(
        &index,
        "laptop bag",
        &[candidate(best_fields(0.0), &[("title", 1.0)])],
        8,
    );
    let expected = [
        "d407", "d307", "d207", "d107", "d007", "d499", "d498", "d497",
    ];
    assert_eq!(ids(&corpus, &lists[0]), expected);
}

#[test]
fn w5_scaled_weights_give_the_same_bits_and_zero_is_not_tiny() {
    // cases.md W5: weights times 2.5 under dis_max.
    let corpus = numbered_corpus(&["title", "brand", "notes"], 400);
    let index = build(&corpus);
    for combine in [best_fields(0.0), best_fields(0.3), Combine::MostFields] {
        let one = candidate(combine, &[("title", 4.0), ("brand", 1.3), ("notes", 0.7)]);
        let scaled = candidate(
            combine,
            &[("title", 10.0), ("brand", 3.25), ("notes", 1.75)],
        );
        let zero = candidate(combine, &[("title", 4.0), ("brand", 0.0)]);
        let tiny = candidate(combine, &[("title", 4.0), ("brand", 1e-6)]);
        let candidates = [one, scaled, zero, tiny];
        let lists = lists(&index, "w1 w40 w300", &candidates, 1000);
        assert!(!lists[0].is_empty());
        assert_eq!(lists[0], lists[1]);
        assert!(
            lists[2].len() < lists[3].len(),
            "weight 0 removes the field's matches"
        );
    }
}

#[test]
fn a_hit_needs_a_posting_in_a_searched_field_and_not_a_score_above_0() {
    // With k1 = 1e30 every contribution rounds to 0: w − w / (1 + tf · 1e-30).
    let settings = EngineSettings {
        k1: 1e30,
        ..EngineSettings::default()
    };
    let texts: [(&str, &[&str]); 3] = [("a", &["bag", ""]), ("b", &["", "bag"]), ("c", &["", ""])];
    let corpus = corpus(&["title", "brand"], &texts);
    let index = Bm25Index::build(&corpus, &settings).unwrap();
    let both = [("title", 1.0), ("brand", 0.5)];
    let candidates = [
        candidate(best_fields(0.0), &both),
        candidate(best_fields(0.5), &both),
        candidate(Combine::MostFields, &both),
        candidate(Combine::MostFields, &[("brand", 1.0)]),
    ];
    let lists = lists(&index, "bag", &candidates, 10);
    for (list, expected) in lists
        .iter()
        .zip([&["b", "a"][..], &["b", "a"], &["b", "a"], &["b"]])
    {
        assert_eq!(ids(&corpus, list), expected);
        assert!(list.iter().all(|hit| hit.score.to_bits() == 0));
    }
}

#[test]
fn queries_and_corpora_without_tokens_have_empty_lists() {
    let candidates = [candidate(best_fields(0.0), &[("title", 1.0)])];
    for documents in [&[][..], &[("a", &[""][..])], &[("a", &["laptop"][..])]] {
        let index = build(&corpus(&["title"], documents));
        for text in ["", " ?! ", "unknown"] {
            assert_eq!(lists(&index, text, &candidates, 10), [vec![]]);
        }
    }
}

#[test]
fn candidates_that_cannot_be_evaluated_are_refused_by_name() {
    let index = build(&corpus(&["title", "brand"], &[("a", &["laptop", ""])]));
    let colour = candidate(best_fields(0.0), &[("title", 1.0), ("colour", 0.5)]);
    let message = index.prepare(&[colour]).unwrap_err().to_string();
    assert!(
        message.contains("`colour`") && message.contains("`title`, `brand`"),
        "{message}"
    );
    for tie_breaker in [-0.1, 1.5, f32::NAN, 1e-38] {
        let refused = Candidate {
            combine: Combine::BestFields { tie_breaker },
            weights: candidate(best_fields(0.0), &[("title", 1.0)]).weights,
        };
        let error = index.prepare(&[refused]).unwrap_err();
        assert!(
            matches!(error, RefusedCandidate::TieBreaker { .. }),
            "{tie_breaker}"
        );
    }
    // A field that no document has can be searched: it adds nothing.
    let brand: FieldWeights = candidate(best_fields(0.0), &[("brand", 1.0)]).weights;
    let combine = best_fields(0.1);
    let weights = brand;
    assert!(index.prepare(&[Candidate { combine, weights }]).is_ok());
}

#[test]
fn candidates_of_another_corpus_are_refused() {
    let one = build(&corpus(&["title"], &[("a", &["laptop"])]));
    let other = build(&corpus(&["name"], &[("a", &["laptop"])]));
    let prepared = one
        .prepare(&[candidate(best_fields(0.0), &[("title", 1.0)])])
        .unwrap();
    let error = other
        .searcher()
        .search_many("laptop", &prepared, 10, &mut |_, _| {})
        .unwrap_err();
    assert!(matches!(error, SearchError::OtherFields { .. }));
    let row = one.explain("laptop", 1, &candidate(best_fields(0.0), &[("title", 1.0)]));
    assert!(matches!(
        row,
        Err(SearchError::UnknownRow {
            row: 1,
            documents: 1
        })
    ));
}

#[test]
fn corpora_that_break_their_promise_are_refused() {
    let settings = EngineSettings::default();
    let refused = |corpus| Bm25Index::build(&corpus, &settings).unwrap_err();
    let two = || corpus(&["title"], &[("a", &["x"]), ("b", &["y"])]);
    let mut unordered = two();
    unordered.documents.reverse();
    assert!(matches!(refused(unordered), IndexError::Order { .. }));
    let mut short = two();
    short.documents[1].fields.clear();
    assert!(matches!(
        refused(short),
        IndexError::FieldCount { found: 0, .. }
    ));
    let mut twice = corpus(&["title", "title"], &[]);
    assert!(matches!(
        refused(twice.clone()),
        IndexError::DuplicateField { .. }
    ));
    twice.fields.pop();
    for (k1, b) in [(f32::NAN, 0.5), (-1.0, 0.5), (1.2, 1.1), (1.2, f32::NAN)] {
        let settings = EngineSettings { k1, b, ..settings };
        let error = Bm25Index::build(&twice, &settings).unwrap_err();
        assert!(matches!(error, IndexError::Setting { .. }));
    }
}

#[test]
fn field_evidence_shows_dead_fields() {
    let texts: [(&str, &[&str]); 4] = [
        ("a", &["red laptop", "goods", ""]),
        ("b", &["blue laptop", "goods", ""]),
        ("c", &["red bag", "goods", ""]),
        ("d", &["", "goods", ""]),
    ];
    let index = build(&corpus(&["title", "category", "notes"], &texts));
    let evidence =
        |name: &str, documents, distinct_terms, top: Option<&str>, top_term_share| FieldEvidence {
            field: field(name),
            documents,
            distinct_terms,
            top_term: top.map(str::to_owned),
            top_term_share,
        };
    // Counted by hand.
    let expected = [
        evidence("title", 3, 4, Some("laptop"), 0.5),
        evidence("category", 4, 1, Some("goods"), 1.0),
        evidence("notes", 0, 0, None, 0.0),
    ];
    assert_eq!(index.field_evidence(), expected);
}

#[test]
fn an_explanation_shows_the_formulas_inputs() {
    let texts: [(&str, &[&str]); 2] = [("a", &["red red laptop", "acme"]), ("b", &["bag", "red"])];
    let index = build(&corpus(&["title", "brand"], &texts));
    let candidate = candidate(best_fields(0.0), &[("title", 2.0), ("brand", 1.0)]);
    let explanation = index.explain("red", 0, &candidate).unwrap();
    // N = 2, df = 1: idf = ln 2 = 0.6931472; dl = 3, avgdl = 2: tf / (tf + 1.2 · (0.25 + 0.75 · 1.5)) = 2 / 3.65.
    let field = &explanation.fields[0];
    assert_eq!(
        (
            field.documents,
            field.terms[0].frequency,
            field.terms[0].document_frequency
        ),
        (2, 2, 1)
    );
    assert!((field.terms[0].idf - std::f32::consts::LN_2).abs() < 1e-6);
    assert!((field.score - 0.379_806_7).abs() < 1e-6, "{}", field.score);
    assert_eq!(explanation.fields.len(), 1);
    let text = explanation.to_string();
    assert!(
        text.contains("title = weight 1") && text.contains("red (tf 2, df 1, idf 0.6931"),
        "{text}"
    );
    let none = index.explain("laptop", 1, &candidate).unwrap();
    assert_eq!((none.score, none.fields.len()), (None, 0));
}

#[test]
fn an_index_is_shared_by_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let corpus = numbered_corpus(&["title", "brand"], 300);
    let index = build(&corpus);
    shared(&index);
    let candidates = [candidate(
        best_fields(0.2),
        &[("title", 1.0), ("brand", 0.4)],
    )];
    let queries: Vec<String> = (0..40).map(|n| format!("w{n} w{}", n * 7)).collect();
    let alone: Vec<_> = queries
        .iter()
        .map(|text| lists(&index, text, &candidates, 20))
        .collect();
    let together: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = queries
            .iter()
            .map(|text| scope.spawn(|| lists(&index, text, &candidates, 20)))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    assert_eq!(alone, together);
}
