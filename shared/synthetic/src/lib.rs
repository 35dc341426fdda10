//! A seeded product catalogue whose complete grades are known.

mod draw;
mod generate;
mod intent;
mod judging;
mod product;
mod spec;
mod text;
mod truth;
mod wording;
mod words;
mod world;

pub use generate::{FIELDS, Generated, generate};
pub use spec::{CatalogueSpec, MAX_PRODUCTS, MAX_QUERIES, MIN_PRODUCTS, SpecError};
pub use truth::Truth;
