#!/usr/bin/env bash
# Installs the peers that benchmarks compare with and runs them all; each prints its figures as `ratio NAME VALUE`.
#
#   bash tests/bench.sh
#
# Nothing else should run on the machine meanwhile. RabbitMQ and Redis have to be installed (tests/services.sh). Lucene over HTTP is measured where there is a JDK (docs/performance.md).
set -euo pipefail
cd "$(dirname "$0")/.."

source tests/python.sh

cargo bench --locked --package evalfarm-stats --bench resampling
cargo bench --locked --package evalfarm-worker --bench sweep
cargo bench --locked --package evalfarm-tests --bench farm --all-features
