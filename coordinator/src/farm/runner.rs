//! One job from its dataset to its stored verdict.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use bytes::Bytes;
use evalfarm_domain::JobId;
use evalfarm_gate::Verdict;
use evalfarm_process::ErrorChain;
use evalfarm_results::{BesideFile, JobFolder};
use evalfarm_store::{Creation, JobObject, ObjectPath, Store, StoreError};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::collect::{CollectError, Mirror};
use super::dispatch::{Dispatch, DispatchError, Going};
use super::farm::Farm;
use super::jobs::Entry;
use super::{ledger, prepare};
use crate::{Job, RunError, Surroundings, WorkersError, run};

/// How a run of a job ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// With a verdict, which is stored.
    Judged(Verdict),
    /// It was told to stop: see [`Going`].
    Stopped,
    /// It cannot be judged.
    Failed {
        /// What failed, with its causes.
        error: String,
        /// Whether the sweep or the data have to change.
        input: bool,
    },
    /// Something that may work again did not.
    Broken {
        /// What failed, with its causes.
        error: String,
    },
}

/// What can fail beside the run itself.
#[derive(Debug, thiserror::Error)]
enum AroundError {
    #[error("the coordinator's copy of the job's folder cannot be used")]
    Folder(#[source] evalfarm_results::ResultsError),
    #[error("`{name}` of the job could not be read")]
    Read {
        name: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("the job could not be stored")]
    Store(#[source] StoreError),
    #[error("the looks at the dataset could not be kept")]
    Ledger(#[source] ledger::LedgerError),
    #[error("the job's record has no JSON form")]
    Json(#[source] serde_json::Error),
}

/// Runs a job on the thread at hand, which must not be one of the runtime's.
pub(crate) fn run_job(farm: &Farm, runtime: &Handle, id: &JobId, entry: &Entry) -> Outcome {
    let job = match runtime.block_on(prepared(farm, entry)) {
        Ok(job) => job,
        Err(error) if error.is_input() => {
            return Outcome::Failed {
                error: chain(&error),
                input: true,
            };
        }
        Err(error) => return broken(&error),
    };
    match judged(farm, runtime, id, entry, &job) {
        Ok(outcome) => outcome,
        Err(error) => broken(&error),
    }
}

async fn prepared(farm: &Farm, entry: &Entry) -> Result<Arc<Job>, prepare::PrepareError> {
    if let Some(job) = entry.prepared() {
        return Ok(job);
    }
    let submission = &entry.submission.submission;
    let job = prepare::prepare(submission, &farm.store, &farm.cache, &farm.folder).await?;
    let job = Arc::new(job);
    entry.keep(&job);
    Ok(job)
}

fn judged(
    farm: &Farm,
    runtime: &Handle,
    id: &JobId,
    entry: &Entry,
    job: &Arc<Job>,
) -> Result<Outcome, AroundError> {
    let record = serde_json::to_value(job.record()).map_err(AroundError::Json)?;
    let folder = JobFolder::create(&farm.job_folder(id), id, &record);
    let folder = Arc::new(folder.map_err(AroundError::Folder)?);
    let dataset = job.settings.dataset;
    let looks = farm.ledger(dataset);
    let brought = runtime.block_on(ledger::bring_in(&farm.store, dataset, &looks));
    brought.map_err(AroundError::Ledger)?;
    let mirror = Mirror {
        store: farm.store.clone(),
        folder: Arc::clone(&folder),
        job: Arc::clone(job),
    };
    let dispatch = Dispatch {
        lines: &farm.lines,
        job: id,
        board: &entry.board,
        collect: &mirror,
        runtime,
        news: Mutex::new(farm.inbox.open(id)),
        going: entry.going.subscribe(),
        steps: AtomicU32::new(0),
    };
    let around = Surroundings {
        folder: &folder,
        ledger: &looks,
        workers: &dispatch,
        progress: &*entry.board,
    };
    let outcome = tracing::info_span!("judge", job = %id).in_scope(|| run(job, &around));
    farm.inbox.close(id);
    let verdict = match outcome {
        Ok(record) => record.verdict,
        Err(error) => return Ok(ended(&error)),
    };
    let brought = runtime.block_on(ledger::bring_out(&farm.store, dataset, &looks));
    brought.map_err(AroundError::Ledger)?;
    runtime.block_on(publish(&farm.store, id, folder.path()))?;
    Ok(Outcome::Judged(verdict))
}

/// Stores what lies in the folder beside the tasks' files, the verdict last.
async fn publish(store: &Store, job: &JobId, folder: &Path) -> Result<(), AroundError> {
    for file in BesideFile::ALL {
        let name = file.name();
        let bytes = match fs::read(folder.join(name)) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(AroundError::Read { name, source }),
        };
        let object = JobObject::Beside(file);
        let created = store.create_for_job(job, object, bytes).await;
        if let Creation::Different { expected, found } = created.map_err(AroundError::Store)? {
            let path = ObjectPath::job(job, object).map_err(AroundError::Store)?;
            return Err(AroundError::Store(StoreError::Differs {
                path,
                expected,
                found,
            }));
        }
    }
    Ok(())
}

/// Tells failures that would come again from those that may not.
fn ended(error: &RunError) -> Outcome {
    let text = chain(error);
    match error {
        RunError::Workers(WorkersError::Interrupted) => Outcome::Stopped,
        RunError::Workers(WorkersError::Failed(cause)) => {
            match cause.downcast_ref::<DispatchError>() {
                Some(
                    DispatchError::NoWorker { .. }
                    | DispatchError::Encode(_)
                    | DispatchError::Collect(CollectError::GivenUp { .. }),
                ) => Outcome::Failed {
                    error: text,
                    input: false,
                },
                Some(DispatchError::Collect(_) | DispatchError::Closed) | None => {
                    Outcome::Broken { error: text }
                }
            }
        }
        RunError::Results(_) | RunError::Looks(_) => Outcome::Broken { error: text },
        RunError::Observation(_)
        | RunError::Evidence(_)
        | RunError::Json(_)
        | RunError::TooManyRows { .. }
        | RunError::NothingEvaluated => Outcome::Failed {
            error: text,
            input: true,
        },
    }
}

fn broken(error: &(dyn Error + 'static)) -> Outcome {
    Outcome::Broken {
        error: chain(error),
    }
}

fn chain(error: &(dyn Error + 'static)) -> String {
    ErrorChain(error).to_string()
}

/// What a job is to do, as [`Going`] says it: nothing while it goes on.
pub(crate) fn stopped(going: &Going) -> Option<crate::api::EndOfJob> {
    match going {
        Going::On | Going::Paused => None,
        Going::Cancelled { by, reason } => Some(crate::api::EndOfJob::Cancelled {
            by: by.clone(),
            reason: reason.clone(),
        }),
    }
}
