#!/usr/bin/env bash
# Runs the GitHub Action like GitHub's runner: the steps of action.yml with their conditions and expressions, on a
# release that is built here and served over HTTPS, against the sandbox. ci/action.mjs simulates GitHub's own actions
# for caches and artifacts. Needs node, npm and OpenSSL 3; without them, it prints a message and checks nothing.
#
# Usage: ci/action.sh <evidence binary> <sandbox binary>
set -euo pipefail
evidence=$(realpath "$1")
sandbox=$(realpath "$2")
root=$(realpath "$(dirname "$0")/..")

for tool in node npm openssl curl; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: the run of the action needs $tool"
    exit 0
  fi
done
work=$(mktemp -d)
host=
trap '[ -z "$host" ] || kill "$host" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
if ! npm install --no-audit --no-fund --silent --prefix "$work" @actions/expressions@0.3.61 yaml@2.8.2 >npm.log 2>&1; then
  tail -n 3 npm.log
  echo "SKIPPED: the run of the action needs the npm packages @actions/expressions and yaml"
  exit 0
fi

# The action's files as in the commit of a release, and that release's key.
mkdir -p action/dist
cp "$root/action.yml" "$root/Cargo.toml" action/
cp "$root/dist/action.sh" action/dist/
openssl genpkey -algorithm ed25519 -out release.pem 2>openssl.log
openssl pkey -in release.pem -pubout -out action/dist/release.pub.pem
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.pem -days 1 \
  -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>>openssl.log

# Symbols would double the size of the archive that each run unpacks.
cp "$evidence" program
strip program 2>/dev/null || true
version=$("$evidence" --version | cut -d' ' -f2)
case $(uname -sm) in
  "Linux x86_64") export RUNNER_OS=Linux RUNNER_ARCH=X64 system=x86_64-linux ;;
  "Linux aarch64") export RUNNER_OS=Linux RUNNER_ARCH=ARM64 system=aarch64-linux ;;
  "Darwin arm64") export RUNNER_OS=macOS RUNNER_ARCH=ARM64 system=aarch64-macos ;;
  *) echo "SKIPPED: the run of the action is not prepared for $(uname -sm)"; exit 0 ;;
esac
archive() {
  mkdir -p "release/evidence-$1-$system"
  cp program "release/evidence-$1-$system/evidence"
  tar -C release -c "evidence-$1-$system" | gzip -1 >"release/evidence-$1-$system.tar.gz"
  rm -r "release/evidence-$1-$system"
}
archive "$version"
# A signed archive that does not contain the version in its name.
archive 99.0.0
# The path for Windows, as far as possible here: its archive format, with the program of this system.
if command -v unzip >/dev/null && command -v python3 >/dev/null; then
  mkdir -p "windows/evidence-$version-x86_64-windows"
  cp program "windows/evidence-$version-x86_64-windows/evidence"
  python3 -c 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", "windows")' "release/evidence-$version-x86_64-windows"
else
  echo "SKIPPED: the archive for Windows needs unzip and python3"
fi
(cd release && openssl dgst -sha256 -r ./evidence-* | sed 's|\*\./| |' >SHA256SUMS)
openssl pkeyutl -sign -inkey release.pem -rawin -in release/SHA256SUMS -out release/SHA256SUMS.sig

"$sandbox" serve --scenario demo >sandbox.log 2>&1 &
host=$!
for _ in $(seq 100); do grep -q "Ctrl-C ends it" sandbox.log && break; sleep 0.1; done
CODEHOST_API_URL=$(sed -n 's/^The code host is at \([^,]*\),.*/\1/p' sandbox.log)
TOKEN=$(sed -n 's/^ *owner, fine-grained *//p' sandbox.log)
CLASSIC_TOKEN=$(sed -n 's/^ *owner  *\(ghp_.*\)/\1/p' sandbox.log)
export CODEHOST_API_URL TOKEN CLASSIC_TOKEN ARCHIVE="evidence-$version-$system.tar.gz" VERSION="$version"
"$evidence" keygen --output key.pem >/dev/null
"$evidence" keygen --output other.pem >/dev/null
cp "$root/ci/action.mjs" .
node action.mjs
