//! A private RabbitMQ.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::server::{Program, Server, free_ports, installed};

// Debian's /usr/sbin/rabbitmq-server insists on the user rabbitmq; this one runs as anybody.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const CONTROL: &str = "/usr/lib/rabbitmq/bin/rabbitmqctl";

/// A RabbitMQ of this test process: own ports, own folder, own port mapper, all killed when dropped or when the process
/// ends. It takes several seconds to start: one for each test binary, and a queue prefix for each test.
#[derive(Debug)]
pub struct PrivateRabbit {
    server: Server,
    ports: Ports,
    folder: TempDir,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    amqp: u16,
    distribution: u16,
    mapper: u16,
}

impl PrivateRabbit {
    /// Starts a broker and waits until it is up.
    ///
    /// # Panics
    ///
    /// When RabbitMQ is not installed or does not start.
    pub fn start() -> Self {
        Self::with("", "[].\n")
    }

    /// Starts a broker that takes a consumer's channel from it after it has held a message for 5 to 7 s.
    ///
    /// # Panics
    ///
    /// When RabbitMQ is not installed or does not start.
    pub fn impatient() -> Self {
        Self::with(
            "consumer_timeout = 5000\n",
            "[{rabbit, [{channel_tick_interval, 2000}]}].\n",
        )
    }

    /// Starts a broker with further lines of `rabbitmq.conf`, and another `advanced.config`.
    fn with(lines: &str, advanced: &str) -> Self {
        installed(SERVER);
        let folder = TempDir::new().expect("the temporary folder is writable");
        let [amqp, distribution, mapper] = free_ports();
        let ports = Ports {
            amqp,
            distribution,
            mapper,
        };
        prepare(folder.path(), ports, lines, advanced);
        let environment = environment(folder.path(), ports);
        let mut server = Server::start(Program {
            run: format!("env -i {environment} {SERVER}"),
            // The mapper refuses to go while the broker is registered with it.
            sweep_up: format!(
                "for i in 1 2 3 4 5 6 7 8 9; do
                   env -i {environment} epmd -kill >/dev/null 2>&1 && break; sleep 0.1
                 done"
            ),
            folder: folder.path().to_owned(),
        });
        wait(&mut server, folder.path(), amqp);
        Self {
            server,
            ports,
            folder,
        }
    }

    /// Returns the broker's URI, without a query.
    pub fn uri(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.ports.amqp)
    }

    /// Ends the broker without warning; its folder stays for [`Self::restart`].
    pub fn kill(&mut self) {
        self.server.kill();
    }

    /// Starts the killed broker on the same port and waits until it is up.
    pub fn restart(&mut self) {
        self.server.restart();
        wait(&mut self.server, self.folder.path(), self.ports.amqp);
    }

    /// Runs `rabbitmqctl` against this broker and returns what it prints.
    ///
    /// # Panics
    ///
    /// When the command fails.
    pub fn control(&self, arguments: &[&str]) -> String {
        let environment = environment(self.folder.path(), self.ports);
        let output = Command::new("/bin/bash")
            .args([
                "-c",
                &format!("env -i {environment} {CONTROL} -q \"$@\""),
                "-",
            ])
            .args(arguments)
            .output()
            .expect("bash runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "rabbitmqctl {arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// Declares what a definitions file in JSON says, as an older installation may have left it.
    ///
    /// # Panics
    ///
    /// When the broker does not accept it.
    pub fn import(&self, definitions: &str) {
        let file = self.folder.path().join("definitions.json");
        std::fs::write(&file, definitions).expect("the temporary folder is writable");
        let file = file.to_str().expect("the path is text");
        self.control(&["import_definitions", file]);
    }
}

fn wait(server: &mut Server, folder: &Path, amqp: u16) {
    let log = folder.join("log");
    server.wait_until(|| {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.contains("completed with") && TcpStream::connect(("127.0.0.1", amqp)).is_ok()
    });
}

fn prepare(folder: &Path, ports: Ports, lines: &str, advanced: &str) {
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("the temporary folder is writable");
    };
    for name in ["home", "mnesia", "logs"] {
        std::fs::create_dir(folder.join(name)).expect("the temporary folder is writable");
    }
    write("home/.erlang.cookie", "private");
    std::fs::set_permissions(
        folder.join("home/.erlang.cookie"),
        std::fs::Permissions::from_mode(0o600),
    )
    .expect("the file is ours");
    write("enabled_plugins", "[].\n");
    write("advanced.config", advanced);
    let amqp = ports.amqp;
    write(
        "rabbitmq.conf",
        &format!(
            "listeners.tcp.1 = 127.0.0.1:{amqp}\nlog.console = true\nlog.file = false\n\
             disk_free_limit.absolute = 50MB\nvm_memory_high_watermark.absolute = 512MB\n{lines}"
        ),
    );
}

/// Returns the whole environment of broker and tools: nothing of the machine's own broker must reach them.
fn environment(folder: &Path, ports: Ports) -> String {
    let folder = folder.display();
    let Ports {
        amqp,
        distribution,
        mapper,
    } = ports;
    format!(
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME={folder}/home RABBITMQ_CONF_ENV_FILE=/dev/null \
         RABBITMQ_NODENAME=evalfarm{amqp}@localhost RABBITMQ_NODE_PORT={amqp} RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
         RABBITMQ_DIST_PORT={distribution} ERL_EPMD_PORT={mapper} ERL_EPMD_ADDRESS=127.0.0.1 \
         RABBITMQ_MNESIA_BASE={folder}/mnesia RABBITMQ_LOG_BASE={folder}/logs RABBITMQ_PID_FILE={folder}/pid \
         RABBITMQ_CONFIG_FILE={folder}/rabbitmq.conf RABBITMQ_ADVANCED_CONFIG_FILE={folder}/advanced.config \
         RABBITMQ_ENABLED_PLUGINS_FILE={folder}/enabled_plugins \
         'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2 -kernel inet_dist_use_interface {{127,0,0,1}}'"
    )
}
