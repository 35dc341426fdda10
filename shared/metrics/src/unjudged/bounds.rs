//! The least and the largest difference of two rankings over all ways to judge what is unjudged.

use std::collections::BTreeMap;

use evalfarm_domain::{DcgGain, DocId, Gains, Grade, Measure, Metric, QueryJudgments};

use super::{Lists, UnjudgedQuery};
use crate::discount::discount;
use crate::ndcg::gain_of;

/// Ways to judge beyond which no bounds are searched: they take a few milliseconds a query. Three positive grades and
/// twenty unjudged documents have 1,771.
const MOST_WAYS: usize = 200_000;

/// The least and the largest difference of a metric over all ways to judge the unjudged documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgmentBounds {
    /// The least difference, candidate minus baseline.
    pub lowest: f64,
    /// The largest.
    pub highest: f64,
}

/// A metric's difference as a function of what the unjudged documents gain.
///
/// ```text
/// difference = (known + Σ_d gain_d · effect_d) / ideal(gains)
/// ```
///
/// `ideal` depends on how many documents gain what, not on which. So for given numbers the numerator, and with it the
/// difference, is extreme when the gains are ordered as the effects are (rearrangement inequality), and trying every
/// number of documents at every level of gain is exact. Top grade or none alone would not be: an ideal that is cut at k may
/// not rise with the first of equal grades.
struct Problem {
    known: f64,
    /// One for each unjudged document, the largest first.
    effects: Vec<f64>,
    /// Gains above 0 that a grade can have, the largest first.
    levels: Vec<f64>,
    ideal: Ideal,
}

/// The metrics that add gains up.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Ndcg(DcgGain),
    Precision,
    Recall,
}

enum Ideal {
    /// nDCG: the best k of these gains, the largest first, and of those that are given.
    Best { gains: Vec<f64>, cutoff: usize },
    /// R: so many relevant documents and those that are given.
    Count(f64),
    /// P: the cutoff, whatever is judged.
    Fixed(f64),
}

/// Returns the bounds, or nothing for a metric that does not add gains up or has too many grades to try.
pub(super) fn bounds(
    query: &UnjudgedQuery<'_>,
    lists: &Lists,
    holes: &[DocId],
    metric: Metric,
) -> Option<JudgmentBounds> {
    let problem = problem(query, lists, holes, metric)?;
    let (documents, levels) = (problem.effects.len(), problem.levels.len());
    if ways(documents, levels) > MOST_WAYS {
        return None;
    }
    let highest = problem.largest();
    let lowest = -problem.mirrored().largest();
    Some(JudgmentBounds { lowest, highest })
}

/// Number of ways to give `documents` at most one of `levels` each, by numbers alone: C(documents + levels, levels).
fn ways(documents: usize, levels: usize) -> usize {
    (1..=levels).fold(1_usize, |ways, level| {
        ways.saturating_mul(documents + level) / level
    })
}

fn problem(
    query: &UnjudgedQuery<'_>,
    lists: &Lists,
    holes: &[DocId],
    metric: Metric,
) -> Option<Problem> {
    let depth = query.measurement.depth;
    let cutoff = metric.cutoff().unwrap_or(depth).min(depth).get();
    let cutoff = usize::try_from(cutoff).unwrap_or(usize::MAX);
    let from = metric.relevant_from(query.measurement.relevant_from);
    let gains = &query.measurement.gains;
    let kind = match metric.measure() {
        Measure::Ndcg(gain) => Kind::Ndcg(gain),
        Measure::Precision => Kind::Precision,
        Measure::Recall => Kind::Recall,
        Measure::ReciprocalRank
        | Measure::AveragePrecision
        | Measure::Success
        | Measure::Err
        | Measure::Rbp(_)
        | Measure::Judged
        | Measure::RPrecision
        | Measure::ZeroResult
        | Measure::NumQ
        | Measure::NumRet
        | Measure::NumRel
        | Measure::NumRelRet => return None,
    };
    let worth = |grade: Grade| match kind {
        Kind::Ndcg(gain) => gain_of(gain, gains, grade).unwrap_or(0.0),
        Kind::Precision | Kind::Recall => f64::from(u8::from(grade >= from)),
    };
    let at_rank = |index: usize| match kind {
        Kind::Ndcg(_) => discount(index),
        Kind::Precision | Kind::Recall => 1.0,
    };
    let mut effect: BTreeMap<&DocId, f64> = BTreeMap::new();
    for (list, sign) in [(&lists.candidate, 1.0), (&lists.baseline, -1.0)] {
        for (index, document) in list.iter().take(cutoff).enumerate() {
            *effect.entry(document).or_default() += sign * at_rank(index);
        }
    }
    let grade = |id: &DocId| query.judgments.and_then(|judged| judged.grade(id.as_str()));
    let known = effect
        .iter()
        .filter_map(|(id, effect)| Some(worth(grade(id)?) * effect))
        .sum();
    let mut effects: Vec<f64> = holes
        .iter()
        .filter_map(|hole| effect.get(hole).copied())
        .collect();
    effects.sort_by(|a, b| b.total_cmp(a));
    let judged = query.judgments.into_iter().flat_map(QueryJudgments::iter);
    let mut gains: Vec<f64> = judged.map(|(_, grade)| worth(grade)).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    let mut levels: Vec<f64> = grades(query, metric)
        .map(worth)
        .chain(gains.iter().copied())
        .collect();
    levels.retain(|&gain| gain > 0.0);
    levels.sort_by(|a, b| b.total_cmp(a));
    levels.dedup();
    let ideal = match kind {
        Kind::Ndcg(_) => Ideal::Best { gains, cutoff },
        Kind::Precision => Ideal::Fixed(cutoff as f64),
        Kind::Recall => Ideal::Count(gains.iter().sum()),
    };
    Some(Problem {
        known,
        effects,
        levels,
        ideal,
    })
}

/// Returns the grades that a judge can give: those of an explicit gain map, or whole ones up to the top grade.
fn grades(query: &UnjudgedQuery<'_>, metric: Metric) -> impl Iterator<Item = Grade> {
    let top = query.measurement.top_grade;
    let declared = !matches!(metric.measure(), Measure::Ndcg(DcgGain::Exponential));
    let listed = match &query.measurement.gains {
        Gains::Map(map) if declared => map.entries().iter().map(|&(grade, _)| grade).collect(),
        Gains::Map(_) | Gains::Linear | Gains::Exponential => {
            let whole = (1_u8..=30).filter_map(|grade| Grade::try_from(f64::from(grade)).ok());
            whole.filter(|grade| *grade <= top).collect::<Vec<_>>()
        }
    };
    listed.into_iter().chain([top])
}

impl Problem {
    /// The problem with the sides exchanged.
    fn mirrored(self) -> Self {
        Self {
            known: -self.known,
            effects: self
                .effects
                .into_iter()
                .rev()
                .map(|effect| -effect)
                .collect(),
            ..self
        }
    }

    fn largest(&self) -> f64 {
        let mut before = 0.0;
        let mut sums = vec![0.0];
        for effect in &self.effects {
            before += effect;
            sums.push(before);
        }
        let mut counts = vec![0; self.levels.len()];
        let mut largest = f64::NEG_INFINITY;
        self.try_levels(0, 0, &sums, &mut counts, &mut largest);
        largest
    }

    /// Tries every number of documents at this level and the lower ones, `given` documents having more.
    fn try_levels(
        &self,
        level: usize,
        given: usize,
        sums: &[f64],
        counts: &mut Vec<usize>,
        largest: &mut f64,
    ) {
        if level == counts.len() {
            *largest = largest.max(self.difference(sums, counts));
            return;
        }
        for count in 0..sums.len() - given {
            counts[level] = count;
            self.try_levels(level + 1, given + count, sums, counts, largest);
        }
        counts[level] = 0;
    }

    /// Returns the difference when so many documents, those with the largest effects first, have each level.
    fn difference(&self, sums: &[f64], counts: &[usize]) -> f64 {
        let mut numerator = self.known;
        let mut start = 0;
        for (gain, count) in self.levels.iter().zip(counts) {
            numerator += gain * (sums[start + count] - sums[start]);
            start += count;
        }
        let ideal = match &self.ideal {
            Ideal::Best { gains, cutoff } => self.best(gains, counts, *cutoff),
            Ideal::Count(known) => known + start as f64,
            Ideal::Fixed(divisor) => *divisor,
        };
        if ideal > 0.0 { numerator / ideal } else { 0.0 }
    }

    /// Returns the DCG of the best ranking of the known gains and the given ones.
    fn best(&self, known: &[f64], counts: &[usize], cutoff: usize) -> f64 {
        let given = self.levels.iter().zip(counts);
        let mut given = given
            .flat_map(|(&gain, &count)| std::iter::repeat_n(gain, count))
            .peekable();
        let mut known = known.iter().copied().peekable();
        let mut sum = 0.0;
        for index in 0..cutoff {
            let next = match (known.peek(), given.peek()) {
                (Some(a), Some(b)) if a >= b => known.next(),
                (_, Some(_)) => given.next(),
                (_, None) => known.next(),
            };
            let Some(gain) = next else { break };
            sum += gain * discount(index);
        }
        sum
    }
}
