//! What is wrong with a file is said with its place, its key and what is allowed.

use std::path::Path;

use crate::sweep::SweepFile;

const HEAD: &str = r#"name = "t"
seed = 1
dataset = { path = "d" }
split = { seed = 1, train = 14, holdout = 6 }
baseline = { weights = { title = 4, brand = 2.5 } }
"#;

fn chain(text: &str) -> String {
    let error = SweepFile::parse(text, Path::new("")).expect_err(text);
    let mut parts = vec![error.to_string()];
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        parts.push(cause.to_string());
        source = cause.source();
    }
    parts.join(": ")
}

/// The error of a whole, otherwise correct file with this at its end.
fn with_tail(tail: &str) -> String {
    chain(&format!("{HEAD}{tail}"))
}

/// The error of a file whose line starting with `key` is replaced.
fn with_line(key: &str, line: &str) -> String {
    let lines: Vec<&str> = HEAD
        .lines()
        .map(|old| if old.starts_with(key) { line } else { old })
        .collect();
    chain(&format!(
        "{}\n[sweep]\nstrategy = \"axis_scan\"\n",
        lines.join("\n")
    ))
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    assert_eq!(
        with_tail("[sweep]\nstrategy = \"axis_scan\"\nlevles = [1]\n"),
        "line 8, column 1: unknown key `sweep.levles`, did you mean `levels`?; known here: `strategy`, `anchor`, `max_ratio`, \
         `fields`, `levels`"
    );
    assert_eq!(
        with_line("seed", "seeds = 1"),
        "line 2, column 1: unknown key `seeds`, did you mean `seed`?; known here: `name`, `seed`, `max_rows`, `dataset`, `split`, `engine`, \
         `metrics`, `baseline`, `sweep`, `policy`"
    );
    assert_eq!(
        with_line("split", "split = { seed = 1, zebra = 2 }"),
        "line 4, column 21: unknown key `split.zebra`; known here: `seed`, `total`, `train`, `holdout`, `path`"
    );
    // a key of another strategy is unknown, not ignored
    assert!(
        with_tail("[sweep]\nstrategy = \"refine\"\nlevels = [1]\n")
            .contains("unknown key `sweep.levels`")
    );
}

#[test]
fn p19_values_that_could_be_misread_are_refused() {
    let ratios = |value: &str| {
        with_tail(&format!(
            "[sweep]\nstrategy = \"grid\"\nratios = {{ brand = [{value}] }}\n"
        ))
    };
    let allowed = "0, or a number from 1e-8 to `max_ratio` 5";
    assert_eq!(
        ratios("\"1e-3\""),
        format!(
            "line 8, column 21: `sweep.ratios.brand[0]` is the string `1e-3`, but takes {allowed}"
        )
    );
    assert_eq!(
        ratios("nan"),
        format!("line 8, column 21: `sweep.ratios.brand[0]` is `nan`, but takes {allowed}")
    );
    assert_eq!(
        ratios("0, -0.5"),
        format!("line 8, column 24: `sweep.ratios.brand[1]` is `-0.5`, but takes {allowed}")
    );
    assert!(ratios("inf").contains("is `inf`"));
    assert!(ratios("1e999").contains("is `1e999`"));
    assert!(ratios("6").contains("is `6`"));
    assert!(ratios("1e-9").contains("is `1e-9`"));
    assert!(ratios("true").contains("is the boolean `true`"));
    assert!(ratios("2026-11-30").contains("is the datetime `2026-11-30`"));
    assert!(ratios("0x10").contains("is the integer `0x10`"));
    // not TOML at all: a leading zero, a bare word, a comma for the decimal point
    for text in ["010", "NO", "0,5,,"] {
        assert!(ratios(text).starts_with("line 8, column "), "{text}");
        assert!(ratios(text).contains("not valid TOML"), "{text}");
    }
}

#[test]
fn weights_and_seeds_are_numbers_in_their_range() {
    let weights = |text: &str| {
        with_line(
            "baseline",
            &format!("baseline = {{ weights = {{ {text} }} }}"),
        )
    };
    assert_eq!(
        weights("title = -1"),
        "line 5, column 34: `baseline.weights.title` is `-1`, but takes a number of at least 0"
    );
    assert!(weights("title = nan").contains("`baseline.weights.title` is `nan`"));
    assert!(weights("title = \"4\"").contains("`baseline.weights.title` is the string `4`"));
    assert_eq!(
        weights("title = 0, brand = 0"),
        "line 5, column 24: `baseline.weights` is not usable: no field has a positive weight"
    );
    assert_eq!(
        with_line("seed", "seed = -1"),
        "line 2, column 8: `seed` is `-1`, but takes a whole number from 0 to 9223372036854775807"
    );
    assert!(with_line("seed", "seed = 1.5").contains("`seed` is the float `1.5`"));
    assert!(with_line("seed", "seed = \"1\"").contains("`seed` is the string `1`"));
    assert!(
        with_line("name", "name = \"Shop weights\"")
            .contains("`name` is `Shop weights`, but takes a name of 1 to 64")
    );
}

#[test]
fn settings_that_cannot_both_be_are_refused() {
    let cases = [
        (
            "dataset",
            "dataset = { path = \"d\", generate = {} }",
            "keep one of them",
        ),
        ("dataset", "dataset = {}", "key `dataset.path` is missing"),
        (
            "dataset",
            "dataset = { generate = { catalogue = \"mall\", seed = 1, products = 9, queries = 9 } }",
            "one of `shop`",
        ),
        (
            "dataset",
            "dataset = { path = \"d\", sample = 10 }",
            "keeps 10",
        ),
        (
            "split",
            "split = { seed = 1, train = 14 }",
            "key `split.holdout` is missing",
        ),
        (
            "split",
            "split = { seed = 1, train = 14, holdout = 6, total = 21 }",
            "`split.total` is `21`",
        ),
        (
            "split",
            "split = { seed = 1, train = 14, total = 14 }",
            "`split.total` is `14`",
        ),
        (
            "split",
            "split = { path = \"s.json\", seed = 1 }",
            "`split.seed` is given beside `split.path`",
        ),
        ("split", "", "key `split` is missing"),
        (
            "baseline",
            "baseline = { weights = { title = 1 } }",
            "there is no field beside the anchor field `title`",
        ),
        (
            "baseline",
            "baseline = { weights = { title = 1, b = 1 }, combine = \"most_fields\", tie_breaker = 0.1 }",
            "has no tie breaker",
        ),
        (
            "baseline",
            "baseline = { weights = { title = 1, b = 1 }, tie_breaker = 1.1 }",
            "`baseline.tie_breaker` is `1.1`",
        ),
        (
            "baseline",
            "engine = { b = 2 }\nbaseline = { weights = { title = 1, b = 1 } }",
            "`engine.b` is `2`",
        ),
    ];
    for (key, line, expected) in cases {
        let error = with_line(key, line);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn metrics_are_checked_as_a_whole() {
    let metrics = |text: &str| {
        with_line(
            "split",
            &format!("split = {{ seed = 1, train = 1, holdout = 1 }}\nmetrics = {{ {text} }}"),
        )
    };
    let cases = [
        ("primary = \"nDGC@10\"", "unknown metric `nDGC@10`"),
        ("primary = \"Judged@10\"", "does not say what is better"),
        (
            "guards = [\"nDCG@10\"]",
            "`metrics.guards[0]` is measured already",
        ),
        (
            "guards = [\"P@5\"], report = [\"P_5\"]",
            "`metrics.report[0]` is measured already",
        ),
        (
            "depth = 9",
            "at least the largest cutoff of the metrics, 10",
        ),
        ("gains = \"log\"", "one of `linear`, `exponential`"),
        ("gains = { high = 1 }", "is no grade"),
        (
            "gains = { 0 = 1, 1 = 0 }",
            "gives grade `1` less than a lower grade",
        ),
        ("gains = { 1 = 1, \"1.0\" = 2 }", "a second gain"),
        ("gains = { 1 = nan }", "`metrics.gains.1` is `nan`"),
        (
            "relevant_from = 31",
            "`metrics.relevant_from` is not usable",
        ),
    ];
    for (text, expected) in cases {
        let error = metrics(text);
        assert!(error.contains(expected), "{error}");
    }
}

fn check_sweeps(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let error = with_tail(&format!("[sweep]\n{text}\n"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn grids_are_checked_against_the_baseline() {
    check_sweeps(&[
        (
            "strategy = \"annealing\"",
            "one of `list`, `grid`, `axis_scan`",
        ),
        ("strategy = \"grid\"", "key `sweep.ratios` is missing"),
        (
            "strategy = \"grid\"\nratios = { title = [1] }",
            "is not a field that can vary; these can: `brand`",
        ),
        (
            "strategy = \"grid\"\nratios = { brand = \"0..1\" }",
            "`0..1` is not of the form `lo..hi step s`",
        ),
        (
            "strategy = \"grid\"\nratios = { brand = \"0..9 step 1\" }",
            "reaches 6",
        ),
        (
            "strategy = \"grid\"\nratios = { brand = [] }",
            "`sweep.ratios.brand` is empty",
        ),
        (
            "strategy = \"grid\"\nratios = { brand = \"0..1 step 0.0002\" }\ntie_breaker = \"0..1 step 0.01\"",
            "asks for 505101 combinations",
        ),
        (
            "strategy = \"grid\"\ncombine = [\"most_fields\"]\ntie_breaker = 0.5",
            "which `combine` does not list",
        ),
    ]);
}

#[test]
fn sweeps_are_checked_against_the_baseline() {
    check_sweeps(&[
        (
            "strategy = \"staged\"\nanchor = \"colour\"",
            "one of `title`, `brand`",
        ),
        (
            "strategy = \"staged\"\nmax_ratio = 0.5",
            "its ratio of `brand` to the anchor `title` is 0.625",
        ),
        (
            "strategy = \"staged\"\npasses = 0",
            "a whole number from 1 to 100",
        ),
        (
            "strategy = \"staged\"\nrandom_points = [{ brand = 1 }]\npoints = 3",
            "keep one of them",
        ),
        (
            "strategy = \"staged\"\nvary_dead_fields = \"NO\"",
            "`true` or `false`",
        ),
        (
            "strategy = \"random\"\nzero_probability = 1",
            "a number from 0 to less than 1",
        ),
        ("strategy = \"refine\"\nfactors = [0]", "a number above 0"),
        (
            "strategy = \"axis_scan\"\nfields = [\"brand\", \"brand\"]",
            "each field once",
        ),
        ("strategy = \"list\"", "key `sweep.candidates` is missing"),
        (
            "strategy = \"list\"\ncandidates = [{ name = \"a\", weights = { titel = 1 } }]",
            "names the field `titel`",
        ),
        (
            "strategy = \"list\"\ncandidates = [{ name = \"baseline\", weights = { title = 1 } }]",
            "neither empty nor `baseline`",
        ),
        (
            "strategy = \"staged\"\n[policy]\njudge = \"all_on_all\"",
            "use `winner_on_holdout`, or list the candidates",
        ),
        (
            "strategy = \"staged\"\n[policy]\njudge = \"best\"",
            "one of `winner_on_holdout`",
        ),
    ]);
}

#[test]
fn the_policy_is_checked_with_places() {
    let policy = |line: &str| {
        with_tail(&format!(
            "[sweep]\nstrategy = \"refine\"\n[policy]\n{line}\n"
        ))
    };
    assert_eq!(
        policy("alpha = 0.7"),
        "line 9, column 9: `policy.alpha` is not usable: policy value `alpha` is `0.7`, it has to be greater than 0 and at \
         most 0.5"
    );
    let error = policy("alpha = \"0.05\"");
    assert!(
        error.starts_with("line 9, column 9: `policy.alpha` cannot be read: invalid type: string"),
        "{error}"
    );
    let error = policy("alhpa = 0.05");
    assert!(
        error.starts_with("line 9, column 1: unknown key `policy.alhpa`, did you mean `alpha`?"),
        "{error}"
    );
    assert!(policy("alpha = nan").contains("`policy.alpha` is not usable"));
    assert!(
        policy("guards = []")
            .contains("`policy.guards` belongs to `[metrics]`; write `metrics.guards`")
    );
    assert!(policy("max_drop = { \"AP\" = 0.1 }").contains("which is not a guard"));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent.toml");
    let error = SweepFile::read(&path).unwrap_err().to_string();
    assert!(
        error.starts_with("failed to read the sweep file `") && error.ends_with("absent.toml`")
    );
    std::fs::write(&path, "name = 1").unwrap();
    let error = SweepFile::read(&path).unwrap_err();
    assert!(error.to_string().ends_with("absent.toml` cannot be used"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("line 1, column 8: `name` is the integer `1`"));
}
