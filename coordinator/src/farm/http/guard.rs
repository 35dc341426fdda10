//! Who asks, and whether they may.

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::answer::Refused;
use super::body::patient;
use super::routes::Shared;
use crate::api::ProblemCode;
use crate::farm::credentials::{Actor, Role};

/// Lets a request through when its token allows `role`, with its [`Actor`] among its extensions.
pub(super) async fn guard(
    State((shared, role)): State<(Shared, Role)>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(actor) = actor(&shared, &request) else {
        return Refused::new(
            ProblemCode::Unauthorized,
            "no token, or none that is known here",
        )
        .with_hint("send `Authorization: Bearer TOKEN`")
        .into_response();
    };
    if !actor.may(role) {
        let message = format!("`{}` may not do this: it needs the role {role}", actor.name);
        return Refused::new(ProblemCode::Forbidden, message).into_response();
    }
    if !shared.health.is_ready() {
        // Before stored jobs are taken up, a job that is there would not be found.
        return Refused::new(ProblemCode::Unavailable, "the coordinator starts or stops")
            .with_hint("try again in a moment")
            .into_response();
    }
    request.extensions_mut().insert(actor);
    next.run(request.map(patient)).await
}

fn actor(shared: &Shared, request: &Request) -> Option<Actor> {
    let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    shared.credentials.actor(token.trim()).cloned()
}
