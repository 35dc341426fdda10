//! The formats of TREC: judgments (qrels), runs, topics and documents.
//!
//! Columns are separated by ASCII white space, as in `trec_eval`: spaces and tabs, repeated or leading, mean the same. A
//! byte order mark and CRLF are dropped, blank lines are skipped, there are no comments and there is no quoting.

mod collection;
mod documents;
mod markup;
mod qrels;
mod run;
mod topics;

pub use collection::{CollectionFiles, import};
pub use documents::read_documents;
pub use qrels::{Qrels, QrelsOptions, read_qrels};
pub use run::{Dedupe, Order, Run, RunHit, RunOptions, TieReport, read_run};
pub use topics::{TopicIds, read_topics};

#[cfg(test)]
mod tests;
