//! Workers and dead letters over HTTP.

use axum::Json;
use axum::extract::{Path, State};
use evalfarm_process::ErrorChain;

use super::answer::Refused;
use super::routes::Shared;
use crate::api::{DeadEntry, DeadList, ProblemCode, Revived, WorkerEntry, WorkerList};
use crate::farm::service::unix_millis;

/// Dead letters that are listed.
const MOST_DEAD: usize = 1_000;

pub(super) async fn list(State(shared): State<Shared>) -> Result<Json<WorkerList>, Refused> {
    let reports = shared.jobs.farm.lines.state.workers().await;
    let reports = reports.map_err(|error| unavailable("the counts", &error))?;
    let now = unix_millis();
    let alive = shared.jobs.farm.alive.as_secs_f64();
    let since = |then: u64| now.saturating_sub(then) as f64 / 1_000.0;
    let workers = reports.into_iter().map(|report| {
        let silent_seconds = since(report.seen.0);
        WorkerEntry {
            worker: report.worker,
            release: report.release,
            slots: report.slots,
            current: report.current,
            up_seconds: since(report.started.0),
            silent_seconds,
            alive: silent_seconds <= alive,
        }
    });
    Ok(Json(WorkerList {
        workers: workers.collect(),
    }))
}

pub(super) async fn dead(State(shared): State<Shared>) -> Result<Json<DeadList>, Refused> {
    let letters = shared.jobs.farm.lines.broker.dead_letters(MOST_DEAD).await;
    let letters = letters.map_err(|error| unavailable("the broker", &error))?;
    let dead = letters.into_iter().map(|dead| DeadEntry {
        id: dead.letter.id,
        job: dead.letter.job,
        attempt: dead.attempt,
        reason: dead.reason,
    });
    Ok(Json(DeadList {
        dead: dead.collect(),
    }))
}

pub(super) async fn revive(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Json<Revived>, Refused> {
    let revived = shared.jobs.farm.lines.broker.revive(&id).await;
    let revived = revived.map_err(|error| unavailable("the broker", &error))?;
    match revived {
        0 => Err(Refused::not_found(format!(
            "there is no dead message `{id}`"
        ))),
        revived => Ok(Json(Revived { revived })),
    }
}

fn unavailable(what: &str, error: &(dyn std::error::Error + 'static)) -> Refused {
    tracing::warn!(error = %ErrorChain(error), "{what} cannot be asked");
    Refused::new(
        ProblemCode::Unavailable,
        format!("{what} cannot be asked now"),
    )
    .with_hint("try again; the coordinator's log says more")
}
