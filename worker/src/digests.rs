//! Digests of rankings.

use std::sync::atomic::{AtomicU64, Ordering};

use evalfarm_domain::{Digest, Document};

/// One number for each document of a corpus: the first eight bytes of the SHA-256 of its id, little-endian.
///
/// Computed when first asked for: most documents never enter a ranking. Two threads that ask at once compute the same.
#[derive(Debug)]
pub(crate) struct DocumentDigests<'a> {
    documents: &'a [Document],
    /// 0 where it has not been computed yet.
    known: Box<[AtomicU64]>,
}

impl<'a> DocumentDigests<'a> {
    /// Returns the digests of a corpus.
    pub(crate) fn new(documents: &'a [Document]) -> Self {
        Self {
            documents,
            known: documents.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Returns the digest of a row's document.
    pub(crate) fn of(&self, row: u32) -> u64 {
        let known = &self.known[row as usize];
        match known.load(Ordering::Relaxed) {
            0 => {
                let digest = digest(self.documents[row as usize].id.as_str());
                known.store(digest, Ordering::Relaxed);
                digest
            }
            digest => digest,
        }
    }
}

fn digest(id: &str) -> u64 {
    let digest = Digest::of(id.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(head)
}

/// Returns the digest of a ranking, given those of its documents, best first.
///
/// ```text
/// Σ_{r=1}^{n} mix(d_r + r · 0x9e3779b97f4a7c15)  mod 2^64
/// ```
///
/// Equal rankings have equal digests on every machine; different ones meet with a probability of about 2⁻⁶⁴. 0 for no hits.
///
/// `mix` is the finaliser of `SplitMix64` (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014).
pub(crate) fn top_digest(documents: impl Iterator<Item = u64>) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let ranks = (1_u64..).map(|rank| rank.wrapping_mul(STEP));
    let mixed = documents
        .zip(ranks)
        .map(|(document, rank)| mix(document.wrapping_add(rank)));
    mixed.fold(0, u64::wrapping_add)
}

fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use evalfarm_domain::DocId;

    use super::*;

    #[test]
    fn mixing_is_splitmix64() {
        // The first two outputs of SplitMix64 from seed 1234567, as Rosetta Code lists them.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let output = |number: u64| mix(STEP.wrapping_mul(number).wrapping_add(1_234_567));
        assert_eq!(output(1), 6_457_827_717_110_365_317);
        assert_eq!(output(2), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_order_and_the_documents_decide() {
        let ids = ["a", "b", "c"].map(|id| DocId::try_from(id).unwrap());
        let documents = ids.map(|id| Document { id, fields: vec![] });
        let digests = DocumentDigests::new(&documents);
        let of = |rows: &[u32]| top_digest(rows.iter().map(|&row| digests.of(row)));
        let rankings: [&[u32]; 7] = [&[], &[0], &[1], &[0, 1], &[1, 0], &[0, 1, 2], &[0, 2, 1]];
        let mut all: Vec<u64> = rankings.iter().map(|rows| of(rows)).collect();
        assert_eq!(of(&[0, 1]), all[3]);
        assert_eq!(all[0], 0);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), rankings.len());
        // The first eight bytes of the SHA-256 of "a" (NIST): ca 97 81 12 ca 1b bd ca.
        assert_eq!(digests.of(0), 0xcabd_1bca_1281_97ca);
    }
}
