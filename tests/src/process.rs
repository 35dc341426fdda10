//! Processes that a test starts, and what became of them.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a command may take before the test fails instead of hanging.
const DEADLINE: Duration = Duration::from_mins(5);

/// What a finished command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; nothing when a signal ended the command.
    pub code: Option<i32>,
    /// Everything that it wrote to standard output.
    pub stdout: String,
    /// Everything that it wrote to standard error.
    pub stderr: String,
}

impl Outcome {
    /// Checks the exit code, and shows what the command wrote when it is another.
    ///
    /// # Panics
    ///
    /// When the exit code is another.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "the exit code\n----- stdout\n{}\n----- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Checks that the command ended in a verdict, whichever, and shows what it wrote when it did not.
    ///
    /// # Panics
    ///
    /// When the exit code is none that says a verdict.
    #[track_caller]
    pub fn expect_verdict(&self) -> &Self {
        match self.code {
            Some(0 | 1 | 4) => self,
            _ => self.expect_code(0),
        }
    }

    /// Returns standard output as the one strict JSON object that it has to be.
    ///
    /// # Panics
    ///
    /// When it is anything else, or anything follows the object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON value: {error}\n{}", self.stdout));
        assert!(value.is_object(), "not an object:\n{}", self.stdout);
        value
    }
}

/// A command that runs. It is killed when the value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Running {
    /// Starts a command with its outputs captured and nothing on standard input.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let stdout = collected(child.stdout.take().expect("standard output is piped"));
        let stderr = collected(child.stderr.take().expect("standard error is piped"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Whether the command has ended.
    ///
    /// # Panics
    ///
    /// When the operating system does not say.
    pub fn has_ended(&mut self) -> bool {
        self.child
            .try_wait()
            .expect("a child can be asked")
            .is_some()
    }

    /// Ends the command as `kill -9` does: it can clean up nothing.
    ///
    /// # Panics
    ///
    /// When the command has ended by itself, because then nothing was interrupted.
    pub fn kill(mut self) -> Outcome {
        self.child.kill().expect("a child can be killed");
        let outcome = self.collect();
        assert_eq!(outcome.code, None, "it ended before it was killed");
        outcome
    }

    /// Sends SIGINT, as Ctrl-C does.
    ///
    /// # Panics
    ///
    /// When there is no `kill` command.
    pub fn interrupt(&self) {
        self.signal("INT");
    }

    /// Sends a signal by its name, e.g. `TERM` or `STOP`.
    ///
    /// # Panics
    ///
    /// When there is no `kill` command.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status()
            .expect("there is a `kill` command");
        assert!(status.success(), "the signal was not sent");
    }

    /// Waits for the command to end by itself.
    ///
    /// # Panics
    ///
    /// When it does not within the deadline.
    pub fn finish(mut self) -> Outcome {
        self.collect()
    }

    fn collect(&mut self) -> Outcome {
        // Both outputs close when the command ends, so waiting for them is waiting for it.
        let end = Instant::now() + DEADLINE;
        let left = |end: Instant| end.saturating_duration_since(Instant::now());
        let stdout = self.stdout.recv_timeout(left(end));
        let stderr = self.stderr.recv_timeout(left(end));
        let (Ok(stdout), Ok(stderr)) = (stdout, stderr) else {
            panic!("the command was not done after {DEADLINE:?}");
        };
        let status = self.child.wait().expect("a child can be waited for");
        Outcome {
            code: status.code(),
            stdout,
            stderr,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when the command has ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn collected(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A test that has given up no longer listens; one that listens learns of a broken pipe by the closed channel.
        if pipe.read_to_end(&mut bytes).is_ok() {
            drop(sender.send(String::from_utf8_lossy(&bytes).into_owned()));
        }
    });
    receiver
}
