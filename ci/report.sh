#!/usr/bin/env bash
# Tests the report of each bundle: extracted, opened from disk in a real browser, and printed.
#
# See ci/browser.sh for the requirements.
#
# Usage: ci/report.sh <bundle>...
# With SCREENSHOTS=<directory>, the screenshots and the printed pages are kept there.
set -euo pipefail
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")
[ "${#bundles[@]}" -ge 1 ] || { echo "name at least one bundle"; exit 1; }

# shellcheck source=ci/browser.sh
source "$here/browser.sh" "the report"

extracted=()
for index in "${!bundles[@]}"; do
  mkdir "bundle-$index"
  tar -xzf "${bundles[$index]}" -C "bundle-$index"
  extracted+=("$PWD/bundle-$index")
done
BROWSER=$browser AXE=$axe SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} "$python" "$here/report.py" "${extracted[@]}"
