//! Random scores and candidates: blocks, single candidates and exhaustive scoring give the same rankings.

use evalfarm_domain::Combine;
use proptest::prelude::*;

use super::kernel::{rank_block_on_any, rank_block_on_avx2};
use super::*;
use crate::contenders::Margin;
use crate::contenders::tests::{
    RawScores, combine, largest_factor, over, prepared, raw_scores, weights,
};

fn lists(rankings: &Rankings) -> Vec<Vec<u32>> {
    let row = |&position: &u32| rankings.rows()[position as usize];
    let rows = |positions: &[u32]| positions.iter().map(row).collect();
    let distinct: Vec<Vec<u32>> = rankings.iter().map(rows).collect();
    let codes = rankings.codes().iter();
    codes.map(|&code| distinct[code as usize].clone()).collect()
}

fn on_each_machine() -> [Sweeper; 3] {
    let on = |kernel: Kernel| Sweeper {
        kernel,
        ..Sweeper::default()
    };
    [
        on(rank_block),
        on(rank_block_on_avx2),
        on(rank_block_on_any),
    ]
}

/// Checks that every way of ranking gives the exhaustive lists.
fn check(raw: &RawScores, candidates: &[PreparedCandidate], depth: usize) {
    let margin = Margin::for_columns(raw.scores.len());
    let contenders = raw.contenders(depth, largest_factor(candidates), margin);
    let blocks = Blocks::new(candidates, raw.scores.len());
    let exhaustive: Vec<Vec<(u32, u32)>> = candidates
        .iter()
        .map(|candidate| raw.exhaustive(candidate, depth))
        .collect();
    let rows = exhaustive
        .iter()
        .map(|list| list.iter().map(|&(row, _)| row).collect());
    let rows: Vec<Vec<u32>> = rows.collect();
    let mut alone = Rankings::default();
    let mut sweeper = Sweeper::default();
    sweeper.rank_alone(&contenders, candidates, depth, &mut alone);
    assert_eq!(lists(&alone), rows);
    for mut sweeper in on_each_machine() {
        let mut rankings = Rankings::default();
        // Twice, so that what one query leaves behind would show in the next.
        for _ in 0..2 {
            sweeper.rank(&contenders, candidates, &blocks, depth, &mut rankings);
            assert_eq!(lists(&rankings), rows);
            assert_eq!(rankings.codes(), alone.codes());
        }
    }
    for (candidate, expected) in candidates.iter().zip(&exhaustive) {
        let hits = sweeper.select(&contenders, candidate, depth).iter();
        let bits: Vec<(u32, u32)> = hits.map(|hit| (hit.row, hit.score.to_bits())).collect();
        assert_eq!(bits, *expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn every_way_of_ranking_gives_the_exhaustive_lists(
        raw in raw_scores(),
        candidates in prop::collection::vec((combine(), weights()), 1..90),
        depth in prop_oneof![1_usize..4, Just(10), Just(15), Just(30)],
    ) {
        check(&raw, &over(raw.scores.len(), &candidates), depth);
    }

    #[test]
    fn plain_maxima_alone_take_the_short_way_and_agree(
        raw in raw_scores(),
        weights in prop::collection::vec(weights(), 1..90),
        depth in prop_oneof![1_usize..4, Just(10)],
    ) {
        let plain = Combine::BestFields { tie_breaker: 0.0 };
        let candidates: Vec<_> = weights.into_iter().map(|weights| (plain, weights)).collect();
        check(&raw, &over(raw.scores.len(), &candidates), depth);
    }
}

#[test]
fn documents_that_match_in_many_fields_agree_as_well() {
    let scores = (0..9_u16).map(|column| {
        let score = |row: u16| f32::from((row * 37 + column * 11) % 50) / 7.0;
        (0..40).map(score).collect()
    });
    let raw = RawScores {
        scores: scores.collect(),
    };
    let plain = Combine::BestFields { tie_breaker: 0.0 };
    for combine in [Combine::MostFields, plain] {
        let candidate = |step: u8| {
            let weights = (1..9_u8).map(|column| f32::from((step * column) % 7) / 7.0);
            let weights: Vec<f32> = weights.chain([1.0]).collect();
            prepared(combine, &weights)
        };
        check(&raw, &(1..=28).map(candidate).collect::<Vec<_>>(), 10);
    }
}

#[test]
fn hits_far_below_the_best_are_ranked_as_well() {
    // Five documents in one field, forty others in another whose weight is so small that narrow keys do not reach down to them.
    let first = (0..45_u16).map(|row| if row < 5 { 7.0 - f32::from(row) } else { -1.0 });
    let second = (0..45_u16).map(|row| {
        if row < 5 {
            -1.0
        } else {
            f32::from(row * 7 % 41)
        }
    });
    let raw = RawScores {
        scores: vec![first.collect(), second.collect()],
    };
    for combine in [
        Combine::MostFields,
        Combine::BestFields { tie_breaker: 0.0 },
    ] {
        let candidates = [1.0, 1e-3, 1e-6, 1e-12].map(|weight| prepared(combine, &[1.0, weight]));
        check(&raw, &candidates, 10);
        check(&raw, &candidates[3..], 10);
    }
}

#[test]
fn long_rankings_of_many_documents_agree_as_well() {
    // 100 documents that nothing orders: 7 bits a position, so that 20 ranks do not fit and go the other way.
    let ascending = |at: u32| 1.0 + at as f32 / 7.0;
    let scores = vec![
        (0..100).map(ascending).collect::<Vec<f32>>(),
        (0..100).rev().map(ascending).collect(),
    ];
    let raw = RawScores { scores };
    let candidates: Vec<PreparedCandidate> = (1..=130_u8)
        .map(|step| prepared(Combine::MostFields, &[1.0, f32::from(step) / 130.0]))
        .collect();
    for depth in [1, 9, 10, 11, 16, 20, 30, 100] {
        check(&raw, &candidates, depth);
    }
}

#[test]
fn thousands_of_rankings_keep_their_codes() {
    let mut codes = Codes::default();
    for round in 0..2 {
        codes.clear();
        for number in (0..5000_u64).chain(0..5000) {
            let words = [number << 7, number % 3];
            let mut met = false;
            let code = codes.code(words, |_| met = true);
            assert_eq!(u64::from(code), number, "round {round}");
        }
    }
    assert_eq!(Layout::new(0, 10).unwrap().positions([0; 2]).count(), 0);
}
