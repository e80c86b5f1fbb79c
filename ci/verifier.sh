#!/usr/bin/env bash
# Tests the verifier page in a real browser: the same verdicts as on the command line, and no connections.
#
# See ci/browser.sh for the requirements.
#
# Usage: ci/verifier.sh <evidence binary> <public key> <bundle>...
# With SCREENSHOTS=<directory>, the screenshots are kept there.
set -euo pipefail
evidence=$(realpath "$1")
public_key=$(realpath "$2")
shift 2
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")

# shellcheck source=ci/browser.sh
source "$here/browser.sh" "the verifier page"
"$evidence" verifier -o verify.html
BROWSER=$browser AXE=$axe EVIDENCE=$evidence SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} \
  "$python" "$here/verifier.py" verify.html "$here/../crates/evidence-bundle/tests/bundles" "$public_key" "${bundles[@]}"
