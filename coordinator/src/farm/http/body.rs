//! Bodies of requests: how long a client may be silent, and how much is held of all of them.

use std::sync::Arc;
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answer::Refused;
use crate::api::{MAX_FILE_BYTES, ProblemCode};

/// Longest silence of a client in the middle of a body.
const SILENCE: Duration = Duration::from_secs(30);

/// Bytes of one permit of [`Uploads`].
const MIB: usize = 1024 * 1024;

/// Files of datasets that are in memory at a time, in permits: two of the largest.
const UPLOADS: usize = 2 * MAX_FILE_BYTES / MIB;

/// Gives up on a client that says nothing for half a minute, so that it holds nothing that others wait for.
pub(super) fn patient(body: Body) -> Body {
    let chunks = body.into_data_stream();
    Body::from_stream(stream::unfold(Some(chunks), |chunks| async {
        let mut chunks = chunks?;
        match tokio::time::timeout(SILENCE, chunks.next()).await {
            Ok(Some(Ok(chunk))) => Some((Ok(chunk), Some(chunks))),
            Ok(Some(Err(error))) => Some((Err(BoxError::from(error)), None)),
            Ok(None) => None,
            Err(_) => Some((Err("the client was silent for too long".into()), None)),
        }
    }))
}

/// What files of datasets that are being sent may take of the memory, all of them together.
#[derive(Debug, Clone)]
pub(crate) struct Uploads(Arc<Semaphore>);

impl Default for Uploads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(UPLOADS)))
    }
}

impl Uploads {
    /// Reads a file of `stated` bytes, or of the largest size when the client does not say; waits for room before.
    ///
    /// Returns it with its share of the memory.
    pub(super) async fn receive(
        &self,
        body: Body,
        stated: Option<usize>,
    ) -> Result<(Bytes, OwnedSemaphorePermit), Refused> {
        let most = stated.unwrap_or(MAX_FILE_BYTES);
        if most > MAX_FILE_BYTES {
            return Err(too_large());
        }
        let permits = u32::try_from(most / MIB + 1).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.0).acquire_many_owned(permits).await;
        let Ok(room) = room else {
            return Err(Refused::new(
                ProblemCode::Unavailable,
                "the coordinator stops",
            ));
        };
        let mut bytes = Vec::new();
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk =
                chunk.map_err(|error| Refused::new(ProblemCode::Invalid, error.to_string()))?;
            if chunk.len() > most - bytes.len() {
                return Err(too_large());
            }
            if bytes.is_empty() {
                bytes.reserve_exact(stated.unwrap_or_default());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((Bytes::from(bytes), room))
    }
}

fn too_large() -> Refused {
    let message =
        format!("the file has more than {MAX_FILE_BYTES} bytes, or more than were stated");
    Refused::new(ProblemCode::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(chunks: &[&'static str]) -> Body {
        let chunks: Vec<Result<&str, BoxError>> = chunks.iter().copied().map(Ok).collect();
        Body::from_stream(stream::iter(chunks))
    }

    #[tokio::test]
    async fn a_file_is_received_whole_and_holds_its_share_until_it_is_let_go_of() {
        let uploads = Uploads::default();
        let all = uploads.0.available_permits();
        let (bytes, room) = uploads.receive(body(&["ab", "c"]), Some(3)).await.unwrap();
        assert_eq!(bytes, "abc");
        assert_eq!(uploads.0.available_permits(), all - 1);
        drop(room);
        assert_eq!(uploads.0.available_permits(), all);
        let (bytes, _room) = uploads.receive(body(&["ab", "c"]), None).await.unwrap();
        assert_eq!(bytes, "abc");
        assert_eq!(uploads.0.available_permits(), all / 2 - 1);
    }

    #[tokio::test]
    async fn more_than_was_stated_or_is_allowed_is_refused_before_it_is_held() {
        let uploads = Uploads::default();
        for (stated, chunks) in [(Some(2), ["ab", "c"]), (Some(usize::MAX), ["", ""])] {
            let refused = uploads.receive(body(&chunks), stated).await.unwrap_err();
            assert!(format!("{refused:?}").contains("TooLarge"), "{refused:?}");
        }
        assert_eq!(uploads.0.available_permits(), UPLOADS);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_in_the_middle_is_given_up() {
        let first = stream::iter([Ok::<_, BoxError>("ab")]);
        let stuck = Body::from_stream(first.chain(stream::pending()));
        let uploads = Uploads::default();
        let refused = uploads.receive(patient(stuck), Some(3)).await.unwrap_err();
        assert!(format!("{refused:?}").contains("silent"), "{refused:?}");
    }
}
