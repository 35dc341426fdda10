//! The embedded mode as a user has it: the real command, its exit codes, its folder.

mod candidates;
mod damage;
mod failing_workers;
mod identity;
mod interruption;
mod large;
mod looks;
mod real_catalogue;
mod refusals;
mod scene;
mod tied;
mod verdicts;
