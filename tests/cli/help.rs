//! The texts that a user reads first: help of every command, one success and one failure each. They are kept beside this
//! file, so that whoever changes a message sees what it becomes.

use evalfarm_tests::{Bench, Outcome};

use super::compare::tables::{baseline, csv, improved};
use crate::support::{Ending as _, run_line};

/// Returns what a user sees of a finished command.
fn seen(line: &str, outcome: &Outcome) -> String {
    format!(
        "$ evalfarm {line}\nexit code {}\n----- standard output\n{}----- standard error\n{}",
        outcome
            .code
            .map_or("none".to_owned(), |code| code.to_string()),
        outcome.stdout,
        outcome.stderr,
    )
}

#[test]
fn every_command_has_help_with_examples() {
    let bench = Bench::new();
    for (name, line) in [
        ("evalfarm", "--help"),
        ("run", "run --help"),
        ("evaluate", "evaluate --help"),
        ("compare", "compare --help"),
        ("gate", "gate --help"),
        ("power", "power --help"),
        ("dataset", "dataset --help"),
        ("dataset-import", "dataset import --help"),
        ("dataset-import-trec", "dataset import trec --help"),
        ("dataset-import-beir", "dataset import beir --help"),
        ("dataset-import-esci", "dataset import esci --help"),
        (
            "dataset-import-catalogue",
            "dataset import catalogue --help",
        ),
        ("dataset-generate", "dataset generate --help"),
        ("dataset-inspect", "dataset inspect --help"),
        ("dataset-split", "dataset split --help"),
        ("dataset-verify", "dataset verify --help"),
        ("submit", "submit --help"),
        ("status", "status --help"),
        ("watch", "watch --help"),
        ("cancel", "cancel --help"),
        ("results", "results --help"),
        ("workers", "workers --help"),
    ] {
        // Help shows the values of variables, which are paths of the bench.
        let mut command = bench.command(line.split_whitespace());
        let output = command.env_remove("EVALFARM_CACHE").output();
        let output = output.expect("the command starts");
        assert_eq!(
            (output.status.code(), &output.stderr[..]),
            (Some(0), &b""[..])
        );
        let help = String::from_utf8(output.stdout).expect("help is UTF-8");
        let is_group = ["evalfarm", "dataset", "dataset-import"].contains(&name);
        assert!(
            is_group || help.contains("Examples:"),
            "{line} has no examples"
        );
        insta::assert_snapshot!(format!("help-{name}"), help);
    }
}

/// One success and one failure of each command, on files that are the same everywhere.
#[test]
fn successes_and_failures_read_well() {
    let bench = Bench::new();
    bench.write("qrels", "1 0 a 2\n1 0 b 1\n2 0 c 1\n3 0 d 1\n");
    bench.write(
        "run",
        "1 Q0 b 1 9 t\n1 Q0 a 2 8 t\n2 Q0 x 1 7 t\n2 Q0 c 2 7 t\n9 Q0 a 1 1 t\n",
    );
    bench.write("cut", "1 Q0 b 1 9 t\n1 Q0 a 2\n");
    let rows = baseline(60);
    bench.write("base.csv", csv(&rows));
    bench.write("better.csv", csv(&improved(&rows)));
    bench.write("fewer.csv", csv(&improved(&rows)[5..]));
    let mut damaged = rows;
    damaged[3].1[0] = f64::NAN;
    bench.write("nan.csv", csv(&damaged));
    bench.write("products.csv", "id,title\nd1,red lamp\nd2,chair\n");
    bench.write(
        "ratings.csv",
        "query,docid,rating\nred lamp,d1,2\nchair,d2,1\nchair,d9,0\n",
    );
    bench.write("labels.csv", "query,docid,rating\nred lamp,d1,E\n");
    bench.write(
        "sweep.toml",
        "name = \"x\"\nseed = 1\n[sweep]\nstrategi = \"list\"\n",
    );
    bench.write("token", "s3cret\n");
    // Nothing listens on port 1, the long forgotten tcpmux.
    let farm = "--coordinator http://127.0.0.1:1 --token-file token";
    let import = "dataset import catalogue --products products.csv --id id --field title --out shop --ratings";
    for (name, line, code) in [
        (
            "evaluate-success",
            "evaluate qrels run nDCG@10 recip_rank P@1 -q",
            0,
        ),
        ("evaluate-failure", "evaluate qrels cut nDCG@10", 2),
        ("evaluate-unknown-metric", "evaluate qrels run nGCD@10", 2),
        ("compare-promote", "compare base.csv better.csv", 0),
        ("compare-block", "compare base.csv fewer.csv", 1),
        ("compare-insufficient", "compare base.csv base.csv", 4),
        ("compare-failure", "compare base.csv nan.csv", 2),
        ("dataset-import-failure", &format!("{import} labels.csv"), 2),
        (
            "dataset-import-success",
            &format!("{import} ratings.csv"),
            0,
        ),
        ("dataset-inspect-success", "dataset inspect shop", 0),
        ("dataset-inspect-failure", "dataset inspect products.csv", 2),
        (
            "dataset-split-success",
            "dataset split shop --seed 1 --train 1",
            0,
        ),
        (
            "dataset-split-failure",
            "dataset split shop --seed 1 --train 9",
            2,
        ),
        ("dataset-verify-success", "dataset verify shop", 0),
        ("dataset-verify-failure", "dataset verify nothing", 2),
        ("dataset-generate-failure", "dataset generate --out shop", 2),
        ("run-failure", "run sweep.toml", 2),
        ("submit-failure", &format!("submit sweep.toml {farm}"), 2),
        ("status-without-coordinator", "status", 2),
        (
            "status-without-token",
            "status --coordinator http://127.0.0.1:1",
            2,
        ),
        (
            "status-bad-address",
            "status --coordinator 127.0.0.1:1 --token-file token",
            2,
        ),
        ("status-unreachable", &format!("status {farm}"), 3),
    ] {
        let outcome = run_line(&bench, line).ending(code);
        insta::assert_snapshot!(format!("said-{name}"), seen(line, &outcome));
    }
}
