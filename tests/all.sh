#!/usr/bin/env bash
# Installs what the tests need and runs them all. Needs Rust and Debian (or any system that has python3 with venv).
#
#   bash tests/all.sh
#
# Reference data is used when it lies in ../shared/data or in the folder EVALFARM_REFERENCE_DATA names; each test that
# looks for it says whether it found it. Everything else is generated.
set -euo pipefail
cd "$(dirname "$0")/.."

source tests/python.sh
source tests/services.sh

reference="${EVALFARM_REFERENCE_DATA:-../shared/data}"
if [ -d "$reference" ]; then
  echo "reference data in $reference: $(ls "$reference" | tr '\n' ' ')"
else
  echo "no reference data in $reference: tests run on generated data alone"
fi

# A toolchain of the minimal profile has neither; what they check does not depend on the machine.
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else echo "no rustfmt here: formatting not checked"; fi
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
else
  echo "no clippy here: lints not checked"
fi
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --all-features --no-deps --quiet
cargo test --locked --workspace --all-features --no-fail-fast
