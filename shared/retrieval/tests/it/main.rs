//! The engine against real Lucene, against tantivy and against a slow implementation that is easy to believe.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of test data are small"
)]

#[cfg(test)]
mod cache;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod ranking;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tantivy_peer;
