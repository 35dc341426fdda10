//! Panics of our own code, as what they said.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does something that may panic. What it leaves half changed must not be used again.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| said(panic.as_ref()))
}

/// Returns what a panic said.
pub(super) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}
