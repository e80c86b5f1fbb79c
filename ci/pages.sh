#!/usr/bin/env bash
# The pages as people have them: the real platform with real bundles, looked at with a real browser.
#
# Needs Chromium (the Debian package `chromium`) and Python with `venv`; installs `playwright`, and `axe-core` where npm is.
#
# Usage: ci/pages.sh <evidence-platform binary> <public key> <bundle> <bundle>...
# With SCREENSHOTS=<directory> the pictures stay there.
set -euo pipefail
platform=$(realpath "$1")
public_key=$(realpath "$2")
shift 2
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")
[ "${#bundles[@]}" -ge 2 ] || { echo "at least two bundles are needed, to compare them"; exit 1; }

browser=
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
if [ -z "$browser" ]; then
  echo "SKIPPED: the pages in a browser need chromium"
  exit 0
fi
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
if ! { python3 -m venv venv && venv/bin/pip install --quiet playwright==1.56.0; } >pip.log 2>&1; then
  tail -n 3 pip.log
  echo "SKIPPED: the pages in a browser need the package playwright"
  exit 0
fi
axe=
if command -v npm >/dev/null && npm pack --silent axe-core@4.11.0 >npm.log 2>&1; then
  tar -xzf axe-core-*.tgz package/axe.min.js && axe=$PWD/package/axe.min.js
else
  echo "SKIPPED: the check of accessibility needs npm and the package axe-core"
fi

"$platform" organization create "Acme & Söhne" --slug acme --data data >created
upload=$("$platform" key create --organization acme --role upload --data data)
read=$("$platform" key create --organization acme --role read --data data)
"$platform" trust add --organization acme "$public_key" --data data >trusted
# A second organization, for a year of bundles.
"$platform" organization create "Year" --slug year --data data >>created
year_upload=$("$platform" key create --organization year --role upload --data data)
year_read=$("$platform" key create --organization year --role read --data data)
"$platform" trust add --organization year "$public_key" --data data >>trusted
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$platform" serve --data data --listen "127.0.0.1:$port" >log 2>&1 &
server=$!
BROWSER=$browser AXE=$axe UPLOAD_KEY=$upload READ_KEY=$read YEAR_UPLOAD_KEY=$year_upload YEAR_READ_KEY=$year_read \
  DATABASE=$work/data/platform.sqlite SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} \
  venv/bin/python "$here/pages.py" "http://127.0.0.1:$port" "${bundles[@]}"
