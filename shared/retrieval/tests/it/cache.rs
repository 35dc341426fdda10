//! The index on disk: used when it is right, built again when it is not.

use std::fs;
use std::path::{Path, PathBuf};

use evalfarm_domain::{AnalyzerKind, Corpus, Digest, EngineSettings};
use evalfarm_retrieval::{Bm25Index, CacheUse, Cached, Stale};

use crate::generated::{best_fields, candidate, lists, numbered_corpus};

const OPENED: CacheUse = CacheUse::Opened;

fn built(because: Stale) -> CacheUse {
    CacheUse::Built { because }
}

fn open(folder: &Path, content: &[u8], corpus: &Corpus, settings: &EngineSettings) -> Cached {
    Bm25Index::open_or_build(folder, Digest::of(content), corpus, settings).unwrap()
}

/// Returns the files of the folder with that extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

#[test]
fn a_stored_index_is_opened_and_gives_the_same_lists() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("not/yet/there");
    let corpus = numbered_corpus(&["title", "brand"], 300);
    let settings = EngineSettings::default();
    let first = open(&folder, b"one", &corpus, &settings);
    assert_eq!(first.usage, built(Stale::Absent));
    let second = open(&folder, b"one", &corpus, &settings);
    assert_eq!(second.usage, OPENED);
    assert_eq!(first.index.field_evidence(), second.index.field_evidence());
    let candidates = [candidate(
        best_fields(0.1),
        &[("title", 1.0), ("brand", 0.4)],
    )];
    let list = |cached: &Cached| lists(&cached.index, "w1 w50", &candidates, 1000);
    assert_eq!(list(&first), list(&second));
    assert_eq!(files(&folder, "tmp"), Vec::<PathBuf>::new());
}

#[test]
fn other_content_settings_and_fields_have_their_own_index() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let corpus = numbered_corpus(&["title"], 20);
    let standard = EngineSettings::default();
    let english = EngineSettings {
        analyzer: AnalyzerKind::English,
        ..standard
    };
    let k1 = EngineSettings {
        k1: 1.3,
        ..standard
    };
    let renamed = numbered_corpus(&["name"], 20);
    let mut usages = Vec::new();
    for _ in 0..2 {
        for (content, corpus, settings) in [
            (b"one", &corpus, &standard),
            (b"two", &corpus, &standard),
            (b"one", &corpus, &english),
            (b"one", &corpus, &k1),
            (b"one", &renamed, &standard),
        ] {
            usages.push(open(folder, content, corpus, settings).usage);
        }
    }
    let (first, second) = usages.split_at(5);
    assert!(
        first.iter().all(|usage| *usage == built(Stale::Absent)),
        "{first:?}"
    );
    assert!(second.iter().all(|usage| *usage == OPENED), "{second:?}");
    // The index of another corpus under the name of this one: same bytes, wrong content.
    let stored = files(folder, "index");
    let (target, other) = (&stored[0], &stored[1]);
    fs::copy(other, target).unwrap();
    let reopened = [
        open(folder, b"one", &corpus, &standard),
        open(folder, b"two", &corpus, &standard),
        open(folder, b"one", &corpus, &english),
        open(folder, b"one", &corpus, &k1),
        open(folder, b"one", &renamed, &standard),
    ];
    let foreign = reopened
        .iter()
        .filter(|cached| cached.usage == built(Stale::Foreign))
        .count();
    assert_eq!(foreign, 1);
}

#[test]
fn a_damaged_file_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let corpus = numbered_corpus(&["title"], 50);
    let settings = EngineSettings::default();
    open(folder, b"one", &corpus, &settings);
    let path = files(folder, "index").remove(0);
    let whole = fs::read(&path).unwrap();
    let mut damaged: Vec<Vec<u8>> = [0, 1, 7, 8, 31, 40, whole.len() / 2, whole.len() - 1]
        .into_iter()
        .map(|length| whole[..length].to_vec())
        .collect();
    for at in [0, 9, 60, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        damaged.push(flipped);
    }
    damaged.push([whole.as_slice(), &[0]].concat());
    for bytes in damaged {
        fs::write(&path, &bytes).unwrap();
        assert_eq!(
            open(folder, b"one", &corpus, &settings).usage,
            built(Stale::Damaged)
        );
        assert_eq!(open(folder, b"one", &corpus, &settings).usage, OPENED);
    }
}

#[test]
fn an_interrupted_build_leaves_nothing_that_is_used() {
    // What a process killed while it wrote leaves: a lock file that nobody holds, and part of the new file.
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let corpus = numbered_corpus(&["title"], 50);
    let settings = EngineSettings::default();
    open(folder, b"one", &corpus, &settings);
    let path = files(folder, "index").remove(0);
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let staged = path.with_extension("tmp");
    fs::write(&staged, &whole[..whole.len() / 3]).unwrap();
    assert!(path.with_extension("lock").try_exists().unwrap());
    assert_eq!(
        open(folder, b"one", &corpus, &settings).usage,
        built(Stale::Absent)
    );
    assert!(
        !staged.try_exists().unwrap(),
        "the unfinished file is overwritten and renamed"
    );
    assert_eq!(open(folder, b"one", &corpus, &settings).usage, OPENED);
}

#[test]
fn of_several_that_ask_at_once_one_builds() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let corpus = numbered_corpus(&["title", "brand"], 400);
    let settings = EngineSettings::default();
    let usages: Vec<CacheUse> = std::thread::scope(|scope| {
        let ask = || open(folder, b"one", &corpus, &settings).usage;
        let handles: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    let builders = usages.iter().filter(|usage| **usage != OPENED).count();
    assert_eq!(builders, 1, "{usages:?}");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"").unwrap();
    let corpus = numbered_corpus(&["title"], 2);
    let settings = EngineSettings::default();
    let error =
        Bm25Index::open_or_build(&file, Digest::of(b"one"), &corpus, &settings).unwrap_err();
    assert!(
        error.to_string().contains(&file.display().to_string()),
        "{error}"
    );
}
