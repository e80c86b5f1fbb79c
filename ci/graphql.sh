#!/usr/bin/env bash
# Checks the stored GraphQL queries against the schema that the code host publishes, with graphql-js. Needs node and the
# packages @octokit/graphql-schema and graphql from npm; without them, it prints a message and checks nothing.
#
# Usage: ci/graphql.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tool in node npm; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: the check of the stored queries needs $tool"
    exit 0
  fi
done
if ! npm install --no-audit --no-fund --silent --prefix "$work" @octokit/graphql-schema@15.26.1 graphql@16.11.0 >"$work/log" 2>&1; then
  tail -n 3 "$work/log"
  echo "SKIPPED: the check of the stored queries needs the npm packages @octokit/graphql-schema and graphql"
  exit 0
fi
node ci/graphql.mjs "$work/node_modules" crates/evidence/src/source/github/host/bulk/queries/*.graphql
