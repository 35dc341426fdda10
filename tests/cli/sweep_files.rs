//! Sweep files with mistakes: exit 2 with line, column and the nearest known key, and no folder of a job.

use std::fs;

use evalfarm_tests::Bench;

use crate::support::run_line;

const GOOD: &str = r#"name = "small"
seed = 7

[dataset]
generate = { catalogue = "shop", seed = 7, products = 200, queries = 40 }

[split]
seed = 7
train = 20
holdout = 20

[metrics]
primary = "nDCG@10"
guards = ["RR@10"]

[baseline]
weights = { title = 4.0, brand = 2.5 }

[policy]
alpha = 0.05

[sweep]
strategy = "axis_scan"
levels = [0, 1, 2]
"#;

/// A line of the good file, what stands there instead, and pieces of the message.
const MISTAKES: &[(&str, &str, &[&str])] = &[
    (
        "seed = 7\n\n",
        "seeds = 7\n\n",
        &["line 2, column 1: unknown key `seeds`, did you mean `seed`?"],
    ),
    (
        "train = 20",
        "trian = 20",
        &["line 9, column 1: unknown key `split.trian`, did you mean `train`?"],
    ),
    (
        "levels = ",
        "levles = ",
        &["line 24, column 1: unknown key `sweep.levles`, did you mean `levels`?"],
    ),
    (
        "alpha = 0.05",
        "alfa = 0.05",
        &["line 20, column 1: unknown key `policy.alfa`, did you mean `alpha`?"],
    ),
    (
        "alpha = 0.05",
        "alpha = 5",
        &["line 20, column 9: ", "alpha", "5"],
    ),
    (
        "alpha = 0.05",
        "alpha = \"0.05\"",
        &["line 20, column 9: ", "string"],
    ),
    (
        "title = 4.0",
        "title = nan",
        &["line 17, column 21: ", "nan"],
    ),
    ("title = 4.0", "title = -1", &["line 17, column 21: ", "-1"]),
    ("title = 4.0", "titel = 4.0", &["titel", "title"]),
    (
        "\"axis_scan\"",
        "\"axis_scam\"",
        &["line 23, column 12: ", "axis_scam", "axis_scan"],
    ),
    (
        "\"nDCG@10\"",
        "\"nDGC@10\"",
        &["line 13, column 11: ", "nDGC@10"],
    ),
    (
        "\"RR@10\"",
        "\"nDCG@10\"",
        &["line 14, column 11: `metrics.guards[0]` is measured already"],
    ),
    (
        "train = 20",
        "train = 4000",
        &["4020 queries were asked for, 40 are available"],
    ),
    ("train = 20", "train = 0", &["train"]),
    ("products = 200", "products = 1", &["products", "1"]),
    (
        "name = \"small\"",
        "name = \"Small Sweep\"",
        &["line 1, column 8: ", "Small Sweep"],
    ),
    ("name = \"small\"", "", &["name"]),
    (
        "name = \"small\"",
        "name = \"small\"\nname = \"small\"",
        &["line 2"],
    ),
    ("[sweep]", "[sweep", &["line 22"]),
    ("levels = [0, 1, 2]", "levels = []", &["levels"]),
    ("generate = {", "path = \"nothing\"\n#", &["nothing"]),
];

#[test]
fn a_mistake_is_said_with_its_place_and_nothing_is_written() {
    let bench = Bench::new();
    for (from, to, pieces) in MISTAKES {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        bench.write("sweep.toml", text);
        let outcome = run_line(&bench, "run sweep.toml --out job --quiet");
        assert_eq!(outcome.code, Some(2), "{to}\n{}", outcome.stderr);
        for piece in *pieces {
            let text = &outcome.stderr;
            assert!(text.contains(piece), "{to}: no {piece:?} in\n{text}");
        }
        assert!(
            fs::read_dir(bench.at("job")).is_err(),
            "{to}: a job folder was left"
        );
    }
    for (name, content) in [
        ("empty.toml", &b""[..]),
        ("latin1.toml", b"name = \"caf\xe9\"\n"),
        ("json.toml", b"{\"name\": \"small\"}"),
    ] {
        bench.write(name, content);
        let outcome = run_line(&bench, &format!("run {name} --out job --quiet"));
        assert_eq!(outcome.code, Some(2), "{name}\n{}", outcome.stderr);
        assert!(outcome.stderr.contains(name), "{}", outcome.stderr);
    }
    assert_eq!(run_line(&bench, "run nothing.toml --out job").code, Some(2));
    assert_eq!(run_line(&bench, "run . --out job").code, Some(2));
}
