//! What the judgments of a query make of its rankings.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use evalfarm_dataset::Dataset;
use evalfarm_domain::{
    CandidateId, Document, Grade, JobSettings, Query, QueryJudgments, RerankStatus, RewriteStatus,
};
use evalfarm_metrics::{QueryMetrics, condensed_values};
use evalfarm_results::QueryRow;
use evalfarm_retrieval::Rankings;

use crate::EvaluateError;
use crate::digests::{DocumentDigests, top_digest};

/// A query with its judgments, ready to measure rankings.
#[derive(Debug)]
pub(crate) struct JudgedQuery<'a> {
    pub(crate) query: &'a Query,
    metrics: QueryMetrics,
    /// The judged documents that the corpus has, as its rows, ascending.
    grades: Vec<(u32, Grade)>,
    /// Their grades, ascending, each once.
    classes: Vec<Grade>,
}

impl<'a> JudgedQuery<'a> {
    /// Looks up the judgments of a query.
    pub(crate) fn new(
        query: &'a Query,
        settings: &JobSettings,
        dataset: &Dataset,
    ) -> Result<Self, EvaluateError> {
        let judgments = dataset.judgments.query(query.id.as_str());
        let metrics = QueryMetrics::new(&settings.measurement, judgments).map_err(|source| {
            EvaluateError::Metrics {
                query: query.id.clone(),
                source,
            }
        })?;
        let documents = &dataset.corpus.documents;
        let judged = judgments.into_iter().flat_map(QueryJudgments::iter);
        let row_of = |id| {
            let row = documents.binary_search_by(|document: &Document| document.id.cmp(id));
            u32::try_from(row.ok()?).ok()
        };
        let grades = judged.filter_map(|(id, grade)| Some((row_of(id)?, grade)));
        let grades: Vec<(u32, Grade)> = grades.collect();
        let mut classes: Vec<Grade> = grades.iter().map(|&(_, grade)| grade).collect();
        classes.sort_unstable();
        classes.dedup();
        Ok(Self {
            query,
            metrics,
            grades,
            classes,
        })
    }

    /// Returns the judged documents that the corpus has, as its rows, ascending.
    pub(crate) fn grades(&self) -> &[(u32, Grade)] {
        &self.grades
    }

    /// Returns the grade of a row's document, nothing when it is not judged.
    pub(crate) fn grade(&self, row: u32) -> Option<Grade> {
        let position = self.grades.binary_search_by_key(&row, |&(row, _)| row);
        Some(self.grades[position.ok()?].1)
    }

    /// Returns the values of a list of rows without its unjudged hits.
    pub(crate) fn condensed(&self, rows: impl Iterator<Item = u32>) -> Vec<f64> {
        let grades: Vec<Option<Grade>> = rows.map(|row| self.grade(row)).collect();
        condensed_values(&self.metrics, &grades)
    }

    /// Measures each distinct ranking once, and takes the codes of the candidates.
    pub(crate) fn measure(
        &self,
        rankings: &mut Rankings,
        documents: &DocumentDigests,
    ) -> MeasuredQuery<'a> {
        let rows = rankings.rows().iter();
        let hits = rows.map(|&row| (self.class(row), documents.of(row)));
        let hits: Vec<(usize, u64)> = hits.collect();
        let mut values = ValuesOf::new(self);
        let mut outcomes = Vec::with_capacity(rankings.distinct());
        for positions in rankings.iter() {
            let ranking = positions.iter().map(|&position| hits[position as usize]);
            let judged = ranking
                .clone()
                .filter(|&(class, _)| class > UNJUDGED)
                .count();
            outcomes.push(Outcome {
                valued: values.of(ranking.clone().map(|(class, _)| class)),
                judged: u32::try_from(judged).unwrap_or(u32::MAX),
                hits: u32::try_from(positions.len()).unwrap_or(u32::MAX),
                digest: top_digest(ranking.map(|(_, digest)| digest)),
            });
        }
        MeasuredQuery {
            query: self.query,
            codes: rankings.take_codes(),
            outcomes,
            metrics: values.metrics,
            values: values.values,
        }
    }

    /// Returns the class of a row's document: [`UNJUDGED`], or the position of its grade among the query's, from 1.
    fn class(&self, row: u32) -> usize {
        let grade = self.grade(row);
        grade.map_or(UNJUDGED, |grade| {
            1 + self.classes.partition_point(|&lower| lower < grade)
        })
    }
}

/// The class of a document that nobody judged.
const UNJUDGED: usize = 0;

/// Bits of a class in a key, and how many classes and ranks one key has room for.
const CLASS_BITS: usize = 4;
const MOST_CLASSES: usize = (1 << CLASS_BITS) - 2;
const MOST_RANKS: usize = u64::BITS as usize / CLASS_BITS;

/// Rankings with different values that there is room for from the start; most queries have fewer.
const FEW_VALUES: usize = 16;

/// Hashes one key of 64 bits. Nobody chooses the keys, so that nothing has to withstand an attack as the standard hash does,
/// which takes longer than all else that is done for a ranking.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        // Fibonacci hashing (Knuth, volume 3, 6.4); the table looks at the upper and at the lower bits.
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The values of rankings whose hits have the same classes, once: they follow from the grades alone.
struct ValuesOf<'a> {
    judged: &'a JudgedQuery<'a>,
    /// Values of one ranking.
    metrics: usize,
    /// Ranking by ranking.
    values: Vec<Option<f64>>,
    /// Where the values of hits with these classes are.
    known: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    grades: Vec<Option<Grade>>,
    of_one: Vec<Option<f64>>,
}

impl<'a> ValuesOf<'a> {
    fn new(judged: &'a JudgedQuery<'a>) -> Self {
        Self {
            judged,
            metrics: judged.metrics.attainable().len(),
            values: Vec::with_capacity(FEW_VALUES * judged.metrics.attainable().len()),
            known: HashMap::with_capacity_and_hasher(FEW_VALUES, BuildHasherDefault::default()),
            grades: Vec::with_capacity(MOST_RANKS),
            of_one: Vec::with_capacity(judged.metrics.attainable().len()),
        }
    }

    /// Returns the number of the values of hits with these classes.
    fn of(&mut self, classes: impl ExactSizeIterator<Item = usize> + Clone) -> u32 {
        let fits = classes.len() <= MOST_RANKS && self.judged.classes.len() <= MOST_CLASSES;
        if !fits {
            return self.add(classes);
        }
        // 0 is where the ranking has ended.
        let key = classes
            .clone()
            .fold(0, |key, class| key << CLASS_BITS | (class as u64 + 1));
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let number = self.add(classes);
        self.known.insert(key, number);
        number
    }

    /// Computes the values of hits with these classes and returns their number.
    fn add(&mut self, classes: impl Iterator<Item = usize>) -> u32 {
        let grade = |class: usize| Some(self.judged.classes[class.checked_sub(1)?]);
        self.grades.clear();
        self.grades.extend(classes.map(grade));
        self.judged
            .metrics
            .values_into(&self.grades, &mut self.of_one);
        let number = self.values.len() / self.metrics.max(1);
        self.values.extend_from_slice(&self.of_one);
        u32::try_from(number).expect("no more rankings than candidates")
    }
}

/// What was measured for one query under all candidates of a task, equal outcomes once.
#[derive(Debug)]
pub struct MeasuredQuery<'a> {
    query: &'a Query,
    /// For each candidate the position of its outcome.
    codes: Vec<u32>,
    outcomes: Vec<Outcome>,
    /// Values of one ranking.
    metrics: usize,
    /// Ranking by ranking, those that have the same once.
    values: Vec<Option<f64>>,
}

/// What one ranking comes to.
#[derive(Debug)]
struct Outcome {
    /// The number of its values.
    valued: u32,
    judged: u32,
    hits: u32,
    digest: u64,
}

impl MeasuredQuery<'_> {
    /// Returns the number of distinct rankings.
    pub fn distinct(&self) -> usize {
        self.outcomes.len()
    }

    /// Returns the values of the candidate at `position` in its task, one for each metric of the job.
    pub fn values(&self, position: usize) -> &[Option<f64>] {
        let outcome = &self.outcomes[self.codes[position] as usize];
        &self.values[outcome.valued as usize * self.metrics..][..self.metrics]
    }

    /// Returns the values that are judged, in the same order.
    pub(crate) fn scored(&self, position: usize) -> impl Iterator<Item = f64> {
        let values = self.values(position).iter();
        values.map(|value| value.unwrap_or(0.0))
    }

    /// Returns the digest of the ranking of the candidate at `position`.
    pub(crate) fn digest(&self, position: usize) -> u64 {
        self.outcomes[self.codes[position] as usize].digest
    }

    /// Returns the row of the candidate at `position`.
    pub(crate) fn row(&self, position: usize, candidate: &CandidateId) -> QueryRow {
        let values = self.values(position);
        let outcome = &self.outcomes[self.codes[position] as usize];
        let share = f64::from(outcome.judged) / f64::from(outcome.hits);
        QueryRow {
            candidate: candidate.clone(),
            query: self.query.id.clone(),
            scored: values.iter().map(|value| value.unwrap_or(0.0)).collect(),
            values: values.to_vec(),
            judged_share: (outcome.hits > 0).then_some(share),
            zero_result: outcome.hits == 0,
            hits_returned: outcome.hits,
            top_digest: outcome.digest,
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotRequested,
            failure: None,
        }
    }
}
