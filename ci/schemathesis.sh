#!/usr/bin/env bash
# Tests the platform's API against its own description with schemathesis, which generates valid and invalid requests
# for every route of the OpenAPI document, with a key of each role and without one. No answer may be a 5xx that was not asked for, or have a
# status, a type or a form that the description does not list, and every route must succeed at least once. Needs
# python3 and the package schemathesis; without them it prints a message and checks nothing.
#
# Usage: ci/schemathesis.sh <evidence-platform binary> [examples for each route, 20 by default]
set -euo pipefail
platform=$(realpath "$1")
examples=${2:-20}
cd "$(dirname "$0")/.."
tests=$PWD/crates/evidence-platform/tests
bundles=$PWD/crates/evidence-bundle/tests/bundles

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
fail() {
  echo "FAILED: $1"
  [ ! -f log ] || grep -v '"status":[1-4]' log | tail -n 20
  if [ -n "$server" ] && ! kill -0 "$server" 2>/dev/null; then
    code=0
    wait "$server" || code=$?
    echo "the platform has ended with the exit code $code"
  fi
  exit 1
}

if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
  ! "$work/venv/bin/pip" install --quiet --no-compile schemathesis==4.32.5 >"$work/log" 2>&1; then
  echo "SKIPPED: the check of the platform's API needs python3 and the package schemathesis, which does not install:"
  tail -n 3 "$work/log"
  exit 0
fi

# An organization with two trusted keys, one of which may be removed, and bundles that may be deleted at once.
cd "$work"
export EVIDENCE_PLATFORM_DATA="$work/data"
"$platform" init >created
"$platform" organization create "Acme" --slug acme >>created
"$platform" trust add --organization acme "$bundles/key.pub.pem" >trusted
"$platform" trust add --organization acme "$bundles/other.pub" >>trusted
"$platform" key create --organization acme --role admin --name admin >key-admin
"$platform" key create --organization acme --role read --name reader >key-read
"$platform" key create --organization acme --role upload --name uploader >key-upload
"$platform" group create "All" --slug all >>created
"$platform" organization update acme --group all >>created
"$platform" key create --group all --role admin --name head >key-group
"$platform" serve --listen 127.0.0.1:0 --retention-days 0 >listening 2>log &
server=$!
for _ in $(seq 100); do
  url=$(sed -n 's/^listening at //p' listening)
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || fail "the platform does not start"

export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$tests SCHEMATHESIS_HOOKS=schemathesis_hooks
export BUNDLE="$bundles/plain_ok/bundle.tar.gz" LOOSE="$bundles/previous_ok/bundle.tar.gz"
export TRUSTED_KEY="$bundles/other.pub"
# Things that the requests must not remove, or all later ones would be refused: the keys of all roles, by
# id and by prefix, and the key that signed the bundle.
PROTECTED=$("$work/venv/bin/python" - "$url" "$(cat key-admin)" "$(cat key-group)" <<'PYTHON'
import json, sys, urllib.request

def items(path, key=sys.argv[2]):
    request = urllib.request.Request(sys.argv[1] + path, headers={"Authorization": f"Bearer {key}"})
    return json.load(urllib.request.urlopen(request))["items"]

keys = items("/api/v1/keys") + items("/api/v1/group/keys", sys.argv[3])
names = [key[field] for key in keys for field in ("key_id", "prefix")]
print(*names, *(key["key_id"] for key in items("/api/v1/trusted-keys") if key["name"] != "other.pub"), sep=",")
PYTHON
)
export PROTECTED
SIGNER=${PROTECTED##*,}
OTHER=$(sed -n 's/.*\(sha256:[0-9a-f]\{64\}\).*/\1/p' trusted | grep -v "$SIGNER" | head -n 1)
export SIGNER OTHER
# A monitor asks for a 503 with max_age, and the description lists it there: only that it is a 5xx is not a failure.
asked_for=/api/v1/status
run() {
  local name=$1 checks=status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance,unsupported_method,ignored_auth
  shift
  echo "--- as $name"
  test_with "$name" --exclude-path "$asked_for" --checks "not_a_server_error,$checks" "$@"
  [[ "$*" == *--include-path-regex* ]] || test_with "$name" --include-path "$asked_for" --checks "$checks" "$@"
}
test_with() {
  local name=$1
  shift
  "$work/venv/bin/schemathesis" run "$url/api/v1/openapi.json" --seed 1 --no-color "$@" >said 2>&1 ||
    { cat said; fail "the API as $name"; }
  sed -n '/^Test cases:/{n;s/^ */     /p}' said
}
run nobody --phases coverage
run uploader --phases coverage -H "Authorization: Bearer $(cat key-upload)"
run reader --phases coverage -H "Authorization: Bearer $(cat key-read)"
run "administrator of the group" --max-examples "$examples" --include-path-regex '^/api/v1/group/' \
  -H "Authorization: Bearer $(cat key-group)"
run admin --max-examples "$examples" -H "Authorization: Bearer $(cat key-admin)"

"$work/venv/bin/python" "$tests/schemathesis_seen.py" "$url" || fail "what was answered"
