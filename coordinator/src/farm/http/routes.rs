//! Which routes there are, and what each needs.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{MethodRouter, get, post, put};
use evalfarm_telemetry::Telemetry;

use super::answer::as_problem;
use super::body::Uploads;
use super::guard::guard;
use super::{datasets, files, jobs, probes, workers};
use crate::api::MAX_JSON_BYTES;
use crate::farm::credentials::{Credentials, Role};
use crate::farm::jobs::Jobs;
use crate::farm::service::Health;

/// What every handler may need.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) health: Arc<Health>,
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) uploads: Uploads,
}

/// A route that wants a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Its method.
    pub method: &'static str,
    /// Its path, with parameters in braces.
    pub path: &'static str,
    /// The weakest role that it needs.
    pub role: Role,
}

macro_rules! routes {
    ($($method:ident $path:literal $role:ident $handler:path;)+) => {
        /// Every route under `/v1`.
        pub const ROUTES: &[Route] = &[$(Route { method: stringify!($method), path: $path, role: Role::$role }),+];

        fn guarded(shared: &Shared) -> Router<Shared> {
            let mut router = Router::new();
            $(router = router.route($path, behind(shared, Role::$role, $method($handler)));)+
            router
        }
    };
}

routes! {
    get "/v1/jobs" Reader jobs::list;
    post "/v1/jobs" Proposer jobs::submit;
    get "/v1/jobs/{job}" Reader jobs::status;
    get "/v1/jobs/{job}/events" Reader jobs::events;
    get "/v1/jobs/{job}/verdict" Reader jobs::verdict;
    post "/v1/jobs/{job}/cancel" Proposer jobs::cancel;
    get "/v1/jobs/{job}/files" Reader files::list;
    get "/v1/jobs/{job}/files/{*path}" Reader files::file;
    get "/v1/workers" Reader workers::list;
    get "/v1/dead" Reader workers::dead;
    post "/v1/dead/{id}/revive" Operator workers::revive;
    get "/v1/datasets/{fingerprint}" Reader datasets::is_there;
    post "/v1/datasets/{fingerprint}/missing" Proposer datasets::missing;
    put "/v1/datasets/{fingerprint}/files/{sha256}" Proposer datasets::file;
    put "/v1/datasets/{fingerprint}" Proposer datasets::manifest;
}

/// Puts a handler behind the question who asks. Files of datasets are larger than the limit here, and have their own.
fn behind(shared: &Shared, role: Role, handler: MethodRouter<Shared>) -> MethodRouter<Shared> {
    handler
        .layer(DefaultBodyLimit::max(MAX_JSON_BYTES))
        .layer(from_fn_with_state((shared.clone(), role), guard))
}

/// Returns the whole service.
pub(crate) fn router(shared: Shared) -> Router {
    guarded(&shared)
        .layer(map_response(as_problem))
        .route("/livez", get(probes::live))
        .route("/readyz", get(probes::ready))
        .route("/metrics", get(probes::metrics))
        .fallback(probes::nothing_here)
        .with_state(shared)
}
