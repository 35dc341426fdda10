//! Judgments as they are collected from a file: repetition is a warning, contradiction an error.

use std::collections::BTreeMap;

use evalfarm_domain::{DocId, Grade, Judgments, QueryId};

use crate::near::near_collision_warning;
use crate::{Fault, Warning};

/// Collects judgments with the line or row of each.
#[derive(Debug, Default)]
pub(crate) struct JudgmentsBuilder {
    seen: BTreeMap<QueryId, BTreeMap<DocId, (Grade, u64)>>,
    count: u64,
    repeated: u64,
    first_repeated: u64,
}

impl JudgmentsBuilder {
    /// Records the judgment of line or row `position`.
    pub(crate) fn add(
        &mut self,
        query: QueryId,
        document: DocId,
        grade: Grade,
        position: u64,
    ) -> Result<(), Fault> {
        let of_query = self.seen.entry(query.clone()).or_default();
        match of_query.get(&document) {
            None => {
                of_query.insert(document, (grade, position));
                self.count += 1;
            }
            Some(&(first_grade, first_line)) if first_grade != grade => {
                return Err(Fault::ConflictingJudgment {
                    query,
                    document,
                    grade: grade.to_string(),
                    first_grade: first_grade.to_string(),
                    first_line,
                });
            }
            Some(_) => {
                if self.repeated == 0 {
                    self.first_repeated = position;
                }
                self.repeated += 1;
            }
        }
        Ok(())
    }

    /// Returns the judgments, the number of judged pairs, and the warnings.
    pub(crate) fn finish(self) -> (Judgments, u64, Vec<Warning>) {
        let mut warnings = Vec::new();
        if self.repeated > 0 {
            warnings.push(Warning::RepeatedJudgments {
                count: self.repeated,
                first: self.first_repeated,
            });
        }
        let queries = self.seen.keys().map(QueryId::as_str);
        warnings.extend(near_collision_warning("query", queries));
        let documents = self.seen.values().flat_map(BTreeMap::keys);
        warnings.extend(near_collision_warning(
            "document",
            documents.map(DocId::as_str),
        ));
        let mut judgments = Judgments::default();
        for (query, documents) in self.seen {
            for (document, (grade, _)) in documents {
                judgments.insert(query.clone(), document, grade);
            }
        }
        (judgments, self.count, warnings)
    }
}
