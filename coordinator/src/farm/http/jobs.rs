//! Jobs over HTTP.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::{Extension, Json};
use evalfarm_results::BesideFile;
use evalfarm_store::JobObject;
use evalfarm_telemetry::TraceContext;
use futures_util::{Stream, stream};
use tokio::sync::watch;
use tracing::Instrument as _;

use super::answer::Refused;
use super::routes::Shared;
use crate::api::{CancelRequest, JobList, JobStatus, ProblemCode, Submission, Submitted};
use crate::farm::board::Board;
use crate::farm::credentials::Actor;
use crate::farm::service::unix_millis;

/// Events of one job come at most so often.
const EVENT_PAUSE: Duration = Duration::from_millis(200);

/// A status is sent after this time even when nothing changed: the rate did.
const EVENT_AT_LEAST: Duration = Duration::from_secs(1);

/// Longest reason for cancelling a job, in bytes.
const MAX_REASON: usize = 1_000;

pub(super) async fn list(State(shared): State<Shared>) -> Json<JobList> {
    Json(JobList {
        jobs: shared.jobs.list(),
    })
}

pub(super) async fn submit(
    State(shared): State<Shared>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Result<Json<Submission>, JsonRejection>,
) -> Result<(StatusCode, Json<Submitted>), Refused> {
    let Json(submission) = body.map_err(|error| unreadable(&error))?;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let context = TraceContext::new(text("traceparent"), text("tracestate"));
    let span = tracing::info_span!("submit", otel.kind = "server");
    evalfarm_telemetry::continue_trace(&span, &context);
    let submitted = async {
        let trace = evalfarm_telemetry::current();
        let jobs = &shared.jobs;
        jobs.submit(&actor, submission, unix_millis(), &trace).await
    }
    .instrument(span)
    .await?;
    tracing::info!(job = %submitted.job, by = actor.name, created = submitted.created, "submitted");
    let status = if submitted.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(submitted)))
}

pub(super) async fn status(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<Json<JobStatus>, Refused> {
    let (_, entry) = shared.jobs.get(&job)?;
    Ok(Json(entry.board.status()))
}

pub(super) async fn cancel(
    State(shared): State<Shared>,
    Extension(actor): Extension<Actor>,
    Path(job): Path<String>,
    body: Result<Json<CancelRequest>, JsonRejection>,
) -> Result<Json<JobStatus>, Refused> {
    let Json(request) = body.map_err(|error| unreadable(&error))?;
    if request.reason.len() > MAX_REASON {
        let message = format!("the reason has more than {MAX_REASON} bytes");
        return Err(Refused::new(ProblemCode::Invalid, message));
    }
    // It is shown on terminals.
    if request.reason.chars().any(char::is_control) {
        let message = "the reason has control characters, e.g. line ends";
        return Err(Refused::new(ProblemCode::Invalid, message));
    }
    let status = shared.jobs.cancel(&actor, &job, &request.reason).await?;
    tracing::info!(job = %status.job, by = actor.name, "cancelled");
    Ok(Json(status))
}

pub(super) async fn verdict(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<impl IntoResponse, Refused> {
    let (id, _) = shared.jobs.get(&job)?;
    let store = &shared.jobs.farm.store;
    let object = JobObject::Beside(BesideFile::Verdict);
    match store.read_of_job(&id, object).await? {
        Some(bytes) => Ok(([(CONTENT_TYPE, "application/json")], bytes)),
        None => Err(Refused::not_found(format!("job `{id}` has no verdict"))),
    }
}

pub(super) async fn events(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refused> {
    let (_, entry) = shared.jobs.get(&job)?;
    let feed = Feed {
        changed: entry.board.watch(),
        board: Arc::clone(&entry.board),
        sent: Sent::Nothing,
    };
    let events = stream::unfold(feed, Feed::next);
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// The states of a job, one after another.
struct Feed {
    board: Arc<Board>,
    changed: watch::Receiver<u64>,
    sent: Sent,
}

#[derive(PartialEq)]
enum Sent {
    Nothing,
    Something,
    TheEnd,
}

impl Feed {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        match self.sent {
            Sent::Nothing => {}
            Sent::Something => {
                tokio::time::sleep(EVENT_PAUSE).await;
                // Either way there is something to say.
                drop(tokio::time::timeout(EVENT_AT_LEAST, self.changed.changed()).await);
            }
            Sent::TheEnd => return None,
        }
        self.changed.mark_unchanged();
        let status = self.board.status();
        self.sent = if status.state.is_over() {
            Sent::TheEnd
        } else {
            Sent::Something
        };
        let event = Event::default().event("status");
        let event = event.json_data(&status).unwrap_or_default();
        Some((Ok(event), self))
    }
}

/// A body that is not what it should be; an unknown key is named.
fn unreadable(error: &JsonRejection) -> Refused {
    let code = match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => ProblemCode::TooLarge,
        _ => ProblemCode::Invalid,
    };
    Refused::new(code, error.body_text())
}
