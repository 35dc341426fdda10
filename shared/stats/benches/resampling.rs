//! Intervals and p-values of a whole sweep, beside `NumPy` and beside the bare matrix products.
//!
//! ```text
//! cargo bench -p evalfarm-stats --bench resampling
//! ```
//!
//! prints, from one run on all cores, for 218 candidates × 4 metrics × 1,400 queries × 10,000 resamples:
//!
//! * `ratio resampling-vs-numpy`: the third document's procedure in `NumPy`, timed on a few of the 872 comparisons and scaled
//!   to all, over our time. At least 150.
//! * `ratio resampling-vs-gemm`: our time over two plain f64 products of the same shapes with the same library and threads.
//!   At most 2.
//! * `peak-memory-mb`: the process's peak of resident memory after our run and before the products. At most 400.
//!
//! Every query changes for every candidate and no two candidates are equal, so that nothing can be skipped: the worst case.
//! A second pair of lines times a family as sweeps have it. `EVALFARM_PYTHON` names the Python that has `NumPy`; without it
//! the virtual environment that `tests/all.sh` installs is used, and without that the first ratio is left out.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark talks to whoever started it"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot run has nothing to recover"
)]

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use evalfarm_stats::{
    Confidence, Design, GridDifferences, PairedDifferences, Resamples, ResamplingPlan, swapped_rows,
};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

const CANDIDATES: usize = 218;
const METRICS: usize = 4;
const COLUMNS: usize = CANDIDATES * METRICS;
const QUERIES: usize = 1_400;
const RESAMPLES: u32 = 10_000;

/// Comparisons that `NumPy` is timed on.
const SAMPLE: usize = 6;

/// Times that each side is run; the fastest counts, and they take turns.
const ROUNDS: usize = 3;

fn main() {
    let plan = plan();
    let dense = family(&plan, |random, _, _| Some(uniform(random) - 0.5));
    let mut ours = f64::INFINITY;
    let mut products = f64::INFINITY;
    let mut peak = None;
    for round in 0..ROUNDS {
        ours = ours.min(seconds(|| resample(&plan, &dense)));
        if round == 0 {
            peak = peak_memory_mb();
        }
        products = products.min(two_products());
    }
    println!("threads {}", rayon::current_num_threads());
    println!("seconds resampling {ours:.3}");
    println!("seconds two-products {products:.3}");
    println!("ratio resampling-vs-gemm {:.2}", ours / products);
    if let Some(peak) = peak {
        println!("peak-memory-mb {peak:.0}");
    }
    let sparse = usual_sweep(&plan);
    let sweep = (0..ROUNDS)
        .map(|_| seconds(|| resample(&plan, &sparse)))
        .fold(f64::INFINITY, f64::min);
    println!("seconds resampling-of-a-usual-sweep {sweep:.3}");
    match numpy_seconds() {
        Some((version, comparison)) => {
            let whole = comparison * COLUMNS as f64;
            println!("seconds numpy-{version} {whole:.1} (from {SAMPLE} of {COLUMNS} comparisons)");
            println!("ratio resampling-vs-numpy {:.0}", whole / ours);
        }
        None => eprintln!("no python with numpy: set EVALFARM_PYTHON, or run tests/all.sh once"),
    }
}

fn plan() -> ResamplingPlan {
    let resamples = Resamples {
        count: NonZeroU32::new(RESAMPLES).unwrap(),
        seed: 20_260_816,
    };
    ResamplingPlan::new(Design::independent(QUERIES).unwrap(), resamples)
}

/// Returns the columns; where `value` gives nothing, that of the candidate before.
fn family(
    plan: &ResamplingPlan,
    value: impl Fn(&mut ChaCha8Rng, usize, usize) -> Option<f64>,
) -> Vec<GridDifferences> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(COLUMNS);
    for column in 0..COLUMNS {
        let values: Option<Vec<f64>> = (0..QUERIES)
            .map(|query| value(&mut random, column, query))
            .collect();
        columns.push(values.unwrap_or_else(|| columns[column - METRICS].clone()));
    }
    columns
        .into_iter()
        .map(|values| {
            let sample = PairedDifferences::from_differences(values).unwrap();
            plan.grid(&sample).unwrap()
        })
        .collect()
}

/// Returns a family in which two queries of five never change, half of the others change for a candidate, and every third
/// candidate equals the one before it.
fn usual_sweep(plan: &ResamplingPlan) -> Vec<GridDifferences> {
    let changes = swapped_rows(3, 0, QUERIES);
    family(plan, |random, column, query| {
        let value = uniform(random) - 0.5;
        let changed = query % 5 > 1 && changes[(query + column) % QUERIES];
        (column / METRICS % 3 != 2).then_some(if changed { value } else { 0.0 })
    })
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / 2.0_f64.powi(53)
}

/// What is timed: p-values and intervals of the whole family.
fn resample(plan: &ResamplingPlan, columns: &[GridDifferences]) {
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    let flips = plan.sign_flips(&columns);
    let intervals = plan.intervals(&columns, Confidence::DEFAULT);
    assert_eq!((flips.len(), intervals.len()), (COLUMNS, COLUMNS));
}

/// Times two products of a resamples × queries with a queries × columns matrix, each thread taking one piece of the rows.
fn two_products() -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut fill =
        |rows, columns| Array2::from_shape_simple_fn((rows, columns), || uniform(&mut random));
    let factors = fill(RESAMPLES as usize, QUERIES);
    let columns = fill(QUERIES, COLUMNS);
    let mut sums = Array2::<f64>::zeros((RESAMPLES as usize, COLUMNS));
    let piece = (RESAMPLES as usize).div_ceil(rayon::current_num_threads());
    seconds(|| {
        for _ in 0..2 {
            let mut pieces: Vec<_> = sums
                .axis_chunks_iter_mut(Axis(0), piece)
                .zip(factors.axis_chunks_iter(Axis(0), piece))
                .collect();
            pieces.par_iter_mut().for_each(|(sums, factors)| {
                general_mat_mul(1.0, factors, &columns, 0.0, sums);
            });
        }
    })
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Returns the peak of resident memory of this process in megabytes (10^6 bytes), where the system tells.
fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

/// Returns `NumPy`'s version and its seconds per comparison.
fn numpy_seconds() -> Option<(String, f64)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark has no settings layer to read the environment for it"
    )]
    let chosen = std::env::var("EVALFARM_PYTHON").ok();
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let python = chosen.map_or_else(|| root.join("target/python/bin/python"), PathBuf::from);
    let output = Command::new(python)
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/benches/third_document.py"
        ))
        .args([
            QUERIES.to_string(),
            RESAMPLES.to_string(),
            SAMPLE.to_string(),
        ])
        // Settings of one machine's linear algebra must not slow the peer.
        .env_remove("OPENBLAS_CORETYPE")
        .env_remove("OPENBLAS_L2_SIZE")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (version, seconds) = text.trim().split_once(' ')?;
    Some((version.to_owned(), seconds.parse().ok()?))
}
