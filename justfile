# Names for commands; anything with an `if` in it is a script or Rust.

# Lists the recipes.
default:
    @just --list

# Installs what the tests need and runs every check that CI runs.
test:
    bash tests/all.sh

# Formatting, lints and documentation, without tests.
check:
    cargo fmt --all --check
    cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps --quiet

# Installs the peers of the benchmarks and runs them; prints `ratio NAME VALUE` lines.
bench:
    bash tests/bench.sh

# The sweep of the README.
demo:
    cargo run --release -- run datasets/sweeps/shop.toml

# A farm on this machine: RabbitMQ, Redis, a coordinator and two workers; prints how to submit. Ctrl-C ends it.
farm-up:
    bash tests/farm-up.sh
