//! How long to wait and how often to try; and what the environment says about stores.

use std::collections::BTreeMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::time::Duration;

use crate::Reason;

/// Bounds of every call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time for a store to take a step: to answer, or to send or list some more. Default 30 s.
    pub step: Duration,
    /// Bytes per second below which sending an object, or reading a file, counts as stuck: it gets [`Self::step`] and the time
    /// that this rate gives. Default 256 KiB.
    pub slowest: NonZeroU64,
    /// Attempts at a call whose failure may pass. Default 4.
    pub attempts: NonZeroU32,
    /// Pause before the second attempt, four times as long before each further one. Default 200 ms.
    pub first_pause: Duration,
    /// Largest object that is created or read, in bytes. Default 4 GiB; a single upload to S3 has at most 5.
    pub max_object: u64,
    /// Objects of one job or dataset that are read or created at once. Default 8.
    pub transfers: NonZeroUsize,
}

impl Default for Limits {
    fn default() -> Self {
        const fn positive(number: u32) -> NonZeroU32 {
            match NonZeroU32::new(number) {
                Some(number) => number,
                None => NonZeroU32::MIN,
            }
        }
        const ATTEMPTS: NonZeroU32 = positive(4);
        const RATE: NonZeroU32 = positive(256 * 1024);
        Self {
            step: Duration::from_secs(30),
            slowest: NonZeroU64::from(RATE),
            attempts: ATTEMPTS,
            first_pause: Duration::from_millis(200),
            max_object: 4 << 30,
            transfers: NonZeroUsize::MIN.saturating_add(7),
        }
    }
}

impl Limits {
    /// Returns the time for sending so many bytes, or for reading them from a file.
    pub(crate) fn transfer(&self, bytes: u64) -> Duration {
        self.step + Duration::from_secs(bytes / self.slowest)
    }
}

/// What the environment says about stores: `AWS_…` and `GOOGLE_…`.
///
/// Neither `Debug` nor any error shows a value.
#[derive(Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Takes those of this process.
    pub fn of_process() -> Self {
        Self(evalfarm_process::variables(&["AWS_", "GOOGLE_"]))
    }

    /// Returns the variables that begin with a prefix, with names in lower case.
    pub(crate) fn of(&self, prefix: &str) -> impl Iterator<Item = (String, &str)> {
        self.0
            .iter()
            .filter(move |(name, _)| name.starts_with(prefix))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.as_str()))
    }

    /// Returns what an error says once every credential is blotted out of it: answers of servers repeat some.
    pub(crate) fn blotted(&self, error: &dyn fmt::Display) -> Reason {
        let mut text = error.to_string();
        for (name, value) in &self.0 {
            if is_secret(name) && value.len() >= 4 {
                text = text.replace(value, "***");
            }
        }
        Reason(text)
    }
}

/// Whether a variable holds a credential: everything does whose name does not say that it is something else.
fn is_secret(name: &str) -> bool {
    const OPEN: [&str; 7] = [
        "REGION",
        "ENDPOINT",
        "BUCKET",
        "ALLOW_HTTP",
        "_FILE",
        "_PATH",
        "APPLICATION_CREDENTIALS",
    ];
    !OPEN.iter().any(|word| name.contains(word))
}

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
