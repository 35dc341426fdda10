//! The folder of a job: what is finished in it is whole, whatever happened while it was written.

mod copied;
mod holes;
mod job;
mod means;
mod publish;

pub use copied::{BesideFile, TaskFile};
pub use holes::JudgeNext;
pub use job::{Finished, JobFolder, SetAside};
pub use publish::Commit;
