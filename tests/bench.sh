#!/usr/bin/env bash
# Installs the peers that benchmarks compare with and runs them all; each prints its figures as `ratio NAME VALUE`.
#
#   bash tests/bench.sh
#
# Nothing else should run on the machine meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

source tests/python.sh

cargo bench --locked --package evalfarm-stats --bench resampling
