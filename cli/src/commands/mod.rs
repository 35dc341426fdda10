//! One file for each command.

pub(crate) mod compare;
pub(crate) mod dataset;
pub(crate) mod evaluate;
pub(crate) mod farm;
pub(crate) mod gate;
pub(crate) mod measuring;
pub(crate) mod outcomes;
pub(crate) mod pair;
pub(crate) mod policy;
pub(crate) mod power;
pub(crate) mod run;
pub(crate) mod selfcheck;

use evalfarm_gate::Verdict;

use crate::exit_code;

/// The exit code that says a verdict.
pub(crate) fn verdict_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Promote => exit_code::DONE,
        Verdict::Block => exit_code::BLOCKED,
        Verdict::InsufficientEvidence => exit_code::INSUFFICIENT_EVIDENCE,
    }
}
