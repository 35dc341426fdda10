//! Input files: plain or gzipped text, line by line, and their digests for a manifest.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use evalfarm_domain::Digest;
use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Fault, InputError};

/// First bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// UTF-8's byte order mark, which editors on Windows put first.
const BOM: &[u8] = "\u{feff}".as_bytes();

/// A file that a dataset was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceFile {
    /// File name without its folder: a manifest must not depend on where someone kept the file.
    pub name: String,
    /// Size in bytes, as stored (compressed, if it is).
    pub bytes: u64,
    /// Digest of these bytes.
    pub sha256: Digest,
}

impl SourceFile {
    /// Reads a file through and returns its size and digest.
    pub fn of(path: &Path) -> Result<Self, InputError> {
        let (sha256, bytes) = hash_file(path).map_err(|error| InputError::read(path, error))?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            bytes,
            sha256,
        })
    }
}

/// Returns the digest and the size of a file.
pub(crate) fn hash_file(path: &Path) -> io::Result<(Digest, u64)> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((Digest::from_bytes(hasher.finalize().into()), bytes));
        }
        hasher.update(&buffer[..count]);
        bytes += count as u64;
    }
}

/// Opens a file, decompressing it when its name ends in `.gz` or its first bytes are gzip's.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, InputError> {
    let read = |error| InputError::read(path, error);
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(read)?);
    let named = path
        .extension()
        .is_some_and(|ext| ext.eq_ignore_ascii_case("gz"));
    let magic = file.fill_buf().map_err(read)?.starts_with(GZIP_MAGIC);
    Ok(if named || magic {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// Returns the whole text of a file, decompressed and without a byte order mark.
pub(crate) fn read_text(path: &Path) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    open(path)?
        .read_to_end(&mut bytes)
        .map_err(|error| InputError::read(path, error))?;
    if bytes.starts_with(BOM) {
        bytes.drain(..BOM.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = line_of(error.as_bytes(), good);
        InputError::line(path, line, Fault::NotUtf8)
    })
}

/// Returns the line, counted from 1, that a byte offset lies in.
pub(crate) fn line_of(bytes: &[u8], offset: usize) -> u64 {
    let before = bytes.iter().take(offset);
    before.filter(|&&byte| byte == b'\n').count() as u64 + 1
}

/// Returns the extension of a file name in lower case, looking through `.gz`: `csv` for `a.CSV.gz`.
pub(crate) fn inner_extension(path: &Path) -> String {
    let lower = |path: &Path| {
        path.extension()
            .map(|ext| ext.to_string_lossy().to_ascii_lowercase())
    };
    match lower(path) {
        Some(ext) if ext == "gz" => lower(&path.with_extension("")).unwrap_or_default(),
        other => other.unwrap_or_default(),
    }
}

/// The lines of a text file: no byte order mark, no line ends (LF or CRLF), every line checked to be UTF-8.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, InputError> {
        Ok(Self {
            path: path.to_owned(),
            reader: open(path)?,
            buffer: Vec::new(),
            number: 0,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the next line that is not blank, with its number counted from 1.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &str)>, InputError> {
        loop {
            self.buffer.clear();
            let count = self
                .reader
                .read_until(b'\n', &mut self.buffer)
                .map_err(|error| InputError::read(&self.path, error))?;
            if count == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.number == 1 && self.buffer.starts_with(BOM) {
                self.buffer.drain(..BOM.len());
            }
            if !self.buffer.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        match std::str::from_utf8(line) {
            // Several lines of a file whose lines end in CR alone would be read as the one they look like.
            Ok(text) if text.trim_end_matches('\r').contains('\r') => {
                let fault = Fault::CarriageReturn;
                Err(InputError::line(&self.path, self.number, fault))
            }
            Ok(text) => Ok(Some((self.number, text))),
            Err(_) => Err(InputError::line(&self.path, self.number, Fault::NotUtf8)),
        }
    }
}
