//! Random scores: what is left out never enters a top k, and without the margin it would.

use std::sync::Arc;

use evalfarm_domain::Combine;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::candidates::PreparedCandidate;
use crate::matrix::ABSENT;
use crate::terms::{Posting, TermScores};

/// Per-field scores of some documents: `scores[column][position]`, [`ABSENT`] where there is none, rows ascending.
#[derive(Debug, Clone)]
pub(crate) struct RawScores {
    pub(crate) scores: Vec<Vec<f32>>,
}

impl RawScores {
    /// Returns scores given document by document.
    pub(crate) fn of(documents: &[&[f32]]) -> Self {
        let columns = documents.first().map_or(0, |document| document.len());
        let column = |at: usize| documents.iter().map(|document| document[at]).collect();
        Self {
            scores: (0..columns).map(column).collect(),
        }
    }

    /// Returns the contenders for candidates of that depth and tie breaker.
    pub(crate) fn contenders(&self, depth: usize, tie_breaker: f32, margin: Margin) -> Contenders {
        Self::contenders_of(std::slice::from_ref(self), depth, tie_breaker, margin)
    }

    /// Returns the contenders of a query of several terms, each with scores of its own over the same documents.
    fn contenders_of(terms: &[Self], depth: usize, tie_breaker: f32, margin: Margin) -> Contenders {
        let (columns, documents) = terms[0].shape();
        let mut lists = FieldLists::default();
        let terms = terms.iter().map(|term| Arc::new(term.postings())).collect();
        lists.collect(terms, columns, u32::try_from(documents).unwrap());
        let needs = Needs {
            columns: (0..columns).collect(),
            tie_breaker,
            depth,
        };
        Contenders::find(&mut lists, needs, margin)
    }

    /// Returns the numbers of columns and documents.
    fn shape(&self) -> (usize, usize) {
        (self.scores.len(), self.scores.first().map_or(0, Vec::len))
    }

    fn postings(&self) -> TermScores {
        let posting = |column: &Vec<f32>| {
            let cells = (0_u32..).zip(column.iter().copied());
            let (rows, scores): (Vec<u32>, Vec<f32>) =
                cells.filter(|&(_, score)| score >= 0.0).unzip();
            Posting::new(rows.into(), scores.into())
        };
        TermScores::new(self.scores.iter().map(posting).collect())
    }

    /// Returns what several terms come to together: sums in f64, then rounded.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Lucene rounds a sum to f32"
    )]
    fn sum(terms: &[Self]) -> Self {
        let (columns, documents) = terms[0].shape();
        let sum = |column: usize, document: usize| {
            let scores = terms.iter().map(|term| term.scores[column][document]);
            let present = scores.filter(|&score| score >= 0.0).map(f64::from);
            present
                .reduce(|sum, score| sum + score)
                .map_or(ABSENT, |sum| sum as f32)
        };
        let column = |column| {
            (0..documents)
                .map(|document| sum(column, document))
                .collect()
        };
        Self {
            scores: (0..columns).map(column).collect(),
        }
    }

    /// Returns the best `depth` rows with the bits of their scores, from the scores of all documents.
    pub(crate) fn exhaustive(
        &self,
        candidate: &PreparedCandidate,
        depth: usize,
    ) -> Vec<(u32, u32)> {
        let documents = self.scores.first().map_or(0, Vec::len);
        let mut hits: Vec<(f32, u32)> = Vec::new();
        for (row, position) in (0_u32..).zip(0..documents) {
            let products: Vec<f32> = candidate
                .weights
                .iter()
                .filter(|&&(column, _)| self.scores[column][position] >= 0.0)
                .map(|&(column, weight)| weight * self.scores[column][position])
                .collect();
            if let Some(best) = products.iter().copied().reduce(f32::max) {
                let sum = products.iter().fold(0.0, |sum, product| sum + product);
                let score = PreparedCandidate::combined(candidate.combine, sum, best);
                hits.push((score, row));
            }
        }
        hits.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        hits.truncate(depth);
        hits.iter()
            .map(|&(score, row)| (row, score.to_bits()))
            .collect()
    }
}

pub(crate) fn prepared(combine: Combine, weights: &[f32]) -> PreparedCandidate {
    let weights = weights.iter().copied().enumerate();
    PreparedCandidate {
        combine,
        weights: weights.filter(|&(_, weight)| weight > 0.0).collect(),
    }
}

/// A few units in the last place around `base`.
fn near(base: f32) -> impl Strategy<Value = f32> {
    (0_u32..8).prop_map(move |units| f32::from_bits(base.to_bits() - 4 + units))
}

/// Numbers from `low` to `high` thousandths. Proptest 1.12 draws ranges of f32 through an assertion of its own that can fail.
pub(crate) fn thousandths(low: u16, high: u16) -> impl Strategy<Value = f32> {
    (low..high).prop_map(|thousandths| f32::from(thousandths) / 1000.0)
}

/// Scores that meet often: absent, 0, equal, neighbouring, huge, tiny, subnormal.
fn score() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => Just(ABSENT),
        1 => Just(0.0),
        3 => select(vec![0.5_f32, 1.0, 2.0, 3.0]),
        4 => near(2.0),
        4 => near(8.0),
        2 => thousandths(100, 10_000),
        1 => near(1e30),
        1 => near(1e-30),
        1 => near(1e-38),
        1 => (1_u32..6).prop_map(f32::from_bits),
    ]
}

fn raw_scores_of(columns: usize, documents: usize) -> impl Strategy<Value = RawScores> {
    let column = prop::collection::vec(score(), documents);
    prop::collection::vec(column, columns).prop_map(|scores| RawScores { scores })
}

pub(crate) fn raw_scores() -> impl Strategy<Value = RawScores> {
    (1_usize..6, 0_usize..40)
        .prop_flat_map(|(columns, documents)| raw_scores_of(columns, documents))
}

/// Scores of several terms over the same documents.
fn terms() -> impl Strategy<Value = Vec<RawScores>> {
    (1_usize..4, 0_usize..60, 1_usize..5).prop_flat_map(|(columns, documents, terms)| {
        prop::collection::vec(raw_scores_of(columns, documents), terms)
    })
}

/// Weights in canonical form: the largest is 1, ratios are at least 1e-12.
pub(crate) fn weights() -> impl Strategy<Value = Vec<f32>> {
    let weight = prop_oneof![
        2 => Just(0.0),
        2 => Just(1.0),
        3 => near(0.5),
        2 => thousandths(1, 1000),
        1 => Just(1e-6),
        1 => Just(1e-12),
    ];
    (prop::collection::vec(weight, 5), 0_usize..5).prop_map(|(mut weights, largest)| {
        weights[largest] = 1.0;
        weights
    })
}

pub(crate) fn combine() -> impl Strategy<Value = Combine> {
    prop_oneof![
        3 => Just(Combine::BestFields { tie_breaker: 0.0 }),
        1 => Just(Combine::BestFields { tie_breaker: 1.0 }),
        2 => Just(Combine::BestFields { tie_breaker: 0.3 }),
        1 => thousandths(1, 1000).prop_map(|tie_breaker| Combine::BestFields { tie_breaker }),
        1 => Just(Combine::MostFields),
    ]
}

/// Returns candidates over `columns` fields; those without a weight there search the first.
pub(crate) fn over(columns: usize, raw: &[(Combine, Vec<f32>)]) -> Vec<PreparedCandidate> {
    let one = |(combine, weights): &(Combine, Vec<f32>)| {
        let mut weights = weights[..columns].to_vec();
        if weights.iter().all(|&weight| weight <= 0.0) {
            weights[0] = 1.0;
        }
        prepared(*combine, &weights)
    };
    raw.iter().map(one).collect()
}

pub(crate) fn largest_factor(candidates: &[PreparedCandidate]) -> f32 {
    let factors = candidates.iter().map(|candidate| candidate.factors()[0]);
    factors.fold(0.0, f32::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn nothing_that_enters_a_top_k_is_left_out(
        raw in raw_scores(),
        candidates in prop::collection::vec((combine(), weights()), 1..8),
        depth in prop_oneof![1_usize..4, Just(10)],
    ) {
        let candidates = over(raw.scores.len(), &candidates);
        let margin = Margin::for_columns(raw.scores.len());
        let contenders = raw.contenders(depth, largest_factor(&candidates), margin);
        for candidate in &candidates {
            for (row, _) in raw.exhaustive(candidate, depth) {
                prop_assert!(contenders.rows().contains(&row), "row {} under {:?}", row, candidate);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn where_terms_meet_nothing_is_left_out_and_scores_are_their_sums(
        terms in terms(),
        candidates in prop::collection::vec((combine(), weights()), 1..8),
        depth in prop_oneof![1_usize..4, Just(10), Just(17)],
    ) {
        let whole = RawScores::sum(&terms);
        let (columns, _) = whole.shape();
        let candidates = over(columns, &candidates);
        let margin = Margin::for_columns(columns);
        let contenders = RawScores::contenders_of(&terms, depth, largest_factor(&candidates), margin);
        for candidate in &candidates {
            for (row, _) in whole.exhaustive(candidate, depth) {
                prop_assert!(contenders.rows().contains(&row), "row {} under {:?}", row, candidate);
            }
        }
        for (position, &row) in contenders.rows().iter().enumerate() {
            let of_row = |column: usize| whole.scores[column][row as usize];
            let cells = (0_u32..).zip((0..columns).map(of_row));
            let cells: Vec<(u32, u32)> = cells
                .filter(|&(_, score)| score >= 0.0)
                .map(|(column, score)| (column, score.to_bits()))
                .collect();
            let found = contenders.cells(position).iter();
            let found: Vec<(u32, u32)> = found.map(|&(column, score)| (column, score.to_bits())).collect();
            prop_assert_eq!(found, cells);
        }
    }
}

/// The rows that contenders of depth 1 have, with and without the margin.
fn rows_with_and_without(raw: &RawScores, tie_breaker: f32) -> [Vec<u32>; 2] {
    let margins = [
        Margin::for_columns(raw.scores.len()),
        Margin::NONE_FROM_4_TO_8,
    ];
    margins.map(|margin| raw.contenders(1, tie_breaker, margin).rows().to_vec())
}

#[test]
fn without_the_margin_a_document_is_lost_whose_score_rounds_to_that_of_a_better_one() {
    // Both products are 4.0, so the tie order decides for the document in row 1, although its field score is lower.
    let raw = RawScores::of(&[&[7.999_999_5], &[7.999_999]]);
    for combine in [
        Combine::BestFields { tie_breaker: 0.0 },
        Combine::BestFields { tie_breaker: 0.3 },
        Combine::MostFields,
    ] {
        let candidate = prepared(combine, &[0.500_000_06]);
        assert_eq!(raw.exhaustive(&candidate, 1)[0].0, 1, "{combine:?}");
        let [with, without] = rows_with_and_without(&raw, candidate.factors()[0]);
        assert_eq!(with, [1, 0]);
        assert_eq!(without, [0], "the better one alone would be wrong");
    }
}

#[test]
fn a_field_without_weight_does_not_make_a_document_better() {
    // Row 1 comes earlier in the tie order; under weights 1 and 0 both score 1, and 5 > 0 must not count against it.
    for zero in [ABSENT, 0.0] {
        let raw = RawScores::of(&[&[1.0, 5.0], &[1.0, zero]]);
        for tie_breaker in [0.0, 0.3] {
            let contenders = raw.contenders(1, tie_breaker, Margin::for_columns(2));
            assert_eq!(contenders.rows(), [1, 0]);
        }
    }
}

#[test]
fn a_score_of_0_is_not_surpassed_by_another_0() {
    // Under weights 1 and 0 both documents are hits with score 0, and row 1 comes first, although 2 > 1 by any margin.
    let raw = RawScores::of(&[&[0.0, 2.0], &[0.0, 1.0]]);
    let candidate = prepared(Combine::MostFields, &[1.0, 0.0]);
    assert_eq!(raw.exhaustive(&candidate, 1)[0].0, 1);
    let contenders = raw.contenders(1, 1.0, Margin::for_columns(2));
    assert_eq!(contenders.rows(), [1, 0]);
}

#[test]
fn scores_do_not_fall_when_a_product_rises() {
    // Where `max + t · (Σ − max)` in f32 puts the lower products above: t = 0.7.
    let lower = [8.766_001_f32, 8.766, 8.765_998];
    let higher = [8.766_002_f32, 8.766, 8.765_999];
    let running = |products: [f32; 3]| {
        let sum: f32 = products.iter().sum();
        products[0] + 0.7 * (sum - products[0])
    };
    assert!(running(lower) > running(higher));
    let combine = Combine::BestFields { tie_breaker: 0.7 };
    let ours = |products: [f32; 3]| {
        PreparedCandidate::combined(combine, products.iter().sum(), products[0])
    };
    assert!(ours(lower) <= ours(higher));
}

#[test]
fn many_equal_scores_leave_only_the_first_of_the_tie_order() {
    let scores = vec![vec![1.0_f32; 5000], vec![0.5; 5000]];
    let contenders = RawScores { scores }.contenders(10, 0.0, Margin::for_columns(2));
    let expected: Vec<u32> = (4990..5000).rev().collect();
    assert_eq!(contenders.rows(), expected);
}
