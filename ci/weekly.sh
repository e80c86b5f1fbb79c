#!/usr/bin/env bash
# What the weekly workflow runs. It installs what it needs, and fails where that fails: nothing is skipped.
#
# Usage: ci/weekly.sh advisories | fuzz [seconds for each target]
set -euo pipefail
cd "$(dirname "$0")/.."

# cargo_tool NAME VERSION: unless it is there in this version.
cargo_tool() {
  case $(cargo "${1#cargo-}" --version 2>/dev/null) in
    *" $2") ;;
    *) cargo install --quiet --locked "$1@$2" ;;
  esac
}

case ${1:-} in
  advisories)
    cargo_tool cargo-deny 0.20.2
    cargo deny check
    ;;
  fuzz)
    cargo_tool cargo-fuzz 0.13.2
    rustup toolchain install nightly --profile minimal
    ci/fuzz.sh "${2:-300}"
    ;;
  *)
    echo "usage: ci/weekly.sh advisories | fuzz [seconds]" >&2
    exit 1
    ;;
esac
