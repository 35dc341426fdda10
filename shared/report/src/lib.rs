//! Verdicts and tables in, words out.
//!
//! Everything here is text that reads the same without colour. What a number means is decided elsewhere; this crate
//! decides only how it is said.

mod findings;
mod number;
mod table;

pub use findings::{Findings, findings_text, slices_text};
pub use number::{count, p_value, share, signed, value};
pub use table::{Align, Table};
