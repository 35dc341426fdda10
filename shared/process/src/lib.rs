//! What every binary of the project needs before it can do its own work.

mod environment;
mod error_chain;
mod secret;

pub use environment::{cache_folder, variables};
pub use error_chain::ErrorChain;
pub use secret::Secret;
