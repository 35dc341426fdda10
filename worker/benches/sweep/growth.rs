//! How time and memory grow with products and candidates.

use std::fs;
use std::time::Instant;

use evalfarm_domain::{Candidate, Combine, EvaluateTask, Fold};
use evalfarm_worker::{Evaluator, MeasuredQuery, Stop};

use crate::clock::Clock;
use crate::collection::{Collection, generated};
use crate::{Outcome, data, note, ours};

/// Queries of every catalogue.
const QUERIES: u32 = 1_400;

/// Candidates that are evaluated at a time where only means are kept.
const BATCH: usize = 2_000;

/// Most candidates of which every value is kept.
const MOST_KEPT: usize = 20_000;

/// Prints the table for catalogues of up to `most` products.
pub(crate) fn print(most: u32) -> Outcome<()> {
    data(
        "| products | candidates | time, 1 thread | ns a query and further candidate | memory beyond the index |",
    )?;
    data("|---|---|---|---|---|")?;
    for products in [20_000, 200_000, 1_000_000] {
        if products > most {
            break;
        }
        let start = Instant::now();
        let collection = generated(products, QUERIES)?;
        note(&format!(
            "{products} products made in {:.0} s",
            start.elapsed().as_secs_f64()
        ))?;
        let mut before: Option<(usize, f64)> = None;
        for count in [10, 218, 2_000, 20_000, 100_000] {
            let (seconds, memory) = measure(&collection, count)?;
            let further = before.map(|(fewer, earlier)| {
                let pairs = (count - fewer) as f64 * f64::from(QUERIES);
                format!("{:.1}", (seconds - earlier) * 1e9 / pairs)
            });
            data(&format!(
                "| {products} | {count} | {:.3} s | {} | {memory} MB |",
                seconds,
                further.unwrap_or_default(),
            ))?;
            before = Some((count, seconds));
        }
    }
    Ok(())
}

/// Returns the least time of several sweeps, and by how much the process grew in the first, in megabytes.
fn measure(collection: &Collection, count: usize) -> Outcome<(f64, u64)> {
    let candidates = collection.candidates(count, Combine::best_fields(0.0)?)?;
    let repetitions = if count > BATCH { 1 } else { 3 };
    let mut least = f64::MAX;
    let mut memory = 0;
    for repetition in 0..repetitions {
        let before = reset_peak()?;
        let evaluator = ours::evaluator(collection)?;
        let clock = Clock::start();
        if count <= MOST_KEPT {
            std::hint::black_box(keep(collection, &evaluator, &candidates)?);
        } else {
            std::hint::black_box(means(collection, &evaluator, &candidates)?);
        }
        least = least.min(clock.ran().as_secs_f64());
        if repetition == 0 {
            memory = peak()?.saturating_sub(before) / 1024;
        }
    }
    Ok((least, memory))
}

fn task(collection: &Collection, candidates: &[Candidate]) -> EvaluateTask {
    EvaluateTask {
        job: collection.settings.job.clone(),
        fold: Fold::All,
        first_query: 0,
        query_count: collection.queries(),
        candidates: candidates.into(),
    }
}

/// Evaluates everything and keeps every value.
fn keep<'a>(
    collection: &Collection,
    evaluator: &Evaluator<'a>,
    candidates: &[Candidate],
) -> Outcome<Vec<MeasuredQuery<'a>>> {
    Ok(evaluator.measure(&task(collection, candidates), &Stop::never())?)
}

/// Evaluates some candidates at a time and keeps the means of each.
fn means(
    collection: &Collection,
    evaluator: &Evaluator<'_>,
    candidates: &[Candidate],
) -> Outcome<Vec<f64>> {
    let mut means = Vec::new();
    for batch in candidates.chunks(BATCH) {
        let measured = evaluator.measure(&task(collection, batch), &Stop::never())?;
        for position in 0..batch.len() {
            let mut sums = [0.0; 4];
            for query in &measured {
                for (sum, value) in sums.iter_mut().zip(query.values(position)) {
                    *sum += value.unwrap_or(0.0);
                }
            }
            means.extend(sums.map(|sum| sum / f64::from(collection.queries())));
        }
    }
    Ok(means)
}

/// Forgets the largest size so far and returns the present one, in kilobytes.
fn reset_peak() -> Outcome<u64> {
    fs::write("/proc/self/clear_refs", "5")?;
    status("VmRSS:")
}

/// Returns the largest size since then, in kilobytes.
fn peak() -> Outcome<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .ok_or("the system does not tell how much memory is used")?
        .parse()?)
}
