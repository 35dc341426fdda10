//! For probes and Prometheus.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::answer::Refused;
use super::routes::Shared;

/// The event loop turns. It says nothing of the broker: an outage there must not restart coordinators.
pub(super) async fn live() -> &'static str {
    "alive\n"
}

/// Stored jobs are taken up, and news are heard.
pub(super) async fn ready(State(shared): State<Shared>) -> (StatusCode, &'static str) {
    if shared.health.is_ready() {
        (StatusCode::OK, "ready\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
    }
}

pub(super) async fn metrics(State(shared): State<Shared>) -> impl IntoResponse {
    let text = shared.telemetry.prometheus();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}

pub(super) async fn nothing_here() -> Refused {
    Refused::not_found("there is no such route")
}
