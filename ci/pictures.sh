#!/usr/bin/env bash
# Makes the README's pictures in docs/pictures, a run and its report, from the demo.
#
# With --check it writes no picture, and fails if the pictures differ from the demo's output and report; this needs only
# Python. Making them needs a browser (see ci/browser.sh) and the package pillow. Each use adds a bundle to the demo's
# directory.
#
# Usage: ci/pictures.sh [--check] <sandbox binary, beside the other programs>
set -euo pipefail
mode=--make
if [ "${1-}" = --check ]; then mode=--check && shift; fi
sandbox=$(realpath "$1")
here=$(realpath "$(dirname "$0")")

if [ "$mode" = --make ]; then
  # shellcheck source=ci/browser.sh
  source "$here/browser.sh" "a look at the report"
  "$tools/bin/pip" install --quiet pillow==12.0.0
elif command -v python3 >/dev/null; then
  python=python3
  browser=
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
else
  echo "SKIPPED: the check of the README's pictures needs python3"
  exit 0
fi
# Piped with colours: like a terminal, but without the progress bars, which disappear at the end of a run.
env -u NO_COLOR CLICOLOR_FORCE=1 "$sandbox" demo >demo.log 2>&1 || { tail -n 40 demo.log; exit 1; }
bundle=$(grep -om1 'evidence-bundles/[^/ ]*\.tar\.gz' demo.log)
tar -xzf "$(dirname "$sandbox")/demo/$bundle" derived/report.html
BROWSER=$browser "$python" -B "$here/pictures.py" "$mode" demo.log derived/report.html "$here/../docs/pictures"
