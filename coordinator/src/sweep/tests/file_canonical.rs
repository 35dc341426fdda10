//! The canonical form: the same meaning gives the same bytes, another one does not.

use std::path::Path;

use crate::sweep::SweepFile;

fn canonical(text: &str) -> String {
    SweepFile::parse(text, Path::new(""))
        .unwrap()
        .canonical_json()
}

const SHORT: &str = r#"
name = "shop-weights"
seed = 20260816
dataset = { path = "data/shop" }
split = { seed = 7, train = 14, holdout = 6 }
baseline = { weights = { title = 4.0, brand = 2.5, category = 0.4 } }
sweep = { strategy = "grid", ratios = { brand = "0..0.5 step 0.1" } }
"#;

const LONG: &str = r#"
# the same, spelt differently
seed = 20_260_816
name = 'shop-weights'
[sweep]
max_ratio = 5
anchor = "title"
strategy = "grid"
combine = ["best_fields"]
ratios.category = 1e-1
ratios.brand = [0, 0.1, 2e-1, 0.3, 0.4, 5e-1]
[policy]
judge = "winner-on-holdout"
[baseline]
combine = "best_fields"
tie_breaker = 0
[baseline.weights]
title = 10
brand = 6.25
category = 1
[metrics]
primary = "ndcg_cut_10"
guards = ["MRR@10", "recall_10", "P_10"]
depth = 10
[split]
total = 20
train = 14
seed = 7
[dataset]
path = "../elsewhere/shop"
[engine]
b = 0.75
k1 = 1.20
analyzer = "standard"
"#;

#[test]
fn w3_the_same_meaning_gives_the_same_bytes() {
    assert_eq!(canonical(SHORT), canonical(LONG));
    // Pinned by hand: changing these bytes changes every job id, so it needs the next form number.
    let expected = concat!(
        r#"{"form":1,"name":"shop-weights","seed":20260816,"sample":null,"#,
        r#""split":{"seed":7,"total":20,"train":14},"#,
        r#""engine":{"analyzer":"standard","k1":1.2,"b":0.75},"#,
        r#""metrics":{"primary":"nDCG@10","guards":["RR@10","R@10","P@10"],"report":[],"depth":10,"gains":null,"relevant_from":null},"#,
        r#""baseline":{"combine":{"kind":"best_fields","tie_breaker":0.0},"weights":{"brand":0.625,"category":0.1,"title":1.0}},"#,
        r#""sweep":{"in_space":{"space":{"anchor":"title","fields":["brand","category"],"max_ratio":5.0,"#,
        r#""combine":{"kind":"best_fields","tie_breaker":0.0}},"baseline":[0.625,0.1],"#,
        r#""moves":{"grid":{"ratios":[[0.0,0.1,0.2,0.3,0.4,0.5],[0.1]],"combines":[{"kind":"best_fields","tie_breaker":0.0}]}}}},"#,
        r#""judge":"winner_on_holdout","policy":{"primary":"nDCG@10","guards":["RR@10","R@10","P@10"],"alpha":0.05,"#,
    );
    // What follows are the gate's own numbers, which the gate pins.
    assert!(
        canonical(SHORT).starts_with(expected),
        "{}",
        canonical(SHORT)
    );
}

#[test]
fn another_meaning_gives_other_bytes() {
    let changes = [
        ("seed = 20260816", "seed = 20260817"),
        ("train = 14", "train = 13"),
        ("title = 4.0", "title = 4.1"),
        ("category = 0.4", "category = 4e-6"),
        ("category = 0.4", "category = 0"),
        ("step 0.1", "step 0.25"),
        ("shop-weights", "shop-weights-2"),
        ("sweep = {", "policy = { alpha = 0.01 }\nsweep = {"),
        ("sweep = {", "metrics = { primary = \"nDCG@5\" }\nsweep = {"),
        ("sweep = {", "engine = { k1 = 0.9 }\nsweep = {"),
        ("path = \"data/shop\"", "path = \"data/shop\", sample = 100"),
    ];
    for (from, to) in changes {
        assert!(SHORT.contains(from));
        assert_ne!(
            canonical(SHORT),
            canonical(&SHORT.replace(from, to)),
            "{to}"
        );
    }
}

#[test]
fn a_split_that_is_not_used_is_no_part_of_the_meaning() {
    let list = |extra: &str| {
        canonical(&format!(
            "name = \"t\"\nseed = 1\ndataset = {{ path = \"d\" }}\n{extra}\n\
             baseline = {{ weights = {{ title = 1 }} }}\n[sweep]\nstrategy = \"list\"\n\
             [[sweep.candidates]]\nname = \"a\"\nweights = {{ title = 1 }}\n"
        ))
    };
    assert_eq!(
        list(""),
        list("split = { seed = 1, train = 2, holdout = 1 }")
    );
}
