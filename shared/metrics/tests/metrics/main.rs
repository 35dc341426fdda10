//! Metric values against other tools, the cases that broke them, and properties that hold for every ranking.
//!
//! The modules are marked as tests because helpers may unwrap, as tests do, only inside of such modules.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod evaluate;
#[cfg(test)]
mod naive;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod support;
#[cfg(test)]
mod vectors;
