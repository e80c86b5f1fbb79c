# For scripts that test pages: finds a browser and installs its driver. Sourced, with a name for the tested pages;
# ends the sourcing script with a message if something is missing.
#
# Sets: work (a temporary directory, which is also the working directory), browser, python, axe (empty without npm).
# Needs Chromium (the Debian package `chromium`) and Python with `venv`. With BROWSER_TOOLS=<directory>, scripts share
# the installed tools.
#
# Usage: source ci/browser.sh "the report"
# shellcheck shell=bash disable=SC2034

browser=
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
if [ -z "$browser" ]; then
  echo "SKIPPED: $1 in a browser needs chromium"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit
tools=${BROWSER_TOOLS:-$work/tools}
python=$tools/bin/python
mkdir -p "$tools"
exec {lock}<"$tools"
flock "$lock"
if ! [ -e "$tools/ready" ]; then
  if ! { python3 -m venv "$tools" && "$tools/bin/pip" install --quiet playwright==1.56.0; } >pip.log 2>&1; then
    tail -n 3 pip.log
    echo "SKIPPED: $1 in a browser needs the package playwright"
    exit 0
  fi
  if command -v npm >/dev/null && npm pack --silent axe-core@4.11.0 >npm.log 2>&1; then
    tar -xzf axe-core-*.tgz -C "$tools" package/axe.min.js
  fi
  touch "$tools/ready"
fi
exec {lock}<&-
axe=$tools/package/axe.min.js
if ! [ -e "$axe" ]; then
  axe=
  echo "SKIPPED: the check of accessibility needs npm and the package axe-core"
fi
