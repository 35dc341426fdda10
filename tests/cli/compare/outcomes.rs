//! Two independent arms, through the command.

use std::fmt::Write as _;

use evalfarm_tests::Bench;

use crate::support::{Ending as _, refused, run_line};

/// Rows of 30 units in each of two arms, successes on the first so many of each.
fn rows(control: usize, treatment: usize) -> String {
    let mut text = "unit,arm,outcome\n".to_owned();
    for (arm, successes) in [("control", control), ("treatment", treatment)] {
        for unit in 0..30 {
            let outcome = u8::from(unit < successes);
            writeln!(text, "{arm}{unit},{arm},{outcome}").expect("text grows");
        }
    }
    text
}

#[test]
fn counts_are_judged_and_the_codes_are_those_of_verdicts() {
    let bench = Bench::new();
    for (line, code) in [
        ("194/388 233/388", 0),
        ("233/388 194/388", 1),
        ("233/388 194/388 --better lower", 0),
        ("50/100 60/100", 4),
        ("0/19 19/19", 4),
        ("0/20 20/20", 0),
        ("0/20 0/20", 4),
        ("20/20 20/20", 4),
    ] {
        run_line(&bench, &format!("compare {line}")).ending(code);
    }
    // As R 4.3 and scipy 1.11 print: fisher.test(matrix(c(50, 50, 60, 40), 2)) has p .2007.
    let json = run_line(&bench, "compare 50/100 60/100 --format json").ending(4);
    let result = &json.json()["results"][0];
    let p = result["p"].as_f64().expect("p is a number");
    assert!((p - 0.200_707_6).abs() < 1e-7, "{p}");
    assert_eq!(result["needed_per_arm"], 404);
}

#[test]
fn huge_counts_take_no_longer_than_small_ones() {
    let bench = Bench::new();
    // Half of a million million against four standard errors more, and against the same.
    for (line, code) in [
        ("500000000000/1000000000000 500002828428/1000000000000", 0),
        ("500000000000/1000000000000 500000000000/1000000000000", 4),
        ("1/1000000000000 3/1000000000000", 4),
        ("999999999999/1000000000000 0/1000000000000", 1),
    ] {
        run_line(&bench, &format!("compare {line}")).ending(code);
    }
    let small = run_line(&bench, "power proportions 0.5 0.50001 --format json").ending(0);
    let needed = small.json()["per_arm_needed"].as_f64().expect("a number");
    // By hand: 2·.25·(1.96 + .8416)²/.00001² = 3.924e10.
    assert!((needed / 3.924_44e10 - 1.0).abs() < 1e-4, "{needed}");
    run_line(
        &bench,
        "power flips --gained 0.05001 --lost 0.05 --queries 1000000000",
    )
    .ending(0);
}

#[test]
fn counts_that_are_none_are_refused() {
    let bench = Bench::new();
    for (line, piece) in [
        ("0/0 1/2", "0/0"),
        ("5/3 1/2", "5/3"),
        ("1/2 5/3", "5/3"),
        ("1/99999999999999999999999 1/2", "too large"),
        ("1/1000000000001 1/2", "too large"),
    ] {
        refused(&bench, &format!("compare {line}"), &[piece]);
    }
}

#[test]
fn rows_are_the_same_as_their_counts_whatever_ends_their_lines() {
    let bench = Bench::new();
    let plain = rows(5, 25);
    bench.write("plain.csv", &plain);
    bench.write(
        "windows.csv",
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
    );
    bench.write("spaces.csv", plain.replace(',', " , "));
    let p = |line: &str| {
        let json = run_line(&bench, &format!("{line} --format json"))
            .ending(0)
            .json();
        json["results"][0]["p"].clone()
    };
    let counted = p("compare 5/30 25/30");
    for file in ["plain.csv", "windows.csv", "spaces.csv"] {
        let line = format!("compare control treatment --outcomes {file}");
        assert_eq!(p(&line), counted, "{file}");
    }
}

#[test]
fn a_third_arm_is_said_and_not_compared() {
    let bench = Bench::new();
    bench.write("rows.csv", rows(5, 25) + "x,other,1\ny,other,0\n");
    let outcome = run_line(&bench, "compare control treatment --outcomes rows.csv").ending(0);
    let said = "2 rows of arm `other` are not compared";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
}

#[test]
fn rows_that_mean_nothing_are_refused_with_file_and_line() {
    let bench = Bench::new();
    let cases: &[(&str, &str, &str, &[&str])] = &[
        ("half a success", "u,a,0.5\nv,b,1\n", "", &["line 2", "0.5"]),
        ("NaN", "u,a,1\nv,b,NaN\n", "", &["line 3", "NaN"]),
        ("infinity", "u,a,1\nv,b,inf\n", "", &["line 3", "inf"]),
        (
            "a negative duration",
            "u,a,1\nv,b,-3\n",
            "--scale positive",
            &["line 3", "-3"],
        ),
        (
            "a rating off its scale",
            "u,a,6\nv,b,3\n",
            "--scale 1..5",
            &["line 2", "6"],
        ),
        ("an empty arm", "u,a,1\n", "", &["candidate's arm"]),
        ("no row of either", "u,c,1\n", "", &["`c`"]),
        ("no row", "", "", &["no rows at all"]),
        ("no unit", ",a,1\nv,b,1\n", "", &["line 2", "unit"]),
        ("a cell less", "u,a,1\nv,b\n", "", &["line 3", "2 cells"]),
        (
            "a quote that is not closed",
            "u,a,1\n\"v,b,1\nw,a,0\n",
            "",
            &["line 3", "a quoted cell is not closed"],
        ),
        (
            "a quote that closes further down",
            "u,a,1\n\"v,b,1\nw,a,0\nx,a,0\n\"y,b,1\n",
            "",
            &["line 3", "several lines"],
        ),
        (
            "an arm in another case",
            "u,a,1\nv,b,1\nw,B,0\n",
            "",
            &["line 4", "`B`", "`b`"],
        ),
        (
            "an arm in other quotes",
            "u,a,1\nv,b,1\nw,'b',0\n",
            "",
            &["line 4", "`'b'`"],
        ),
        (
            "a unit again",
            "u,a,1\nv,b,1\nu,a,0\n",
            "",
            &["line 2", "line 4", "cluster"],
        ),
        (
            "a unit in both arms",
            "u,a,1\nu,b,1\n",
            "",
            &["line 2", "line 3"],
        ),
    ];
    for (_what, body, options, pieces) in cases {
        bench.write("rows.csv", format!("unit,arm,outcome\n{body}"));
        let line = format!("compare a b --outcomes rows.csv {options}");
        let mut pieces = pieces.to_vec();
        pieces.push("rows.csv");
        refused(&bench, &line, &pieces);
    }
}

#[test]
fn headers_and_options_that_mean_nothing_are_refused() {
    let bench = Bench::new();
    for (header, piece) in [
        ("unit,arm,outcome,outcome", "`outcome` occurs twice"),
        ("unit,arm,outcome,Outcome", "`outcome` and `Outcome`"),
        ("unit,arm,outcome,UNIT", "`unit` and `UNIT`"),
        ("unit,arm,x,y", "no column `outcome`"),
        ("", "no column `unit`"),
    ] {
        bench.write("rows.csv", format!("{header}\nu,a,1,2\n"));
        refused(
            &bench,
            "compare a b --outcomes rows.csv",
            &[piece, "rows.csv"],
        );
    }
    bench.write("rows.csv", rows(5, 25));
    refused(
        &bench,
        "compare control control --outcomes rows.csv",
        &["both sides"],
    );
    refused(
        &bench,
        "compare control treatment --outcomes none.csv",
        &["none.csv"],
    );
    refused(
        &bench,
        "compare control treatment --outcomes rows.csv --primary RR@10",
        &["--primary"],
    );
}

#[test]
fn units_within_clusters_are_looked_at() {
    let bench = Bench::new();
    let cases: &[(&str, &[&str])] = &[
        // A unit in several rows of its cluster is what clusters are for; the arms are too small to decide.
        ("u,a,1,p\nu,a,0,p\nv,b,1,q\n", &[]),
        (
            "u,a,1,p\nu,a,0,q\nv,b,1,r\n",
            &["line 3", "`u`", "`q`", "`p`", "line 2"],
        ),
        (
            "u,a,1,p\nv,b,1,q\nu,b,0,r\n",
            &["line 4", "`u`", "both arms", "line 2"],
        ),
        ("u,a,1,p\nv,b,1,p\n", &["line 3", "`p`", "both arms"]),
        ("u,a,1,p\n,b,1,q\n", &["line 3", "unit is empty"]),
        ("u,a,1,p\nv,b,1,\n", &["line 3", "cluster is empty"]),
    ];
    for (body, pieces) in cases {
        bench.write("rows.csv", format!("unit,arm,outcome,cluster\n{body}"));
        let line = "compare a b --outcomes rows.csv";
        if pieces.is_empty() {
            run_line(&bench, line).ending(4);
        } else {
            refused(&bench, line, pieces);
        }
    }
}

#[test]
fn names_of_columns_are_known_in_any_case_and_others_are_said() {
    let bench = Bench::new();
    let mut text = "Unit,ARM,Outcome,Hypothesis,Cluster,Device\n".to_owned();
    for unit in 0..80 {
        let arm = if unit % 2 == 0 { "a" } else { "b" };
        let kind = if unit < 40 { "click" } else { "buy" };
        writeln!(text, "u{unit},{arm},1,{kind},p{unit},phone").expect("text grows");
    }
    bench.write("rows.csv", &text);
    let outcome = run_line(&bench, "compare a b --outcomes rows.csv --format json").ending(4);
    let said = "column `Device` is not looked at";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("`Unit`"), "{}", outcome.stderr);
    let document = outcome.json();
    assert_eq!(document["family"], 2);
    assert_eq!(document["results"][0]["test"], "cluster_permutation");
}

#[test]
fn a_failing_arm_never_promotes() {
    let bench = Bench::new();
    bench.write("tolerant.toml", "max_failed_share = 1");
    let file = |control: &str, treatment: &str| {
        let mut text = "unit,arm,outcome\n".to_owned();
        for unit in 0..60 {
            writeln!(text, "c{unit},control,{control}").expect("text grows");
            writeln!(text, "t{unit},treatment,{treatment}").expect("text grows");
        }
        text
    };
    for (control, treatment, options, code) in [
        ("", "1", "", 4),
        ("0", "1", "", 0),
        ("1", "", "", 1),
        ("", "1", "--policy tolerant.toml", 0),
        ("", "4", "--scale 1..5", 4),
        ("", "4", "--scale positive --better lower", 4),
    ] {
        bench.write("rows.csv", file(control, treatment));
        let line = format!("compare control treatment --outcomes rows.csv {options}");
        run_line(&bench, &line).ending(code);
    }
}

#[test]
fn clusters_are_declared_and_compared_whole() {
    let bench = Bench::new();
    let mut text = "unit,arm,outcome,cluster\n".to_owned();
    for person in 0..50 {
        let arm = if person % 2 == 0 { "a" } else { "b" };
        for session in 0..4 {
            let outcome = u8::from(arm == "b" || session == 0);
            writeln!(text, "s{person}-{session},{arm},{outcome},p{person}").expect("text grows");
        }
    }
    bench.write("rows.csv", &text);
    let json = run_line(&bench, "compare a b --outcomes rows.csv --format json")
        .ending(0)
        .json();
    let result = &json["results"][0];
    assert_eq!(result["test"], "cluster_permutation");
    assert_eq!(result["baseline"]["clusters"], 25);
    assert_eq!(result["baseline"]["rows"], 100);
    bench.write("rows.csv", text.replace(",p3\n", ",p2\n"));
    refused(
        &bench,
        "compare a b --outcomes rows.csv",
        &["`p2`", "both arms"],
    );
}
