#!/usr/bin/env bash
# The report of each bundle as people have it: extracted, opened from disk with a real browser, and printed.
#
# Needs Chromium (the Debian package `chromium`) and Python with `venv`; installs `playwright`, and `axe-core` where npm is.
#
# Usage: ci/report.sh <bundle>...
# With SCREENSHOTS=<directory> the pictures and the printed pages stay there.
set -euo pipefail
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")
[ "${#bundles[@]}" -ge 1 ] || { echo "name at least one bundle"; exit 1; }

browser=
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
if [ -z "$browser" ]; then
  echo "SKIPPED: the report in a browser needs chromium"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! { python3 -m venv venv && venv/bin/pip install --quiet playwright==1.56.0; } >pip.log 2>&1; then
  tail -n 3 pip.log
  echo "SKIPPED: the report in a browser needs the package playwright"
  exit 0
fi
axe=
if command -v npm >/dev/null && npm pack --silent axe-core@4.11.0 >npm.log 2>&1; then
  tar -xzf axe-core-*.tgz package/axe.min.js && axe=$PWD/package/axe.min.js
else
  echo "SKIPPED: the check of accessibility needs npm and the package axe-core"
fi

extracted=()
for index in "${!bundles[@]}"; do
  mkdir "bundle-$index"
  tar -xzf "${bundles[$index]}" -C "bundle-$index"
  extracted+=("$PWD/bundle-$index")
done
BROWSER=$browser AXE=$axe SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} venv/bin/python "$here/report.py" "${extracted[@]}"
