#!/usr/bin/env bash
# Tests the platform's pages: the real platform with real bundles, in a real browser.
#
# See ci/browser.sh for the requirements.
#
# Usage: ci/pages.sh <evidence-platform binary> <public key> <bundle> <bundle>...
# With SCREENSHOTS=<directory>, the screenshots are kept there.
set -euo pipefail
platform=$(realpath "$1")
public_key=$(realpath "$2")
shift 2
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
here=$(realpath "$(dirname "$0")")
[ "${#bundles[@]}" -ge 2 ] || { echo "at least two bundles are needed, to compare them"; exit 1; }

# shellcheck source=ci/browser.sh
source "$here/browser.sh" "the pages"
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

"$platform" init --data data >created
"$platform" organization create "Acme & Söhne" --slug acme --data data >>created
upload=$("$platform" key create --organization acme --role upload --data data)
read=$("$platform" key create --organization acme --role read --data data)
"$platform" trust add --organization acme "$public_key" --data data >trusted
# A second organization, for a year of bundles.
"$platform" organization create "Year" --slug year --data data >>created
year_upload=$("$platform" key create --organization year --role upload --data data)
year_read=$("$platform" key create --organization year --role read --data data)
"$platform" trust add --organization year "$public_key" --data data >>trusted
# A group of both and an empty one, with a key of its own; something that a tag holds.
"$platform" group create "All organizations" --slug all --data data >>created
"$platform" organization create "Nothing yet" --slug empty --group all --expect-hours 1 --data data >>created
"$platform" organization update acme --group all --expect-hours 26 --data data >>created
"$platform" organization update year --group all --data data >>created
group=$("$platform" key create --group all --role read --data data)
head=$("$platform" key create --group all --role admin --name head --data data)
admin=$("$platform" key create --organization acme --role admin --data data)
"$platform" hold set --organization acme --tag case=42 --reason "litigation" --data data >>created
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$platform" serve --data data --listen "127.0.0.1:$port" >log 2>&1 &
server=$!
BROWSER=$browser AXE=$axe UPLOAD_KEY=$upload READ_KEY=$read GROUP_KEY=$group HEAD_KEY=$head ADMIN_KEY=$admin YEAR_UPLOAD_KEY=$year_upload YEAR_READ_KEY=$year_read \
  DATABASE=$work/data/platform.sqlite SCREENSHOTS=${SCREENSHOTS:-$work/screenshots} \
  "$python" "$here/pages.py" "http://127.0.0.1:$port" "${bundles[@]}"
