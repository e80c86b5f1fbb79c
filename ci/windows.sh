#!/usr/bin/env bash
# Tests the tool for other systems: it must compile for macOS and Windows without a warning, and under Wine evidence.exe
# must print, write and collect the same as the Linux program.
#
# Usage: ci/windows.sh <evidence binary> <sandbox binary> <public key> <bundle>...
#
# Needs rustup. To link for Windows: Debian's gcc-mingw-w64-x86-64-win32; to run: wine and wine64 (ci/install.sh).
# docs/windows-and-macos.md describes what this covers.
set -euo pipefail
evidence=$(realpath "$1")
sandbox=$(realpath "$2")
public_key=$(realpath "$3")
shift 3
bundles=()
for bundle in "$@"; do bundles+=("$(realpath "$bundle")"); done
cd "$(dirname "$0")/.."
root=$PWD
macos=aarch64-apple-darwin
windows=x86_64-pc-windows-gnu
work=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  [ ! -d "$work/wine" ] || WINEPREFIX=$work/wine wineserver --kill 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
fail() { echo "FAILED: $1"; exit 1; }
began=$SECONDS

if ! command -v rustup >/dev/null || ! rustup --quiet target add "$macos" "$windows"; then
  echo "SKIPPED: compiling for macOS and Windows needs rustup and the targets $macos and $windows"
  exit 0
fi

# Runs a Cargo command and fails on warnings too. RUSTFLAGS would recompile every dependency.
clean() {
  local log=$work/log
  if ! "$@" >"$log" 2>&1 || grep -qE '^warning: .* generated [0-9]+ warning' "$log"; then
    cat "$log"
    fail "$*"
  fi
}

# A check uses no object code, so the C parts of dependencies need no compiler for macOS: `true` replaces it. An SDK
# only has to exist.
clean env SDKROOT="$root" "CC_${macos//-/_}=true" "AR_${macos//-/_}=true" cargo check -p evidence -p evidence-platform --target "$macos"
clean cargo clippy -p evidence-os --all-targets --target "$macos" -- -D warnings
clean cargo clippy -p evidence-os --all-targets --target "$windows" -- -D warnings
echo "ok   both programs compile for macOS ($((SECONDS - began)) s)"

if ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
  clean env "CC_${windows//-/_}=true" "AR_${windows//-/_}=true" cargo check -p evidence --target "$windows"
  echo "SKIPPED: linking for Windows needs gcc-mingw-w64-x86-64-win32; evidence compiles for it"
  exit 0
fi
clean cargo build -p evidence --target "$windows"
echo "ok   evidence compiles and links for Windows ($((SECONDS - began)) s)"

# Debian's own `wine` is a script that requires 32-bit parts.
wine=$(command -v /usr/lib/wine/wine64 || command -v wine64 || command -v wine || true)
if [ -z "$wine" ]; then
  echo "SKIPPED: running evidence.exe needs wine and wine64"
  exit 0
fi
# No window, no Mono, no Gecko: they would need a screen and the internet.
export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
mkdir "$work/bin" "$work/linux" "$work/windows"
x86_64-w64-mingw32-strip -o "$work/bin/evidence.exe" "${CARGO_TARGET_DIR:-target}/$windows/debug/evidence.exe"
# Rust's standard library takes random numbers from a library that Wine 8.0 lacks; this replacement uses an existing
# function.
cat >"$work/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) { return SystemFunction036(bytes, length); }
C
x86_64-w64-mingw32-gcc -shared -o "$work/bin/bcryptprimitives.dll" "$work/random.c" -ladvapi32
"$wine" wineboot --init >"$work/log" 2>&1 || { cat "$work/log"; fail "wine does not start"; }
evidence_exe() { "$wine" "$work/bin/evidence.exe" "$@"; }

# The tests of the system-dependent parts find bcryptprimitives.dll through Wine's path, in which `/` is Z:.
WINEPATH="Z:${work//\//\\}\\bin" CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$wine \
  cargo test --quiet -p evidence-os --target "$windows" >"$work/log" 2>&1 || { cat "$work/log"; fail "the tests of evidence-os under Wine"; }
echo "ok   the tests of evidence-os pass under Wine ($((SECONDS - began)) s)"

# both ARGUMENT...: runs both programs in separate directories. They must have the same exit code and the same output,
# except for path separators.
compared=0
plain() { sed -e 's|\\|/|g' -e 's/evidence\.exe/evidence/g' "$1"; }
both() {
  local code=0 code_exe=0
  # Use new files: a Wine service that an earlier command started keeps its own open.
  rm -f "$work"/out* "$work"/err*
  (cd "$work/linux" && "$evidence" "$@") >"$work/out" 2>"$work/err" </dev/null || code=$?
  (cd "$work/windows" && evidence_exe "$@") >"$work/out.exe" 2>"$work/err.exe" </dev/null || code_exe=$?
  [ "$code" = "$code_exe" ] || { cat "$work/err.exe"; fail "evidence $*: exit code $code_exe under Wine, $code on Linux"; }
  for stream in out err; do
    diff <(plain "$work/$stream") <(plain "$work/$stream.exe") || fail "evidence $*: another text under Wine"
  done
  compared=$((compared + 1))
}
both --version
both --help
both collect --help
both no-such-command
both verify .
key=../given/key.pub.pem
mkdir "$work/given"
cp -r crates/evidence-bundle/tests/bundles "$work/given"
cp "$public_key" "$work/given/key.pub.pem"
# One bundle for each reason, and the valid ones.
for case in "$work"/given/bundles/*/; do
  [[ ${case%/} =~ /[a-z-]+_(fail|ok|exit1)$ ]] || continue
  both verify "../given/bundles/$(basename "$case")/bundle.tar.gz" -k ../given/bundles/key.pub.pem
done
both show ../given/bundles/checksum-mismatch_fail/bundle.tar.gz -k ../given/bundles/key.pub.pem
for bundle in "${bundles[@]}"; do
  name=../given/$(basename "$bundle")
  cp "$bundle" "$work/given"
  both verify "$name" -k "$key"
  both verify "$name" -k ../given/bundles/key.pub.pem
  both verify "$name" -k "$key" --json
  both show "$name" -k "$key"
  both sample "$name" -k "$key" --seed 'a seed' --count 5
  rm -f "$work"/*/report.html
  both report "$name" -k "$key" -o report.html
done
both verifier -o verify.html
both init --org acme --config acme.yaml
both init --org acme --config acme.yaml
diff -r "$work/linux" "$work/windows" || fail "the files that were written differ"
echo "ok   $compared commands end and print the same under Wine ($((SECONDS - began)) s)"

# A collection with new keys, on both systems from the same state of the host.
(cd "$work/windows" && evidence_exe keygen --output key.pem >/dev/null && evidence_exe keygen --output key.pem 2>/dev/null) &&
  fail "keygen replaces a key"
install --mode 600 "$work/windows"/key*.pem "$work/linux"
# The artifacts contain the address of the host, so both runs use the same port.
port=0
for system in linux windows; do
  cat >"$work/$system/evidence.yaml" <<'YAML'
framework: soc2_type1
controls: [CC6.1, CC6.6, CC7.2]
sources: {codehost: {mode: token, org: acme, repos: "*", revalidate: true}}
bundle: {detached_signature: true, signing: {private_key_path: key.pem}}
YAML
  "$sandbox" serve --scenario demo --port "$port" >"$work/sandbox.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do grep -q fine-grained "$work/sandbox.log" && break; sleep 0.1; done
  CODEHOST_API_URL=$(sed -n 's/^The code host is at \([^,]*\),.*/\1/p' "$work/sandbox.log")
  port=${CODEHOST_API_URL##*:}
  CODEHOST_TOKEN=$(sed -n 's/^ *owner, fine-grained *//p' "$work/sandbox.log")
  export CODEHOST_API_URL CODEHOST_TOKEN SOURCE_DATE_EPOCH=1795251913 XDG_CACHE_HOME=$work/cache
  program=$evidence
  [ "$system" = linux ] || program=evidence_exe
  for bundle in first second; do
    code=0
    (cd "$work/$system" && "$program" collect --reproducible -o $bundle) >"$work/$system.$bundle" 2>&1 || code=$?
    [ "$code" = 3 ] || { cat "$work/$system.$bundle"; fail "collect on $system: exit code $code"; }
  done
  # A reproducible run keeps nothing.
  for bundle in third fourth; do
    (cd "$work/$system" && "$program" collect -o $bundle) >"$work/$system.$bundle" 2>&1 || true
  done
  kill "$server"
  wait "$server" || true
  server=
done
shown() {
  sed -E -e 's|\\|/|g' -e 's/rate limit: .*//' -e 's/[0-9.]+ kB//' -e '/bundle id/d' \
    -e '/does not check who can read/d' "$1"
}
for bundle in first second; do
  diff <(shown "$work/linux.$bundle") <(shown "$work/windows.$bundle") || fail "collect: another text under Wine"
  for system in linux windows; do
    mkdir "$work/$system.$bundle.files"
    tar -xzf "$work/$system/$bundle"/*.tar.gz -C "$work/$system.$bundle.files"
    "$evidence" verify "$work/$system/$bundle"/*.tar.gz -k "$work/$system/key.pub.pem" >/dev/null || fail "the bundle of $system does not verify"
  done
  diff -r "$work/linux.$bundle.files/sources" "$work/windows.$bundle.files/sources" || fail "collect: other artifacts under Wine"
done
grep -q "unchanged and free" "$work/windows.fourth" || { cat "$work/windows.fourth"; fail "no answer of the third run was confirmed"; }
[ "$(find "$work/windows/first" -type f | wc -l)" = 2 ] || fail "collect leaves files behind"
echo "ok   collect brings the same artifacts under Wine, and the next run uses the cached answers ($((SECONDS - began)) s)"

# Wine turns a signal into Ctrl-C.
"$sandbox" serve --scenario large --size 200 --latency-ms 200 >"$work/sandbox.log" 2>&1 &
server=$!
for _ in $(seq 100); do grep -q fine-grained "$work/sandbox.log" && break; sleep 0.1; done
CODEHOST_API_URL=$(sed -n 's/^The code host is at \([^,]*\),.*/\1/p' "$work/sandbox.log")
cd "$work/windows"
"$wine" "$work/bin/evidence.exe" collect -o interrupted >"$work/log" 2>&1 &
collect=$!
for _ in $(seq 100); do grep -q "^Collection" "$work/log" && break; sleep 0.1; done
kill -INT "$collect"
code=0
wait "$collect" || code=$?
if [ "$code" != 130 ] || [ -e interrupted ]; then cat "$work/log"; fail "Ctrl-C: exit code $code"; fi
echo "ok   Ctrl-C ends a collection under Wine with exit code 130, and nothing is left ($((SECONDS - began)) s)"
