//! One small file of each schema version, read for ever.
//!
//! `golden/README.md` says how they were made, which tools read them, and what to do when a schema changes.

use std::fs;
use std::path::PathBuf;

use evalfarm_domain::Fold;

use super::holes::{condensed, queries, unjudged};
use super::kinds::{candidates, hits, relevant, timings};
use super::means::means;
use super::{job, metrics, sample};
use crate::{
    RowBlock, candidates_to_bytes, condensed_to_bytes, hits_to_bytes, means_to_bytes,
    queries_to_bytes, read_candidates, read_condensed, read_hits, read_means, read_queries,
    read_relevant, read_timings, read_unjudged, relevant_to_bytes, timings_to_bytes,
    unjudged_to_bytes,
};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(name)
}

#[test]
fn stored_files_are_read() {
    let block = RowBlock::read(&golden("rows-v1.parquet"), &job(), &metrics()).unwrap();
    assert_eq!(block, sample());
    assert_eq!(
        read_hits(&golden("hits-v1.parquet"), &job()).unwrap(),
        hits()
    );
    let path = golden("relevant-v1.parquet");
    assert_eq!(read_relevant(&path, &job()).unwrap(), relevant());
    let path = golden("means-v1.parquet");
    assert_eq!(
        read_means(&path, &job(), Fold::Train, &metrics()).unwrap(),
        means()
    );
    let path = golden("timings-v1.parquet");
    assert_eq!(read_timings(&path, &job()).unwrap(), timings());
    let path = golden("candidates-v1.parquet");
    assert_eq!(
        read_candidates(&path, &job(), &metrics()).unwrap(),
        candidates()
    );
    let path = golden("condensed-v1.parquet");
    assert_eq!(
        read_condensed(&path, &job(), &metrics()).unwrap(),
        condensed()
    );
    let path = golden("unjudged-v1.parquet");
    assert_eq!(read_unjudged(&path, &job()).unwrap(), unjudged());
    let path = golden("queries-v1.parquet");
    assert_eq!(read_queries(&path, &job()).unwrap(), queries());
}

#[test]
fn the_bytes_are_pinned() {
    let made = [
        ("rows-v1.parquet", sample().to_bytes()),
        ("hits-v1.parquet", hits_to_bytes(&job(), &hits())),
        (
            "relevant-v1.parquet",
            relevant_to_bytes(&job(), &relevant()),
        ),
        (
            "means-v1.parquet",
            means_to_bytes(&job(), Fold::Train, &metrics(), &means()),
        ),
        ("timings-v1.parquet", timings_to_bytes(&job(), &timings())),
        (
            "candidates-v1.parquet",
            candidates_to_bytes(&job(), &metrics(), &candidates()),
        ),
        (
            "condensed-v1.parquet",
            condensed_to_bytes(&job(), &metrics(), &condensed()),
        ),
        (
            "unjudged-v1.parquet",
            unjudged_to_bytes(&job(), &unjudged()),
        ),
        ("queries-v1.parquet", queries_to_bytes(&job(), &queries())),
    ];
    for (name, bytes) in made {
        let stored = fs::read(golden(name)).unwrap();
        assert!(
            bytes.unwrap() == stored,
            "`{name}` is written differently: same rows must give the same bytes, or a resumed job fails on its own files"
        );
    }
}
