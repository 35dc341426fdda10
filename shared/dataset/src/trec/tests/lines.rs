//! Judgments, and what judgments and runs have in common.

use std::io::Write as _;

use evalfarm_domain::Grade;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::support::{Folder, documents, judged, message, owned, qrels, run};
use crate::trec::{QrelsOptions, read_qrels};
use crate::{InputError, Warning};

#[test]
fn p1_p2_p3_p6_harmless_differences_read_the_same() {
    let plain = "1 0 a 1\n2 0 b 1\n";
    let expected = owned(&[("1", "a", 1.0), ("2", "b", 1.0)]);
    let forms = [
        plain.to_owned(),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.replace(' ', "\t"),
        plain.replace(' ', "  \t "),
        plain.replace('\n', "\n  "),
        format!("\n{plain}\n \t\r\n"),
        plain.trim_end().to_owned(),
    ];
    for form in forms {
        assert_eq!(judged(&qrels(&form).unwrap()), expected, "{form:?}");
    }
    let plain = "1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n";
    let forms = [
        plain.to_owned(),
        format!("\u{feff}{plain}"),
        plain.replace('\n', "\r\n"),
        plain.replace(' ', "\t"),
        plain.replace(' ', " \t"),
        format!("  {}", plain.replace('\n', "\n\n  ")),
    ];
    for form in forms {
        assert_eq!(run(&form).unwrap(), run(plain).unwrap(), "{form:?}");
    }
}

#[test]
fn gzip_is_known_by_its_bytes_and_by_its_name() {
    let folder = Folder::new();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"1 0 a 1\n").unwrap();
    let bytes = encoder.finish().unwrap();
    for name in ["qrels.gz", "qrels.txt"] {
        let path = folder.file(name, &bytes);
        let read = read_qrels(&path, &QrelsOptions::default()).unwrap();
        assert_eq!(judged(&read), owned(&[("1", "a", 1.0)]));
    }
    let cut = folder.file("cut.gz", &bytes[..bytes.len() - 6]);
    let plain = folder.file("plain.gz", "1 0 a 1\n");
    for path in [cut, plain] {
        let error = read_qrels(&path, &QrelsOptions::default()).unwrap_err();
        assert!(matches!(error, InputError::Read { .. }), "{error}");
    }
}

#[test]
fn p4_beir_files_are_known_by_their_header() {
    for header in [
        "query-id\tcorpus-id\tscore",
        "\u{feff}Query-ID\tcorpus-id\tscore\r",
    ] {
        let read = qrels(format!("{header}\nq1\tmy doc\t1\n\nq2\tb\t0\r\n")).unwrap();
        let expected = [("q1", "my doc", 1.0), ("q2", "b", 0.0)];
        assert_eq!(judged(&read), owned(&expected));
    }
    let error = qrels("q1\ta\t1\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: `q1\ta\t1` has 3 columns and no header came before it, expected `query iteration document grade`"
    );
    assert!(error.hint().unwrap().contains("query-id"));
    let error = qrels("query-id\tcorpus-id\tscore\nq1\t0\ta\t1\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 2: `q1\t0\ta\t1` has 4 columns, expected 3, separated by tabs: query, document, grade"
    );
}

#[test]
fn p5_a_run_line_has_at_least_six_columns() {
    let read = run("1 Q0 a 1 2.0 tag more of it\n").unwrap();
    assert_eq!(
        (read.tag.as_str(), documents(&read, "1")),
        ("tag", vec!["a".to_owned()])
    );
    let error = run("1 Q0 a 1 2.0 t\n1 Q0 b 2 1.0\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 2: `1 Q0 b 2 1.0` has 5 columns, expected at least 6: `query Q0 document rank score tag`"
    );
}

#[test]
fn p8_a_document_id_with_a_space_is_an_error() {
    let error = run("1 Q0 my doc 1 1.0 t\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: rank `doc` is not a whole number, expected `query Q0 document rank score tag`"
    );
    let error = qrels("1 0 my doc 1\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: `1 0 my doc 1` has 5 columns, expected 4: `query iteration document grade`"
    );
}

#[test]
fn p9_p17_ids_are_opaque() {
    let text = "01 0 0545010225 1\n1 0 545010225 0\n1 0 caf\u{e9} 1\n1 0 cafe\u{301} 2\n";
    let read = qrels(text).unwrap();
    let expected = [
        ("01", "0545010225", 1.0),
        ("1", "545010225", 0.0),
        ("1", "cafe\u{301}", 2.0),
        ("1", "caf\u{e9}", 1.0),
    ];
    assert_eq!(judged(&read), owned(&expected));
    let warned: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warned,
        [
            "1 pairs of query ids differ only in Unicode form, case or leading zeros, e.g. `01` and `1`",
            "2 pairs of document ids differ only in Unicode form, case or leading zeros, e.g. `0545010225` and `545010225`",
        ]
    );
    let longest = "x".repeat(512);
    assert!(qrels(format!("1 0 {longest} 1")).is_ok());
    let error = qrels(format!("1 0 a 1\n1 0 {longest}y 1")).unwrap_err();
    assert_eq!(
        message(&error),
        "line 2: document id is 513 bytes long, at most 512 are allowed"
    );
}

#[test]
fn p11_grades_with_a_fraction_are_asked_for() {
    assert_eq!(
        judged(&qrels("1 0 a 1.0\n").unwrap()),
        owned(&[("1", "a", 1.0)])
    );
    let error = qrels("1 0 a 0.5\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: grade `0.5` has a fraction, expected a whole number"
    );
    let folder = Folder::new();
    let options = QrelsOptions {
        fractional: true,
        labels: None,
    };
    let read = read_qrels(&folder.file("q", "1 0 a 0.5\n1 0 b 1.5\n"), &options).unwrap();
    assert_eq!(judged(&read), owned(&[("1", "a", 0.5), ("1", "b", 1.5)]));
}

#[test]
fn p12_labels_need_a_map() {
    let error = qrels("1 0 a E\n").unwrap_err();
    assert_eq!(message(&error), "line 1: grade `E` is not a number");
    assert!(error.hint().unwrap().contains("label map"));
    let grade = |value| Grade::try_from(value).unwrap();
    let labels = [("E".to_owned(), grade(3.0)), ("I".to_owned(), grade(0.0))];
    let options = QrelsOptions {
        fractional: false,
        labels: Some(labels.into_iter().collect()),
    };
    let folder = Folder::new();
    let read = read_qrels(&folder.file("q", "1 0 a E\n1 0 b I\n"), &options).unwrap();
    assert_eq!(judged(&read), owned(&[("1", "a", 3.0), ("1", "b", 0.0)]));
    let error = read_qrels(&folder.file("q", "1 0 a X\n"), &options).unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: grade `X` is not in the label map, which has `E`, `I`"
    );
}

#[test]
fn grades_that_are_no_grades_are_errors() {
    for (text, problem) in [
        (
            "NaN",
            "grade `NaN` is not a finite number of magnitude at most 30",
        ),
        (
            "inf",
            "grade `inf` is not a finite number of magnitude at most 30",
        ),
        (
            "31",
            "grade `31` is not a finite number of magnitude at most 30",
        ),
        ("0x1", "grade `0x1` is not a number"),
    ] {
        let error = qrels(format!("1 0 a 1\n1 0 b {text}\n")).unwrap_err();
        assert_eq!(message(&error), format!("line 2: {problem}"));
    }
    assert_eq!(
        judged(&qrels("1 0 a -2").unwrap()),
        owned(&[("1", "a", -2.0)])
    );
}

#[test]
fn m6_judgments_that_repeat_are_counted_and_that_contradict_refused() {
    let read = qrels("1 0 a 1\n1 0 b 0\n1 0 a 1\n1 0 a 1.0\n").unwrap();
    assert_eq!(read.count, 2);
    assert_eq!(
        read.warnings,
        [Warning::RepeatedJudgments { count: 2, first: 3 }]
    );
    let error = qrels("1 0 a 1\n2 0 a 0\n1 0 a 0\n").unwrap_err();
    assert_eq!(
        message(&error),
        "line 3: document `a` of query `1` is judged 0 here and 1 in line 1"
    );
}

#[test]
fn bytes_that_are_not_utf8_are_named_by_line() {
    for error in [
        qrels(b"1 0 a 1\n1 0 \xff 1\n").unwrap_err(),
        run(b"1 Q0 a 1 1 t\n1 Q0 caf\xe9 2 1 t\n").unwrap_err(),
    ] {
        assert_eq!(message(&error), "line 2: the bytes are not UTF-8");
    }
}

#[test]
fn empty_files_are_errors() {
    assert!(
        qrels("\n \n")
            .unwrap_err()
            .to_string()
            .ends_with("there is no judgment in it")
    );
    assert!(
        run("")
            .unwrap_err()
            .to_string()
            .ends_with("there is no hit in it")
    );
}
