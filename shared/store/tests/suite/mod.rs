//! What every kind of store owes: the same checks for memory, a folder and a server.

mod datasets;
mod jobs;
mod objects;

use std::path::Path;

use bytes::Bytes;
use evalfarm_dataset::{About, DatasetContent};
use evalfarm_domain::{
    Corpus, Digest, DocId, Document, FieldName, Grade, JobId, Judgments, Query, QueryId, TaskId,
};
use evalfarm_store::Store;

/// Runs the whole suite. The store must be empty, except for what opening it leaves.
pub(crate) async fn holds(store: &Store) {
    objects::are_created_once(store).await;
    objects::have_one_creator_however_many_try(store).await;
    objects::that_are_missing_are_said_to_be(store).await;
    objects::can_be_taken_back(store).await;
    objects::may_be_empty_or_large(store).await;
    jobs::are_committed_by_their_last_object(store).await;
    jobs::refuse_other_bytes_for_a_committed_task(store).await;
    jobs::are_evaluated_and_averaged_under_one_id(store).await;
    jobs::do_not_see_each_other(store).await;
    jobs::keep_their_settings(store).await;
    jobs::are_fetched_byte_for_byte(store).await;
    jobs::are_fetched_task_by_task(store).await;
    datasets::are_fetched_as_they_were_published(store).await;
    datasets::are_invisible_until_their_manifest_is_there(store).await;
    datasets::come_in_piece_by_piece(store).await;
    datasets::without_a_file_or_with_another_are_refused(store).await;
    datasets::keep_every_look_once(store).await;
    datasets::that_are_damaged_are_refused(store).await;
    datasets::that_are_others_are_refused(store).await;
}

pub(crate) fn job(name: &str) -> JobId {
    JobId::try_from(name).unwrap()
}

pub(crate) fn task(name: &str) -> TaskId {
    TaskId::try_from(name).unwrap()
}

pub(crate) fn text(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// Stores a dataset of one document with that text, and returns its fingerprint.
pub(crate) fn dataset_in(folder: &Path, words: &str) -> Digest {
    let document = Document {
        id: DocId::try_from("d1").unwrap(),
        fields: vec![words.to_owned()],
    };
    let query = QueryId::try_from("q1").unwrap();
    let mut judgments = Judgments::default();
    let grade = Grade::try_from(1.0).unwrap();
    judgments.insert(query.clone(), document.id.clone(), grade);
    let content = DatasetContent {
        corpus: Corpus {
            fields: vec![FieldName::try_from("title").unwrap()],
            documents: vec![document],
        },
        queries: vec![Query {
            id: query,
            text: "phone".to_owned(),
            weight: 1.0,
            cluster: None,
            columns: std::collections::BTreeMap::default(),
        }],
        judgments,
    };
    let manifest = evalfarm_dataset::store(folder, content, About::new("tiny")).unwrap();
    manifest.fingerprint
}
