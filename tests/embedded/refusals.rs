//! Folders and inputs that a run must leave alone.

use std::fmt::Write as _;
use std::fs;

use evalfarm_tests::{Bench, Data, Outcome, Sweep, tree, wait_until};

use crate::scene::{LONG, differences, marks, results, staged};

/// Runs the command and checks that it is refused with that exit code, a reason and a hint, and that nothing in the job's
/// folder has changed.
fn refused(bench: &Bench, job: &str, code: i32, args: &[&str]) -> Outcome {
    let before = tree(&bench.at(job), &[""]);
    let rows = marks(&bench.at(job).join("rows"));
    let outcome = bench.run(args);
    outcome.expect_code(code);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("error: "), "{}", outcome.stderr);
    assert_eq!(differences(&before, &tree(&bench.at(job), &[""])), [""; 0]);
    assert_eq!(marks(&bench.at(job).join("rows")), rows);
    outcome
}

/// Writes a catalogue of 30 products with as many queries, and imports it as `name` with the grade of the first pair.
fn import(bench: &Bench, name: &str, first_grade: u8) {
    let mut products = String::new();
    let mut ratings = "query,docid,rating\n".to_owned();
    for number in 0..30 {
        let other = (number * 7 + 3) % 30;
        writeln!(
            products,
            r#"{{"id": "{number:04}", "title": "lamp model{number} with clip", "brand": "maker{other}"}}"#
        )
        .expect("text can be appended to");
        let grade = if number == 0 { first_grade } else { 2 };
        writeln!(
            ratings,
            "lamp model{number} maker{other},{number:04},{grade}"
        )
        .expect("text can be appended to");
    }
    bench.write("products.jsonl", products);
    bench.write("ratings.csv", ratings);
    let args = "dataset import catalogue --products products.jsonl --id id --field title --field brand --ratings ratings.csv --out";
    bench.run(args.split(' ').chain([name])).expect_code(0);
}

fn list_over(dataset: &str) -> Sweep {
    let list = "strategy = \"list\"\ncandidates = [{ name = \"brand\", weights = { title = 1, brand = 2 } }]";
    Sweep {
        split: None,
        baseline: "{ title = 1, brand = 0.5 }".to_owned(),
        ..Sweep::new(Data::Stored(dataset.to_owned()), 0, 0, list)
    }
}

#[test]
fn w11_a_changed_sweep_file_is_not_resumed() {
    let bench = staged(60, 40);
    bench.run(["run", "sweep.toml", "--out", "job"]);
    let text = fs::read_to_string(bench.at("sweep.toml")).expect("it was written");
    bench.write("sweep.toml", text.replace("brand = 2.5", "brand = 2.6"));
    let resume = ["run", "sweep.toml", "--out", "job", "--resume"];
    let outcome = refused(&bench, "job", 2, &resume);
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    // What does not change the meaning does not change the job.
    bench.write("sweep.toml", format!("# a note\n{text}"));
    let outcome = bench.run(resume);
    outcome.expect_verdict();
}

#[test]
fn w11_one_changed_judgment_is_another_dataset_and_another_job() {
    let bench = Bench::new();
    import(&bench, "before", 2);
    import(&bench, "after", 3);
    bench.write("before.toml", list_over("before").toml());
    bench.write("after.toml", list_over("after").toml());
    let run = |sweep: &str, out: &str| {
        let outcome = bench.run(["run", sweep, "--out", out, "--format", "json"]);
        (outcome.json(), outcome.stderr)
    };
    let (before, log) = run("before.toml", "job");
    assert!(log.contains("the index was built"), "{log}");
    let outcome = refused(
        &bench,
        "job",
        2,
        &["run", "after.toml", "--out", "job", "--resume"],
    );
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
    let (after, log) = run("after.toml", "other");
    assert_ne!(before["job"], after["job"]);
    assert_ne!(
        before["provenance"]["fingerprint"],
        after["provenance"]["fingerprint"]
    );
    // The texts are the same, so their index is.
    assert!(!log.contains("the index was built"), "{log}");
}

#[test]
fn w11_a_dataset_that_was_edited_by_hand_is_refused() {
    let bench = Bench::new();
    import(&bench, "shop", 2);
    bench.write("sweep.toml", list_over("shop").toml());
    bench.run(["run", "sweep.toml", "--out", "job"]);
    let changed = fs::read_dir(bench.at("shop")).expect("a folder");
    let changed = changed.map(|entry| entry.expect("an entry").path());
    let judgments = changed
        .into_iter()
        .find(|path| path.to_string_lossy().contains("judgments"))
        .expect("judgments are a file");
    let mut bytes = fs::read(&judgments).expect("it can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&judgments, bytes).expect("it can be written");
    let outcome = refused(
        &bench,
        "job",
        2,
        &["run", "sweep.toml", "--out", "job", "--resume"],
    );
    assert!(outcome.stderr.contains("judgments"), "{}", outcome.stderr);
}

#[test]
fn a_folder_that_holds_the_job_is_left_alone_without_resume() {
    let bench = staged(60, 40);
    bench.run(["run", "sweep.toml", "--out", "job"]);
    let outcome = refused(&bench, "job", 2, &["run", "sweep.toml", "--out", "job"]);
    assert!(outcome.stderr.contains("--resume"), "{}", outcome.stderr);
}

#[test]
fn a_folder_with_other_content_is_left_alone() {
    let bench = staged(60, 40);
    bench.write("job/thesis.txt", "years of work");
    for resume in [&["--resume"][..], &[]] {
        let args = [&["run", "sweep.toml", "--out", "job"], resume].concat();
        let outcome = refused(&bench, "job", 2, &args);
        assert!(outcome.stderr.contains("--out"), "{}", outcome.stderr);
        assert_eq!(marks(&bench.at("job")).len(), 1, "nothing was added");
    }
    // An empty folder holds nothing that could be lost.
    fs::create_dir(bench.at("empty")).expect("a folder can be made");
    let outcome = bench.run(["run", "sweep.toml", "--out", "empty"]);
    outcome.expect_verdict();
}

#[test]
fn nothing_to_resume_is_an_error() {
    let bench = staged(60, 40);
    let outcome = bench.run(["run", "sweep.toml", "--resume"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("hint: "), "{}", outcome.stderr);
}

#[test]
fn two_processes_do_not_work_in_one_folder() {
    let bench = staged(LONG.0, LONG.1);
    let args = ["run", "sweep.toml", "--threads", "1", "--out"];
    let mut first = bench.start(args.into_iter().chain(["job"]));
    let rows = bench.at("job/rows");
    wait_until("the first rows", || {
        (!marks(&rows).is_empty()).then_some(())
    });
    for resume in [&["--resume"][..], &[]] {
        let second = bench.run(
            args.into_iter()
                .chain(["job"])
                .chain(resume.iter().copied()),
        );
        second.expect_code(3);
        assert!(
            second.stderr.contains("another process"),
            "{}",
            second.stderr
        );
    }
    assert!(
        !first.has_ended(),
        "the first was done before the second came"
    );
    let first = first.finish();
    first.expect_verdict();
    bench.run(args.into_iter().chain(["alone"]));
    assert_eq!(
        differences(&results(&bench, "job"), &results(&bench, "alone")),
        [""; 0]
    );
}
