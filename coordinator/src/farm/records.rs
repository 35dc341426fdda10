//! What is stored of a job beside its results: who submitted what, and how it ended.

use evalfarm_domain::JobId;
use evalfarm_gate::Verdict;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};

use super::credentials::Actor;
use super::jobs::JobsError;
use crate::api::Submission;

/// Version of the form of `submission.json`: a change of a name or meaning needs the next one.
pub(crate) const SUBMISSION_SCHEMA: u32 = 1;

/// What is stored of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredSubmission {
    /// [`SUBMISSION_SCHEMA`] of whoever stored it.
    #[serde(deserialize_with = "known_schema")]
    pub(crate) schema_version: u32,
    /// Name of the sweep.
    pub(crate) name: String,
    /// What was asked.
    pub(crate) submission: Submission,
    /// Who asked.
    pub(crate) submitter: Actor,
    /// Milliseconds since the Unix epoch.
    pub(crate) submitted: u64,
    /// W3C trace context of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<String>,
}

/// What of a stored verdict is needed here.
#[derive(Debug, Deserialize)]
pub(crate) struct StoredVerdict {
    pub(crate) verdict: Verdict,
}

fn known_schema<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let version = u32::deserialize(deserializer)?;
    if version == SUBMISSION_SCHEMA {
        return Ok(version);
    }
    let unknown = format!("schema version `{version}` is not known");
    Err(D::Error::custom(unknown))
}

/// Reads an object of a job.
pub(crate) fn parsed<T: DeserializeOwned>(job: &JobId, bytes: &[u8]) -> Result<T, JobsError> {
    serde_json::from_slice(bytes).map_err(|source| JobsError::Json {
        job: job.clone(),
        source,
    })
}

/// Writes an object of a job.
pub(crate) fn written<T: Serialize>(job: &JobId, value: &T) -> Result<Vec<u8>, JobsError> {
    serde_json::to_vec(value).map_err(|source| JobsError::Json {
        job: job.clone(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::EndOfJob;
    use crate::farm::credentials::{Kind, Role};

    /// Forms that were once written stay readable: these files never change.
    macro_rules! stored {
        ($name:literal) => {
            include_bytes!(concat!("../../tests/fixtures/v1/stored/", $name))
        };
    }

    fn job() -> JobId {
        JobId::try_from("j1").unwrap()
    }

    #[test]
    fn stored_submissions_of_earlier_releases_are_read() {
        let bytes = stored!("submission.json");
        let stored: StoredSubmission = parsed(&job(), bytes).unwrap();
        assert_eq!(stored.name, "shop");
        assert_eq!(stored.submitted, 1_790_000_000_000);
        assert_eq!(stored.submitter.name, "nightly");
        assert_eq!(
            (stored.submitter.kind, stored.submitter.role),
            (Kind::Service, Role::Proposer)
        );
        assert!(stored.submission.sweep.starts_with("name = \"shop\""));
        assert!(stored.submission.split_manifest.is_some());
        assert!(stored.traceparent.is_some());
        let bare: StoredSubmission = parsed(&job(), stored!("submission-bare.json")).unwrap();
        assert_eq!(
            (bare.submission.split_manifest, bare.traceparent),
            (None, None)
        );
        assert_eq!(bare.submitter.kind, Kind::Automated);
    }

    #[test]
    fn what_is_stored_today_is_the_form_of_the_fixtures() {
        let bytes = stored!("submission.json");
        let stored: StoredSubmission = parsed(&job(), bytes).unwrap();
        let again: serde_json::Value =
            serde_json::from_slice(&written(&job(), &stored).unwrap()).unwrap();
        let fixture: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(again, fixture);
    }

    #[test]
    fn a_submission_of_a_newer_form_is_not_guessed_at() {
        let newer = String::from_utf8(stored!("submission.json").to_vec()).unwrap();
        let newer = newer.replace("\"schema_version\": 1", "\"schema_version\": 2");
        let error = parsed::<StoredSubmission>(&job(), newer.as_bytes()).unwrap_err();
        assert!(matches!(error, JobsError::Json { .. }), "{error:?}");
    }

    #[test]
    fn stored_ends_of_earlier_releases_are_read() {
        let ends: [(&[u8], EndOfJob); 3] = [
            (
                stored!("ended-judged.json"),
                EndOfJob::Judged {
                    verdict: Verdict::Block,
                },
            ),
            (
                stored!("ended-cancelled.json"),
                EndOfJob::Cancelled {
                    by: "mia".to_owned(),
                    reason: "wrong split".to_owned(),
                },
            ),
            (
                stored!("ended-failed.json"),
                EndOfJob::Failed {
                    error: "no worker has answered for 3600 s".to_owned(),
                    input: false,
                },
            ),
        ];
        for (bytes, expected) in ends {
            assert_eq!(parsed::<EndOfJob>(&job(), bytes).unwrap(), expected);
        }
        let verdict: StoredVerdict = parsed(&job(), stored!("verdict.json")).unwrap();
        assert_eq!(verdict.verdict, Verdict::Promote);
    }
}
