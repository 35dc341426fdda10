//! A coordinator's jobs in one process: broker, counts and store in memory, and workers that answer as a test says.

mod failing;
mod http;
mod jobs;
mod resumed;
mod scene;
