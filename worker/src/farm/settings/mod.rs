//! What a worker is told: flags before environment before file before defaults.
//!
//! [`Arguments`] and `ConfigFile` are what was written, [`Settings`] is what it means, complete and checked.

mod arguments;
mod config_file;
mod resolve;
mod shown;

pub use arguments::Arguments;
pub use resolve::{Options, Settings, SettingsError};
