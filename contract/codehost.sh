#!/usr/bin/env bash
# Puts a validating proxy with the code host's own API description between the tool and the sandbox, and fails if
# it finds an error in the tool's requests or the sandbox's answers. Needs node, npm and python3; without them, or
# without the packages, it prints a message and checks nothing.
#
# Usage: contract/codehost.sh <evidence binary> <sandbox binary>
set -euo pipefail
evidence=$(realpath "$1")
sandbox=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)

for tool in node npm python3; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: the contract check needs $tool"
    exit 0
  fi
done
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null 2>&1
if ! npm install --no-audit --no-fund --silent @octokit/openapi@23.0.2 @stoplight/prism-cli@5.16.0 >npm.log 2>&1; then
  echo "SKIPPED: the contract check's packages do not install"
  exit 0
fi

"$sandbox" serve --scenario demo >sandbox.log 2>&1 &
for _ in $(seq 50); do grep -q fine-grained sandbox.log && break; sleep 0.1; done
host=$(sed -n 's/^The code host is at \([^,]*\),.*/\1/p' sandbox.log)
token=$(sed -n 's/^ *owner, fine-grained *//p' sandbox.log)
python3 "$here/codehost.py" node_modules/@octokit/openapi/generated/api.github.com.deref.json spec.json "$host"
# The proxy wants a port number. Only those below the ports that the kernel gives to connections: one of these can
# still belong to a connection that a test closed, and the proxy ends with EADDRINUSE.
port=
for _ in 1 2 3; do
  try=$((20000 + RANDOM % 12000))
  NODE_ENV='' node_modules/.bin/prism proxy --errors -p "$try" spec.json "$host" >prism.log 2>&1 </dev/null &
  proxy=$!
  for _ in $(seq 1200); do
    ! grep -q "is listening" prism.log || { port=$try; break 2; }
    kill -0 "$proxy" 2>/dev/null || break
    sleep 0.1
  done
  kill "$proxy" 2>/dev/null || true
done
[ -n "$port" ] || { echo "FAILED: the contract check's proxy does not start"; cat prism.log; exit 1; }

"$evidence" init --org acme --generate-keys >/dev/null
status=0
CODEHOST_API_URL="http://127.0.0.1:$port" CODEHOST_TOKEN="$token" "$evidence" collect >collect.log 2>&1 || status=$?
# The proxy insists on JSON and cannot pass on a raw file. Other tests cover that answer, and only because of it
# may the run end with 3 instead of 4.
wrong=$(sed 's/\x1b\[[0-9;]*m//g' prism.log | grep -F 'Request terminated with error' | grep -vF 'legacy-billing/contents/CODEOWNERS' || true)
requests=$(sed 's/\x1b\[[0-9;]*m//g' prism.log | grep -cF 'Forwarding' || true)
if [ -n "$wrong" ] || [ "$status" != 3 ]; then
  echo "FAILED: the contract check (collect ended with $status)"
  printf '%s\n' "$wrong"
  tail -n 30 collect.log
  exit 1
fi
echo "contract: nothing wrong with $requests forwarded requests and their answers"
