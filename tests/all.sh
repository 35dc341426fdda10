#!/usr/bin/env bash
# Installs what the tests need and runs them all. Needs Rust and Debian (or any system that has python3 with venv).
#
#   bash tests/all.sh
#
# Reference data is used when it lies in ../shared/data or in the folder EVALFARM_REFERENCE_DATA names; each test that
# looks for it says whether it found it. Everything else is generated.
set -euo pipefail
cd "$(dirname "$0")/.."

# What apt-get would install, unless it is there. Root needs no sudo.
need_python() {
  local check
  check=$(mktemp -d)
  if python3 -m venv "$check/venv" >/dev/null 2>&1; then rm -rf "$check"; return; fi
  rm -rf "$check"
  local sudo=()
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" apt-get install -y -qq python3 python3-venv
}

# pandas, polars and DuckDB, which have to agree on every table that the project writes.
python_folder="${CARGO_TARGET_DIR:-target}/python"
if ! cmp -s tests/readers/requirements.txt "$python_folder/installed.txt"; then
  need_python
  rm -rf "$python_folder"
  python3 -m venv "$python_folder"
  "$python_folder/bin/pip" install --quiet --disable-pip-version-check -r tests/readers/requirements.txt
  cp tests/readers/requirements.txt "$python_folder/installed.txt"
fi
EVALFARM_PYTHON="$(cd "$python_folder" && pwd)/bin/python"
export EVALFARM_PYTHON

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
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet
cargo test --locked --workspace --all-features --no-fail-fast
