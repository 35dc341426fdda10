//! The gate from the outside: evidence and policy in, judgement out.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod attacks;
mod calibration;
mod cases;
mod documentation;
mod experiment;
mod holes;
mod order_of_decision;
mod outcomes;
mod policy;
mod published;
mod scene;
mod selfcheck;
