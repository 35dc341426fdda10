//! Complete grades.

use evalfarm_domain::{Corpus, Grade, Judgments, Query};

/// The grade of every document for every query; what is not listed is 0.
///
/// Kept as row numbers, five bytes for a relevant pair, because a large catalogue has tens of millions of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    queries: Vec<Relevant>,
}

/// The relevant documents of one query, rows ascending, each with a grade of 1 to 3.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Relevant {
    rows: Box<[u32]>,
    grades: Box<[u8]>,
}

impl Relevant {
    /// Collects rows, which must ascend, and their grades.
    pub(crate) fn new(pairs: &[(u32, u8)]) -> Self {
        Self {
            rows: pairs.iter().map(|&(row, _)| row).collect(),
            grades: pairs.iter().map(|&(_, grade)| grade).collect(),
        }
    }
}

impl Truth {
    /// Wraps the relevant documents of every query.
    pub(crate) fn new(queries: Vec<Relevant>) -> Self {
        Self { queries }
    }

    /// Returns the grade of a document for a query: positions in the generated queries and documents.
    ///
    /// A position that does not exist has the grade 0.
    pub fn grade(&self, query: usize, document: usize) -> Grade {
        let found = self.queries.get(query).and_then(|relevant| {
            let row = u32::try_from(document).ok()?;
            let place = relevant.rows.binary_search(&row).ok()?;
            relevant.grades.get(place).copied()
        });
        grade(found.unwrap_or(0))
    }

    /// Returns the documents of grade 1 or more for a query as (position in the documents, grade), by position.
    pub fn relevant(&self, query: usize) -> impl Iterator<Item = (usize, Grade)> + '_ {
        self.queries.get(query).into_iter().flat_map(|relevant| {
            let rows = relevant.rows.iter().map(|&row| row as usize);
            rows.zip(relevant.grades.iter().map(|&level| grade(level)))
        })
    }

    /// Returns the number of pairs of grade 1 or more.
    pub fn relevant_pairs(&self) -> usize {
        self.queries
            .iter()
            .map(|relevant| relevant.rows.len())
            .sum()
    }

    /// Returns the pairs of grade 1 or more as judgments of the queries and documents they were generated with.
    ///
    /// Meant for catalogues of ordinary size: each pair takes some eighty bytes.
    pub fn to_judgments(&self, corpus: &Corpus, queries: &[Query]) -> Judgments {
        let mut judgments = Judgments::default();
        for (position, query) in queries.iter().enumerate() {
            for (row, grade) in self.relevant(position) {
                if let Some(document) = corpus.documents.get(row) {
                    judgments.insert(query.id.clone(), document.id.clone(), grade);
                }
            }
        }
        judgments
    }
}

/// Returns a grade of 0 to 3 as the domain's type.
pub(crate) fn grade(level: u8) -> Grade {
    Grade::try_from(f64::from(level)).expect("a grade of at most 255 is checked to be at most 3")
}
