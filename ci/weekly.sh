#!/usr/bin/env bash
# The checks of the weekly workflow. It installs its requirements, and fails if it cannot: it skips nothing.
#
# Usage: ci/weekly.sh advisories | fuzz [seconds for each target]
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  advisories)
    ci/supply.sh
    target/tools/bin/cargo-deny --locked check advisories
    ;;
  fuzz)
    rustup toolchain install nightly --profile minimal
    cargo install --quiet --locked cargo-fuzz@0.13.2
    ci/fuzz.sh "${2:-300}"
    ;;
  *)
    echo "usage: ci/weekly.sh advisories | fuzz [seconds]" >&2
    exit 1
    ;;
esac
