//! How often a holdout has been looked at.
//!
//! A holdout answers one question honestly once. Each verdict on a holdout is therefore written to a ledger beside the
//! dataset, and a verdict says how many looks other jobs have had before it. Judging the same job again is not a new
//! look.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use evalfarm_domain::{CandidateId, Digest, JobId};
use serde::{Deserialize, Serialize};

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

/// What happened to a holdout before a job looked at it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierLooks {
    /// Looks of other jobs at the same hypothesis: same holdout, baseline, candidate and policy.
    pub same_hypothesis: u32,
    /// Looks of other jobs at the same holdout, whatever they asked.
    pub same_holdout: u32,
}

/// Records a look unless this job has recorded it before, and returns what came before its first record.
pub(crate) fn record(ledger: &Path, look: &Look) -> Result<EarlierLooks, LooksError> {
    let looks = read(ledger)?;
    let before = looks
        .iter()
        .position(|known| known == look)
        .unwrap_or(looks.len());
    if before == looks.len() {
        append(ledger, look)?;
    }
    let others = looks
        .iter()
        .take(before)
        .filter(|known| known.job != look.job && known.holdout == look.holdout);
    let mut earlier = EarlierLooks::default();
    for other in others {
        earlier.same_holdout += 1;
        earlier.same_hypothesis += u32::from(other.same_hypothesis(look));
    }
    Ok(earlier)
}

fn read(path: &Path) -> Result<Vec<Look>, LooksError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let path = path.to_owned();
            return Err(LooksError::Read { path, source });
        }
    };
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

/// Appends one whole line in one write, so that two jobs at once cannot mix their lines.
fn append(path: &Path, look: &Look) -> Result<(), LooksError> {
    let write = |source| LooksError::Write {
        path: path.to_owned(),
        source,
    };
    let mut line = serde_json::to_string(look).map_err(|error| write(error.into()))?;
    line.push('\n');
    let mut file: File = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(write)?;
    file.write_all(line.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(write)
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

    fn earlier(same_hypothesis: u32, same_holdout: u32) -> EarlierLooks {
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
        assert_eq!(record(look("j1", "c1")), earlier(0, 0));
        assert_eq!(record(look("j1", "c1")), earlier(0, 0));
        assert_eq!(record(look("j2", "c1")), earlier(1, 1));
        assert_eq!(record(look("j3", "c2")), earlier(0, 2));
        // What came later does not change what a job is told when it is judged again.
        assert_eq!(record(look("j1", "c1")), earlier(0, 0));
        assert_eq!(record(look("j2", "c1")), earlier(1, 1));
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
