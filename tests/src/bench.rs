//! A folder of its own for each test, with everything in it that the command would otherwise look for elsewhere.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{Outcome, Running, evalfarm};

/// A temporary folder in which commands run. It disappears with the value.
#[derive(Debug)]
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// Returns an empty bench.
    ///
    /// # Panics
    ///
    /// When no temporary folder can be made.
    pub fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a temporary folder can be made"),
        }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of something in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file into the folder, making the folders on the way, and returns its path.
    ///
    /// # Panics
    ///
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        let parent = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent).expect("a folder can be made");
        fs::write(&path, content).expect("a file can be written");
        path
    }

    /// Returns `evalfarm` with these arguments, ready to run in the folder.
    ///
    /// The environment is empty but for a search path, and a home and a cache that lie in the folder: what a test finds
    /// does not depend on who runs it.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(evalfarm());
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.at("home"))
            .env("EVALFARM_CACHE", self.at("cache"));
        command
    }

    /// Starts `evalfarm` with these arguments.
    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        Running::start(&mut self.command(args))
    }

    /// Runs `evalfarm` with these arguments to its end.
    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Outcome {
        self.start(args).finish()
    }

    /// Stores a small generated catalogue in the folder `name`.
    ///
    /// # Panics
    ///
    /// When the command fails.
    pub fn generate(&self, name: &str, products: u32, queries: u32) -> PathBuf {
        let products = products.to_string();
        let queries = queries.to_string();
        let sizes = ["--products", &products, "--queries", &queries];
        self.run(
            ["dataset", "generate", "--out", name]
                .into_iter()
                .chain(sizes),
        )
        .expect_code(0);
        self.at(name)
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}
