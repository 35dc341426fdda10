//! The checksum that makes a file worth trusting.
//!
//! Parquet has no checksum over its footer, and there a single flipped bit can point a column at other bytes: the file
//! then reads well and its numbers are wrong. So every file carries the SHA-256 of itself, with zeros where the digest
//! stands, as the last entry of its metadata.

use sha2::{Digest as _, Sha256};

use crate::ColumnarError;

/// The metadata key under which the digest is stored.
pub(crate) const CHECKSUM_KEY: &str = "evalfarm.sha256";

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// What stands where the digest will, while it is being computed.
pub(crate) const PLACEHOLDER: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// Last bytes of every Parquet file, after the footer's length in four bytes.
const MAGIC: &[u8] = b"PAR1";

/// What Parquet's encoding puts between a key and a value of 64 bytes: the next field, a text (0x18), of length 64.
const BETWEEN: [u8; 2] = [0x18, 0x40];

/// Writes the digest of a file over the place that was kept for it.
pub(crate) fn seal(bytes: &mut [u8]) -> Result<(), ColumnarError> {
    let at = digest_position(bytes)?;
    let digest = digest_around(bytes, at);
    bytes[at..at + DIGITS].copy_from_slice(digest.as_bytes());
    Ok(())
}

/// Checks that a file is what was written.
pub(crate) fn check_seal(bytes: &[u8]) -> Result<(), ColumnarError> {
    let at = digest_position(bytes)?;
    let found = digest_around(bytes, at);
    let expected = &bytes[at..at + DIGITS];
    if found.as_bytes() == expected {
        Ok(())
    } else {
        Err(ColumnarError::Checksum {
            found,
            expected: String::from_utf8_lossy(expected).into_owned(),
        })
    }
}

/// Returns where the digest begins: after the last occurrence of its key in the footer, with room for it.
fn digest_position(bytes: &[u8]) -> Result<usize, ColumnarError> {
    let wrong = || ColumnarError::NotParquet { len: bytes.len() };
    let rest = bytes.strip_suffix(MAGIC).ok_or_else(wrong)?;
    let (rest, length) = rest.split_last_chunk::<4>().ok_or_else(wrong)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| wrong())?;
    let start = rest.len().checked_sub(length).ok_or_else(wrong)?;
    let mark = [CHECKSUM_KEY.as_bytes(), &BETWEEN].concat();
    rest[start..]
        .windows(mark.len())
        .rposition(|window| window == mark)
        .map(|at| start + at + mark.len())
        .filter(|at| at + DIGITS <= rest.len())
        .ok_or(ColumnarError::MissingKey { key: CHECKSUM_KEY })
}

fn digest_around(bytes: &[u8], at: usize) -> String {
    let mut hasher = Sha256::new();
    hasher.update(&bytes[..at]);
    hasher.update(PLACEHOLDER);
    hasher.update(&bytes[at + DIGITS..]);
    hex(&hasher.finalize())
}

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string accepts everything");
        text
    })
}
