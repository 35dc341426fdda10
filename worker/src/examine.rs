//! What was retrieved, where the relevant documents are, and what unjudged hits may hide.

use evalfarm_domain::{Candidate, CandidateId, DocId, ExamineTask, Grade, Metric, Query};
use evalfarm_metrics::{MetricsError, UnjudgedPair, UnjudgedQuery};
use evalfarm_results::{CondensedRow, HitRow, RelevantRank, UnjudgedRow};
use evalfarm_retrieval::{Prepared, ScoredDocument, SearchError, Searcher};

use crate::measured::JudgedQuery;
use crate::{EvaluateError, Evaluator, Stop};

/// What an examine task gives, queries in fold order and candidates in task order within them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examination {
    /// The hits.
    pub hits: Vec<HitRow>,
    /// The ranks of relevant documents.
    pub relevant: Vec<RelevantRank>,
    /// Values without unjudged hits, and bounds against the task's first candidate.
    pub condensed: Vec<CondensedRow>,
    /// Unjudged documents of each candidate and the task's first, without those of the first alone.
    pub unjudged: Vec<UnjudgedRow>,
}

impl Evaluator<'_> {
    /// Returns what is measured, in the order in which values are stored.
    pub fn metrics(&self) -> &[Metric] {
        &self.settings.measurement.metrics
    }

    /// Returns the hits of each candidate and query, the rank of every relevant document that the corpus has, and what the
    /// lists give without their unjudged hits. Each candidate is compared with the first of the task, the baseline.
    /// Heeds `stop` as [`Self::evaluate`] does.
    pub fn examine(&self, task: &ExamineTask, stop: &Stop) -> Result<Examination, EvaluateError> {
        let queries = self.range(task.fold, task.first_query, task.query_count)?;
        let prepared = self
            .index
            .prepare(&task.candidates)
            .map_err(EvaluateError::Refused)?;
        let ids: Vec<CandidateId> = task.candidates.iter().map(Candidate::id).collect();
        let mut searcher = self.searcher();
        let mut examination = Examination::default();
        for judged in queries {
            stop.check()?;
            let query = judged.query;
            let one = ExaminedQuery {
                evaluator: self,
                task,
                prepared: &prepared,
                ids: &ids,
                judged,
                query,
            };
            let search = |source| EvaluateError::Search {
                query: query.id.clone(),
                source,
            };
            let lists = one.lists(&mut searcher).map_err(search)?;
            let hits = one.hits(&lists, &mut searcher).map_err(search)?;
            examination.hits.extend(hits);
            examination.relevant.extend(one.relevant(&lists));
            one.unjudged(&lists, &mut examination)
                .map_err(|source| EvaluateError::Metrics {
                    query: query.id.clone(),
                    source,
                })?;
        }
        Ok(examination)
    }
}

struct ExaminedQuery<'a> {
    evaluator: &'a Evaluator<'a>,
    task: &'a ExamineTask,
    prepared: &'a Prepared,
    /// The task's candidates.
    ids: &'a [CandidateId],
    judged: &'a JudgedQuery<'a>,
    query: &'a Query,
}

impl ExaminedQuery<'_> {
    /// Returns each candidate's list, as deep as ranks of relevant documents are looked for.
    fn lists(&self, searcher: &mut Searcher<'_>) -> Result<Vec<Vec<ScoredDocument>>, SearchError> {
        let depth = self.task.rank_depth.max(self.task.hits).get() as usize;
        let mut lists = Vec::with_capacity(self.ids.len());
        searcher.search_many(&self.query.text, self.prepared, depth, &mut |_, hits| {
            lists.push(hits.to_vec());
        })?;
        Ok(lists)
    }

    fn document(&self, row: u32) -> &DocId {
        &self.evaluator.dataset.corpus.documents[row as usize].id
    }

    fn hits(
        &self,
        lists: &[Vec<ScoredDocument>],
        searcher: &mut Searcher<'_>,
    ) -> Result<Vec<HitRow>, SearchError> {
        let mut rows = Vec::new();
        for (position, (id, list)) in self.ids.iter().zip(lists).enumerate() {
            let shown = &list[..list.len().min(self.task.hits.get() as usize)];
            let found: Vec<u32> = shown.iter().map(|hit| hit.row).collect();
            let text = &self.query.text;
            let matched = searcher.matched_fields(text, self.prepared, position, &found)?;
            for ((rank, hit), fields) in (1..).zip(shown).zip(matched) {
                rows.push(HitRow {
                    candidate: id.clone(),
                    query: self.query.id.clone(),
                    rank,
                    document: self.document(hit.row).clone(),
                    score: hit.score,
                    grade: self.judged.grade(hit.row),
                    matched_fields: fields.into_iter().cloned().collect(),
                });
            }
        }
        Ok(rows)
    }

    fn relevant(&self, lists: &[Vec<ScoredDocument>]) -> Vec<RelevantRank> {
        let level = self.evaluator.settings.measurement.relevant_from;
        let grades = self.judged.grades().iter();
        let relevant: Vec<(u32, Grade)> = grades
            .copied()
            .filter(|&(_, grade)| grade >= level)
            .collect();
        let depth = self.task.rank_depth.get() as usize;
        let mut found = Vec::with_capacity(lists.len() * relevant.len());
        for (id, list) in self.ids.iter().zip(lists) {
            let mut ranks: Vec<Option<u32>> = vec![None; relevant.len()];
            for (rank, hit) in (1..).zip(list.iter().take(depth)) {
                // The rows of judged documents ascend.
                if let Ok(at) = relevant.binary_search_by_key(&hit.row, |&(row, _)| row) {
                    ranks[at] = Some(rank);
                }
            }
            for (&(row, grade), rank) in relevant.iter().zip(ranks) {
                found.push(RelevantRank {
                    candidate: id.clone(),
                    query: self.query.id.clone(),
                    document: self.document(row).clone(),
                    grade,
                    rank,
                });
            }
        }
        found
    }

    /// Adds what the lists give without their unjudged hits, and what judging these could change against the first list.
    fn unjudged(
        &self,
        lists: &[Vec<ScoredDocument>],
        out: &mut Examination,
    ) -> Result<(), MetricsError> {
        let query = UnjudgedQuery {
            measurement: &self.evaluator.settings.measurement,
            judgments: self
                .evaluator
                .dataset
                .judgments
                .query(self.query.id.as_str()),
        };
        let depth = query.measurement.depth.get() as usize;
        let top = |list: &Vec<ScoredDocument>| -> Vec<DocId> {
            let hits = list.iter().take(depth);
            hits.map(|hit| self.document(hit.row).clone()).collect()
        };
        let condensed =
            |list: &Vec<ScoredDocument>| self.judged.condensed(list.iter().map(|hit| hit.row));
        let mut candidates = self.ids.iter().zip(lists);
        let Some((first, baseline)) = candidates.next() else {
            return Ok(());
        };
        let metrics = query.measurement.metrics.len();
        out.condensed.push(CondensedRow {
            candidate: first.clone(),
            query: self.query.id.clone(),
            values: condensed(baseline),
            lowest: vec![None; metrics],
            highest: vec![None; metrics],
        });
        let baseline = top(baseline);
        for (id, list) in candidates {
            let pair = query.pair(&baseline, &top(list))?;
            self.add_pair(id, condensed(list), pair, out);
        }
        Ok(())
    }

    fn add_pair(
        &self,
        id: &CandidateId,
        values: Vec<f64>,
        pair: UnjudgedPair,
        out: &mut Examination,
    ) {
        let bounds = pair.bounds.iter();
        out.condensed.push(CondensedRow {
            candidate: id.clone(),
            query: self.query.id.clone(),
            values,
            lowest: bounds
                .clone()
                .map(|bounds| Some((*bounds)?.lowest))
                .collect(),
            highest: bounds.map(|bounds| Some((*bounds)?.highest)).collect(),
        });
        out.unjudged
            .extend(pair.documents.into_iter().map(|one| UnjudgedRow {
                candidate: id.clone(),
                query: self.query.id.clone(),
                document: one.document,
                baseline_rank: one.baseline_rank,
                candidate_rank: one.candidate_rank,
                swing: one.swing,
            }));
    }
}
