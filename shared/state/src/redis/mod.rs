//! The farm's store, in Redis.

mod keys;
mod link;
mod scripts;
mod store;

pub use link::RedisSettings;
pub use store::RedisStore;
