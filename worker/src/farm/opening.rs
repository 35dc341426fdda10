//! Something that takes long to open: the first who asks opens it, all others wait for that.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use evalfarm_domain::EngineName;
use evalfarm_retrieval::IndexError;
use evalfarm_store::StoreError;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};

use super::panics;
use crate::EvaluateError;

/// Why a job cannot be worked on here. One reason may reach many tasks, so it is cheap to clone.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum OpenError {
    #[error("failed to read the job's settings")]
    Settings(#[source] Arc<StoreError>),
    #[error("failed to fetch the job's dataset")]
    Dataset(#[source] Arc<StoreError>),
    #[error("failed to keep the job's index")]
    KeepIndex(#[source] Arc<StoreError>),
    #[error("failed to open the job's index")]
    Index(#[source] Arc<IndexError>),
    #[error("the job does not fit its dataset")]
    Evaluator(#[source] Arc<EvaluateError>),
    #[error("engine `{0}` is not among those that this worker knows")]
    UnknownEngine(EngineName),
    #[error("no thread could be started")]
    Thread(#[source] Arc<std::io::Error>),
    #[error("opening the job panicked: {0}")]
    Panic(String),
    #[error("the worker is shutting down")]
    ShuttingDown,
}

pub(super) type Opened<T> = Result<Arc<T>, OpenError>;

/// A value that is opened once. After a failure the next who asks tries again.
pub(super) struct Opening<T> {
    state: Mutex<Option<Shared<BoxFuture<'static, Opened<T>>>>>,
}

impl<T> Default for Opening<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(None),
        }
    }
}

impl<T> fmt::Debug for Opening<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> Opening<T> {
    /// Returns the value, opened by whoever asked first. Opening goes on when those who asked are gone.
    pub(super) async fn get<F>(&self, open: impl FnOnce() -> F) -> Opened<T>
    where
        F: Future<Output = Result<T, OpenError>> + Send + 'static,
    {
        let shared = self.started(open);
        shared.await
    }

    fn started<F>(&self, open: impl FnOnce() -> F) -> Shared<BoxFuture<'static, Opened<T>>>
    where
        F: Future<Output = Result<T, OpenError>> + Send + 'static,
    {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = &*state
            && !matches!(shared.peek(), Some(Err(_)))
        {
            return shared.clone();
        }
        let task = tokio::spawn(open());
        let opened = async move {
            match task.await {
                Ok(opened) => opened.map(Arc::new),
                Err(error) => Err(match error.try_into_panic() {
                    Ok(panic) => OpenError::Panic(panics::said(panic.as_ref())),
                    Err(_) => OpenError::ShuttingDown,
                }),
            }
        };
        let shared = opened.boxed().shared();
        *state = Some(shared.clone());
        shared
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_ask_and_one_opens() {
        let opening = Opening::default();
        let opened = AtomicU32::new(0);
        let ask = || {
            opening.get(|| {
                let number = opened.fetch_add(1, Ordering::Relaxed);
                async move {
                    tokio::task::yield_now().await;
                    Ok(number)
                }
            })
        };
        let (first, second) = tokio::join!(ask(), ask());
        assert_eq!([*first.unwrap(), *second.unwrap()], [0, 0]);
        assert_eq!(*ask().await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_failure_reaches_all_who_wait_and_the_next_tries_again() {
        let opening: Opening<u32> = Opening::default();
        let fail = || opening.get(|| async { Err(OpenError::ShuttingDown) });
        let (first, second) = tokio::join!(fail(), fail());
        assert!(matches!(first, Err(OpenError::ShuttingDown)));
        assert!(matches!(second, Err(OpenError::ShuttingDown)));
        let broken = opening.get(|| async { panic!("injected") }).await;
        let Err(OpenError::Panic(text)) = broken else {
            panic!("{broken:?}");
        };
        assert_eq!(text, "injected");
        assert_eq!(*opening.get(|| async { Ok(7) }).await.unwrap(), 7);
    }
}
