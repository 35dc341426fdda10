//! A query in, rankings of many candidates out.
//!
//! Multi-field BM25 with the statistics of Lucene over postings that tantivy stores. For a query the score of each
//! matching document in each field is computed once, and every candidate is then a re-weighting of these scores.
//!
//! ```
//! use evalfarm_domain::{Candidate, Combine, Corpus, DocId, Document, EngineSettings, FieldName, FieldWeights};
//! use evalfarm_retrieval::Bm25Index;
//!
//! let title = FieldName::try_from("title")?;
//! let documents = [("p1", "laptop bag"), ("p2", "laptop")]
//!     .map(|(id, text)| Ok(Document { id: DocId::try_from(id)?, fields: vec![text.to_owned()] }));
//! let corpus = Corpus {
//!     fields: vec![title.clone()],
//!     documents: documents.into_iter().collect::<Result<_, evalfarm_domain::IdError>>()?,
//! };
//! let candidate = Candidate {
//!     combine: Combine::best_fields(0.0)?,
//!     weights: FieldWeights::try_from([(title, 1.0)].into_iter().collect::<std::collections::BTreeMap<_, _>>())?,
//! };
//!
//! let index = Bm25Index::build(&corpus, &EngineSettings::default())?;
//! let candidates = index.prepare(&[candidate])?;
//! let mut rows = Vec::new();
//! index.searcher().search_many("Laptop", &candidates, 10, &mut |_, hits| {
//!     rows.extend(hits.iter().map(|hit| hit.row));
//! })?;
//! assert_eq!(rows, [1, 0]); // the shorter title scores higher
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bm25;
mod build;
mod cache;
mod candidates;
mod contenders;
mod error;
mod explain;
mod field_lists;
mod index;
mod matrix;
mod searcher;
mod sweep;
mod sweep_cache;
mod terms;
mod top;

pub use cache::{CacheUse, Cached, Stale};
pub use candidates::{Prepared, PreparedCandidate, RefusedCandidate};
pub use error::{IndexError, SearchError};
pub use explain::{Explanation, FieldExplanation, TermExplanation};
pub use index::{Bm25Index, FieldEvidence};
pub use searcher::{ScoredDocument, Searcher};
pub use sweep::Rankings;
pub use sweep_cache::{CacheBudget, SweepCache};
