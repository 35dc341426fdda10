//! Servers end with the process that started them, also when nothing of it runs any more.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use evalfarm_testkit::{PrivateRabbit, PrivateRedis, wait_until};

/// Tells the process that is to be killed that it is the one.
const KILLED: &str = "EVALFARM_SERVERS_OF_A_KILLED_PROCESS";

/// Not a test of its own: what the other test starts and kills.
#[test]
fn starts_servers_until_it_is_killed() {
    if std::env::var_os(KILLED).is_none() {
        return;
    }
    let (redis, rabbit) = (PrivateRedis::start(), PrivateRabbit::start());
    for address in [redis.url(), rabbit.uri()] {
        let line = format!("{address}\n");
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    loop {
        std::thread::park();
    }
}

/// Returns host and port of a server's address.
fn authority(address: &str) -> String {
    let rest = address.split_once("://").unwrap().1;
    let rest = rest.split_once('@').map_or(rest, |(_, host)| host);
    rest.split_once('/').unwrap().0.to_owned()
}

#[test]
fn servers_of_a_killed_process_end() {
    let mut starter = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "starts_servers_until_it_is_killed",
            "--nocapture",
        ])
        .env(KILLED, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(starter.stderr.take().unwrap()).lines();
    let servers: Vec<String> = lines
        .take(2)
        .map(|line| authority(&line.unwrap()))
        .collect();
    for server in &servers {
        TcpStream::connect(server).unwrap();
    }
    starter.kill().unwrap();
    starter.wait().unwrap();
    for server in servers {
        wait_until(&format!("the end of `{server}`"), || {
            TcpStream::connect(&server).is_err().then_some(())
        });
    }
}
