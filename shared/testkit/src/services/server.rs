//! A server process that cannot outlive the test that wants it.

use std::fs::File;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::wait_until;

/// What a server needs to be started, and started again.
#[derive(Debug)]
pub(crate) struct Program {
    /// Shell text that runs the server in the foreground.
    pub(crate) run: String,
    /// Shell text that ends what the server leaves running.
    pub(crate) sweep_up: String,
    /// Where everything of the server lies; it writes its process id to `pid` there.
    pub(crate) folder: PathBuf,
}

impl Program {
    /// Returns where the server's output goes.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }
}

/// A server process. A shell between it and the test reads a pipe that nobody writes: when the test process is gone, for
/// whatever reason, the pipe ends, and the shell ends the server. A destructor alone would miss statics and kill -9.
#[derive(Debug)]
pub(crate) struct Server {
    shell: Child,
    program: Program,
}

impl Server {
    pub(crate) fn start(program: Program) -> Self {
        let shell = spawn(&program);
        Self { shell, program }
    }

    /// Ends the server without warning and waits until it is gone; its files stay.
    pub(crate) fn kill(&mut self) {
        if let Some(mut pipe) = self.shell.stdin.take() {
            pipe.write_all(b"keep\n").expect("the shell reads");
        }
        self.shell.wait().expect("the shell can be waited for");
    }

    /// Starts a killed server on its old files.
    pub(crate) fn restart(&mut self) {
        self.shell = spawn(&self.program);
    }

    /// Sends a signal to the server itself, e.g. `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let pid =
            std::fs::read_to_string(self.program.folder.join("pid")).expect("the server runs");
        let status = Command::new("kill")
            .args([&format!("-{name}"), pid.trim()])
            .status()
            .expect("kill runs");
        assert!(status.success(), "kill -{name} {pid} failed");
    }

    /// Waits until `ready` says so.
    ///
    /// # Panics
    ///
    /// When the server ends, with the end of its output, or is never ready.
    pub(crate) fn wait_until(&mut self, ready: impl Fn() -> bool) {
        wait_until("the server's readiness", || {
            let ended = self.shell.try_wait().expect("the shell can be waited for");
            let log = || std::fs::read_to_string(self.program.log()).unwrap_or_default();
            assert!(ended.is_none(), "the server ended:\n{}", log());
            ready().then_some(())
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().expect("the shell can be waited for");
    }
}

fn spawn(program: &Program) -> Child {
    let Program {
        run,
        sweep_up,
        folder,
    } = program;
    let folder = folder.display();
    // The server reads nothing: were it to inherit the pipe, the shell would not be its only reader. A server that ends by
    // itself ends the shell, so that a failed start is noticed at once.
    let script = format!(
        "rm -f {folder}/pid
         parent=$$
         {{ {run} </dev/null & echo $! > {folder}/first; wait $!; kill -TERM $parent; }} &
         trap 'exit 1' TERM
         read -r word
         trap '' TERM
         for file in {folder}/pid {folder}/first; do kill -9 $(cat $file) 2>/dev/null; done
         {sweep_up}
         [ \"$word\" = keep ] || rm -rf {folder}"
    );
    let log = File::create(program.log()).expect("the folder is writable");
    Command::new("/bin/bash")
        .args(["-c", &script])
        .stdin(Stdio::piped())
        .stdout(log.try_clone().expect("a file handle can be copied"))
        .stderr(log)
        .spawn()
        .expect("bash runs")
}

/// Returns ports that nobody listens on. Another process may take one before it is used, so a start may fail.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners =
        [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("the machine has free ports"));
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}

/// Returns the program at `path`.
///
/// # Panics
///
/// When it is not installed: a test that needs a server does not pass without it.
pub(crate) fn installed(path: &'static str) -> &'static str {
    assert!(
        Path::new(path).is_file(),
        "`{path}` is not installed: run `bash tests/services.sh`"
    );
    path
}
