//! The rankings of many candidates, each distinct one once.

use std::collections::HashMap;

/// The rankings of one query under many candidates: a code for each candidate, and for each code the rows of its hits, best
/// first.
///
/// Candidates share a code exactly when they rank the same documents in the same order. Codes count from 0 in the order in
/// which candidates first use them, so that they do not depend on how the rankings were found.
#[derive(Debug, Clone, Default)]
pub struct Rankings {
    codes: Vec<u32>,
    ends: Vec<usize>,
    rows: Vec<u32>,
    /// Codes of the rankings that were added whole.
    known: HashMap<Box<[u32]>, u32>,
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

    /// Returns the rows of each distinct ranking, best first, by code.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.ends.len()).map(|code| {
            let start = code.checked_sub(1).map_or(0, |before| self.ends[before]);
            &self.rows[start..self.ends[code]]
        })
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.codes.clear();
        self.ends.clear();
        self.rows.clear();
        self.known.clear();
    }

    /// Adds a ranking that no candidate has had yet; its code is the next one.
    pub(super) fn push(&mut self, rows: impl Iterator<Item = u32>) {
        self.rows.extend(rows);
        self.ends.push(self.rows.len());
    }

    /// Gives the next candidate the ranking of that code.
    pub(super) fn assign(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// Gives the next candidate this ranking.
    pub(crate) fn add(&mut self, rows: impl Iterator<Item = u32>) {
        let start = self.rows.len();
        self.rows.extend(rows);
        let known = self.known.get(&self.rows[start..]).copied();
        if let Some(code) = known {
            self.rows.truncate(start);
            self.codes.push(code);
            return;
        }
        let code = u32::try_from(self.ends.len()).expect("no more rankings than candidates");
        self.known.insert(self.rows[start..].into(), code);
        self.ends.push(self.rows.len());
        self.codes.push(code);
    }
}
