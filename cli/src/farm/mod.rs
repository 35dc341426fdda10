//! Talking to a coordinator over HTTP. Whatever comes back is untrusted: it is limited, checked, and escaped where it is
//! shown.

mod client;
mod connection;
mod error;
mod events;
mod follow;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use client::Client;
pub(crate) use connection::Connection;
pub(crate) use error::FarmError;
pub(crate) use follow::{Update, follow};
