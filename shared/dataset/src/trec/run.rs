//! Runs: `query Q0 document rank score tag`, the rankings that a system returned.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use evalfarm_domain::{DocId, QueryId};

use crate::InputError;
use crate::fault::{Fault, shorten};
use crate::source::Lines;

/// What decides the order of a run's hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Score descending, then document id bytes descending, whatever the ranks say: `trec_eval`'s rule.
    #[default]
    Score,
    /// The file's ranks ascending, which must then be at least 1 and different within a query.
    Rank,
}

/// What to do with a document that is in one ranking twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dedupe {
    /// It is an error.
    #[default]
    Refuse,
    /// The document keeps its first place in the order; the others are dropped and counted.
    First,
}

/// How a run is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// What decides the order.
    pub order: Order,
    /// What to do with repeated documents.
    pub dedupe: Dedupe,
}

/// A document of a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHit {
    /// The document.
    pub document: DocId,
    /// The score in the file; finite, and never -0.0.
    pub score: f64,
    /// The rank in the file, which need not be the place in the list.
    pub rank: i64,
}

/// The rankings of one run file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Hits of each query in the order asked for; a query without hits does not occur.
    pub queries: BTreeMap<QueryId, Vec<RunHit>>,
    /// The tag of the first line: what the run calls itself.
    pub tag: String,
    /// What decided the order.
    pub order: Order,
    /// Hits dropped because their document was already in the ranking.
    pub duplicates_dropped: u64,
}

/// How far ties decide a run.
///
/// Scores of low precision make ties that the engine did not see, so a high rate says that the order within them is this
/// project's rule rather than the engine's opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TieReport {
    /// Queries with hits.
    pub queries: u64,
    /// Queries whose hits at ranks `cut` and `cut + 1` have the same score: which of them counts is the tie rule's doing.
    pub queries_across_cut: u64,
    /// Hits.
    pub hits: u64,
    /// Hits whose score another hit of the same query has too.
    pub tied_hits: u64,
}

impl TieReport {
    /// Returns the share of hits whose score another hit of the query has too; 0 for an empty run.
    pub fn tied_share(&self) -> f64 {
        if self.hits == 0 {
            0.0
        } else {
            self.tied_hits as f64 / self.hits as f64
        }
    }
}

impl Run {
    /// Counts ties, and the queries that a tie at `cut` decides. With trusted ranks nothing is decided by ties, and the
    /// report still says how many scores are equal.
    pub fn ties_at(&self, cut: NonZeroUsize) -> TieReport {
        let mut report = TieReport {
            queries: self.queries.len() as u64,
            queries_across_cut: 0,
            hits: 0,
            tied_hits: 0,
        };
        for hits in self.queries.values() {
            report.hits += hits.len() as u64;
            let same = |pair: &[RunHit]| pair[0].score.total_cmp(&pair[1].score) == Ordering::Equal;
            if hits.get(cut.get() - 1..=cut.get()).is_some_and(same) {
                report.queries_across_cut += 1;
            }
            let mut scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
            scores.sort_unstable_by(f64::total_cmp);
            let groups = scores.chunk_by(|a, b| a.total_cmp(b) == Ordering::Equal);
            let tied = groups.map(<[f64]>::len).filter(|&len| len > 1);
            report.tied_hits += tied.sum::<usize>() as u64;
        }
        report
    }
}

/// A hit and the line it came from.
struct Read {
    hit: RunHit,
    line: u64,
}

/// Reads a run, gzipped or not. Lines of one query need not stand together.
///
/// A line has at least six columns; what follows the tag belongs to the tag. A document twice in one ranking is an error
/// unless `options.dedupe` says otherwise.
pub fn read_run(path: &Path, options: RunOptions) -> Result<Run, InputError> {
    let mut lines = Lines::open(path)?;
    let mut read: BTreeMap<QueryId, Vec<Read>> = BTreeMap::new();
    let mut tag = None;
    while let Some((number, line)) = lines.next()? {
        let (query, hit, of_line) =
            parse(line, options.order).map_err(|fault| InputError::line(path, number, fault))?;
        tag.get_or_insert_with(|| of_line.to_owned());
        let hit = Read { hit, line: number };
        if let Some(hits) = read.get_mut(query) {
            hits.push(hit);
        } else {
            let id =
                QueryId::try_from(query).map_err(|error| InputError::line(path, number, error))?;
            read.insert(id, vec![hit]);
        }
    }
    let Some(tag) = tag else {
        return Err(InputError::file(path, Fault::Empty { what: "hit" }));
    };
    let mut faults = Vec::new();
    let mut run = Run {
        queries: BTreeMap::new(),
        tag,
        order: options.order,
        duplicates_dropped: 0,
    };
    for (query, hits) in read {
        match settle(&query, hits, options) {
            Ok((hits, dropped)) => {
                run.duplicates_dropped += dropped;
                run.queries.insert(query, hits);
            }
            Err(fault) => faults.push(fault),
        }
    }
    match faults.into_iter().min_by_key(|&(line, _)| line) {
        Some((line, fault)) => Err(InputError::line(path, line, fault)),
        None => Ok(run),
    }
}

/// Reads one line into its query, its hit and its tag.
fn parse(line: &str, order: Order) -> Result<(&str, RunHit, &str), Fault> {
    let mut columns = line.split_ascii_whitespace();
    let (Some(query), Some(_), Some(document), Some(rank), Some(score), Some(tag)) = (
        columns.next(),
        columns.next(),
        columns.next(),
        columns.next(),
        columns.next(),
        columns.next(),
    ) else {
        return Err(Fault::ColumnCount {
            text: shorten(line),
            found: line.split_ascii_whitespace().count(),
            expected: "at least 6: `query Q0 document rank score tag`",
        });
    };
    let rank: i64 = rank.parse().map_err(|_| Fault::Rank {
        value: shorten(rank),
    })?;
    if order == Order::Rank && rank < 1 {
        return Err(Fault::RankBelowOne { rank });
    }
    let score = score
        .parse::<f64>()
        .ok()
        .filter(|score| score.is_finite())
        .ok_or_else(|| Fault::Score {
            value: shorten(score),
        })?;
    let hit = RunHit {
        document: DocId::try_from(document)?,
        score: score + 0.0, // -0.0 becomes 0.0, which it equals
        rank,
    };
    Ok((query, hit, tag))
}

/// Puts the hits of one query in order and looks for repetitions. Returns the hits and how many were dropped, or the
/// line and the fault that comes first in the file.
fn settle(
    query: &QueryId,
    mut hits: Vec<Read>,
    options: RunOptions,
) -> Result<(Vec<RunHit>, u64), (u64, Fault)> {
    // The reading order breaks ties here only between lines that are equal in every respect.
    hits.sort_by(|a, b| compare(&a.hit, &b.hit, options.order).then(a.line.cmp(&b.line)));
    let mut fault = None;
    if options.order == Order::Rank {
        let same = hits
            .windows(2)
            .filter(|pair| pair[0].hit.rank == pair[1].hit.rank);
        fault = same
            .map(|pair| {
                (
                    pair[0].line.min(pair[1].line),
                    &pair[0].hit,
                    pair[0].line.max(pair[1].line),
                )
            })
            .min_by_key(|&(_, _, line)| line)
            .map(|(first_line, hit, line)| {
                let (query, rank) = (query.clone(), hit.rank);
                (
                    line,
                    Fault::RankTwice {
                        query,
                        rank,
                        first_line,
                    },
                )
            });
    }
    let mut repeated = vec![false; hits.len()];
    let mut by_document: Vec<usize> = (0..hits.len()).collect();
    by_document.sort_by(|&a, &b| {
        hits[a]
            .hit
            .document
            .cmp(&hits[b].hit.document)
            .then(a.cmp(&b))
    });
    for same in by_document.chunk_by(|&a, &b| hits[a].hit.document == hits[b].hit.document) {
        for &place in same.iter().skip(1) {
            repeated[place] = true;
        }
        if same.len() > 1 && options.dedupe == Dedupe::Refuse {
            let mut lines: Vec<u64> = same.iter().map(|&place| hits[place].line).collect();
            lines.sort_unstable();
            if fault.as_ref().is_none_or(|&(line, _)| lines[1] < line) {
                let document = hits[same[0]].hit.document.clone();
                let (query, first_line) = (query.clone(), lines[0]);
                fault = Some((
                    lines[1],
                    Fault::DocumentTwice {
                        query,
                        document,
                        first_line,
                    },
                ));
            }
        }
    }
    if let Some(fault) = fault {
        return Err(fault);
    }
    let dropped = repeated.iter().filter(|&&repeated| repeated).count() as u64;
    let kept = hits
        .into_iter()
        .zip(repeated)
        .filter(|(_, repeated)| !repeated);
    Ok((kept.map(|(read, _)| read.hit).collect(), dropped))
}

fn compare(a: &RunHit, b: &RunHit, order: Order) -> Ordering {
    match order {
        Order::Score => b
            .score
            .total_cmp(&a.score)
            .then_with(|| b.document.as_str().cmp(a.document.as_str())),
        Order::Rank => a.rank.cmp(&b.rank),
    }
}
