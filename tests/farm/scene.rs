//! A farm of its own for each test, on a broker and a Redis that the tests of this binary share.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use evalfarm_domain::Digest;
use evalfarm_testkit::{PrivateRabbit, PrivateRedis};
use evalfarm_tests::{Bench, Outcome, Running, Tree, farm_binaries, tree, wait_until};

/// Files of a job's folder that may differ between two runs of one job.
const NOT_RESULTS: [&str; 4] = ["timings/", "staging/", "set-aside/", "looks.path"];

/// Credentials of every farm: name, kind, role; the token is `token-of-NAME`.
const CREDENTIALS: [(&str, &str, &str); 5] = [
    ("rita", "human", "reader"),
    ("paul", "human", "proposer"),
    ("nightly", "service", "proposer"),
    ("olga", "human", "operator"),
    ("agent", "automated", "operator"),
];

/// A sweep of 13 candidates on 96 queries, whose engine is called `slow`: 6 tasks of 208 requests to it for
/// each of three steps, 18 tasks in all.
pub(crate) const SWEEP: &str = "\
name = \"slow\"
seed = 7

[dataset]
generate = { catalogue = \"shop\", seed = 20260816, products = 500, queries = 96 }

[engine]
name = \"slow\"

[metrics]
primary = \"nDCG@10\"
guards = [\"RR@10\"]

[baseline]
weights = { title = 4.0, brand = 2.5, bullet_point = 1.5, description = 1.0, category = 1.2 }

[policy]
judge = \"all_on_all\"
resamples = 1000

[sweep]
strategy = \"grid\"
ratios = { brand = [0.1, 0.4, 0.7, 1], bullet_point = [0.1, 0.5, 1] }
";

/// The axes of [`SWEEP`].
pub(crate) const RATIOS: &str =
    "ratios = { brand = [0.1, 0.4, 0.7, 1], bullet_point = [0.1, 0.5, 1] }";

struct Servers {
    rabbit: PrivateRabbit,
    redis: PrivateRedis,
}

fn servers() -> &'static Servers {
    static SERVERS: OnceLock<Servers> = OnceLock::new();
    SERVERS.get_or_init(|| Servers {
        rabbit: PrivateRabbit::start(),
        redis: PrivateRedis::start(),
    })
}

/// A coordinator, its workers, and a bench from which commands are run.
pub(crate) struct Farm {
    pub(crate) bench: Bench,
    prefix: String,
    store: String,
    variables: Vec<(String, String)>,
    pub(crate) coordinator: Option<Running>,
    pub(crate) workers: Vec<Running>,
}

impl Farm {
    /// Starts a coordinator without workers. The name tells farms on the shared broker apart.
    pub(crate) fn start(name: &str) -> Self {
        let bench = Bench::new();
        let store = format!("file://{}", bench.at("store").display());
        Self::with(name, bench, store, Vec::new())
    }

    /// Starts a coordinator on a store of the caller's.
    pub(crate) fn with(
        name: &str,
        bench: Bench,
        store: String,
        variables: Vec<(String, String)>,
    ) -> Self {
        let credentials = CREDENTIALS.map(|(name, kind, role)| {
            let digest = Digest::of(token(name).as_bytes());
            format!(
                "[[credential]]\nname = \"{name}\"\nkind = \"{kind}\"\nrole = \"{role}\"\ntoken_sha256 = \"{digest}\"\n\n"
            )
        });
        bench.write("credentials.toml", credentials.concat());
        fs::create_dir_all(bench.at("store")).expect("a folder can be made");
        let mut farm = Self {
            bench,
            prefix: format!("test-{name}-{}", std::process::id()),
            store,
            variables,
            coordinator: None,
            workers: Vec::new(),
        };
        farm.start_coordinator(&[]);
        farm
    }

    /// Starts the coordinator, or the next one after it was ended.
    pub(crate) fn start_coordinator(&mut self, flags: &[&str]) {
        let address = self.bench.at("coordinator.address");
        drop(fs::remove_file(&address));
        let mut command = self.service(&farm_binaries().coordinator);
        command
            .args(["--listen", "127.0.0.1:0", "--data", "coordinator"])
            .args(["--credentials", "credentials.toml"])
            .args(["--address-file", "coordinator.address"])
            .args(flags);
        let mut running = Running::start(&mut command);
        wait_until("the coordinator's readiness", || {
            assert!(!running.has_ended(), "the coordinator ended");
            (address.is_file() && self.ask("GET", "/readyz", None).is_ok()).then_some(())
        });
        self.coordinator = Some(running);
    }

    /// Starts a worker.
    pub(crate) fn start_worker(&mut self, flags: &[&str]) {
        let number = self.workers.len();
        let address = format!("worker-{number}.address");
        let cache = format!("worker-{number}");
        let mut command = self.service(&farm_binaries().worker);
        command
            .args(["--listen", "127.0.0.1:0", "--cache", &cache])
            .args(["--address-file", &address])
            .args(flags);
        if !flags.contains(&"--heartbeat") {
            command.args(["--heartbeat", "500ms"]);
        }
        self.workers.push(Running::start(&mut command));
    }

    fn service(&self, binary: &Path) -> Command {
        // The kernel ends the process with the thread that started it, however that ends.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL"])
            .arg(binary)
            .current_dir(self.bench.path())
            .env_clear()
            .env("HOME", self.bench.at("home"))
            .env("EVALFARM_BROKER", servers().rabbit.uri())
            .env("EVALFARM_REDIS", servers().redis.url())
            .env("EVALFARM_PREFIX", &self.prefix)
            .env("EVALFARM_STORE", &self.store)
            .envs(self.variables.iter().cloned());
        command
    }

    /// Returns what the names of this farm's queues begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns how many messages each queue of this farm holds, on the broker that tests share.
    pub(crate) fn queues(&self) -> BTreeMap<String, u32> {
        let listed =
            servers()
                .rabbit
                .control(&["list_queues", "--no-table-headers", "name", "messages"]);
        let queues = listed.lines().filter_map(|line| line.split_once('\t'));
        queues
            .filter(|(name, _)| name.starts_with(&self.prefix))
            .map(|(name, held)| (name.to_owned(), held.parse().expect("a count is a number")))
            .collect()
    }

    /// Returns the address of the coordinator.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Asks the coordinator; the status of an answer that is no success is the error.
    pub(crate) fn ask(&self, method: &str, path: &str, token: Option<&str>) -> Result<String, u16> {
        self.send(method, path, token, None)
    }

    /// Asks the coordinator with a JSON body.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<&str>,
    ) -> Result<String, u16> {
        let address = self.address();
        let authorization = token
            .map(|token| format!("Authorization: Bearer {token}\r\n"))
            .unwrap_or_default();
        let body = body.unwrap_or_default();
        // HTTP/1.0: the answer is not chunked and ends with the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: {address}\r\n{authorization}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len(),
        );
        let mut answer = Vec::new();
        let asked = TcpStream::connect(&address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_mins(1)))?;
            stream.write_all(request.as_bytes())?;
            stream.read_to_end(&mut answer)
        });
        let text = String::from_utf8_lossy(&answer);
        let status = text
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        match (asked, status) {
            (Ok(_), Some(200..300)) => {
                let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
                Ok(body.unwrap_or_default().to_owned())
            }
            (_, status) => Err(status.unwrap_or(0)),
        }
    }

    fn address(&self) -> String {
        let address = fs::read_to_string(self.bench.at("coordinator.address"));
        address
            .expect("the coordinator has an address")
            .trim()
            .to_owned()
    }

    /// Returns an `evalfarm` command that knows this farm, as the user of that name.
    pub(crate) fn command(&self, user: &str, args: &[&str]) -> Command {
        let mut command = self.bench.command(args);
        command
            .env("EVALFARM_COORDINATOR", self.url())
            .env("EVALFARM_TOKEN", token(user));
        command
    }

    /// Runs an `evalfarm` command as the proposer.
    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        Running::start(&mut self.command("paul", args)).finish()
    }
}

/// Returns the URI of the broker that tests share.
pub(crate) fn shared_broker() -> String {
    servers().rabbit.uri()
}

/// Returns the token of a user.
pub(crate) fn token(user: &str) -> String {
    format!("token-of-{user}")
}

/// Returns the results in a job folder.
pub(crate) fn results(folder: &Path) -> Tree {
    let mut results = tree(folder, &[""]);
    results.retain(|name, _| !NOT_RESULTS.iter().any(|other| name.starts_with(other)));
    results
}

/// Names what differs between two trees; nothing when they are the same to the byte.
pub(crate) fn differences(one: &Tree, other: &Tree) -> Vec<String> {
    let names = one.keys().chain(other.keys());
    let mut names: Vec<String> = names
        .filter(|name| one.get(*name) != other.get(*name))
        .cloned()
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
