//! Why a message could not be written or read.

use std::error::Error;

use evalfarm_domain::{CandidateId, IdError, TaskId};

use crate::MAX_MESSAGE_BYTES;

type Cause = Box<dyn Error + Send + Sync>;

/// A message that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// The message is larger than a reader accepts.
    #[error("message is {len} bytes long, at most {MAX_MESSAGE_BYTES} are allowed")]
    TooLarge {
        /// Length of the whole message, in bytes.
        len: usize,
    },
    /// A list has more entries than a reader accepts.
    #[error("`{field}` has {len} entries, at most {most} are allowed")]
    List {
        /// Name of the list.
        field: &'static str,
        /// Its number of entries.
        len: usize,
        /// The number allowed.
        most: usize,
    },
    /// The codec refused the body.
    #[error("failed to encode the body")]
    Body(#[source] Cause),
}

/// Bytes that could not be read as a message.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// No release will ever read them: they belong in the dead-letter queue.
    #[error("message is malformed")]
    Malformed(#[from] Malformed),
    /// A newer release wrote them: they are put back for a newer reader, and lose nothing.
    #[error("message needs a newer release")]
    Newer(#[from] Newer),
}

/// Bytes that no release will ever read.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// There are more bytes than a message may have.
    #[error("{len} bytes, a message has at most {MAX_MESSAGE_BYTES}")]
    TooLarge {
        /// Number of bytes.
        len: usize,
    },
    /// There are fewer bytes than an empty message has.
    #[error("{len} bytes, a message has at least {least}")]
    Truncated {
        /// Number of bytes.
        len: usize,
        /// Bytes of an empty message.
        least: usize,
    },
    /// The first four bytes are not ours.
    #[error("the bytes do not begin with `EVFM`")]
    Magic,
    /// Version, codec or schema is 0, which nobody writes.
    #[error("{field} is 0")]
    Zero {
        /// What is 0.
        field: &'static str,
    },
    /// The stated length of the body is not the one present.
    #[error("the body should be {stated} bytes long and is {present}")]
    Length {
        /// What the envelope says, in bytes.
        stated: u64,
        /// What is there, in bytes.
        present: usize,
    },
    /// The bytes changed on the way.
    #[error("the digest does not match the bytes")]
    Digest,
    /// The body is not what its schema says.
    #[error("failed to decode the body")]
    Body(#[source] Cause),
    /// The body ended before its bytes did.
    #[error("{extra} bytes after the end of the body")]
    Trailing {
        /// Number of bytes left over.
        extra: usize,
    },
    /// A list has more entries than are allowed.
    #[error("`{field}` has {len} entries, at most {most} are allowed")]
    List {
        /// Name of the list.
        field: &'static str,
        /// Its number of entries.
        len: usize,
        /// The number allowed.
        most: usize,
    },
    /// An identifier is empty or too long.
    #[error("an identifier cannot be accepted")]
    Id(#[from] IdError),
    /// The candidates are not a JSON array of candidates.
    #[error("failed to read the candidates")]
    Candidates(#[source] serde_json::Error),
    /// The candidates are not in canonical form, so their ids could not be trusted.
    #[error("the candidates are not in canonical form")]
    NotCanonical,
    /// The task has no candidate.
    #[error("the task has no candidate")]
    NoCandidate,
    /// A candidate is there twice.
    #[error("candidate `{candidate}` is there twice")]
    RepeatedCandidate {
        /// The candidate.
        candidate: CandidateId,
    },
    /// The range of queries is empty or ends beyond the largest index.
    #[error("{count} queries from query {first} are not a range")]
    QueryRange {
        /// First query.
        first: u32,
        /// Number of queries.
        count: u32,
    },
    /// A number that must be positive is 0.
    #[error("`{field}` is 0, at least 1 is needed")]
    NotPositive {
        /// Name of the number.
        field: &'static str,
    },
    /// The stated id is not the one that the content gives.
    #[error("the task says it is `{stated}`, its content says `{computed}`")]
    TaskId {
        /// The id in the message.
        stated: TaskId,
        /// The id computed from the rest of the message.
        computed: TaskId,
    },
}

/// Something that only a newer release knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Newer {
    /// The envelope has a version above [`crate::PROTOCOL_VERSION`].
    #[error("envelope version {version} is not known here")]
    Envelope {
        /// The version.
        version: u8,
    },
    /// The body is in another codec.
    #[error("codec {id} is not known here")]
    Codec {
        /// The codec's number.
        id: u8,
    },
    /// The body is another message.
    #[error("schema {id} is not known here")]
    Schema {
        /// The schema's number.
        id: u16,
    },
    /// An enum of the body has a variant that was appended later.
    #[error("{field} {tag} is not known here")]
    Tag {
        /// Which enum.
        field: &'static str,
        /// The tag.
        tag: u16,
    },
}
