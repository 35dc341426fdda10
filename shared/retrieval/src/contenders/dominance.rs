//! Who precedes whom whatever the weights.

use std::cmp::Reverse;

use multiversion::multiversion;

use super::{Margin, Table};

/// Kept documents that one is compared with at a time.
const CHUNK: usize = 64;

/// Returns for each document of a table, which are in the tie order, whether k others precede it under every candidate: the
/// exact k-skyband.
///
/// One always precedes another when it is at least as good in every field and either comes earlier in the tie order or is better
/// by the margin in every field that the other has. So it has no smaller sum of scores, whatever each field is divided by, and
/// each document need only be compared with kept ones of greater or equal sum: what precedes it and is not kept is itself
/// preceded by k that are.
pub(super) fn beaten(table: &Table, depth: usize, margin: Margin) -> Vec<bool> {
    let documents = table.rows.len();
    let mut beaten = vec![false; documents];
    if documents <= depth {
        return beaten;
    }
    let sums = sums(table);
    let mut order: Vec<(Reverse<u32>, usize)> = sums.into_iter().zip(0..documents).collect();
    order.sort_unstable();
    let mut kept = Kept::new(table.scores.len(), documents);
    let mut own = Vec::with_capacity(table.scores.len());
    for (_, position) in order {
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

/// Returns the bits of each document's sum of scores, each field's divided by its greatest; a greater number for a greater sum.
fn sums(table: &Table) -> Vec<Reverse<u32>> {
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
    sums.iter()
        .map(|sum: &f32| Reverse(sum.to_bits()))
        .collect()
}

/// The documents that are not beaten, in the order in which they were looked at.
struct Kept {
    rows: Vec<u32>,
    /// Column by column, `room` apart.
    scores: Vec<f32>,
    room: usize,
}

impl Kept {
    fn new(columns: usize, room: usize) -> Self {
        Self {
            rows: Vec::with_capacity(room),
            scores: vec![0.0; columns * room],
            room,
        }
    }

    fn add(&mut self, own: &[(f32, f32)], row: u32) {
        let at = self.rows.len();
        for (column, &(score, _)) in own.iter().enumerate() {
            self.scores[column * self.room + at] = score;
        }
        self.rows.push(row);
    }

    /// Whether at least `depth` of them precede a document with these scores, plain and raised by the margin, and this row.
    fn at_least(&self, depth: usize, own: &[(f32, f32)], row: u32) -> bool {
        let mut ahead = 0;
        for start in (0..self.rows.len()).step_by(CHUNK) {
            let rows = &self.rows[start..self.rows.len().min(start + CHUNK)];
            ahead += count(rows, &self.scores[start..], self.room, own, row);
            if ahead as usize >= depth {
                return true;
            }
        }
        false
    }
}

/// Counts the documents of a chunk that always precede the one with these scores.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn count(rows: &[u32], scores: &[f32], room: usize, own: &[(f32, f32)], row: u32) -> u32 {
    let chunk = rows.len().min(CHUNK);
    let (mut reached, mut certain) = ([1_u32; CHUNK], [0_u32; CHUNK]);
    let (reached, certain) = (&mut reached[..chunk], &mut certain[..chunk]);
    certain.fill(1);
    for (column, &(plain, raised)) in own.iter().enumerate() {
        let scores = &scores[column * room..][..chunk];
        for at in 0..chunk {
            reached[at] &= u32::from(scores[at] >= plain);
            certain[at] &= u32::from(scores[at] >= raised);
        }
    }
    let mut ahead = 0;
    for at in 0..chunk {
        ahead += reached[at] & (certain[at] | u32::from(rows[at] > row));
    }
    ahead
}
