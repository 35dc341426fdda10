//! What every binary of the project needs before it can do its own work.

mod error_chain;

pub use error_chain::ErrorChain;
