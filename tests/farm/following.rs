//! Whoever follows a job sees it at once.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use evalfarm_tests::wait_until;
use serde_json::Value;

use crate::jobs::with_seed;
use crate::scene::{Farm, SWEEP, token};

/// Reads the states of a job as the coordinator sends them, until one has what is wanted or the job ends.
fn followed(farm: &Farm, job: &str, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
    let address = farm.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).expect("the coordinator listens");
    let token = token("rita");
    let asked = write!(
        stream,
        "GET /v1/jobs/{job}/events HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    asked.expect("the coordinator reads");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut states = lines.filter_map(|line| {
        let text = line.strip_prefix("data: ")?;
        Some(serde_json::from_str::<Value>(text).expect("a status is JSON"))
    });
    states.find(wanted)
}

#[test]
fn a_submitted_job_has_a_rate_and_an_end_in_sight_within_a_second() {
    let mut farm = Farm::start("watch");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 2");
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
    // The worker has the dataset and its index after this.
    let first = farm.submit(&with_seed(1));
    assert_eq!(farm.ended(&first)["state"], "judged");
    // A busy machine may be late; three times in a row it is not the machine.
    let mut took = Vec::new();
    for seed in 2..=4 {
        let start = Instant::now();
        let job = farm.submit(&with_seed(seed));
        let shown = followed(&farm, &job, |status| {
            status["step"]["rate"].as_f64() > Some(0.0) && status["step"]["eta_seconds"].is_f64()
        });
        took.push(start.elapsed());
        let shown = shown.expect("it was shown before it ended");
        assert_eq!(shown["state"], "running", "{shown}");
        assert_eq!(farm.ended(&job)["state"], "judged");
    }
    assert_within_a_second(&took);
    // What the commands print is one object each.
    let job = farm.submit(&with_seed(2));
    let one = farm.run(&["status", &job, "--format", "json"]);
    let one = one.expect_code(0).json();
    assert_eq!(
        (&one["job"], &one["state"]),
        (&job.into(), &"judged".into())
    );
    let all = farm.run(&["status", "--format", "json"]);
    let all = all.expect_code(0).json();
    assert_eq!(all["jobs"].as_array().map(Vec::len), Some(4));
    let watched = farm.run(&["watch", "--format", "json"]);
    assert_eq!(
        watched.expect_code(0).json()["jobs"],
        Value::Array(Vec::new())
    );
}

/// Once of several times is enough: a busy machine may be late.
fn assert_within_a_second(took: &[Duration]) {
    let least = took.iter().min().expect("there were some");
    assert!(*least < Duration::from_secs(1), "{took:?}");
}

/// `evalfarm watch` on a terminal, and what it has drawn so far.
struct Terminal {
    process: Child,
    drawn: Arc<Mutex<String>>,
}

impl Terminal {
    fn watch(farm: &Farm) -> Self {
        // `script` gives the command a terminal, on which bars are drawn.
        let watch = farm.command("rita", &["watch"]);
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "script", "-qefc"]);
        command.arg(format!(
            "stty cols 200 && {} watch",
            watch.get_program().display()
        ));
        let given = watch
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        command
            .arg("/dev/null")
            .env_clear()
            .envs(given)
            .env("PATH", "/usr/bin:/bin")
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut process = command.spawn().expect("script runs");
        let mut pipe = process.stdout.take().expect("it is piped");
        let drawn = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&drawn);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = pipe.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..read]);
                kept.lock().expect("nobody panics here").push_str(&text);
            }
        });
        Self { process, drawn }
    }

    /// Whether such a line was drawn.
    fn shows(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let drawn = self.drawn.lock().expect("nobody panics here");
        drawn.split(['\r', '\n', '\u{1b}']).any(is_it)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn watch_draws_a_submitted_job_with_rate_and_time_left_within_a_second() {
    let mut farm = Farm::start("terminal");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 2");
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
    let first = farm.submit(&with_seed(1));
    assert_eq!(farm.ended(&first)["state"], "judged");
    // It follows what is submitted meanwhile as long as something is not over.
    let waits = SWEEP.replace("name = \"slow\"", "name = \"nobody-has-it\"");
    let waiting = farm.submit(&waits);
    let terminal = Terminal::watch(&farm);
    wait_until("the job that waits", || {
        let shown = terminal.shows(|line| line.contains(&waiting));
        shown.then_some(())
    });
    let mut took = Vec::new();
    for seed in 2..=4 {
        let name = format!("seen-{seed}");
        let sweep = with_seed(seed).replacen("name = \"slow\"", &format!("name = \"{name}\""), 1);
        let job = farm.submit(&sweep);
        let start = Instant::now();
        wait_until("its bar with rate and time left", || {
            // Several bars stand on one line of what is written: the terminal breaks it.
            let has_both = |line: &str| {
                let bar = line.rsplit_once(&name).map_or("", |(_, bar)| bar);
                let rate = bar.contains("/s") && !bar.contains(" 0/s");
                rate && bar.contains(" left") && !bar.contains("- left")
            };
            terminal.shows(has_both).then_some(())
        });
        took.push(start.elapsed());
        assert_eq!(farm.ended(&job)["state"], "judged");
    }
    assert_within_a_second(&took);
    farm.run(&["cancel", &waiting]).expect_code(0);
}
