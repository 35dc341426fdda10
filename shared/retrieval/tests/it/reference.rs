//! BM25 as its definition reads: every document is looked at for every query, with maps and without an index.
//!
//! It computes in Lucene's precisions, so that the engine's scores must be the same bits.

use std::collections::{BTreeMap, HashMap};

use evalfarm_analysis::Analyzer;
use evalfarm_domain::{AnalyzerKind, Candidate, Combine, Corpus, EngineSettings, rank_order};

type Counts = HashMap<String, u32>;

/// A corpus with its words counted.
pub(crate) struct Reference<'a> {
    corpus: &'a Corpus,
    settings: EngineSettings,
    /// Document by document, field by field.
    counts: Vec<Vec<Counts>>,
}

fn analyze(kind: AnalyzerKind, text: &str) -> Vec<String> {
    match kind {
        AnalyzerKind::Standard => Analyzer::Standard.tokens(text),
        AnalyzerKind::English => Analyzer::English.tokens(text),
    }
}

impl<'a> Reference<'a> {
    pub(crate) fn new(corpus: &'a Corpus, settings: EngineSettings) -> Self {
        let count = |text: &String| {
            let mut counts = Counts::new();
            for token in analyze(settings.analyzer, text) {
                *counts.entry(token).or_default() += 1;
            }
            counts
        };
        let counts = corpus
            .documents
            .iter()
            .map(|document| document.fields.iter().map(count).collect())
            .collect();
        Self {
            corpus,
            settings,
            counts,
        }
    }

    /// Returns the best `depth` rows with their scores.
    pub(crate) fn search(
        &self,
        text: &str,
        candidate: &Candidate,
        depth: usize,
    ) -> Vec<(u32, f32)> {
        let fields = self.field_scores(text);
        let mut hits: Vec<(u32, f32)> = Vec::new();
        for row in 0..self.corpus.documents.len() {
            let mut products = Vec::new();
            for (name, scores) in self.corpus.fields.iter().zip(&fields) {
                let weight = candidate.weights.weight(name.as_str());
                if let Some(score) = scores[row].filter(|_| weight > 0.0) {
                    products.push(weight * score);
                }
            }
            let Some(best) = products.iter().copied().reduce(f32::max) else {
                continue;
            };
            let sum = products.iter().fold(0.0, |sum, product| sum + product);
            let score = match candidate.combine {
                Combine::MostFields => sum,
                Combine::BestFields { tie_breaker } => {
                    tie_breaker * sum + (1.0 - tie_breaker) * best
                }
            };
            hits.push((u32::try_from(row).unwrap(), score));
        }
        let id = |row: u32| self.corpus.documents[row as usize].id.as_str();
        hits.sort_by(|&(a, x), &(b, y)| rank_order((x, id(a)), (y, id(b))));
        hits.truncate(depth);
        hits
    }

    /// Returns each document's score in each field, nothing where it has no term of the query in it.
    fn field_scores(&self, text: &str) -> Vec<Vec<Option<f32>>> {
        let mut terms = BTreeMap::new();
        for token in analyze(self.settings.analyzer, text) {
            *terms.entry(token).or_insert(0_u32) += 1;
        }
        let fields = 0..self.corpus.fields.len();
        fields
            .map(|field| self.field_score(field, &terms))
            .collect()
    }

    fn field_score(&self, field: usize, terms: &BTreeMap<String, u32>) -> Vec<Option<f32>> {
        let EngineSettings { k1, b, .. } = self.settings;
        let lengths: Vec<u32> = self
            .counts
            .iter()
            .map(|d| d[field].values().sum())
            .collect();
        let documents = lengths.iter().filter(|&&length| length > 0).count() as f64;
        let tokens: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let average = (tokens as f64 / documents) as f32;
        let score = |(counts, &length): (&Vec<Counts>, &u32)| {
            let mut sum = None;
            for (term, &boost) in terms {
                let Some(&tf) = counts[field].get(term) else {
                    continue;
                };
                let df = self
                    .counts
                    .iter()
                    .filter(|d| d[field].contains_key(term))
                    .count() as f64;
                let idf = (1.0 + (documents - df + 0.5) / (df + 0.5)).ln() as f32;
                let w = boost as f32 * idf;
                let dl = smallfloat_decode(smallfloat_encode(length)) as f32;
                let c = 1.0 / (k1 * ((1.0 - b) + b * dl / average));
                let contribution = w - w / (1.0 + tf as f32 * c);
                sum = Some(sum.unwrap_or(0.0) + f64::from(contribution));
            }
            sum.map(|sum| sum as f32)
        };
        self.counts.iter().zip(&lengths).map(score).collect()
    }
}

/// Lengths below this have a byte of their own: 255 − `longToInt4(i32::MAX)`.
const FREE: u32 = 24;

/// Returns Lucene's byte for a length: `SmallFloat.intToByte4`, which keeps the four leading bits.
pub(crate) fn smallfloat_encode(length: u32) -> u8 {
    if length < FREE {
        return u8::try_from(length).unwrap();
    }
    let rest = length - FREE;
    let bits = u32::BITS - rest.leading_zeros();
    let code = if bits < 4 {
        rest
    } else {
        let shift = bits - 4;
        (rest >> shift) & 7 | (shift + 1) << 3
    };
    u8::try_from(FREE + code).unwrap()
}

/// Returns the length that a byte stands for: `SmallFloat.byte4ToInt` of Lucene.
pub(crate) fn smallfloat_decode(byte: u8) -> u32 {
    let byte = u32::from(byte);
    if byte < FREE {
        return byte;
    }
    let code = byte - FREE;
    let (bits, exponent) = (code & 7, code >> 3);
    FREE + if exponent == 0 {
        bits
    } else {
        (bits | 8) << (exponent - 1)
    }
}
