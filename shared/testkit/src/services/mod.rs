//! Private servers for tests: own ports, own folder, gone with the process that started them.

mod private_rabbit;
mod private_redis;
mod server;

pub use private_rabbit::PrivateRabbit;
pub use private_redis::PrivateRedis;
