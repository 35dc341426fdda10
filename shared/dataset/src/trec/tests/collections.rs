//! Topics, documents, and whole collections.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use evalfarm_domain::Query;
use evalfarm_testkit::reference_data;
use proptest::prelude::*;

use super::support::{Folder, message, run};
use crate::trec::{
    CollectionFiles, Dedupe, Order, QrelsOptions, RunOptions, TopicIds, import, read_documents,
    read_qrels, read_run, read_topics,
};
use crate::{InputError, JoinOptions};

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
        let expected: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        let found = content
            .queries
            .into_iter()
            .map(|query| (query.id.to_string(), query.text));
        assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);
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
