//! How often a holdout has been looked at.
//!
//! A holdout answers one question honestly once. Each verdict on a holdout is therefore written to a ledger beside the
//! dataset, and a verdict says how many looks there were before it. Judging the same job again is not a new look, unless
//! under another policy.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{self, Path, PathBuf};

use evalfarm_domain::{CandidateId, Digest, JobId, QueryId};
use evalfarm_gate::GatePolicy;
use serde::{Deserialize, Serialize};

use crate::job::ids_digest;

/// File of a job's folder that says where its looks are counted. It is no result: it tells where the job ran.
const PLACE: &str = "looks.path";

/// A ledger that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LooksError {
    /// The file could not be read.
    #[error("failed to read the ledger of holdout looks `{path}`")]
    Read {
        /// The ledger.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The file could not be appended to.
    #[error("failed to write the ledger of holdout looks `{path}`")]
    Write {
        /// The ledger.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// A line is not a look.
    #[error("line {line} of the ledger of holdout looks `{path}` is not a look")]
    Line {
        /// The ledger.
        path: PathBuf,
        /// One-based line.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
}

/// One look: who asked what of which holdout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Look {
    /// SHA-256 of the dataset's fingerprint and the holdout's query ids.
    pub(crate) holdout: Digest,
    /// What the candidate was compared with.
    pub(crate) baseline: CandidateId,
    /// The candidate.
    pub(crate) candidate: CandidateId,
    /// SHA-256 of the resolved policy without the seed and the number of its resamples.
    pub(crate) policy: Digest,
    /// The job that looked.
    pub(crate) job: JobId,
}

impl Look {
    fn same_hypothesis(&self, other: &Self) -> bool {
        self.holdout == other.holdout
            && self.baseline == other.baseline
            && self.candidate == other.candidate
            && self.policy == other.policy
    }
}

/// Returns the digest that names a holdout: of the dataset's fingerprint and the holdout's query ids.
pub(crate) fn holdout(dataset: Digest, queries: &[QueryId]) -> Digest {
    let ids = ids_digest(queries);
    Digest::of_parts([dataset.as_bytes().as_slice(), ids.as_bytes()])
}

/// Returns the digest of what of a policy makes a question another one: all but what its resamples are drawn with. Asking
/// again with another seed is asking the same thing twice.
pub(crate) fn question(policy: &GatePolicy) -> Result<Digest, serde_json::Error> {
    let mut form = serde_json::to_value(policy)?;
    if let Some(keys) = form.as_object_mut() {
        keys.retain(|key, _| !["seed", "resamples", "max_resamples"].contains(&key.as_str()));
    }
    Ok(Digest::of(&serde_json::to_vec(&form)?))
}

/// Notes in a job's folder where its looks are counted, for whoever judges its rows again.
pub(crate) fn remember(folder: &Path, ledger: &Path) -> Result<(), LooksError> {
    let write = |source| LooksError::Write {
        path: folder.join(PLACE),
        source,
    };
    let ledger = path::absolute(ledger).map_err(write)?;
    let place = ledger.as_os_str().as_encoded_bytes();
    fs::write(folder.join(PLACE), place).map_err(write)
}

/// Returns where a job's looks are counted; nothing when that was not noted, or is not on this machine.
pub(crate) fn remembered(folder: &Path) -> Option<PathBuf> {
    let place = fs::read_to_string(folder.join(PLACE)).ok()?;
    let ledger = PathBuf::from(place);
    ledger.is_file().then_some(ledger)
}

/// What happened to a holdout before a job looked at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierLooks {
    /// Looks of other jobs at the same hypothesis: same holdout, baseline, candidate and policy.
    pub same_hypothesis: u32,
    /// Other looks at the same holdout, whatever they asked: of other jobs, and of this one under other policies.
    pub same_holdout: u32,
}

/// Records a look unless this job has recorded it before, and returns what came before its first record. Any number of
/// processes may do so at once: each sees all that came before its own.
pub(crate) fn record(ledger: &Path, look: &Look) -> Result<EarlierLooks, LooksError> {
    let write = |source| LooksError::Write {
        path: ledger.to_owned(),
        source,
    };
    // A look that is known needs no ledger that can be written to.
    let known = match File::open(ledger) {
        Ok(mut file) => {
            file.lock_shared().map_err(write)?;
            read(&mut file, ledger)?
        }
        Err(_) => Vec::new(),
    };
    if known.contains(look) {
        return Ok(earlier(&known, look));
    }
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(ledger)
        .map_err(write)?;
    // Closing the file lets go of the lock, however the process ends.
    file.lock().map_err(write)?;
    let known = read(&mut file, ledger)?;
    if !known.contains(look) {
        let mut line = serde_json::to_string(look).map_err(|error| write(error.into()))?;
        line.push('\n');
        file.write_all(line.as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(write)?;
    }
    Ok(earlier(&known, look))
}

/// Counts the looks at the same holdout before the first record of a look.
fn earlier(known: &[Look], look: &Look) -> EarlierLooks {
    let before = known.iter().take_while(|other| *other != look);
    let mut earlier = EarlierLooks::default();
    for other in before.filter(|other| other.holdout == look.holdout) {
        earlier.same_holdout += 1;
        earlier.same_hypothesis += u32::from(other.same_hypothesis(look));
    }
    earlier
}

fn read(file: &mut File, path: &Path) -> Result<Vec<Look>, LooksError> {
    let mut text = String::new();
    file.read_to_string(&mut text)
        .map_err(|source| LooksError::Read {
            path: path.to_owned(),
            source,
        })?;
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|source| LooksError::Line {
                path: path.to_owned(),
                line: index + 1,
                source,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(job: &str, candidate: &str) -> Look {
        Look {
            holdout: Digest::of(b"holdout"),
            baseline: CandidateId::try_from("c0").unwrap(),
            candidate: CandidateId::try_from(candidate).unwrap(),
            policy: Digest::of(b"policy"),
            job: JobId::try_from(job).unwrap(),
        }
    }

    fn counted(same_hypothesis: u32, same_holdout: u32) -> EarlierLooks {
        EarlierLooks {
            same_hypothesis,
            same_holdout,
        }
    }

    #[test]
    fn a_replay_is_not_a_look_and_another_job_is() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("looks.jsonl");
        let record = |look| record(&ledger, &look).unwrap();
        assert_eq!(record(look("j1", "c1")), counted(0, 0));
        assert_eq!(record(look("j1", "c1")), counted(0, 0));
        assert_eq!(record(look("j2", "c1")), counted(1, 1));
        assert_eq!(record(look("j3", "c2")), counted(0, 2));
        // What came later does not change what a job is told when it is judged again.
        assert_eq!(record(look("j1", "c1")), counted(0, 0));
        assert_eq!(record(look("j2", "c1")), counted(1, 1));
    }

    #[test]
    fn the_same_job_under_another_policy_looks_again() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("looks.jsonl");
        let record = |look| record(&ledger, &look).unwrap();
        let stricter = || Look {
            policy: Digest::of(b"stricter"),
            ..look("j1", "c1")
        };
        assert_eq!(record(look("j1", "c1")), counted(0, 0));
        assert_eq!(record(stricter()), counted(0, 1));
        assert_eq!(record(stricter()), counted(0, 1));
        assert_eq!(record(look("j2", "c1")), counted(1, 2));
    }

    #[test]
    fn looks_at_once_are_counted_one_after_the_other() {
        const JOBS: u32 = 32;
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("looks.jsonl");
        // Locks belong to open files, so threads that open the ledger contend as processes do.
        let start = std::sync::Barrier::new(JOBS as usize);
        let mut seen: Vec<u32> = std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..JOBS)
                .map(|job| {
                    let (ledger, start) = (&ledger, &start);
                    scope.spawn(move || {
                        start.wait();
                        record(ledger, &look(&format!("j{job}"), "c1")).unwrap()
                    })
                })
                .collect();
            let looks = jobs.into_iter().map(|job| job.join().unwrap());
            looks.map(|earlier| earlier.same_hypothesis).collect()
        });
        seen.sort_unstable();
        assert_eq!(seen, (0..JOBS).collect::<Vec<_>>());
        let lines = fs::read_to_string(&ledger).unwrap().lines().count();
        assert_eq!(lines, JOBS as usize);
    }

    #[test]
    fn a_job_knows_where_its_looks_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("shop.looks.jsonl");
        assert_eq!(remembered(folder.path()), None);
        remember(folder.path(), &ledger).unwrap();
        assert_eq!(remembered(folder.path()), None, "the ledger is not there");
        record(&ledger, &look("j1", "c1")).unwrap();
        assert_eq!(remembered(folder.path()), Some(ledger));
    }

    #[test]
    fn a_broken_ledger_is_an_error_that_names_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("looks.jsonl");
        record(&ledger, &look("j1", "c1")).unwrap();
        let mut text = fs::read_to_string(&ledger).unwrap();
        text.push_str("{\"holdout\":");
        fs::write(&ledger, text).unwrap();
        let error = record(&ledger, &look("j2", "c1")).unwrap_err();
        assert!(matches!(error, LooksError::Line { line: 2, .. }));
    }
}
