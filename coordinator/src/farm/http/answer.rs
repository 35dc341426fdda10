//! Errors as answers.

use axum::Json;
use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use evalfarm_process::ErrorChain;
use evalfarm_store::StoreError;

use crate::api::{Problem, ProblemCode};
use crate::farm::jobs::JobsError;

/// Longest text of a refusal that is passed on, in bytes.
const MOST_SAID: usize = 4_096;

/// A request that was not answered as asked.
#[derive(Debug)]
pub(crate) struct Refused(Problem);

impl Refused {
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self(Problem {
            code,
            message: message.into(),
            hint: None,
        })
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(ProblemCode::NotFound, message)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = match self.0.code {
            ProblemCode::Unauthorized => StatusCode::UNAUTHORIZED,
            ProblemCode::Forbidden => StatusCode::FORBIDDEN,
            ProblemCode::NotFound => StatusCode::NOT_FOUND,
            ProblemCode::Conflict => StatusCode::CONFLICT,
            ProblemCode::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            ProblemCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ProblemCode::Unavailable | ProblemCode::Other => StatusCode::SERVICE_UNAVAILABLE,
        };
        (status, Json(self.0)).into_response()
    }
}

/// Makes a [`Problem`] of what refused a request before a handler could, such as a method that a route does not have.
pub(super) async fn as_problem(response: Response) -> Response {
    let status = response.status();
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let code = match status {
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => ProblemCode::NotFound,
        StatusCode::PAYLOAD_TOO_LARGE => ProblemCode::TooLarge,
        _ if status.is_client_error() => ProblemCode::Invalid,
        _ => ProblemCode::Unavailable,
    };
    let allow = response.headers().get(ALLOW).cloned();
    let text = to_bytes(response.into_body(), MOST_SAID)
        .await
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let message = match text.trim() {
        "" => status.canonical_reason().unwrap_or_default().to_lowercase(),
        said => said.to_owned(),
    };
    let mut problem = (status, Json(Refused::new(code, message).0)).into_response();
    if let Some(allow) = allow {
        problem.headers_mut().insert(ALLOW, allow);
    }
    problem
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        let text = ErrorChain(&error).to_string();
        match error {
            StoreError::NoDataset { .. } | StoreError::Missing { .. } => Self::not_found(text),
            StoreError::Differs { .. } => Self::new(ProblemCode::Conflict, text),
            StoreError::TooLarge { .. } => Self::new(ProblemCode::TooLarge, text),
            StoreError::OtherBytes { .. }
            | StoreError::Manifest { .. }
            | StoreError::Name { .. }
            | StoreError::Incomplete { .. } => Self::new(ProblemCode::Invalid, text),
            _ => {
                // The causes may name places of this machine, which are the operator's to know.
                tracing::warn!(error = text, "the store cannot be used");
                Self::new(ProblemCode::Unavailable, "the store cannot be used")
                    .with_hint("try again; the coordinator's log says more")
            }
        }
    }
}

impl From<JobsError> for Refused {
    fn from(error: JobsError) -> Self {
        let text = ErrorChain(&error).to_string();
        match error {
            JobsError::Unknown { .. } => Self::not_found(text),
            JobsError::Over { .. } | JobsError::Cancelling { .. } => {
                Self::new(ProblemCode::Conflict, text)
            }
            JobsError::NotYours { .. } => Self::new(ProblemCode::Forbidden, text),
            JobsError::Prepare(error) if error.is_input() => Self::new(ProblemCode::Invalid, text),
            JobsError::Store(error) => error.into(),
            JobsError::Prepare(_) | JobsError::Json { .. } => {
                tracing::warn!(error = text, "a request about jobs failed");
                Self::new(
                    ProblemCode::Unavailable,
                    "the coordinator could not do this",
                )
                .with_hint("try again; its log says more")
            }
        }
    }
}
