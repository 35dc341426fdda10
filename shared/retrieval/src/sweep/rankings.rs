//! The rankings of many candidates, each distinct one once.

use std::collections::HashMap;

/// The rankings of one query under many candidates: a code for each candidate, for each code the positions of its hits, best
/// first, and for each position a row of the corpus.
///
/// Candidates share a code exactly when they rank the same documents in the same order. Codes count from 0 in the order in
/// which candidates first use them, so that they do not depend on how the rankings were found; positions may.
#[derive(Debug, Clone, Default)]
pub struct Rankings {
    codes: Vec<u32>,
    rows: Vec<u32>,
    ends: Vec<usize>,
    positions: Vec<u32>,
    /// Where rankings were added by row: the position of each row, and the code of each ranking.
    position_of: HashMap<u32, u32>,
    code_of: HashMap<Box<[u32]>, u32>,
}

impl Rankings {
    /// Returns the code of each candidate.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Returns the number of distinct rankings; codes are less than it.
    pub fn distinct(&self) -> usize {
        self.ends.len()
    }

    /// Returns the documents that positions stand for, as rows of the corpus, each once; some may be in no ranking.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the positions of each distinct ranking, best first, by code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.ends.len()).map(|code| {
            let start = code.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.positions[start..self.ends[code]]
        })
    }

    /// Forgets everything and has room for the codes of that many candidates.
    pub(crate) fn clear(&mut self, candidates: usize) {
        self.codes.clear();
        self.codes.reserve_exact(candidates);
        self.rows.clear();
        self.ends.clear();
        self.positions.clear();
        self.position_of.clear();
        self.code_of.clear();
    }

    /// Returns the code of each candidate, to be kept without a copy; afterwards there is none.
    pub fn take_codes(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.codes)
    }

    /// Forgets everything and takes these rows for its positions, for that many candidates.
    pub(super) fn start(&mut self, rows: &[u32], candidates: usize) {
        self.clear(candidates);
        self.rows.extend_from_slice(rows);
    }

    /// Adds a ranking that no candidate has had yet; its code is the next one.
    pub(super) fn push(&mut self, positions: impl Iterator<Item = u32>) {
        self.positions.extend(positions);
        self.ends.push(self.positions.len());
    }

    /// Gives the next candidates the rankings of these codes.
    pub(super) fn assign(&mut self, codes: &[u32]) {
        self.codes.extend_from_slice(codes);
    }

    /// Gives the next candidate this ranking.
    pub(crate) fn add(&mut self, rows: impl Iterator<Item = u32>) {
        let start = self.positions.len();
        for row in rows {
            let next = u32::try_from(self.rows.len()).expect("no more positions than rows");
            let position = *self.position_of.entry(row).or_insert(next);
            if position == next {
                self.rows.push(row);
            }
            self.positions.push(position);
        }
        let known = self.code_of.get(&self.positions[start..]).copied();
        if let Some(code) = known {
            self.positions.truncate(start);
            self.codes.push(code);
            return;
        }
        let code = u32::try_from(self.ends.len()).expect("no more rankings than candidates");
        self.code_of.insert(self.positions[start..].into(), code);
        self.ends.push(self.positions.len());
        self.codes.push(code);
    }
}
