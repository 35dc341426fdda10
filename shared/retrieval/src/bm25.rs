//! The scores of Lucene's `BM25Similarity`.

use evalfarm_domain::EngineSettings;
use multiversion::multiversion;
use tantivy::fieldnorm::FieldNormReader;

/// What BM25 needs to know about one field: counted over the documents that have a token in it, as Lucene does, and not
/// over all documents, as tantivy does.
#[derive(Debug, Clone)]
pub(crate) struct FieldStatistics {
    documents: u32,
    average_length: f32,
    /// For each length byte 1 / (k1 · (1 − b + b · dl / avgdl)).
    inverse: Box<[f32; 256]>,
}

impl FieldStatistics {
    /// Returns the statistics of a field in which `documents` documents have `tokens` tokens together.
    pub(crate) fn new(documents: u32, tokens: u64, settings: &EngineSettings) -> Self {
        let mean = if documents == 0 {
            1.0 // never used: the field has no posting
        } else {
            tokens as f64 / f64::from(documents)
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Lucene computes with an f32 average"
        )]
        let average_length = mean as f32;
        let EngineSettings { k1, b, .. } = *settings;
        let mut inverse = Box::new([0.0; 256]);
        for (byte, inverse) in (0..=u8::MAX).zip(inverse.iter_mut()) {
            *inverse = 1.0 / (k1 * ((1.0 - b) + b * length(byte) / average_length));
        }
        Self {
            documents,
            average_length,
            inverse,
        }
    }

    /// Returns the number of documents with a token in the field.
    pub(crate) fn documents(&self) -> u32 {
        self.documents
    }

    /// Returns the mean number of tokens of these documents; 1 when there is none.
    pub(crate) fn average_length(&self) -> f32 {
        self.average_length
    }

    /// Returns the inverse document frequency of a term that `document_frequency` documents have in the field.
    ///
    /// ```text
    /// idf = ln(1 + (N − df + 0.5) / (df + 0.5))
    /// ```
    ///
    /// N is the number of documents with a token in the field. Positive for every df ≤ N.
    ///
    /// Source: `BM25Similarity.idf` of Lucene 8.7, in f64, then f32.
    pub(crate) fn idf(&self, document_frequency: u32) -> f32 {
        let (n, df) = (f64::from(self.documents), f64::from(document_frequency));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Lucene rounds the idf to f32"
        )]
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32;
        idf
    }

    /// Returns what a term adds to a document's score in the field.
    ///
    /// ```text
    /// w − w / (1 + tf · c),   w = occurrences in the query · idf,   1/c = k1 · (1 − b + b · dl / avgdl)
    /// ```
    ///
    /// This is w · tf / (tf + k1 · …): Lucene ≥ 8, without the constant factor k1 + 1 of Elasticsearch. Never negative.
    ///
    /// Source: `BM25Similarity.BM25Scorer.score` of Lucene 8.7, in f32.
    pub(crate) fn contribution(&self, weight: f32, frequency: u32, length_byte: u8) -> f32 {
        let inverse = self.inverse[usize::from(length_byte)];
        weight - weight / (1.0 + frequency as f32 * inverse)
    }

    /// Adds the [`contribution`](Self::contribution) to each of some documents to `scores`, given how often they have the term
    /// and their length bytes.
    pub(crate) fn contributions(
        &self,
        weight: f32,
        frequencies: &[u32],
        length_bytes: impl Iterator<Item = u8>,
        scores: &mut Vec<f32>,
    ) {
        let start = scores.len();
        scores.extend(length_bytes.map(|byte| self.inverse[usize::from(byte)]));
        contributions_in_place(weight, frequencies, &mut scores[start..]);
    }

    /// Returns a bound below which no positive score in the field lies; infinite when there is no score at all.
    ///
    /// The rarest idf is that of a term in every document, and the difference in `contribution` is either 0 or at least
    /// half a unit in the last place of the weight.
    pub(crate) fn least_score(&self) -> f32 {
        if self.documents == 0 {
            return f32::INFINITY;
        }
        self.idf(self.documents) * (f32::EPSILON / 2.0)
    }

    /// Returns a bound above which no score in the field lies, for queries of at most 2³² words.
    pub(crate) fn greatest_score(&self) -> f32 {
        self.idf(0) * (u32::MAX as f32)
    }
}

/// Turns the inverses that belong to documents into contributions; apart from where these are looked up, because divisions
/// side by side take a fraction of the time.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt"
))]
fn contributions_in_place(weight: f32, frequencies: &[u32], inverses: &mut [f32]) {
    for (inverse, &frequency) in inverses.iter_mut().zip(frequencies) {
        *inverse = weight - weight / (1.0 + frequency as f32 * *inverse);
    }
}

/// Returns the field length, in tokens, that a length byte stands for; exact up to 40, then ever coarser, always rounded
/// down.
///
/// tantivy's table is that of Lucene's `SmallFloat.byte4ToInt`.
pub(crate) fn length(byte: u8) -> f32 {
    FieldNormReader::id_to_fieldnorm(byte) as f32
}

/// Returns the byte that stands for a field length.
pub(crate) fn length_byte(tokens: u32) -> u8 {
    FieldNormReader::fieldnorm_to_id(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_equal_hand_calculations() {
        // N = 4 documents of 10 tokens, k1 = 1.2, b = 0.75.
        let field = FieldStatistics::new(4, 10, &EngineSettings::default());
        assert!((field.average_length() - 2.5).abs() < f32::EPSILON);
        // ln(1 + 3.5 / 1.5)
        assert!((field.idf(1) - 1.203_973).abs() < 1e-6);
        // dl = 5: c = 1 / (1.2 · (0.25 + 0.75 · 2)) = 1 / 2.1; 2 − 2 / (1 + 3 / 2.1)
        assert!((field.contribution(2.0, 3, 5) - 1.176_471).abs() < 1e-6);
    }

    #[test]
    fn contributions_side_by_side_are_those_one_by_one() {
        let field = FieldStatistics::new(4, 10, &EngineSettings::default());
        let frequencies: Vec<u32> = (1..40).chain([u32::MAX]).collect();
        let bytes = frequencies
            .iter()
            .map(|frequency| frequency.to_le_bytes()[0]);
        let mut scores = vec![7.0];
        field.contributions(2.5, &frequencies, bytes.clone(), &mut scores);
        let alone = frequencies.iter().zip(bytes);
        let alone = alone.map(|(&frequency, byte)| field.contribution(2.5, frequency, byte));
        assert_eq!(scores[1..], alone.collect::<Vec<f32>>());
    }

    #[test]
    fn bounds_hold_where_scores_are_smallest_and_largest() {
        let settings = EngineSettings {
            k1: 1e30,
            ..EngineSettings::default()
        };
        for k1 in [settings, EngineSettings::default()] {
            let field = FieldStatistics::new(1_000_000, 1_000_000, &k1);
            for frequency in [1, 10, u32::MAX] {
                let score = field.contribution(field.idf(1_000_000), frequency, u8::MAX);
                assert!(score <= 0.0 || score >= field.least_score());
                assert!(score <= field.greatest_score());
            }
        }
        assert!(
            FieldStatistics::new(0, 0, &settings)
                .least_score()
                .is_infinite()
        );
    }
}
