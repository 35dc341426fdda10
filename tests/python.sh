# Installs the Python that tests and benchmarks compare with, and exports EVALFARM_PYTHON. Sourced from the root of the checkout.

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

# pandas, polars and DuckDB, which have to agree on every table that the project writes; moto, which serves S3.
python_folder="${CARGO_TARGET_DIR:-target}/python"
if ! cat tests/*/requirements.txt | cmp -s - "$python_folder/installed.txt"; then
  need_python
  rm -rf "$python_folder"
  python3 -m venv "$python_folder"
  for requirements in tests/*/requirements.txt; do
    "$python_folder/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
  done
  cat tests/*/requirements.txt > "$python_folder/installed.txt"
fi
EVALFARM_PYTHON="$(cd "$python_folder" && pwd)/bin/python"
export EVALFARM_PYTHON
