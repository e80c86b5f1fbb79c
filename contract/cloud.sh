#!/usr/bin/env bash
# Runs the real program against two independent cloud providers, moto and ministack, which check signatures and
# evaluate policies, and compares the results with what the provider's own client library reads there. Needs
# python3; without it, or without the packages, it prints a message and checks nothing.
#
# Usage: contract/cloud.sh <evidence binary> [sandbox binary]
set -euo pipefail
evidence=$(realpath "$1")
sandbox=${2:+$(realpath "$2")}
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
  ! "$work/venv/bin/pip" install --quiet 'moto[server]==5.2.5' ministack==1.5.33 boto3==1.43.106 \
    >"$work/log" 2>&1; then
  echo "SKIPPED: the check of the source cloud needs python3 and its packages, which do not install:"
  tail -n 3 "$work/log"
  exit 0
fi
export PYTHONDONTWRITEBYTECODE=1
"$work/venv/bin/python" "$here/cloud.py" "$evidence" ${sandbox:+"$sandbox"}
