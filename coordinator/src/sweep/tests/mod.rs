//! Tests that run whole sweeps over surfaces whose answers are known.

mod equal_candidates;
mod file_canonical;
mod file_errors;
mod file_examples;
mod properties;
mod reports;
mod staged_replay;
mod strategies;
mod surface;
