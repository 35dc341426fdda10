//! Metric values against other tools, the cases that broke them, and properties that hold for every ranking.

mod cases;
mod evaluate;
mod naive;
mod properties;
mod reference;
mod support;
mod vectors;
