//! The bytes of version 1, written by a second writer (`golden/make.py`, Python's struct and hashlib), are what this
//! crate writes and reads.

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
    Cancel, Commit, Fate, Malformed, Message, Newer, TaskFailed, TaskFailureKind, TaskFinished,
    Unreadable, WorkerHello,
};

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../golden/v1-", $name, ".bin"))
    };
}

fn candidates() -> Vec<Candidate> {
    let weights = |pairs: &[(&str, f64)]| {
        let pairs = pairs
            .iter()
            .map(|&(field, weight)| (FieldName::try_from(field).unwrap(), weight));
        FieldWeights::try_from(pairs.collect::<BTreeMap<_, _>>()).unwrap()
    };
    vec![
        Candidate {
            combine: Combine::best_fields(0.0).unwrap(),
            weights: weights(&[("title", 4.0), ("brand", 2.5)]),
        },
        Candidate {
            combine: Combine::MostFields,
            weights: weights(&[("title", 1.0)]),
        },
    ]
}

fn samples() -> Vec<(Message, &'static [u8])> {
    let job = || JobId::try_from("j1").unwrap();
    let task = || TaskId::try_from("t1").unwrap();
    let worker = || WorkerId::try_from("w1").unwrap();
    let engine = |name: &str| EngineName::try_from(name).unwrap();
    let evaluate = EvaluateTask {
        job: job(),
        fold: Fold::Train,
        first_query: 256,
        query_count: 64,
        candidates: candidates().into(),
    };
    let examine = ExamineTask {
        job: job(),
        fold: Fold::Holdout,
        first_query: 256,
        query_count: 64,
        candidates: candidates(),
        hits: NonZeroU32::new(10).unwrap(),
        rank_depth: NonZeroU32::new(1000).unwrap(),
    };
    let finished = TaskFinished {
        job: job(),
        task: task(),
        attempt: 2,
        worker: worker(),
        commit: Commit::Identical,
        rows: Digest::of(b"rows"),
        elapsed: Duration::from_millis(1_500),
    };
    let failed = TaskFailed {
        job: job(),
        task: task(),
        attempt: 4,
        worker: worker(),
        kind: TaskFailureKind::Retryable,
        fate: Fate::Dead,
        causes: vec![
            "failed to reach `rerank`".to_owned(),
            "timed out after 2 s".to_owned(),
        ],
    };
    let hello = WorkerHello {
        worker: worker(),
        release: "0.1.0".to_owned(),
        protocol: 1,
        slots: 2,
        engines: vec![engine("bm25"), engine("rerank")],
    };
    let cancel = Cancel {
        job: job(),
        reason: "asked for at a terminal".to_owned(),
    };
    vec![
        (Message::Evaluate(evaluate.clone()), golden!("evaluate")),
        (Message::Examine(examine), golden!("examine")),
        (Message::Finished(finished), golden!("finished")),
        (Message::Failed(failed), golden!("failed")),
        (Message::Hello(hello), golden!("hello")),
        (Message::Cancel(cancel), golden!("cancel")),
        (Message::Average(evaluate), golden!("average")),
    ]
}

/// Recomputes the digest, as a writer would that means what it says.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body_end = bytes.len() - 8;
    let body_len = u32::try_from(body_end - 12).unwrap();
    bytes[8..12].copy_from_slice(&body_len.to_le_bytes());
    let digest = Digest::of(&bytes[..body_end]);
    bytes[body_end..].copy_from_slice(&digest.as_bytes()[..8]);
    bytes
}

#[test]
fn the_bytes_of_version_1_are_pinned() {
    for (message, golden) in samples() {
        assert_eq!(message.encode().unwrap(), golden, "{message:?}");
        assert_eq!(Message::decode(golden).unwrap(), message);
    }
}

#[test]
fn a_message_cut_anywhere_is_malformed() {
    for (message, golden) in samples() {
        for len in 0..golden.len() {
            let error = Message::decode(&golden[..len]).unwrap_err();
            assert!(
                matches!(error, Unreadable::Malformed(_)),
                "{len} bytes of {message:?}"
            );
        }
    }
}

#[test]
fn a_body_cut_anywhere_is_malformed_although_its_envelope_is_whole() {
    for (message, golden) in samples() {
        for body_end in 12..golden.len() - 8 {
            let mut bytes = golden[..body_end].to_vec();
            bytes.extend_from_slice(&[0; 8]);
            let error = Message::decode(&resealed(bytes)).unwrap_err();
            assert!(
                matches!(error, Unreadable::Malformed(Malformed::Body(_))),
                "body ends at {body_end} of {message:?}: {error:?}"
            );
        }
    }
}

#[test]
fn a_flipped_bit_is_malformed_or_an_unknown_envelope() {
    for (_, golden) in samples() {
        for bit in 0..golden.len() * 8 {
            let mut bytes = golden.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = Message::decode(&bytes).unwrap_err();
            let version = matches!(error, Unreadable::Newer(Newer::Envelope { .. }));
            assert_eq!(
                version,
                bit / 8 == 4 && bytes[4] != 0,
                "bit {bit}: {error:?}"
            );
        }
    }
}

#[test]
fn bytes_after_a_body_are_an_error() {
    for (_, golden) in samples() {
        let mut bytes = golden[..golden.len() - 8].to_vec();
        bytes.extend_from_slice(&[0; 9]);
        let error = Message::decode(&resealed(bytes)).unwrap_err();
        assert!(matches!(
            error,
            Unreadable::Malformed(Malformed::Trailing { extra: 1 })
        ));
        let mut bytes = golden.to_vec();
        bytes.push(0);
        let error = Message::decode(&bytes).unwrap_err();
        assert!(matches!(
            error,
            Unreadable::Malformed(Malformed::Length { .. })
        ));
    }
}

#[test]
fn every_hostile_length_is_refused() {
    // Overwrites each 8 bytes of each body by lengths that a reader must not believe. What decodes anyway was a number,
    // not a length.
    for (_, golden) in samples() {
        for length in [u64::MAX, 1 << 47, 1 << 32, 1 << 20] {
            for start in 12..golden.len() - 16 {
                let mut bytes = golden.to_vec();
                bytes[start..start + 8].copy_from_slice(&length.to_le_bytes());
                drop(Message::decode(&resealed(bytes)));
            }
        }
        let mut bytes = golden.to_vec();
        bytes[12..20].copy_from_slice(&u64::MAX.to_le_bytes());
        let error = Message::decode(&resealed(bytes)).unwrap_err();
        assert!(matches!(error, Unreadable::Malformed(Malformed::Body(_))));
    }
}

#[test]
fn what_only_a_newer_release_knows_is_not_malformed() {
    let changed = |name: usize, at: usize, to: u8| {
        let (_, golden) = &samples()[name];
        let mut bytes = golden.to_vec();
        bytes[at] = to;
        match Message::decode(&resealed(bytes)) {
            Err(Unreadable::Newer(newer)) => newer,
            other => panic!("byte {at} of sample {name} set to {to}: {other:?}"),
        }
    };
    assert_eq!(changed(0, 4, 2), Newer::Envelope { version: 2 });
    assert_eq!(changed(0, 5, 2), Newer::Codec { id: 2 });
    assert_eq!(changed(0, 6, 8), Newer::Schema { id: 8 });
    // evaluate: 12 header, 8 + 25 task, 8 + 2 job → fold at 55; 2 fold, 4 + 4 range → form of the candidates at 65
    let newer_fold = Newer::Tag {
        field: "fold",
        tag: 9,
    };
    assert_eq!(changed(0, 55, 9), newer_fold);
    let newer_form = Newer::Tag {
        field: "candidates form",
        tag: 2,
    };
    assert_eq!(changed(0, 65, 2), newer_form);
    // failed: 12 header, 8 + 2 job, 8 + 2 task, 4 attempt, 8 + 2 worker → kind at 46, fate at 48
    let newer_kind = Newer::Tag {
        field: "failure kind",
        tag: 7,
    };
    assert_eq!(changed(3, 46, 7), newer_kind);
    let newer_fate = Newer::Tag {
        field: "fate",
        tag: 3,
    };
    assert_eq!(changed(3, 48, 3), newer_fate);
}

#[test]
fn what_no_release_writes_is_malformed() {
    let changed = |name: usize, at: usize, to: &[u8]| {
        let (_, golden) = &samples()[name];
        let mut bytes = golden.to_vec();
        bytes[at..at + to.len()].copy_from_slice(to);
        match Message::decode(&resealed(bytes)) {
            Err(Unreadable::Malformed(malformed)) => malformed.to_string(),
            other => panic!("byte {at} of sample {name} set to {to:?}: {other:?}"),
        }
    };
    assert_eq!(changed(0, 0, b"X"), "the bytes do not begin with `EVFM`");
    assert_eq!(changed(0, 4, &[0]), "version is 0");
    assert_eq!(changed(0, 5, &[0]), "codec is 0");
    assert_eq!(changed(0, 6, &[0]), "schema is 0");
    assert_eq!(changed(0, 55, &[0]), "fold is 0");
    // evaluate: first query at 57, query count at 61
    assert_eq!(
        changed(0, 61, &[0; 4]),
        "0 queries from query 256 are not a range"
    );
    let range = "4294967295 queries from query 256 are not a range";
    assert_eq!(changed(0, 61, &[255; 4]), range);
    // another first query is another task
    assert!(changed(0, 57, &[1]).contains("its content says"));
    // finished: attempt at 12 + 8 + 2 + 8 + 2 = 32
    assert_eq!(
        changed(2, 32, &[0; 4]),
        "`attempt` is 0, at least 1 is needed"
    );
    // hello: 12 header, 8 + 2 worker, 8 + 5 release, 2 protocol → slots at 37
    assert_eq!(
        changed(4, 37, &[0; 4]),
        "`slots` is 0, at least 1 is needed"
    );
}

#[test]
fn a_message_above_the_limit_is_neither_written_nor_read() {
    let cancel = |len: usize| {
        Message::Cancel(Cancel {
            job: JobId::try_from("j1").unwrap(),
            reason: "x".repeat(len),
        })
    };
    // 12 header, 8 + 2 job, 8 length of the reason, 8 digest
    let most = (1 << 20) - 38;
    let bytes = cancel(most).encode().unwrap();
    assert_eq!(bytes.len(), 1 << 20);
    assert_eq!(Message::decode(&bytes).unwrap(), cancel(most));
    let error = cancel(most + 1).encode().unwrap_err();
    assert_eq!(
        error.to_string(),
        "message is 1048577 bytes long, at most 1048576 are allowed"
    );
    let error = Message::decode(&vec![0; (1 << 20) + 1]).unwrap_err();
    assert!(matches!(
        error,
        Unreadable::Malformed(Malformed::TooLarge { .. })
    ));
}
