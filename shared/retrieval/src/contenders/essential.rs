//! Which documents of a field can be among its best k.

use multiversion::multiversion;

use super::Margin;
use super::field_top::KthBest;
use crate::matrix::ABSENT;
use crate::terms::Posting;

/// Scores that are compared with a bound before any of them is looked at alone.
const CHUNK: usize = 16;

/// Relative slack of a bound, more than the arithmetic of this module can lose.
const SLACK: f64 = 1e-6;

/// What decides whether a document of a field can be among the best: `margin.raised(score · factor)` exceeds the k-th best score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    pub(super) depth: usize,
    pub(super) factor: f32,
    pub(super) margin: Margin,
}

impl Bar {
    /// Returns a score that all documents exceed that can be among the best, given that k documents have `least`.
    fn bound(self, least: f32) -> f64 {
        let needed = f64::from(self.margin.lowest_above(least)) / f64::from(self.factor);
        needed - SLACK * f64::from(least)
    }

    /// Returns a positive score that k documents have from one term alone, if any.
    pub(super) fn least(self, postings: &[&Posting]) -> Option<f32> {
        let kth = |posting: &&Posting| posting.best.get(self.depth - 1).copied();
        let least = postings.iter().filter_map(kth).fold(ABSENT, f32::max);
        Some(least).filter(|&least| self.bound(least) > 0.0)
    }

    /// Returns, by ascending row, the documents that can be among the best of a field in which only one term occurs, with their
    /// scores. `least` is a score that k documents have.
    pub(super) fn of_one(self, posting: &Posting, least: f32) -> (Vec<u32>, Vec<f32>) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the slack is more than an f32 can lose"
        )]
        let bound = self.bound(least) as f32;
        let number = count_above(&posting.scores, bound);
        let (mut rows, mut scores) = (Vec::with_capacity(number), Vec::with_capacity(number));
        above(posting, bound, &mut rows, &mut scores);
        (rows, scores)
    }

    /// Returns the rows of a field, ascending, among which all are that can be among the best; nothing when there would be so
    /// many that adding all postings up is cheaper. `least` is a score that k documents have.
    ///
    /// Maxscore (Turtle and Flood, *Query evaluation: strategies and optimizations*, 1995): where the best scores of some terms
    /// together do not reach the bound, documents that have only these terms are out.
    pub(super) fn rows(self, postings: &[&Posting], least: f32) -> Option<Vec<u32>> {
        let needed = self.bound(least);
        let greatest = |posting: &Posting| f64::from(posting.best.first().copied().unwrap_or(0.0));
        let mut by_greatest = postings.to_vec();
        by_greatest.sort_by(|one, other| greatest(one).total_cmp(&greatest(other)));
        let all: f64 = postings.iter().map(|posting| greatest(posting)).sum();
        let documents: usize = postings.iter().map(|posting| posting.rows.len()).sum();
        let mut together = 0.0;
        // The terms that documents among the best need one of, each with the bound of its own scores.
        let mut essential = Vec::with_capacity(postings.len());
        let mut number = 0;
        for posting in by_greatest {
            together += greatest(posting);
            if together > needed {
                let bound = needed - (all - greatest(posting)) - SLACK * all;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the slack is more than an f32 can lose"
                )]
                let bound = bound as f32;
                number += count_above(&posting.scores, bound);
                if number * postings.len() * 2 > documents {
                    return None;
                }
                essential.push((posting, bound));
            }
        }
        let (mut rows, mut scores) = (Vec::with_capacity(number), Vec::with_capacity(number));
        for (posting, bound) in essential {
            above(posting, bound, &mut rows, &mut scores);
        }
        rows.sort_unstable();
        rows.dedup();
        Some(rows)
    }

    /// Adds all postings up and returns, by ascending row, the documents that can be among the best with their scores.
    ///
    /// `least` is a score that k documents have; `sums` holds one number a document of the corpus, all 0 before and after.
    pub(super) fn sums(
        self,
        postings: &[&Posting],
        least: f32,
        sums: &mut [f64],
    ) -> (Vec<u32>, Vec<f32>) {
        for posting in postings {
            for (&row, &score) in posting.rows.iter().zip(&posting.scores) {
                sums[row as usize] += f64::from(score);
            }
        }
        let mut kth = KthBest::new(self.depth);
        let mut bound = self.bound(least);
        let mut kth_best = least;
        let mut found = Vec::with_capacity(4 * self.depth);
        for posting in postings {
            for &row in &posting.rows {
                // A document that several postings have is met with 0 after the first.
                let sum = std::mem::take(&mut sums[row as usize]);
                if sum > bound {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "Lucene rounds a sum to f32"
                    )]
                    let score = sum as f32;
                    found.push((row, score));
                    let least = kth.insert_if_above(score);
                    if least > kth_best {
                        kth_best = least;
                        bound = self.bound(least);
                    }
                }
            }
        }
        found.retain(|&(_, score)| f64::from(score) > bound);
        found.sort_unstable_by_key(|&(row, _)| row);
        found.into_iter().unzip()
    }
}

/// Returns how many scores are above a bound.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn count_above(scores: &[f32], bound: f32) -> usize {
    let number: u32 = scores.iter().map(|&score| u32::from(score > bound)).sum();
    number as usize
}

/// Adds the rows whose scores are above a bound, and the scores.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn above(posting: &Posting, bound: f32, rows: &mut Vec<u32>, scores: &mut Vec<f32>) {
    let chunks = posting.rows.chunks(CHUNK).zip(posting.scores.chunks(CHUNK));
    for (chunk_rows, chunk) in chunks {
        let mut any = 0;
        for &score in chunk {
            any |= u32::from(score > bound);
        }
        if any != 0 {
            let pairs = chunk_rows.iter().zip(chunk);
            let pairs = pairs.filter(|&(_, &score)| score > bound);
            for (&row, &score) in pairs {
                rows.push(row);
                scores.push(score);
            }
        }
    }
}
