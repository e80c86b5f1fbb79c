#!/usr/bin/env bash
# The release from a user's perspective: built without optimization for this machine, packed, signed, and
# installed by its installer into an otherwise empty root directory, where it collects from the sandbox and
# verifies.
#
# Usage: ci/dist.sh <sandbox binary> [directory for the archives, which ci/packages.sh and ci/images.sh use]
set -euo pipefail
sandbox=$(realpath "$1")
kept=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/.."
for needed in rustup python3 openssl; do
  command -v "$needed" >/dev/null || { echo "SKIPPED: the release needs $needed"; exit 0; }
done
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "SKIPPED: the release is tested on Linux on x86-64"; exit 0; }
work=$(mktemp -d)
server=''
host=''
trap 'kill $server $host 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
fail() { echo "FAILED: $1"; exit 1; }

export DIST_OUT=$work/out CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/dist
target=x86_64-unknown-linux-musl
build() { dist/build --fast --target "$target"; }
build || fail "dist/build"
echo "     compiled and packed ($SECONDS s)"
for program in evidence evidence-platform; do
  file=$CARGO_TARGET_DIR/$target/release/$program
  if readelf -lW "$file" | grep -q INTERP; then fail "$program is not static"; fi
done

# Packing the same programs again gives the same bytes.
mv "$work/out" "$work/first"
sleep 1
build >/dev/null
diff -r "$work/first" "$work/out" || fail "packed twice, the files differ"
if [ -n "$kept" ]; then mkdir -p "$kept" && cp "$work"/out/*.tar.gz "$kept"; fi

# The manual pages.
if command -v mandoc >/dev/null; then
  mkdir "$work/man"
  for archive in "$work"/out/*-linux.tar.gz; do tar -xzf "$archive" -C "$work/man" --wildcards '*.1'; done
  find "$work/man" -name '*.1' -exec mandoc -T lint -W warning {} + || fail "a manual page"
else
  echo "SKIPPED: the check of the manual pages needs mandoc"
fi

# The SBOM of the programs.
if python3 -m venv "$work/venv" && "$work/venv/bin/pip" install --quiet 'cyclonedx-python-lib[json-validation]' 2>/dev/null; then
  for bom in "$work"/out/*.cdx.json; do
    "$work/venv/bin/python" - "$bom" <<'PYTHON' || fail "$(basename "$bom")"
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = open(sys.argv[1]).read()
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
if error:
    sys.exit(repr(error))
assert all(f'"name": "{name}"' in text for name in ("ring", "musl")) and '"name": "rsa"' not in text
PYTHON
  done
else
  echo "SKIPPED: the check of the SBOM against its schema needs cyclonedx-python-lib"
fi

# Signed with a temporary key; openssl and our own program check the signature, and detect a changed list.
evidence=$CARGO_TARGET_DIR/$target/release/evidence
"$evidence" keygen --output "$work/release.pem" >/dev/null
dist/sums --key "$work/release.pem" 2>"$work/notes" || { cat "$work/notes"; fail "dist/sums"; }
check() {
  openssl pkeyutl -verify -pubin -inkey "$work/release.pub.pem" -rawin -in "$1" -sigfile "$work/out/SHA256SUMS.sig" >/dev/null
}
(cd "$work/out" && sha256sum --strict --quiet -c SHA256SUMS) || fail "SHA256SUMS"
check "$work/out/SHA256SUMS" || fail "openssl refuses the signature"
"$evidence" verify --signature "$work/out/SHA256SUMS.sig" --public-key "$work/release.pub.pem" "$work/out/SHA256SUMS" ||
  fail "evidence refuses the signature"
sed '1s/^./x/' "$work/out/SHA256SUMS" >"$work/changed"
if check "$work/changed" 2>/dev/null; then fail "openssl accepts a changed list"; fi
if "$evidence" verify --quiet --signature "$work/out/SHA256SUMS.sig" --public-key "$work/release.pub.pem" "$work/changed"; then
  fail "evidence accepts a changed list"
fi

# An empty root: one static program provides the shell and tools for the installer, and there is no libc.
busybox=$(command -v busybox || true)
root=$work/root
mkdir -p "$root"/{bin,tmp,home,etc,dev,proc}
user=()
[ "$(id -u)" = 0 ] || user=(--map-root-user)
if [ -z "$busybox" ] || readelf -lW "$busybox" | grep -q INTERP || ! unshare "${user[@]}" true 2>/dev/null; then
  echo "SKIPPED: the installation into an empty root needs a static busybox, and root or user namespaces"
  exit 0
fi
for tool in $("$busybox" --list); do ln -s busybox "$root/bin/$tool"; done
rm -f "$root/bin/busybox"
cp "$busybox" "$root/bin/busybox"
# inside [NAME=VALUE]... COMMAND...: runs the command without this environment's variables.
inside() {
  local given=()
  while [[ $1 == *=* ]]; do given+=("$1"); shift; done
  env -i PATH=/bin HOME=/home "${given[@]}" "$(command -v unshare)" "${user[@]}" --root="$root" --wd=/home "$@"
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
files=$(port)
(cd "$work/out" && exec python3 -m http.server --bind 127.0.0.1 "$files" >/dev/null 2>&1) &
server=$!
api=$(port)
"$sandbox" serve --scenario large --repositories 100 --port "$api" >"$work/host" 2>&1 &
host=$!
for _ in $(seq 100); do
  (exec 3<>"/dev/tcp/127.0.0.1/$files" && exec 4<>"/dev/tcp/127.0.0.1/$api") 2>/dev/null && break
  sleep 0.1
done

cp "$work/out/install.sh" "$root/home"
for program in evidence evidence-platform; do
  inside EVIDENCE_DOWNLOAD="http://127.0.0.1:$files" sh install.sh "$program" || fail "the installer"
done
# An archive that does not belong to the release installs nothing.
mkdir "$root/home/bad"
echo other >"$root/home/bad/evidence-$(sed -n 's/^# Installs evidence \([0-9.]*\) .*/\1/p' "$root/home/install.sh")-x86_64-linux.tar.gz"
if inside PREFIX=/home/elsewhere EVIDENCE_DOWNLOAD=/home/bad sh install.sh 2>"$work/refused"; then fail "a wrong archive is installed"; fi
grep -q 'the SHA-256 of' "$work/refused" || { cat "$work/refused"; fail "a wrong archive"; }
[ ! -e "$root/home/elsewhere" ] || fail "a wrong archive left something"

# From here on there is no shell either, only the program, a configuration and a key.
rm -r "${root:?}/bin"
program=/home/.local/bin/evidence
inside "$program" init --org acme --generate-keys >/dev/null
code=0
started=$(date +%s%N)
token=$(awk '$1 == "owner" && NF == 2 { print $2 }' "$work/host")
inside CODEHOST_TOKEN="$token" CODEHOST_API_URL="http://127.0.0.1:$api" "$program" collect --quiet >"$work/bundle" || code=$?
[ "$code" = 0 ] || fail "collect ends with $code"
inside "$program" verify --public-key evidence-signing-key.pub.pem "$(cat "$work/bundle")" || fail "verify"
echo "ok   the release: static, packed twice alike, signed, installed into an empty root; collected and verified there in $((($(date +%s%N) - started) / 1000000)) ms"
