//! Who precedes whom whatever the weights.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use multiversion::multiversion;

use super::{Margin, Table};
use crate::matrix::ABSENT;

/// Kept documents that one is compared with at a time.
const CHUNK: usize = 16;

/// Returns for each document of a table, which are in the tie order, whether k others precede it under every candidate: the
/// exact k-skyband.
///
/// One always precedes another when it is at least as good in every field and either comes earlier in the tie order or is better
/// by the margin in every field that the other has. So it has no smaller sum of scores, whatever each field is divided by, and
/// each document need only be compared with kept ones of greater or equal sum: what precedes it and is not kept is itself
/// preceded by k that are.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
pub(super) fn beaten(table: &Table, depth: usize, margin: Margin) -> Vec<bool> {
    let documents = table.rows.len();
    let mut beaten = vec![false; documents];
    if documents <= depth {
        return beaten;
    }
    let mut order = falling_sums(table);
    order.sort_unstable();
    let mut kept = Kept::new(table.scores.len(), documents);
    let mut own = Vec::with_capacity(table.scores.len());
    for key in order {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the lower half of the key is taken"
        )]
        let position = key as u32 as usize;
        own.clear();
        let scores = table.scores.iter().map(|scores| scores[position]);
        own.extend(scores.map(|score| (score, margin.raised(score))));
        if kept.at_least(depth, &own, table.rows[position]) {
            beaten[position] = true;
        } else {
            kept.add(&own, table.rows[position]);
        }
    }
    beaten
}

/// Returns for each document a number that is less for a greater sum of scores, each field's divided by its greatest, and for
/// an earlier place in the tie order where sums are equal; its lower 32 bits are the document's position.
fn falling_sums(table: &Table) -> Vec<u64> {
    let mut sums = vec![0.0; table.rows.len()];
    for scores in &table.scores {
        let greatest = scores.iter().copied().fold(0.0, f32::max);
        if greatest > 0.0 {
            for (sum, &score) in sums.iter_mut().zip(scores) {
                *sum += score.max(0.0) / greatest;
            }
        }
    }
    // Sums are not negative, so that their bits order as they do.
    let key = |(sum, position): (&f32, u64)| u64::from(!sum.to_bits()) << 32 | position;
    sums.iter().zip(0..).map(key).collect()
}

/// The documents that are not beaten, in the order in which they were looked at; room is a multiple of [`CHUNK`].
struct Kept {
    documents: usize,
    rows: Vec<u32>,
    /// Column by column, `room` apart; an unused place is reached by none.
    scores: Vec<f32>,
    room: usize,
}

impl Kept {
    fn new(columns: usize, room: usize) -> Self {
        let room = room.next_multiple_of(CHUNK);
        Self {
            documents: 0,
            rows: vec![0; room],
            scores: vec![UNUSED; columns * room],
            room,
        }
    }

    #[inline(always)]
    fn add(&mut self, own: &[(f32, f32)], row: u32) {
        for (column, &(score, _)) in own.iter().enumerate() {
            self.scores[column * self.room + self.documents] = score;
        }
        self.rows[self.documents] = row;
        self.documents += 1;
    }

    /// Whether at least `depth` of them precede a document with these scores, plain and raised by the margin, and this row.
    #[inline(always)]
    fn at_least(&self, depth: usize, own: &[(f32, f32)], row: u32) -> bool {
        let mut ahead = 0;
        for start in (0..self.documents).step_by(CHUNK) {
            let mut reached = [1_u32; CHUNK];
            let mut certain = [1_u32; CHUNK];
            for (column, &(plain, raised)) in own.iter().enumerate() {
                let scores = &self.scores[column * self.room + start..][..CHUNK];
                for at in 0..CHUNK {
                    reached[at] &= u32::from(scores[at] >= plain);
                    certain[at] &= u32::from(scores[at] >= raised);
                }
            }
            let rows = &self.rows[start..][..CHUNK];
            for at in 0..CHUNK {
                ahead += reached[at] & (certain[at] | u32::from(rows[at] > row));
            }
            if ahead as usize >= depth {
                return true;
            }
        }
        false
    }
}

/// The score of an unused place: less than that of an absent field.
const UNUSED: f32 = 2.0 * ABSENT;
