#!/usr/bin/env bash
# The verifier page in a real browser: the same verdicts as on the command line, and no connection to anywhere.
#
# Needs Chromium (the Debian package `chromium`) and Python with `venv`; installs `playwright`, and `axe-core` where npm is.
#
# Usage: ci/verifier.sh <evidence binary> <public key> <bundle>...
# With SCREENSHOTS=<directory> the pictures stay there.
set -euo pipefail
evidence=$(realpath "$1")
public_key=$(realpath "$2")
shift 2
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")

browser=
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
if [ -z "$browser" ]; then
  echo "SKIPPED: the verifier page in a browser needs chromium"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! { python3 -m venv venv && venv/bin/pip install --quiet playwright==1.56.0; } >pip.log 2>&1; then
  tail -n 3 pip.log
  echo "SKIPPED: the verifier page in a browser needs the package playwright"
  exit 0
fi
axe=
if command -v npm >/dev/null && npm pack --silent axe-core@4.11.0 >npm.log 2>&1; then
  tar -xzf axe-core-*.tgz package/axe.min.js && axe=$PWD/package/axe.min.js
else
  echo "SKIPPED: the check of accessibility needs npm and the package axe-core"
fi
"$evidence" verifier -o verify.html
BROWSER=$browser AXE=$axe EVIDENCE=$evidence SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} \
  venv/bin/python "$here/verifier.py" verify.html "$here/../crates/evidence-bundle/tests/bundles" "$public_key" "${bundles[@]}"
