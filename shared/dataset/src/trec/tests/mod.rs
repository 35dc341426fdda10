mod collections;
mod lines;
mod runs;
mod support;
