//! The project's binaries, of the profile that the tests are built with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the `evalfarm` binary, built once for each test process with the profile of the tests.
///
/// A test in another package has no `CARGO_BIN_EXE_evalfarm`. Cargo itself is asked to build, so that what is tested is
/// never older than the sources; when nothing has changed that takes a fraction of a second.
///
/// # Panics
///
/// When the binary cannot be built.
pub fn evalfarm() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| build(&["--package", "evalfarm-cli"]).join(name("evalfarm")))
}

/// The binaries of a farm.
#[derive(Debug)]
pub struct FarmBinaries {
    /// `evalfarm-coordinator`.
    pub coordinator: PathBuf,
    /// `evalfarm-worker`.
    pub worker: PathBuf,
}

/// Returns the binaries of a farm, built as [`evalfarm`] is.
///
/// # Panics
///
/// When they cannot be built.
pub fn farm_binaries() -> &'static FarmBinaries {
    static BINARIES: OnceLock<FarmBinaries> = OnceLock::new();
    BINARIES.get_or_init(|| {
        let folder = build(&["--workspace", "--bins", "--all-features"]);
        FarmBinaries {
            coordinator: folder.join(name("evalfarm-coordinator")),
            worker: folder.join(name("evalfarm-worker")),
        }
    })
}

fn name(binary: &str) -> String {
    format!("{binary}{}", std::env::consts::EXE_SUFFIX)
}

/// Has cargo build what is selected, and returns the folder of the binaries.
fn build(selection: &[&str]) -> PathBuf {
    // target/<profile folder>/deps/<this test>
    let this = std::env::current_exe().expect("a running test has a file");
    let profile_folder = this
        .ancestors()
        .nth(2)
        .expect("cargo puts tests two folders below the target folder");
    let target = profile_folder
        .parent()
        .expect("a profile folder lies in the target folder");
    let profile = match profile_folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") => "dev",
        Some(profile) => profile,
        None => panic!("`{}` is no profile folder", profile_folder.display()),
    };
    let output = Command::new(env!("CARGO"))
        .args(["build", "--locked", "--quiet"])
        .args(selection)
        .args(["--profile", profile, "--target-dir"])
        .arg(target)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{selection:?} could not be built:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    profile_folder.to_owned()
}
