//! Where the per-field scores of a query come from.

use super::essential::Bar;
use super::field_top::relaxed;
use super::{Margin, Needs};
use crate::field_lists::{FieldList, FieldLists};
use crate::matrix::ABSENT;
use crate::terms::Posting;

/// The fields that are needed, in column order.
pub(super) struct Sources<'a> {
    fields: Vec<Source<'a>>,
    factor: f32,
    /// Documents of the corpus.
    documents: u32,
}

/// One field of a query.
pub(super) enum Source<'a> {
    /// The scores of all documents are at hand.
    Whole(FieldList<'a>),
    /// Only those of documents that can be among the field's best are; others are added up when they are asked for.
    Best {
        rows: Vec<u32>,
        scores: Vec<f32>,
        postings: Vec<&'a Posting>,
    },
}

impl<'a> Sources<'a> {
    /// Finds the best documents of each field that is needed.
    pub(super) fn new(lists: &'a mut FieldLists, needs: &Needs, margin: Margin) -> Self {
        let matches = |&&column: &&usize| lists.postings(column).next().is_some();
        let matched = needs.columns.iter().filter(matches).count();
        let factor = relaxed(needs.tie_breaker, matched);
        let bar = Bar {
            depth: needs.depth,
            factor,
            margin,
        };
        let best: Vec<_> = needs
            .columns
            .iter()
            .map(|&column| best(lists, column, bar))
            .collect();
        let lists = &*lists;
        let source = |(&column, best)| match best {
            None => Source::Whole(lists.list(column)),
            Some((rows, scores)) => Source::Best {
                rows,
                scores,
                postings: lists.postings(column).collect(),
            },
        };
        Self {
            fields: needs.columns.iter().zip(best).map(source).collect(),
            factor,
            documents: lists.documents(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Source<'a>> {
        self.fields.iter()
    }

    /// Puts rows into the tie order, each once.
    pub(super) fn order(&self, rows: &mut Vec<u32>) {
        let words = self.documents.div_ceil(64) as usize;
        if rows.len() < words / 8 {
            rows.sort_unstable_by(|one, other| other.cmp(one));
            rows.dedup();
            return;
        }
        // Many rows: a bit for each document of the corpus is shorter than sorting.
        let mut bits = vec![0_u64; words];
        for row in rows.drain(..) {
            bits[row as usize / 64] |= 1 << (row % 64);
        }
        let mut first = u32::try_from(words * 64).expect("a corpus has fewer than 2^31 documents");
        for mut bits in bits.into_iter().rev() {
            first -= 64;
            while bits != 0 {
                let bit = bits.ilog2();
                bits ^= 1 << bit;
                rows.push(first + bit);
            }
        }
    }

    /// Returns by how much a document's other fields can raise its score above that of its best field.
    pub(super) fn factor(&self) -> f32 {
        self.factor
    }
}

/// Returns the documents that can be among a field's best, by ascending row, with their scores; nothing when the whole list is
/// at hand instead.
fn best(lists: &mut FieldLists, column: usize, bar: Bar) -> Option<(Vec<u32>, Vec<f32>)> {
    let postings: Vec<&Posting> = lists.postings(column).collect();
    let Some(least) = bar.least(&postings) else {
        lists.merge(column);
        return None;
    };
    if let [posting] = postings[..] {
        return Some(bar.of_one(posting, least));
    }
    if let Some(mut rows) = bar.rows(&postings, least) {
        rows.reverse();
        let mut scores = add_up(&postings, &rows);
        rows.reverse();
        scores.reverse();
        return Some((rows, scores));
    }
    if bar.factor > 1.0 {
        // Most documents are looked at again, which a list at hand makes cheaper.
        lists.merge(column);
        return None;
    }
    Some(lists.with_sums(column, |postings, sums| bar.sums(postings, least, sums)))
}

impl Source<'_> {
    /// Returns the scores of some documents, among them all that can be among the field's best.
    pub(super) fn best(&self) -> FieldList<'_> {
        match self {
            Self::Whole(list) => *list,
            Self::Best { rows, scores, .. } => FieldList { rows, scores },
        }
    }

    /// Returns the score of each of `rows`, which descend; [`ABSENT`] where a document has no term of the query in the field.
    pub(super) fn scores_of(&self, rows: &[u32]) -> Vec<f32> {
        match self {
            Self::Whole(list) => {
                let mut scores = vec![ABSENT; rows.len()];
                look_up(list.rows, rows, |at, found| scores[at] = list.scores[found]);
                scores
            }
            Self::Best { postings, .. } => add_up(postings, rows),
        }
    }
}

/// Returns the score of each of `rows`, which descend: the sums that [`FieldLists`] would have.
fn add_up(postings: &[&Posting], rows: &[u32]) -> Vec<f32> {
    let mut sums = vec![f64::from(ABSENT); rows.len()];
    for posting in postings {
        look_up(&posting.rows, rows, |at, found| {
            sums[at] = sums[at].max(0.0) + f64::from(posting.scores[found]);
        });
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Lucene rounds a sum to f32"
    )]
    sums.iter().map(|&sum| sum as f32).collect()
}

/// Calls `visit` with the position of each of `wanted`, which descend, that is in `list`, which ascends, and its position
/// there.
///
/// Each search starts where the one before ended and doubles its steps, so that few rows in a long list and many in a short one
/// both take few.
fn look_up(list: &[u32], wanted: &[u32], mut visit: impl FnMut(usize, usize)) {
    let mut end = list.len();
    for (at, &row) in wanted.iter().enumerate() {
        let mut step = 1;
        while end > 0 {
            let low = end.saturating_sub(step);
            if list[low] <= row {
                end = low + list[low..end].partition_point(|&other| other <= row);
                break;
            }
            end = low;
            step *= 2;
        }
        match end.checked_sub(1) {
            Some(found) if list[found] == row => visit(at, found),
            Some(_) => {}
            None => break,
        }
    }
}
