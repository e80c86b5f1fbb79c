#!/usr/bin/env bash
# The tests for macOS and Windows: the crates that read, verify and show bundles, and a build of the tool. On systems
# that can run the sandbox, also a collection through the GitHub Action. The gate, .ci/run, is for Linux.
#
# Usage: ci/systems.sh
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(evidence-text evidence-bundle evidence-os evidence-screen evidence-settings evidence-view evidence-report evidence-verifier)
# shellcheck disable=SC2046 # names of packages have no spaces
cargo test --locked $(printf -- '--package %s ' "${crates[@]}")
cargo build --locked --package evidence

case $(uname -s) in
  MINGW* | MSYS*)
    # The sandbox and the tests of the tool itself need Unix.
    target/debug/evidence keygen --output target/key.pem
    target/debug/evidence verifier --output target/verify.html
    ;;
  *)
    cargo build --locked --package sandbox
    ci/action.sh target/debug/evidence target/debug/sandbox
    ;;
esac
