//! `evalfarm results`: a job's folder, fetched from a farm.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_coordinator::Progress as _;
use evalfarm_coordinator::api::{FileEntry, FileList};
use evalfarm_domain::{Digest, JobId};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::job_id;
use crate::exit_code;
use crate::failure::{Failure, FileError};
use crate::farm::{Client, Connection};
use crate::output::Printer;
use crate::places;
use crate::progress::Bars;

const EXAMPLES: &str = "\
Examples:
  evalfarm results j1a2b3c4d5e6f7a8b9c0d
  evalfarm results j1a2b3c4d5e6f7a8b9c0d --out results/monday
  evalfarm gate results/monday --policy strict.toml

Every file is compared with its size and its sha256. Fetching again goes on: a file that is there is
compared and not fetched, so it also completes the folder of a job that was still running.";

/// File of which a folder without it says that it is not complete.
const LAST: &str = "verdict.json";
/// Folder for what is not complete yet.
const ASIDE: &str = ".fetching";
/// Bytes that are copied at a time.
const CHUNK: usize = 256 * 1024;

/// Arguments of `evalfarm results`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResultsArgs {
    /// The job, as `evalfarm submit` printed it
    #[arg(value_parser = job_id)]
    job: JobId,
    /// Folder to fetch into (default: evalfarm-jobs/NAME-JOB)
    #[arg(long)]
    out: Option<PathBuf>,
    /// Say nothing about progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    connection: Connection,
}

/// What was fetched.
#[derive(Debug, Serialize)]
struct Document {
    job: String,
    out: String,
    files: usize,
    bytes: u64,
    fetched: usize,
    complete: bool,
}

/// Fetches the folder and prints where it is.
pub(crate) fn results(args: &ResultsArgs, printer: &Printer) -> Result<u8, Failure> {
    let client = args.connection.client()?;
    let bars = Bars::new(printer, args.quiet);
    let route = ["jobs", args.job.as_str(), "files"];
    let mut list: FileList = client.get(&route)?;
    if let Some(file) = list.files.iter().find(|file| !is_inside(&file.path)) {
        let path = format!("`{}` is no path inside of a job's folder", file.path);
        return Err(client.misunderstood(path).into());
    }
    // A folder that was fetched in part must not look finished.
    list.files.sort_by_key(|file| file.path == LAST);
    let out = match &args.out {
        Some(out) => out.clone(),
        None if is_name(&list.name) => places::fetched_job_folder(&list.name, &args.job),
        None => {
            let name = format!("`{}` is no name of a sweep", list.name);
            return Err(client.misunderstood(name).into());
        }
    };
    let bytes = list.files.iter().map(|file| file.bytes).sum();
    bars.begin("fetching bytes", bytes);
    // All that is there is compared before anything is written: the folder may be that of another job.
    let mut missing = Vec::new();
    for file in &list.files {
        if is_there(&out, file)? {
            bars.advance(file.bytes);
        } else {
            missing.push(file);
        }
    }
    for file in &missing {
        fetch(&client, &args.job, &out, file)?;
        bars.advance(file.bytes);
    }
    bars.end();
    let fetched = missing.len();
    match fs::remove_dir(out.join(ASIDE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(unwritable(&out, error));
        }
        _ => {}
    }
    let document = Document {
        job: args.job.to_string(),
        out: out.display().to_string(),
        files: list.files.len(),
        bytes,
        fetched,
        complete: list.files.iter().any(|file| file.path == LAST),
    };
    printer.foreign_data(|| shown(&document), &document)?;
    Ok(exit_code::DONE)
}

fn shown(document: &Document) -> String {
    let Document {
        job,
        out,
        files,
        fetched,
        ..
    } = document;
    let rest = if document.complete {
        ""
    } else {
        "the job has no verdict yet: fetch again when it has, and only what is new is fetched\n"
    };
    format!("{out}\n\n  {files} files of job {job}, {fetched} of them fetched now\n{rest}")
}

/// Whether a path of the coordinator stays inside of the folder: parts of plain characters, none of them hidden.
pub(super) fn is_inside(path: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(plain);
    path.len() <= 255 && path.split('/').count() <= 4 && path.split('/').all(part)
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

/// Whether the file is there and complete. Another file in its place is the user's and stays.
fn is_there(out: &Path, file: &FileEntry) -> Result<bool, Failure> {
    let path = out.join(&file.path);
    let found = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(|error| unwritable(&path, error))?,
    };
    let mut reader = BufReader::with_capacity(CHUNK, found);
    let mut content = Content::default();
    let (bytes, sha256) = match io::copy(&mut reader, &mut content) {
        Ok(bytes) => (bytes, content.digest()),
        Err(error) => return Err(unwritable(&path, error)),
    };
    if (bytes, sha256) == (file.bytes, file.sha256) {
        return Ok(true);
    }
    Err(Failure::input(format!(
        "`{}` is not the file that the job has",
        path.display()
    ))
    .with_hint("fetch into another folder with `--out`, or remove this file to fetch it again"))
}

/// Fetches a file beside its place, compares it, and moves it there.
fn fetch(client: &Client, job: &JobId, out: &Path, file: &FileEntry) -> Result<(), Failure> {
    let path = out.join(&file.path);
    let aside = out.join(ASIDE);
    for folder in [Some(aside.as_path()), path.parent()].into_iter().flatten() {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
    }
    let part = aside.join(file.sha256.to_string());
    let route: Vec<&str> = ["jobs", job.as_str(), "files"]
        .into_iter()
        .chain(file.path.split('/'))
        .collect();
    // One byte more shows that there is more.
    let limit = file.bytes.saturating_add(1);
    let mut reader = client.open(&route, limit)?.take(limit);
    let mut written = File::create(&part).map_err(|error| unwritable(&part, error))?;
    let mut content = Content::default();
    let mut bytes = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(client.broken_off(error).into()),
        };
        let read = &chunk[..read];
        written
            .write_all(read)
            .map_err(|error| unwritable(&part, error))?;
        content.write_all(read).map_err(Failure::infrastructure)?;
        bytes += read.len() as u64;
    }
    let sha256 = content.digest();
    if (bytes, sha256) != (file.bytes, file.sha256) {
        drop(fs::remove_file(&part));
        return Err(Failure::infrastructure(format!(
            "`{}` arrived with {bytes} bytes and sha256 `{sha256}`, the list of files says {} bytes and `{}`",
            file.path, file.bytes, file.sha256,
        ))
        .with_hint("the same command fetches it again"));
    }
    written
        .sync_all()
        .map_err(|error| unwritable(&part, error))?;
    fs::rename(&part, &path).map_err(|error| unwritable(&path, error))
}

fn unwritable(path: &Path, error: io::Error) -> Failure {
    Failure::infrastructure(FileError::new("use", path, error))
        .with_hint("choose a folder that can be written to with `--out`")
}

/// A SHA-256 of what is written into it.
#[derive(Default)]
struct Content(Sha256);

impl Content {
    fn digest(self) -> Digest {
        Digest::from_bytes(self.0.finalize().into())
    }
}

impl io::Write for Content {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.update(buffer);
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
