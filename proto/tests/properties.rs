//! Whatever can be said comes back as it was said, and no bytes make the reader do more than refuse them.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use evalfarm_domain::{
    Candidate, Combine, Digest, EngineName, EvaluateTask, ExamineTask, FieldName, FieldWeights,
    Fold, JobId, TaskId, WorkerId,
};
use evalfarm_proto::{
    Cancel, Commit, Fate, Malformed, Message, TaskFailed, TaskFailureKind, TaskFinished,
    Unreadable, WorkerHello,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn id<T>() -> impl Strategy<Value = T>
where
    T: for<'a> TryFrom<&'a str> + std::fmt::Debug,
{
    let long = Just("é".repeat(256));
    prop_oneof!["[a-z0-9]{1,20}", "\\PC{1,40}", long]
        .prop_map(|text: String| T::try_from(&text).ok().expect("1 to 512 bytes"))
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let combine = prop_oneof![
        Just(Combine::MostFields),
        (0.0..=1.0).prop_map(|tie: f64| Combine::best_fields(tie).unwrap()),
    ];
    let weights = btree_map(id::<FieldName>(), 1e-5..1e5, 1..6)
        .prop_map(|weights: BTreeMap<_, f64>| FieldWeights::try_from(weights).unwrap());
    (combine, weights).prop_map(|(combine, weights)| Candidate { combine, weights })
}

fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    vec(candidate(), 1..8).prop_map(|candidates| {
        let by_id: BTreeMap<_, _> = candidates.into_iter().map(|one| (one.id(), one)).collect();
        by_id.into_values().collect()
    })
}

fn fold() -> impl Strategy<Value = Fold> {
    prop_oneof![Just(Fold::Train), Just(Fold::Holdout), Just(Fold::All)]
}

fn evaluate() -> impl Strategy<Value = EvaluateTask> {
    (id(), fold(), 0..1_u32 << 31, 1..1_u32 << 31, candidates()).prop_map(
        |(job, fold, first_query, query_count, candidates)| EvaluateTask {
            job,
            fold,
            first_query,
            query_count,
            candidates: candidates.into(),
        },
    )
}

fn examine() -> impl Strategy<Value = ExamineTask> {
    (evaluate(), any::<NonZeroU32>(), any::<NonZeroU32>()).prop_map(|(task, hits, rank_depth)| {
        ExamineTask {
            job: task.job,
            fold: task.fold,
            first_query: task.first_query,
            query_count: task.query_count,
            candidates: task.candidates.to_vec(),
            hits,
            rank_depth,
        }
    })
}

fn attempt() -> impl Strategy<Value = (JobId, TaskId, u32, WorkerId)> {
    (id(), id(), 1..=u32::MAX, id())
}

fn finished() -> impl Strategy<Value = TaskFinished> {
    let commit = prop_oneof![
        Just(Commit::First),
        Just(Commit::Identical),
        Just(Commit::Different)
    ];
    (attempt(), commit, any::<[u8; 32]>(), any::<u64>()).prop_map(
        |((job, task, attempt, worker), commit, rows, micros)| TaskFinished {
            job,
            task,
            attempt,
            worker,
            commit,
            rows: Digest::from_bytes(rows),
            elapsed: Duration::from_micros(micros),
        },
    )
}

fn failed() -> impl Strategy<Value = TaskFailed> {
    let kind = prop_oneof![
        Just(TaskFailureKind::Retryable),
        Just(TaskFailureKind::Permanent),
        Just(TaskFailureKind::Infrastructure),
        Just(TaskFailureKind::Panic),
        Just(TaskFailureKind::Deadline),
        Just(TaskFailureKind::Conflict),
    ];
    let fate = prop_oneof![Just(Fate::Retried), Just(Fate::Dead)];
    (attempt(), kind, fate, vec(any::<String>(), 0..32)).prop_map(
        |((job, task, attempt, worker), kind, fate, causes)| TaskFailed {
            job,
            task,
            attempt,
            worker,
            kind,
            fate,
            causes,
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let engines = vec(id::<EngineName>(), 0..256);
    let hello = (id(), any::<String>(), any::<u16>(), 1..=u32::MAX, engines).prop_map(
        |(worker, release, protocol, slots, engines)| WorkerHello {
            worker,
            release,
            protocol,
            slots,
            engines,
        },
    );
    let cancel = (id(), any::<String>()).prop_map(|(job, reason)| Cancel { job, reason });
    prop_oneof![
        evaluate().prop_map(Message::Evaluate),
        examine().prop_map(Message::Examine),
        finished().prop_map(Message::Finished),
        failed().prop_map(Message::Failed),
        hello.prop_map(Message::Hello),
        cancel.prop_map(Message::Cancel),
        evaluate().prop_map(Message::Average),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(message in message()) {
        let bytes = message.encode().unwrap();
        prop_assert_eq!(Message::decode(&bytes).unwrap(), message);
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(Message::decode(&bytes).is_err());
    }

    #[test]
    fn an_arbitrary_body_in_a_whole_envelope_is_refused_or_read(
        schema in 1_u16..9,
        body in vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = b"EVFM\x01\x01".to_vec();
        bytes.extend_from_slice(&schema.to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&body);
        let digest = Digest::of(&bytes);
        bytes.extend_from_slice(&digest.as_bytes()[..8]);
        // What is read is written again as the same bytes: no second spelling of a message exists.
        if let Ok(message) = Message::decode(&bytes) {
            prop_assert_eq!(message.encode().unwrap(), bytes);
        }
    }
}

#[test]
fn tasks_are_not_read_when_their_candidates_are_spelled_in_another_way() {
    let task = EvaluateTask {
        job: JobId::try_from("j1").unwrap(),
        fold: Fold::All,
        first_query: 0,
        query_count: 1,
        candidates: [Candidate {
            combine: Combine::MostFields,
            weights: FieldWeights::try_from(BTreeMap::from([(
                FieldName::try_from("title").unwrap(),
                1.0,
            )]))
            .unwrap(),
        }]
        .into(),
    };
    let bytes = Message::Evaluate(task).encode().unwrap();
    let json = br#"[{"combine":{"kind":"most_fields"},"weights":{"title":1.0}}]"#;
    let json_at = bytes.len() - 8 - json.len();
    assert_eq!(&bytes[json_at..bytes.len() - 8], json);
    let with = |json: &str| {
        let mut body = bytes[12..json_at - 8].to_vec();
        body.extend_from_slice(&u64::try_from(json.len()).unwrap().to_le_bytes());
        body.extend_from_slice(json.as_bytes());
        let mut bytes = b"EVFM\x01\x01\x01\x00".to_vec();
        bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&body);
        let digest = Digest::of(&bytes);
        bytes.extend_from_slice(&digest.as_bytes()[..8]);
        match Message::decode(&bytes) {
            Err(Unreadable::Malformed(malformed)) => malformed,
            other => panic!("{json}: {other:?}"),
        }
    };
    let one = r#"{"combine":{"kind":"most_fields"},"weights":{"title":1.0}}"#;
    let scaled = r#"[{"combine":{"kind":"most_fields"},"weights":{"title":4.0}}]"#;
    let unknown = r#"[{"combine":{"kind":"neural"},"weights":{"title":1.0}}]"#;
    assert!(matches!(with(scaled), Malformed::NotCanonical));
    assert!(matches!(
        with(&format!("[{one}, {one}]")),
        Malformed::NotCanonical
    ));
    let twice = with(&format!("[{one},{one}]"));
    assert!(matches!(twice, Malformed::RepeatedCandidate { .. }));
    assert!(matches!(with("[]"), Malformed::NoCandidate));
    assert!(matches!(with(unknown), Malformed::Candidates(_)));
    assert!(matches!(
        with(&"[".repeat(100_000)),
        Malformed::Candidates(_)
    ));
}
