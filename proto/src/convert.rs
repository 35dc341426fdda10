//! Messages to wire structs and back. Back is the only door in: whatever passes holds every invariant of the domain.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use evalfarm_domain::{
    Candidate, Digest, EngineName, EvaluateTask, ExamineTask, JobId, TaskId, WorkerId,
};

use crate::{
    Cancel, EncodeError, MAX_CAUSES, MAX_ENGINES, Malformed, Message, Newer, TaskFailed,
    TaskFinished, Unreadable, WorkerHello, codec, envelope, tags, v1,
};

const EVALUATE: u16 = 1;
const EXAMINE: u16 = 2;
const FINISHED: u16 = 3;
const FAILED: u16 = 4;
const HELLO: u16 = 5;
const CANCEL: u16 = 6;
const AVERAGE: u16 = 7;

/// The canonical form of a candidate in this release. Raise it whenever `Candidate` can express more than before: a
/// reader that does not know the form postpones the task, where unknown JSON would look malformed.
const CANDIDATES_FORM: u16 = 1;

pub(crate) fn encode(message: &Message) -> Result<Vec<u8>, EncodeError> {
    let (schema, body) = match message {
        Message::Evaluate(task) => (EVALUATE, codec::encode(&evaluate_to_wire(task))),
        Message::Examine(task) => (EXAMINE, codec::encode(&examine_to_wire(task))),
        Message::Finished(finished) => (FINISHED, codec::encode(&finished_to_wire(finished))),
        Message::Failed(failed) => (FAILED, codec::encode(&failed_to_wire(failed)?)),
        Message::Hello(hello) => (HELLO, codec::encode(&hello_to_wire(hello)?)),
        Message::Cancel(cancel) => (CANCEL, codec::encode(&cancel_to_wire(cancel))),
        Message::Average(task) => (AVERAGE, codec::encode(&average_to_wire(task))),
    };
    envelope::seal(schema, &body?)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Message, Unreadable> {
    let (schema, body) = envelope::open(bytes)?;
    Ok(match schema {
        EVALUATE => Message::Evaluate(evaluate(codec::decode(body)?)?),
        EXAMINE => Message::Examine(examine(codec::decode(body)?)?),
        FINISHED => Message::Finished(finished(codec::decode(body)?)?),
        FAILED => Message::Failed(failed(codec::decode(body)?)?),
        HELLO => Message::Hello(hello(codec::decode(body)?)?),
        CANCEL => Message::Cancel(cancel(codec::decode(body)?)?),
        AVERAGE => Message::Average(average(codec::decode(body)?)?),
        id => return Err(Newer::Schema { id }.into()),
    })
}

fn evaluate_to_wire(task: &EvaluateTask) -> v1::EvaluateTask {
    v1::EvaluateTask {
        task: task.id().into(),
        job: task.job.clone().into(),
        fold: tags::fold_tag(task.fold),
        first_query: task.first_query,
        query_count: task.query_count,
        candidates_form: CANDIDATES_FORM,
        candidates_json: candidates_to_wire(&task.candidates),
    }
}

fn evaluate(wire: v1::EvaluateTask) -> Result<EvaluateTask, Unreadable> {
    check_range(wire.first_query, wire.query_count)?;
    let task = EvaluateTask {
        job: job(wire.job)?,
        fold: tags::fold(wire.fold)?,
        first_query: wire.first_query,
        query_count: wire.query_count,
        candidates: candidates(wire.candidates_form, &wire.candidates_json)?.into(),
    };
    check_id(wire.task, task.id())?;
    Ok(task)
}

fn average_to_wire(task: &EvaluateTask) -> v1::AverageTask {
    let v1::EvaluateTask {
        task,
        job,
        fold,
        first_query,
        query_count,
        candidates_form,
        candidates_json,
    } = evaluate_to_wire(task);
    v1::AverageTask {
        task,
        job,
        fold,
        first_query,
        query_count,
        candidates_form,
        candidates_json,
    }
}

fn average(wire: v1::AverageTask) -> Result<EvaluateTask, Unreadable> {
    evaluate(v1::EvaluateTask {
        task: wire.task,
        job: wire.job,
        fold: wire.fold,
        first_query: wire.first_query,
        query_count: wire.query_count,
        candidates_form: wire.candidates_form,
        candidates_json: wire.candidates_json,
    })
}

fn examine_to_wire(task: &ExamineTask) -> v1::ExamineTask {
    v1::ExamineTask {
        task: task.id().into(),
        job: task.job.clone().into(),
        fold: tags::fold_tag(task.fold),
        first_query: task.first_query,
        query_count: task.query_count,
        candidates_form: CANDIDATES_FORM,
        candidates_json: candidates_to_wire(&task.candidates),
        hits: task.hits.get(),
        rank_depth: task.rank_depth.get(),
    }
}

fn examine(wire: v1::ExamineTask) -> Result<ExamineTask, Unreadable> {
    check_range(wire.first_query, wire.query_count)?;
    let task = ExamineTask {
        job: job(wire.job)?,
        fold: tags::fold(wire.fold)?,
        first_query: wire.first_query,
        query_count: wire.query_count,
        candidates: candidates(wire.candidates_form, &wire.candidates_json)?,
        hits: positive("hits", wire.hits)?,
        rank_depth: positive("rank_depth", wire.rank_depth)?,
    };
    check_id(wire.task, task.id())?;
    Ok(task)
}

fn finished_to_wire(finished: &TaskFinished) -> v1::TaskFinished {
    v1::TaskFinished {
        job: finished.job.clone().into(),
        task: finished.task.clone().into(),
        attempt: finished.attempt,
        worker: finished.worker.clone().into(),
        commit: tags::commit_tag(finished.commit),
        rows_sha256: *finished.rows.as_bytes(),
        elapsed_us: u64::try_from(finished.elapsed.as_micros()).unwrap_or(u64::MAX),
    }
}

fn finished(wire: v1::TaskFinished) -> Result<TaskFinished, Unreadable> {
    Ok(TaskFinished {
        job: job(wire.job)?,
        task: task_id(wire.task)?,
        attempt: positive("attempt", wire.attempt)?.get(),
        worker: worker(wire.worker)?,
        commit: tags::commit(wire.commit)?,
        rows: Digest::from_bytes(wire.rows_sha256),
        elapsed: Duration::from_micros(wire.elapsed_us),
    })
}

fn failed_to_wire(failed: &TaskFailed) -> Result<v1::TaskFailed, EncodeError> {
    let (field, len, most) = ("causes", failed.causes.len(), MAX_CAUSES);
    if len > most {
        return Err(EncodeError::List { field, len, most });
    }
    Ok(v1::TaskFailed {
        job: failed.job.clone().into(),
        task: failed.task.clone().into(),
        attempt: failed.attempt,
        worker: failed.worker.clone().into(),
        kind: tags::failure_tag(failed.kind),
        fate: tags::fate_tag(failed.fate),
        causes: failed.causes.clone(),
    })
}

fn failed(wire: v1::TaskFailed) -> Result<TaskFailed, Unreadable> {
    check_list("causes", wire.causes.len(), MAX_CAUSES)?;
    Ok(TaskFailed {
        job: job(wire.job)?,
        task: task_id(wire.task)?,
        attempt: positive("attempt", wire.attempt)?.get(),
        worker: worker(wire.worker)?,
        kind: tags::failure(wire.kind)?,
        fate: tags::fate(wire.fate)?,
        causes: wire.causes,
    })
}

fn hello_to_wire(hello: &WorkerHello) -> Result<v1::WorkerHello, EncodeError> {
    let (field, len, most) = ("engines", hello.engines.len(), MAX_ENGINES);
    if len > most {
        return Err(EncodeError::List { field, len, most });
    }
    Ok(v1::WorkerHello {
        worker: hello.worker.clone().into(),
        release: hello.release.clone(),
        protocol: hello.protocol,
        slots: hello.slots,
        engines: hello.engines.iter().cloned().map(String::from).collect(),
    })
}

fn hello(wire: v1::WorkerHello) -> Result<WorkerHello, Unreadable> {
    check_list("engines", wire.engines.len(), MAX_ENGINES)?;
    let engines: Result<_, _> = wire.engines.into_iter().map(EngineName::try_from).collect();
    Ok(WorkerHello {
        worker: worker(wire.worker)?,
        release: wire.release,
        protocol: wire.protocol,
        slots: positive("slots", wire.slots)?.get(),
        engines: engines.map_err(Malformed::Id)?,
    })
}

fn cancel_to_wire(cancel: &Cancel) -> v1::Cancel {
    v1::Cancel {
        job: cancel.job.clone().into(),
        reason: cancel.reason.clone(),
    }
}

fn cancel(wire: v1::Cancel) -> Result<Cancel, Malformed> {
    Ok(Cancel {
        job: job(wire.job)?,
        reason: wire.reason,
    })
}

fn candidates_to_wire(candidates: &[Candidate]) -> Vec<u8> {
    let texts: Vec<String> = candidates.iter().map(Candidate::canonical_json).collect();
    format!("[{}]", texts.join(",")).into_bytes()
}

fn candidates(form: u16, json: &[u8]) -> Result<Vec<Candidate>, Unreadable> {
    let field = "candidates form";
    match form {
        0 => return Err(Malformed::Zero { field }.into()),
        CANDIDATES_FORM => {}
        tag => return Err(Newer::Tag { field, tag }.into()),
    }
    let candidates: Vec<Candidate> = serde_json::from_slice(json).map_err(Malformed::Candidates)?;
    if candidates_to_wire(&candidates) != json {
        return Err(Malformed::NotCanonical.into());
    }
    if candidates.is_empty() {
        return Err(Malformed::NoCandidate.into());
    }
    let mut seen = BTreeSet::new();
    for candidate in candidates.iter().map(Candidate::id) {
        if let Some(candidate) = seen.replace(candidate) {
            return Err(Malformed::RepeatedCandidate { candidate }.into());
        }
    }
    Ok(candidates)
}

fn check_range(first: u32, count: u32) -> Result<(), Malformed> {
    if count == 0 || first.checked_add(count).is_none() {
        return Err(Malformed::QueryRange { first, count });
    }
    Ok(())
}

fn check_id(stated: String, computed: TaskId) -> Result<(), Malformed> {
    let stated = task_id(stated)?;
    if stated != computed {
        return Err(Malformed::TaskId { stated, computed });
    }
    Ok(())
}

fn check_list(field: &'static str, len: usize, most: usize) -> Result<(), Malformed> {
    if len > most {
        return Err(Malformed::List { field, len, most });
    }
    Ok(())
}

fn positive(field: &'static str, number: u32) -> Result<NonZeroU32, Malformed> {
    NonZeroU32::new(number).ok_or(Malformed::NotPositive { field })
}

fn job(text: String) -> Result<JobId, Malformed> {
    Ok(JobId::try_from(text)?)
}

fn task_id(text: String) -> Result<TaskId, Malformed> {
    Ok(TaskId::try_from(text)?)
}

fn worker(text: String) -> Result<WorkerId, Malformed> {
    Ok(WorkerId::try_from(text)?)
}
