//! The judge on whole sweeps and on real runs whose truth is known.

mod holes;
mod null_sweeps;
mod runs;
mod sweeps;
