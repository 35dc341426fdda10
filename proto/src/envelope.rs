//! The envelope around a body, so that bytes say what they are before anything trusts them.
//!
//! ```text
//! 0   4 bytes   EVFM
//! 4   u8        version of the envelope
//! 5   u8        codec of the body
//! 6   u16       schema of the body
//! 8   u32       length of the body, in bytes
//! 12  …         body
//!     8 bytes   first bytes of the SHA-256 of everything before
//! ```
//!
//! Integers are little endian. Every byte belongs to one of these parts.

use evalfarm_domain::Digest;

use crate::{EncodeError, Malformed, Newer, Unreadable, codec};

/// Largest message, envelope included, in bytes: 1 MiB, far below the 16 MiB at which RabbitMQ 4 refuses.
pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Version of the envelope, and so of the protocol. Coordinator and worker compare it in `WorkerHello`; raise it when the
/// envelope changes, not for a new message: that is a new schema.
pub const PROTOCOL_VERSION: u8 = 1;

const MAGIC: &[u8; 4] = b"EVFM";
const HEADER_BYTES: usize = 12;
const DIGEST_BYTES: usize = 8;

/// Puts a body into an envelope.
pub(crate) fn seal(schema: u16, body: &[u8]) -> Result<Vec<u8>, EncodeError> {
    let len = HEADER_BYTES + body.len() + DIGEST_BYTES;
    let too_large = EncodeError::TooLarge { len };
    if len > MAX_MESSAGE_BYTES {
        return Err(too_large);
    }
    let body_len = u32::try_from(body.len()).map_err(|_| too_large)?;
    let mut bytes = Vec::with_capacity(len);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[PROTOCOL_VERSION, codec::ID]);
    bytes.extend_from_slice(&schema.to_le_bytes());
    bytes.extend_from_slice(&body_len.to_le_bytes());
    bytes.extend_from_slice(body);
    let digest = digest(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(bytes)
}

/// Takes a body out of its envelope: its schema and its bytes.
pub(crate) fn open(bytes: &[u8]) -> Result<(u16, &[u8]), Unreadable> {
    let len = bytes.len();
    if len > MAX_MESSAGE_BYTES {
        return Err(Malformed::TooLarge { len }.into());
    }
    let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(truncated(len))?;
    if magic != MAGIC {
        return Err(Malformed::Magic.into());
    }
    let (&[version], rest) = rest.split_first_chunk::<1>().ok_or(truncated(len))?;
    match version {
        0 => return Err(Malformed::Zero { field: "version" }.into()),
        PROTOCOL_VERSION => {}
        // What follows has a layout that this release does not know.
        _ => return Err(Newer::Envelope { version }.into()),
    }
    let (&[codec, schema_low, schema_high, length @ ..], rest) =
        rest.split_first_chunk::<7>().ok_or(truncated(len))?;
    let (body, stated_digest) = rest
        .split_last_chunk::<DIGEST_BYTES>()
        .ok_or(truncated(len))?;
    let stated = u32::from_le_bytes(length);
    if usize::try_from(stated).ok() != Some(body.len()) {
        let (stated, present) = (u64::from(stated), body.len());
        return Err(Malformed::Length { stated, present }.into());
    }
    if digest(&bytes[..len - DIGEST_BYTES]) != *stated_digest {
        return Err(Malformed::Digest.into());
    }
    // Only now: a flipped bit must not pass for a newer release.
    match codec {
        0 => return Err(Malformed::Zero { field: "codec" }.into()),
        codec::ID => {}
        id => return Err(Newer::Codec { id }.into()),
    }
    match u16::from_le_bytes([schema_low, schema_high]) {
        0 => Err(Malformed::Zero { field: "schema" }.into()),
        schema => Ok((schema, body)),
    }
}

fn truncated(len: usize) -> Malformed {
    let least = HEADER_BYTES + DIGEST_BYTES;
    Malformed::Truncated { len, least }
}

fn digest(bytes: &[u8]) -> [u8; DIGEST_BYTES] {
    let digest = Digest::of(bytes);
    let (first, _) = digest
        .as_bytes()
        .split_first_chunk()
        .expect("a SHA-256 has 32 bytes");
    *first
}
