//! Exit codes. Nightly scripts branch on them, so they are an interface and never a literal elsewhere.

/// The command did what it was asked to, or the verdict is PROMOTE.
pub(crate) const DONE: u8 = 0;
/// The verdict is BLOCK.
pub(crate) const BLOCKED: u8 = 1;
/// The command line or an input file is not valid. Nothing was judged and nothing was written.
pub(crate) const INVALID_INPUT: u8 = 2;
/// Something that the command needs does not work, e.g. a full disk. Nothing could be judged.
pub(crate) const INFRASTRUCTURE: u8 = 3;
/// The verdict is `INSUFFICIENT_EVIDENCE`: the data cannot decide, or the job is incomplete.
pub(crate) const INSUFFICIENT_EVIDENCE: u8 = 4;
/// The command was interrupted, as a shell reports SIGINT. What was finished is kept.
pub(crate) const INTERRUPTED: u8 = 130;
