//! The time of day, for reports that people read. Nothing is computed from it.

use std::time::{SystemTime, UNIX_EPOCH};

use evalfarm_state::Timestamp;

/// Returns the time by this machine's clock.
pub(super) fn now() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "heartbeats say when they were sent; no result depends on it"
    )]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp(u64::try_from(millis).unwrap_or(u64::MAX))
}
