//! Objects that are created once: datasets, job records and results, in a folder, in S3 or in Google Cloud Storage.
//!
//! [`Store`] creates an object if it is absent and says whether it was ([`Creation`]); nothing is ever overwritten, and only the
//! end of a job without a verdict is ever taken back. That makes
//! it the only truth of the farm: a task is committed when the last of its objects exists, whoever created it, and a second
//! attempt has to bring the same bytes.
//!
//! ```text
//! checks/conditional-create            what a store was found to honour
//! datasets/<fingerprint>/<sha256>      a file of the dataset, under the digest of its bytes
//! datasets/<fingerprint>/manifest.json created last: a dataset without it is not there
//! datasets/<fingerprint>/looks/<sha256>.json   a look at the dataset, under the digest of its bytes
//! jobs/<job>/record.json               what the job is; also submission.json, settings.json, ended.json
//! jobs/<job>/rows/<task>.parquet       and means, hits, relevant, condensed, unjudged, timings, as in a job's folder
//! jobs/<job>/verdict.json              also queries.parquet, candidates.parquet, judge-next.csv
//! ```
//!
//! [`LocalCache`] keeps datasets, and what is made from them, on a worker's disk.

mod backend;
mod cache;
mod datasets;
mod error;
mod jobs;
mod location;
mod path;
mod settings;
mod store;

pub use cache::{CachedDataset, Kept, LocalCache, Room};
pub use datasets::Publication;
pub use error::{Reason, StoreError};
pub use jobs::{Fetched, TaskCommit, TaskObjects};
pub use path::{JobObject, ObjectPath};
pub use settings::{Limits, Variables};
pub use store::{Creation, Store};
