//! `evalfarm compare`.

mod forms;
mod gate;
mod outcomes;
mod published;
mod refusals;
mod rows;
mod runs;
pub(crate) mod tables;
