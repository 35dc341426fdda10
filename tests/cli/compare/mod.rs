//! `evalfarm compare`.

mod attacks;
mod damaged;
mod forms;
mod gate;
mod outcomes;
mod published;
mod refusals;
mod reruns;
mod rows;
mod runs;
pub(crate) mod tables;
