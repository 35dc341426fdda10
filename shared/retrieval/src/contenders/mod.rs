//! The few documents of a query that can enter a candidate's top k, whatever its weights.
//!
//! The rules and why they hold in f32 are in docs/performance.md.

mod dominance;
mod essential;
mod field_top;
mod margin;
mod sources;
#[cfg(test)]
pub(crate) mod tests;

use dominance::beaten;
use field_top::{KthBest, pick, relaxed};
pub(crate) use margin::Margin;
use sources::Sources;

use crate::field_lists::FieldLists;
use crate::matrix::ABSENT;

/// What a set of candidates asks of pruning.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Needs {
    /// The columns that a candidate searches, ascending.
    pub(crate) columns: Box<[usize]>,
    /// The largest tie breaker; 0 when every candidate takes the plain maximum, 1 for a sum.
    pub(crate) tie_breaker: f32,
    /// Hits asked for.
    pub(crate) depth: usize,
}

impl Needs {
    /// Whether what satisfies these needs satisfies `others` as well.
    pub(crate) fn cover(&self, others: &Self) -> bool {
        let known = |column| self.columns.binary_search(column).is_ok();
        self.tie_breaker >= others.tie_breaker
            && self.depth >= others.depth
            && others.columns.iter().all(known)
    }
}

/// The documents of a query that can be among the best `depth` of a candidate, with their per-field scores.
///
/// Documents are by descending row: in the tie order. A position is an index into them.
#[derive(Debug)]
pub(crate) struct Contenders {
    needs: Needs,
    rows: Box<[u32]>,
    /// Where each document's cells start, and the end of the last.
    starts: Box<[u32]>,
    /// The column and score of each field in which a document has a posting.
    cells: Box<[(u32, f32)]>,
    /// The cells of a document that would be the best in every field.
    greatest: Box<[(u32, f32)]>,
}

impl Contenders {
    /// Finds the contenders of a query.
    pub(crate) fn find(lists: &mut FieldLists, needs: Needs, margin: Margin) -> Self {
        let sources = Sources::new(lists, &needs, margin);
        let mut table = if needs.tie_breaker > 0.0 {
            relaxed_table(&sources, &needs, margin)
        } else {
            Table::gather(&sources, union_of_tops(&sources, &needs, margin))
        };
        let beaten = beaten(&table, needs.depth, margin);
        table.retain(|position| !beaten[position]);
        Self::pack(needs, &table)
    }

    fn pack(needs: Needs, table: &Table) -> Self {
        let documents = table.rows.len();
        let column_of =
            |&column: &usize| u32::try_from(column).expect("a corpus has fewer than 2^32 fields");
        let columns: Vec<u32> = needs.columns.iter().map(column_of).collect();
        let mut starts = Vec::with_capacity(documents + 1);
        starts.push(0);
        let mut cells = Vec::with_capacity(documents * columns.len());
        for position in 0..documents {
            let scores = table.scores.iter().map(|scores| scores[position]);
            let found = columns.iter().copied().zip(scores);
            cells.extend(found.filter(|&(_, score)| score >= 0.0));
            starts
                .push(u32::try_from(cells.len()).expect("cells are fewer than rows times fields"));
        }
        let greatest = columns.iter().copied().zip(table.greatest());
        Self {
            needs,
            rows: table.rows.as_slice().into(),
            starts: starts.into(),
            cells: cells.into(),
            greatest: greatest.filter(|&(_, score)| score >= 0.0).collect(),
        }
    }

    /// What the contenders are good for.
    pub(crate) fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Returns the rows, descending.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the column and score of each field in which a document has a posting.
    pub(crate) fn cells(&self, position: usize) -> &[(u32, f32)] {
        let [start, end] = [position, position + 1].map(|at| self.starts[at] as usize);
        &self.cells[start..end]
    }

    /// Returns the column and greatest score of each field in which a document has a posting.
    pub(crate) fn greatest(&self) -> &[(u32, f32)] {
        &self.greatest
    }

    /// Returns the memory that the contenders take.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.greatest)
            + size_of_val(&*self.needs.columns)
            + size_of_val(&*self.rows)
            + size_of_val(&*self.starts)
            + size_of_val(&*self.cells)
    }
}

/// Documents with their score in each of the needed columns, [`ABSENT`] where they have no posting.
pub(super) struct Table {
    rows: Vec<u32>,
    scores: Vec<Vec<f32>>,
}

impl Table {
    /// Looks up the scores of `rows`, in any order and with repetitions.
    fn gather(sources: &Sources<'_>, mut rows: Vec<u32>) -> Self {
        sources.order(&mut rows);
        let scores = sources.iter().map(|source| source.scores_of(&rows));
        Self {
            scores: scores.collect(),
            rows,
        }
    }

    /// Returns the greatest score of each column, [`ABSENT`] where there is none.
    fn greatest(&self) -> impl Iterator<Item = f32> {
        let columns = self.scores.iter();
        columns.map(|scores| scores.iter().copied().fold(ABSENT, f32::max))
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        retain(&mut self.rows, &keep);
        for scores in &mut self.scores {
            retain(scores, &keep);
        }
    }
}

fn retain<T>(items: &mut Vec<T>, keep: &impl Fn(usize) -> bool) {
    let mut positions = 0..;
    items.retain(|_| positions.next().is_some_and(keep));
}

/// Returns the rows of each field's own top k: what a plain maximum can bring into the top k.
fn union_of_tops(sources: &Sources<'_>, needs: &Needs, margin: Margin) -> Vec<u32> {
    let mut kth = KthBest::new(needs.depth);
    let mut rows = Vec::new();
    for source in sources.iter() {
        kth.pick_top(source.best(), margin, &mut rows);
    }
    rows
}

/// Returns the documents that k others do not surpass in the field that is best for them, allowing for what their other fields
/// can add.
fn relaxed_table(sources: &Sources<'_>, needs: &Needs, margin: Margin) -> Table {
    let mut best = KthBest::new(needs.depth);
    let kth = sources.iter().map(|source| best.of(source.best().scores));
    let kth: Vec<f32> = kth.collect();
    let mut rows = Vec::new();
    for (source, &kth) in sources.iter().zip(&kth) {
        let keep = |score| margin.raised(score * sources.factor()) > kth;
        pick(source.best(), keep, &mut rows);
    }
    let mut table = Table::gather(sources, rows);
    // Most documents match fewer fields than the query does.
    let keep = |position: usize| {
        let matched = || {
            table
                .scores
                .iter()
                .zip(&kth)
                .filter(|(s, _)| s[position] >= 0.0)
        };
        let factor = relaxed(needs.tie_breaker, matched().count());
        matched().any(|(scores, &kth)| margin.raised(scores[position] * factor) > kth)
    };
    let kept: Vec<bool> = (0..table.rows.len()).map(keep).collect();
    table.retain(|position| kept[position]);
    table
}
