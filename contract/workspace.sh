#!/usr/bin/env bash
# Runs the real program against a workspace provider that is simulated from its own discovery documents, with the
# provider's own libraries to verify the assertions and as a second client. Needs python3; without it, or without the
# packages, it prints a message and checks nothing.
#
# Usage: contract/workspace.sh <evidence binary> [sandbox binary]
set -euo pipefail
evidence=$(realpath "$1")
sandbox=${2:+$(realpath "$2")}
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
  ! "$work/venv/bin/pip" install --quiet google-auth==2.62.2 google-api-python-client==2.202.0 cryptography==50.0.2 \
    requests==2.34.2 jsonschema==4.26.0 >"$work/log" 2>&1; then
  echo "SKIPPED: the check of the source altcloud needs python3 and its packages, which do not install:"
  tail -n 3 "$work/log"
  exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
"$work/venv/bin/python" "$here/workspace.py" "$evidence" ${sandbox:+"$sandbox"}
