//! `evalfarm-worker`: see [`evalfarm_worker::farm`].

use std::process::ExitCode;

fn main() -> ExitCode {
    evalfarm_worker::farm::run(std::env::args_os())
}
