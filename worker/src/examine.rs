//! What was retrieved, and where the relevant documents are.

use evalfarm_domain::{Candidate, CandidateId, ExamineTask, Grade, Query};
use evalfarm_results::{HitRow, RelevantRank};
use evalfarm_retrieval::{Prepared, SearchError, Searcher};

use crate::evaluator::grade_of;
use crate::{EvaluateError, Evaluator};

/// What an examine task gives, queries in fold order and candidates in task order within them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Examination {
    /// The hits.
    pub hits: Vec<HitRow>,
    /// The ranks of relevant documents.
    pub relevant: Vec<RelevantRank>,
}

impl Evaluator<'_> {
    /// Returns the hits of each candidate and query, and the rank of every relevant document that the corpus has.
    pub fn examine(&self, task: &ExamineTask) -> Result<Examination, EvaluateError> {
        let queries = self.range(task.fold, task.first_query, task.query_count)?;
        let prepared = self
            .index
            .prepare(&task.candidates)
            .map_err(EvaluateError::Refused)?;
        let ids: Vec<CandidateId> = task.candidates.iter().map(Candidate::id).collect();
        let mut searcher = self.searcher();
        let mut examination = Examination::default();
        for query in queries {
            let one = ExaminedQuery {
                evaluator: self,
                query,
                grades: self.grades_by_row(query),
            };
            one.hits(task, &prepared, &ids, &mut searcher, &mut examination.hits)
                .and_then(|()| {
                    one.relevant(
                        task,
                        &prepared,
                        &ids,
                        &mut searcher,
                        &mut examination.relevant,
                    )
                })
                .map_err(|source| EvaluateError::Search {
                    query: query.id.clone(),
                    source,
                })?;
        }
        Ok(examination)
    }
}

struct ExaminedQuery<'a> {
    evaluator: &'a Evaluator<'a>,
    query: &'a Query,
    /// Judged documents as rows of the corpus, ascending.
    grades: Vec<(u32, Grade)>,
}

impl ExaminedQuery<'_> {
    fn hits(
        &self,
        task: &ExamineTask,
        prepared: &Prepared,
        ids: &[CandidateId],
        searcher: &mut Searcher<'_>,
        out: &mut Vec<HitRow>,
    ) -> Result<(), SearchError> {
        let text = &self.query.text;
        let mut lists = Vec::with_capacity(ids.len());
        searcher.search_many(text, prepared, task.hits.get() as usize, &mut |_, hits| {
            lists.push(hits.to_vec());
        })?;
        for (position, (id, list)) in ids.iter().zip(&lists).enumerate() {
            let rows: Vec<u32> = list.iter().map(|hit| hit.row).collect();
            let matched = searcher.matched_fields(text, prepared, position, &rows)?;
            for ((rank, hit), fields) in (1..).zip(list).zip(matched) {
                let documents = &self.evaluator.dataset.corpus.documents;
                out.push(HitRow {
                    candidate: id.clone(),
                    query: self.query.id.clone(),
                    rank,
                    document: documents[hit.row as usize].id.clone(),
                    score: hit.score,
                    grade: grade_of(&self.grades, hit.row),
                    matched_fields: fields.into_iter().cloned().collect(),
                });
            }
        }
        Ok(())
    }

    fn relevant(
        &self,
        task: &ExamineTask,
        prepared: &Prepared,
        ids: &[CandidateId],
        searcher: &mut Searcher<'_>,
        out: &mut Vec<RelevantRank>,
    ) -> Result<(), SearchError> {
        let level = self.evaluator.settings.measurement.relevant_from;
        let relevant: Vec<(u32, Grade)> = self
            .grades
            .iter()
            .copied()
            .filter(|&(_, grade)| grade >= level)
            .collect();
        let rows: Vec<u32> = relevant.iter().map(|&(row, _)| row).collect();
        let depth = task.rank_depth.get() as usize;
        let ranks = searcher.ranks_of(&self.query.text, prepared, &rows, depth)?;
        for (id, ranks) in ids.iter().zip(ranks) {
            for (&(row, grade), rank) in relevant.iter().zip(ranks) {
                let documents = &self.evaluator.dataset.corpus.documents;
                out.push(RelevantRank {
                    candidate: id.clone(),
                    query: self.query.id.clone(),
                    document: documents[row as usize].id.clone(),
                    grade,
                    rank: rank.map(std::num::NonZeroU32::get),
                });
            }
        }
        Ok(())
    }
}
