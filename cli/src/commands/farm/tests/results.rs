use std::fs;
use std::path::Path;

use evalfarm_coordinator::api::{FileEntry, FileList};
use evalfarm_domain::Digest;

use super::{option, run};
use crate::commands::farm::results::is_inside;
use crate::failure::Failure;
use crate::farm::tests::fake::{Answer, Asked, Fake};

#[test]
fn files_stay_inside_of_the_folder() {
    for path in ["job.json", "rows/t1.parquet", "a/b/c/d", "judge-next.csv"] {
        assert!(is_inside(path), "{path}");
    }
    let long = "a".repeat(256);
    for path in [
        "",
        "/etc/passwd",
        "..",
        "../x",
        "rows/../../x",
        "rows//x",
        "rows/",
        ".ssh",
        "rows/.x",
        "a\\b",
        "a b",
        "a\u{1b}[0m",
        "c:x",
        "a/b/c/d/e",
        &long,
    ] {
        assert!(!is_inside(path), "{path}");
    }
}

fn is_there(path: &Path) -> bool {
    path.try_exists().expect("the folder can be read")
}

/// A coordinator that has these files.
fn files(
    name: &str,
    files: &[(&str, &[u8])],
) -> (FileList, impl Fn(&Asked) -> Answer + Send + 'static) {
    let list = FileList {
        name: name.to_owned(),
        files: files
            .iter()
            .map(|&(path, content)| FileEntry {
                path: path.to_owned(),
                bytes: content.len() as u64,
                sha256: Digest::of(content),
            })
            .collect(),
    };
    let stored: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|&(path, content)| (format!("/v1/jobs/j1/files/{path}"), content.to_vec()))
        .collect();
    let listed = serde_json::to_vec(&list).expect("a list is JSON");
    let answer = move |asked: &Asked| {
        if asked.path == "/v1/jobs/j1/files" {
            return Answer::new(200, listed.clone());
        }
        match stored.iter().find(|(path, _)| *path == asked.path) {
            Some((_, content)) => Answer::new(200, content.clone()),
            None => Answer::new(404, r#"{"code":"not_found","message":"no such file"}"#),
        }
    };
    (list, answer)
}

/// Runs `evalfarm results j1 --out OUT` against a fake.
fn fetch(fake: &Fake, out: &Path) -> Result<u8, Failure> {
    run(fake, &["results", "j1", "--quiet", &option("--out", out)])
}

#[test]
fn a_folder_is_fetched_once_and_completed_later() {
    let parent = tempfile::tempdir().expect("a temporary folder can be made");
    let out = parent.path().join("job");
    let early: &[(&str, &[u8])] = &[("job.json", b"{}"), ("rows/t1.parquet", b"one")];
    let (_, answer) = files("shop", early);
    let fake = Fake::start(answer);
    assert_eq!(fetch(&fake, &out).expect("it is fetched"), 0);
    assert_eq!(
        fs::read(out.join("rows/t1.parquet")).expect("it is there"),
        b"one"
    );
    assert!(
        !is_there(&out.join(".fetching")),
        "nothing is left beside the files"
    );

    let late: &[(&str, &[u8])] = &[
        ("job.json", b"{}"),
        ("rows/t1.parquet", b"one"),
        ("rows/t2.parquet", b"two"),
        ("verdict.json", b"{\"verdict\":1}"),
        ("zuletzt.csv", b""),
    ];
    let (_, answer) = files("shop", late);
    let fake = Fake::start(answer);
    assert_eq!(fetch(&fake, &out).expect("it is fetched"), 0);
    let fetched = [
        "GET /v1/jobs/j1/files",
        "GET /v1/jobs/j1/files/rows/t2.parquet",
        "GET /v1/jobs/j1/files/zuletzt.csv",
        "GET /v1/jobs/j1/files/verdict.json",
    ];
    assert_eq!(
        fake.routes(),
        fetched,
        "what is there is not fetched, and the verdict is last"
    );
}

#[test]
fn content_that_is_not_the_listed_one_is_not_kept() {
    for wrong in [&b"onX"[..], b"on", b"onee", b""] {
        let parent = tempfile::tempdir().expect("a temporary folder can be made");
        let out = parent.path().join("job");
        let (list, _) = files("shop", &[("rows/t1.parquet", b"one")]);
        let listed = serde_json::to_vec(&list).expect("a list is JSON");
        let fake = Fake::start(move |asked| {
            if asked.path.ends_with("/files") {
                Answer::new(200, listed.clone())
            } else {
                Answer::new(200, wrong)
            }
        });
        let failure = fetch(&fake, &out).expect_err("it is not the file");
        assert_eq!(
            failure.exit_code(),
            crate::exit_code::INFRASTRUCTURE,
            "{wrong:?}"
        );
        assert!(!is_there(&out.join("rows/t1.parquet")));
        let left = fs::read_dir(out.join(".fetching"))
            .expect("it was begun")
            .count();
        assert_eq!(left, 0, "nothing half is left");
    }
}

#[test]
fn a_file_of_the_user_stays_and_nothing_is_written_beside_it() {
    let parent = tempfile::tempdir().expect("a temporary folder can be made");
    let out = parent.path().join("job");
    fs::create_dir_all(&out).expect("a folder can be made");
    fs::write(out.join("verdict.json"), "mine").expect("a file can be written");
    let (_, answer) = files("shop", &[("job.json", b"{}"), ("verdict.json", b"theirs")]);
    let failure = fetch(&Fake::start(answer), &out).expect_err("it is another file");
    assert_eq!(failure.exit_code(), crate::exit_code::INVALID_INPUT);
    assert_eq!(
        fs::read(out.join("verdict.json")).expect("it is there"),
        b"mine"
    );
    assert!(!is_there(&out.join("job.json")));
}

#[test]
fn a_path_that_leaves_the_folder_is_refused_before_anything_is_written() {
    let parent = tempfile::tempdir().expect("a temporary folder can be made");
    let out = parent.path().join("job");
    let (_, answer) = files("shop", &[("job.json", b"{}"), ("../escaped", b"x")]);
    let failure = fetch(&Fake::start(answer), &out).expect_err("it is no path inside");
    assert_eq!(failure.exit_code(), crate::exit_code::INFRASTRUCTURE);
    assert!(!is_there(&out));
    assert!(!is_there(&parent.path().join("escaped")));
}
