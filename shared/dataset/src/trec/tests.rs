use std::fs;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use evalfarm_domain::{Grade, Query};
use evalfarm_testkit::reference_data;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{InputError, JoinOptions, Warning};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn qrels(bytes: impl AsRef<[u8]>) -> Result<Qrels, InputError> {
    let folder = Folder::new();
    read_qrels(&folder.file("qrels", bytes), &QrelsOptions::default())
}

fn run_with(bytes: impl AsRef<[u8]>, options: RunOptions) -> Result<Run, InputError> {
    let folder = Folder::new();
    read_run(&folder.file("run", bytes), options)
}

fn run(bytes: impl AsRef<[u8]>) -> Result<Run, InputError> {
    run_with(bytes, RunOptions::default())
}

/// Returns the message without the path, which is a temporary one.
fn message(error: &InputError) -> String {
    match (error.position(), error.fault()) {
        (Some(line), Some(fault)) => {
            assert!(
                error
                    .to_string()
                    .ends_with(&format!("`, line {line}: {fault}"))
            );
            format!("line {line}: {fault}")
        }
        _ => error.to_string(),
    }
}

fn judged(qrels: &Qrels) -> Vec<(String, String, f64)> {
    let of_queries = qrels.judgments.iter();
    of_queries
        .flat_map(|(query, documents)| {
            documents.iter().map(move |(document, grade)| {
                (query.to_string(), document.to_string(), grade.value())
            })
        })
        .collect()
}

fn documents(run: &Run, query: &str) -> Vec<String> {
    let hits = run.queries[query].iter();
    hits.map(|hit| hit.document.to_string()).collect()
}

fn owned(rows: &[(&str, &str, f64)]) -> Vec<(String, String, f64)> {
    let rows = rows.iter();
    rows.map(|&(q, d, g)| (q.to_owned(), d.to_owned(), g))
        .collect()
}

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
fn m5_a_document_twice_in_a_ranking() {
    let text = "1 Q0 b 1 9.0 t\n1 Q0 g 2 5.0 t\n2 Q0 g 1 1.0 t\n1 Q0 g 3 1.0 t\n";
    let error = run(text).unwrap_err();
    assert_eq!(
        message(&error),
        "line 4: document `g` is twice in the ranking of query `1`, first in line 2"
    );
    assert!(error.hint().unwrap().contains("--dedupe first"));
    let first = RunOptions {
        dedupe: Dedupe::First,
        ..RunOptions::default()
    };
    // The best place is kept whatever the order of the lines.
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..lines.len() {
        lines.rotate_left(1);
        let read = run_with(lines.join("\n"), first).unwrap();
        assert_eq!(
            (documents(&read, "1"), read.duplicates_dropped),
            (vec!["b".into(), "g".into()], 1)
        );
        assert!((read.queries["1"][1].score - 5.0).abs() < f64::EPSILON);
    }
    // cases.md M5: a 9.0, b 5.0, a 1.0 keeps a in first place.
    let read = run_with("1 Q0 a 1 9.0 t\n1 Q0 b 2 5.0 t\n1 Q0 a 3 1.0 t", first).unwrap();
    assert_eq!(documents(&read, "1"), ["a", "b"]);
}

#[test]
fn m21_scores_that_are_not_finite_are_errors() {
    for score in ["NaN", "nan", "inf", "-inf", "1e999", "high"] {
        let error = run(format!("1 Q0 a 1 2.0 t\n1 Q0 b 2 {score} t\n")).unwrap_err();
        assert_eq!(
            message(&error),
            format!("line 2: score `{score}` is not a finite number")
        );
    }
}

#[test]
fn p15_interleaved_queries_are_the_same_run() {
    let grouped = run("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n").unwrap();
    let interleaved = run("1 Q0 a 1 3 t\n2 Q0 c 1 1 t\n1 Q0 b 2 2 t\n").unwrap();
    assert_eq!(grouped, interleaved);
}

#[test]
fn m1_ties_are_ordered_by_descending_document_id_for_every_permutation() {
    let lines = [
        "1 Q0 x5 1 3.0 t",
        "1 Q0 x7 2 3.0 t",
        "1 Q0 x9 3 3.0 t",
        "1 Q0 z 4 -0.0 t",
        "1 Q0 a 5 0.0 t",
    ];
    for shift in 0..lines.len() {
        let mut permuted = lines.to_vec();
        permuted.rotate_left(shift);
        for lines in [permuted.clone(), permuted.into_iter().rev().collect()] {
            let read = run(lines.join("\n")).unwrap();
            assert_eq!(documents(&read, "1"), ["x9", "x7", "x5", "z", "a"]);
        }
    }
}

#[test]
fn m2_m4_ties_are_reported() {
    let text = "1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 0.5 t\n2 Q0 a 1 2.0 t\n2 Q0 b 2 1.0 t\n";
    let read = run(text).unwrap();
    assert_eq!(documents(&read, "1"), ["b", "a", "c"]);
    let at = |cut| read.ties_at(NonZeroUsize::new(cut).unwrap());
    assert_eq!(
        at(1),
        TieReport {
            queries: 2,
            queries_across_cut: 1,
            hits: 5,
            tied_hits: 2
        }
    );
    assert_eq!(at(2).queries_across_cut, 0);
    assert_eq!(at(100).queries_across_cut, 0);
    assert!((at(1).tied_share() - 0.4).abs() < 1e-12);
}

#[test]
fn ranks_are_trusted_only_when_they_are_ranks() {
    let by_rank = RunOptions {
        order: Order::Rank,
        ..RunOptions::default()
    };
    let read = run_with("1 Q0 a 2 9.0 t\n1 Q0 b 1 1.0 t\n", by_rank).unwrap();
    assert_eq!(documents(&read, "1"), ["b", "a"]);
    let error = run_with("1 Q0 a 2 9.0 t\n2 Q0 a 2 9.0 t\n1 Q0 b 2 1.0 t\n", by_rank).unwrap_err();
    assert_eq!(
        message(&error),
        "line 3: rank 2 of query `1` is given twice, first in line 1"
    );
    let error = run_with("1 Q0 a 0 9.0 t\n", by_rank).unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: rank `0` is not at least 1, and the file's ranks are to be trusted"
    );
    assert!(run("1 Q0 a 0 9.0 t\n1 Q0 b 0 1 t").is_ok());
}

#[test]
fn the_fault_that_comes_first_in_the_file_is_reported() {
    let error = run("2 Q0 a 1 9 t\n2 Q0 a 2 8 t\n1 Q0 a 1 9 t\n1 Q0 a 2 8 t\n").unwrap_err();
    assert_eq!(error.position(), Some(2));
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

fn topics(text: &str, ids: TopicIds) -> Result<Vec<Query>, InputError> {
    let folder = Folder::new();
    read_topics(&folder.file("topics", text), ids)
}

#[test]
fn topics_with_and_without_closing_tags_read_the_same() {
    let new = "<?xml version='1.0'?><xml>\n<top>\n<num> 301</num>\n<title>\nInternational Organized\n Crime </title>\
<desc>Identify organizations.</desc><narr>A &amp; B &lt; C & D</narr></top>\n</xml>";
    let old = "<top>\n\n<num> Number: 301 \n<title> Topic: International Organized Crime \n\n<desc> Description: \n\
Identify organizations. \n\n<narr> Narrative: \nA & B < C & D\n\n</top>\n\n";
    let read = topics(new, TopicIds::Number).unwrap();
    assert_eq!(topics(old, TopicIds::Number).unwrap(), read);
    assert_eq!(
        (read[0].id.as_str(), read[0].text.as_str()),
        ("301", "International Organized Crime")
    );
    assert_eq!(read[0].columns["description"], "Identify organizations.");
    assert_eq!(read[0].columns["narrative"], "A & B < C & D");
}

#[test]
fn topics_without_number_or_title_are_errors() {
    let cases = [
        (
            "<top>\n<title>a</title></top>",
            "line 1: the topic has no `<num>`",
        ),
        (
            "\n<top><num>1</num></top>",
            "line 2: the topic has no `<title>`",
        ),
        (
            "<top><num>1 2<title>a</top>",
            "line 1: `1 2` is not the number of a topic",
        ),
        (
            "<top><num>1<title>a</top>\n<top><num>1<title>b</top>",
            "line 2: topic `1` occurs again, first in line 1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(
            message(&topics(text, TopicIds::Number).unwrap_err()),
            expected
        );
    }
    assert!(topics("nothing", TopicIds::Number).is_err());
    let read = topics(
        "<top><num>7<title>a</top><top><title>b</top>",
        TopicIds::Position,
    )
    .unwrap();
    let ids: Vec<&str> = read.iter().map(|query| query.id.as_str()).collect();
    assert_eq!(ids, ["1", "2"]);
}

#[test]
fn documents_keep_their_elements_as_fields() {
    let folder = Folder::new();
    let text = "<DOC>\n<DOCNO> b </DOCNO>\n<title>One <b>two</b> three</title><p>first</p><!-- no -->\nloose x<y &amp; z\n<p>second</p></DOC>\n\
<doc><docno>a</docno><author a=1>Me</author><br/></doc>";
    let corpus = read_documents(&folder.file("d.xml", text)).unwrap();
    let fields: Vec<&str> = corpus
        .fields
        .iter()
        .map(evalfarm_domain::FieldName::as_str)
        .collect();
    assert_eq!(fields, ["title", "p", "text", "author"]);
    assert_eq!(corpus.documents[0].id.as_str(), "a");
    assert_eq!(corpus.documents[0].fields, ["", "", "", "Me"]);
    assert_eq!(
        corpus.documents[1].fields,
        ["One two three", "first second", "loose x<y & z", ""]
    );
}

#[test]
fn documents_that_are_not_whole_are_errors() {
    let cases = [
        ("<doc><docno>a</docno>", "line 1: `<doc>` is not closed"),
        (
            "<doc><docno>a</docno>\n<doc><docno>b</docno></doc>",
            "line 2: `<doc>` before the document above is closed",
        ),
        (
            "<doc><title>a</title></doc>",
            "line 1: the document has no `<docno>`",
        ),
        (
            "<doc><docno> </docno></doc>",
            "line 1: document id is empty",
        ),
        ("</doc>", "line 1: `</doc>` without `<doc>`"),
        (
            "<doc><docno>a</docno></doc>\n<doc><docno>a</docno></doc>",
            "line 2: document `a` occurs again, first in line 1",
        ),
    ];
    let folder = Folder::new();
    for (text, expected) in cases {
        let error = read_documents(&folder.file("d.xml", text)).unwrap_err();
        assert_eq!(message(&error), expected);
    }
}

fn collection(folder: &Path, topic_ids: TopicIds) -> CollectionFiles {
    CollectionFiles {
        documents: folder.join("cran.all.1400.xml"),
        topics: folder.join("cran.qry.xml"),
        qrels: folder.join("cranqrel.trec.txt"),
        topic_ids,
        grades: QrelsOptions::default(),
        join: JoinOptions::default(),
    }
}

/// Writes a collection whose topics, like Cranfield's, carry numbers that the judgments do not use.
fn tiny_collection(folder: &Folder) {
    folder.file(
        "cran.qry.xml",
        "<top><num> 1</num><title>wing</title></top><top><num> 4</num><title>heat</title></top>",
    );
    folder.file("cranqrel.trec.txt", "1 0 1 1\n2 0 2 1\n2 0 3 0\n");
    folder.file(
        "cran.all.1400.xml",
        "<doc><docno>1</docno><title>a wing</title></doc><doc><docno>2</docno><title>heat</title></doc>",
    );
}

#[test]
fn a_collection_joins_topics_by_position_where_judgments_count_them() {
    let tiny = Folder::new();
    tiny_collection(&tiny);
    let reference = reference_data("cranfield");
    // README.md of the reference data: 1,400 documents, 225 queries, 1,837 judgments.
    let (folder, documents, queries, judgments) = match &reference {
        Some(folder) => (folder.as_path(), 1400, 225, 1837),
        None => (tiny.0.path(), 2, 2, 3),
    };
    let imported = import(&collection(folder, TopicIds::Position)).unwrap();
    let content = imported.content;
    assert_eq!(content.corpus.documents.len(), documents);
    assert_eq!(content.queries.len(), queries);
    let count: usize = content
        .judgments
        .iter()
        .map(|(_, of_query)| of_query.len())
        .sum();
    assert_eq!(count, judgments);
    assert_eq!(imported.sources.len(), 3);
    let error = import(&collection(folder, TopicIds::Number)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("judged queries have no text, e.g. "),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("by position"));
    if let Some(golden) = reference_data("golden").filter(|_| reference.is_some()) {
        let text = fs::read_to_string(golden.join("cranfield.queries.json")).unwrap();
        let expected: std::collections::BTreeMap<String, String> =
            serde_json::from_str(&text).unwrap();
        let found = content
            .queries
            .into_iter()
            .map(|query| (query.id.to_string(), query.text));
        assert_eq!(
            found.collect::<std::collections::BTreeMap<_, _>>(),
            expected
        );
    }
}

#[test]
fn the_files_of_trec_eval_are_read() {
    let Some(folder) = reference_data("trec_eval") else {
        let read = run("301\tQ0\tFR940202-2-00150\t104\t  2.129133\tSTANDARD more junk\n").unwrap();
        assert_eq!(read.queries["301"][0].rank, 104);
        return;
    };
    let read = read_qrels(&folder.join("qrels.test"), &QrelsOptions::default()).unwrap();
    assert_eq!((read.count, read.judgments.len()), (3681, 3));
    for name in ["results.test", "results.trunc"] {
        let read = read_run(&folder.join(name), RunOptions::default()).unwrap();
        assert!(!read.queries.is_empty() && read.tag == "STANDARD");
    }
}

proptest! {
    #[test]
    fn parsers_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = Folder::new();
        let path = folder.file("any", &bytes);
        drop(read_qrels(&path, &QrelsOptions::default()));
        drop(read_run(&path, RunOptions::default()));
        drop(read_topics(&path, TopicIds::Number));
        drop(read_documents(&path));
    }

    #[test]
    fn parsers_never_panic_on_what_looks_like_their_format(
        text in "(<(/?(doc|top|docno|num|title|p)|!--)>?|&#x?[0-9]{0,3};|[a 0-9.\t\n-]|Q0|-->){0,60}"
    ) {
        let folder = Folder::new();
        let path = folder.file("any", &text);
        drop(read_qrels(&path, &QrelsOptions::default()));
        drop(read_run(&path, RunOptions { order: Order::Rank, dedupe: Dedupe::First }));
        drop(read_topics(&path, TopicIds::Position));
        drop(read_documents(&path));
    }
}
