//! How many times faster a sweep is than its peers.

use std::time::Duration;

use evalfarm_domain::{Candidate, Combine};

use crate::collection::Collection;
use crate::peer::Peer;
use crate::{Outcome, data, lucene, note, ours};

/// Candidates that the peers are measured on; their times are scaled.
const PEER_CANDIDATES: usize = 20;

/// Prints the ratios of one collection.
pub(crate) fn print(collection: &Collection) -> Outcome<()> {
    let plain = Combine::best_fields(0.0)?;
    let tie = Combine::best_fields(0.3)?;
    let few = collection.candidates(218, plain)?;
    let many = collection.candidates(10_000, plain)?;
    let tied = collection.candidates(218, tie)?;
    let documents = collection.index.documents();
    let queries = collection.queries();
    note(&format!(
        "{documents} documents, {queries} queries, one thread"
    ))?;

    let setup = std::time::Instant::now();
    ours::evaluator(collection)?;
    note(&format!(
        "  judgments looked up, once a job   {}",
        ms(setup.elapsed())
    ))?;
    let sweep218 = timed("218 candidates", collection, &few, 1)?;
    let sweep10000 = timed("10,000 candidates", collection, &many, 1)?;
    let tied218 = timed("218 candidates, tie breaker .3", collection, &tied, 1)?;
    let exhaustive = ours::exhaustive(collection, &few[..PEER_CANDIDATES])?
        .mul_f64(218.0 / PEER_CANDIDATES as f64);
    note(&format!(
        "  218 candidates, nothing left out  {}",
        ms(exhaustive)
    ))?;

    let peer = Peer::new(collection)?;
    for candidate in few.iter().take(2).chain(tied.iter().take(2)) {
        peer.check(collection, candidate)?;
    }
    let rounds = if collection.prefix.is_empty() { 3 } else { 1 };
    let pass = peer.mean_pass(&few[..PEER_CANDIDATES], rounds)?;
    let tied_pass = peer.mean_pass(&tied[..PEER_CANDIDATES], rounds)?;
    note(&format!("  tantivy, one candidate            {}", ms(pass)))?;
    note(&format!(
        "  tantivy, tie breaker .3           {}",
        ms(tied_pass)
    ))?;

    let sweep = pass * 218;
    ratio(collection, "sweep218-vs-tantivy", sweep, sweep218)?;
    ratio(
        collection,
        "sweep10000-vs-tantivy",
        pass * 10_000,
        sweep10000,
    )?;
    ratio(collection, "sweep218-over-one-pass", sweep218, pass)?;
    ratio(
        collection,
        "sweep218-tie-vs-tantivy",
        tied_pass * 218,
        tied218,
    )?;
    ratio(collection, "exhaustive-over-pruned", exhaustive, sweep218)?;
    timed("218 candidates, two threads", collection, &few, 2)?;
    timed("10,000 candidates, two threads", collection, &many, 2)?;
    if let Some(pass) = lucene::pass(collection, &few[0])? {
        note(&format!("  Lucene over HTTP, one candidate   {}", ms(pass)))?;
        ratio(collection, "sweep218-vs-lucene-http", pass * 218, sweep218)?;
    }
    Ok(())
}

/// Repeats our own sweeps, for a profiler to look at: of these kinds, or of all when none is named.
pub(crate) fn repeat(collection: &Collection, kinds: &[&str]) -> Outcome<()> {
    let named = |kind| kinds.is_empty() || kinds.contains(&kind);
    let all = [
        ("218", "218 candidates", 218, 0.0),
        ("tie", "218 candidates, tie breaker .3", 218, 0.3),
        ("10000", "10,000 candidates", 10_000, 0.0),
    ];
    for (_, name, count, tie_breaker) in all.into_iter().filter(|&(kind, ..)| named(kind)) {
        let candidates = collection.candidates(count, Combine::best_fields(tie_breaker)?)?;
        for _ in 0..if count > 1_000 { 5 } else { 30 } {
            timed(name, collection, &candidates, 1)?;
        }
    }
    Ok(())
}

fn timed(
    name: &str,
    collection: &Collection,
    candidates: &[Candidate],
    threads: u32,
) -> Outcome<Duration> {
    let repetitions = if candidates.len() > 1000 { 3 } else { 7 };
    let sweep = ours::sweep(collection, candidates, threads, repetitions)?;
    let pairs = candidates.len() as f64 * f64::from(collection.queries());
    note(&format!(
        "  {name:<33} {}   {:.1} ns a query and candidate, {:.1} distinct rankings a query",
        ms(sweep.time),
        sweep.time.as_secs_f64() * 1e9 / pairs,
        sweep.distinct,
    ))?;
    Ok(sweep.time)
}

fn ratio(collection: &Collection, name: &str, over: Duration, under: Duration) -> Outcome<()> {
    let value = over.as_secs_f64() / under.as_secs_f64();
    let prefix = collection.prefix;
    data(&format!("ratio {prefix}{name} {value:.3}"))
}

fn ms(time: Duration) -> String {
    format!("{:9.2} ms", time.as_secs_f64() * 1e3)
}
