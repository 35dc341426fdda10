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
use super::entry::Entry;
use super::farm::Farm;
use super::ledger;
use super::prepare::{PrepareError, prepare_again};
use super::told::Told;
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
        /// What failed, for whoever asked for the job: nothing of this machine.
        said: String,
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
    let prepared = async {
        tokio::select! {
            biased;
            () = entry.halted() => None,
            prepared = prepared(farm, id, entry) => Some(prepared),
        }
    };
    let job = match runtime.block_on(prepared) {
        None => return Outcome::Stopped,
        Some(Ok(job)) => job,
        Some(Err(error)) if error.is_input() => {
            return Outcome::Failed {
                error: chain(&error),
                input: true,
            };
        }
        Some(Err(error)) => return broken(&error),
    };
    match judged(farm, runtime, id, entry, &job) {
        Ok(outcome) => outcome,
        Err(error) => broken(&error),
    }
}

async fn prepared(farm: &Farm, id: &JobId, entry: &Entry) -> Result<Arc<Job>, PrepareError> {
    if let Some(job) = entry.prepared() {
        return Ok(job);
    }
    let job = prepare_again(farm, &entry.submission.submission, id).await?;
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
    let brought = runtime.block_on(ledger::bring_in(&farm.store, dataset, &looks, id));
    brought.map_err(AroundError::Ledger)?;
    let mirror = Mirror::new(farm.store.clone(), Arc::clone(&folder), Arc::clone(job));
    let told = Told::new(&entry.board, folder.path());
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
        progress: &told,
    };
    let outcome = tracing::info_span!("judge", job = %id).in_scope(|| run(job, &around));
    farm.inbox.close(id);
    let verdict = match outcome {
        Ok(record) => record.verdict,
        Err(error) => return Ok(ended(&error)),
    };
    // Whoever cancelled it was told that it ends so. A moment later the verdict stands.
    if entry.is_cancelled() {
        return Ok(Outcome::Stopped);
    }
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
                Some(error @ (DispatchError::Collect(_) | DispatchError::Closed)) => {
                    Outcome::Broken {
                        said: said(error),
                        error: text,
                    }
                }
                None => broken(error),
            }
        }
        RunError::Results(_) | RunError::Looks(_) => broken(error),
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
        said: said(error),
        error: chain(error),
    }
}

/// Returns the outermost of a chain of errors alone: the causes may name places of this machine, which are the operator's to
/// know.
fn said(error: &(dyn Error + 'static)) -> String {
    format!("{error}; the coordinator's log says more")
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
