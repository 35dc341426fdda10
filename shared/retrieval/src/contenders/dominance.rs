//! Who precedes whom whatever the weights.

use super::{Margin, Table};

/// Which documents precede which under every candidate.
///
/// `first` always precedes `second` when it is at least as good in every field and either comes earlier in the tie order or is
/// better by the margin in every field that `second` has.
pub(super) struct Dominance {
    depth: usize,
    documents: usize,
    /// For each document, how many always precede it.
    ahead: Vec<u32>,
    /// `always[first * documents + second]`; empty when there are too many documents.
    always: Vec<bool>,
}

impl Dominance {
    /// Compares the documents of a table, which are in the tie order.
    pub(super) fn find(table: &Table, depth: usize, margin: Margin) -> Self {
        let documents = table.rows.len();
        let raised: Vec<Vec<f32>> = table
            .scores
            .iter()
            .map(|scores| scores.iter().map(|&score| margin.raised(score)).collect())
            .collect();
        let mut ahead = vec![0; documents];
        let mut always = vec![false; documents * documents];
        for first in 0..documents {
            let flags = &mut always[first * documents..][..documents];
            flags.fill(true);
            let (before, behind) = flags.split_at_mut(first);
            for (scores, raised) in table.scores.iter().zip(&raised) {
                let own = scores[first];
                // Those that come earlier in the tie order have to be beaten by the margin.
                reach(before, own, &raised[..first]);
                reach(behind, own, &scores[first..]);
            }
            flags[first] = false;
            for (ahead, &flag) in ahead.iter_mut().zip(&*flags) {
                *ahead += u32::from(flag);
            }
        }
        Self {
            depth,
            documents,
            ahead,
            always,
        }
    }

    /// Whether k others always precede a document, so that it never enters the top k.
    pub(super) fn is_beaten(&self, position: usize) -> bool {
        self.ahead[position] as usize >= self.depth
    }

    fn kept(&self) -> Vec<usize> {
        let all = 0..self.documents;
        all.filter(|&position| !self.is_beaten(position)).collect()
    }

    /// Returns, for each document that is not beaten, how many always precede it.
    ///
    /// None of these is beaten itself: whoever precedes it precedes the document too.
    pub(super) fn ahead(&self) -> Box<[u32]> {
        let kept = self.kept();
        kept.iter().map(|&position| self.ahead[position]).collect()
    }

    /// Returns the pairs of documents that are not beaten, as positions among these, whose order depends on the weights.
    pub(super) fn pairs(&self) -> Box<[(u16, u16)]> {
        let kept = self.kept();
        let mut pairs = Vec::new();
        for (second, &later) in (0_u16..).zip(&kept) {
            for (first, &earlier) in (0_u16..second).zip(&kept) {
                let decided = self.always[earlier * self.documents + later]
                    || self.always[later * self.documents + earlier];
                if !decided {
                    pairs.push((first, second));
                }
            }
        }
        pairs.into()
    }
}

/// Clears the flags of the documents whose score is not reached.
fn reach(flags: &mut [bool], own: f32, scores: &[f32]) {
    for (flag, &score) in flags.iter_mut().zip(scores) {
        *flag &= own >= score;
    }
}
