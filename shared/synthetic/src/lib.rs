//! A seeded product catalogue whose complete grades are known.
//!
//! Products are drawn first as what they are (kind, brand, colour, material, parts, …) and only then described, so the
//! grade of any product for any query follows from what was drawn and never from the text. Titles carry the kind and the
//! main attributes, the brand field the brand, bullet points most attributes (some only there), descriptions are mostly
//! about other things, and the category is the same everywhere. Queries have the noise of real ones. Judgments are a
//! sparse sample of the grades.
//!
//! ```
//! use evalfarm_synthetic::{CatalogueSpec, generate};
//!
//! let catalogue = generate(&CatalogueSpec::new(7, 200, 20)?);
//! assert_eq!(catalogue.corpus.documents.len(), 200);
//! assert!(catalogue.truth.relevant(0).next().is_some());
//! # Ok::<(), evalfarm_synthetic::SpecError>(())
//! ```

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

pub use generate::{FIELDS, Generated, RECIPE, generate};
pub use spec::{CatalogueSpec, MAX_PRODUCTS, MAX_QUERIES, MIN_PRODUCTS, SpecError};
pub use truth::Truth;
