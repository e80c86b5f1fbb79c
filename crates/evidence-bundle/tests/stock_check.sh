#!/usr/bin/env bash
# Checks a bundle with nothing but tar, openssl, sha256sum and coreutils: stock_check.sh BUNDLE PUBLIC_KEY_PEM
# Exit 0: the key signed exactly these files. Exit 77: a tool is missing. Anything else: refused.
# It extracts, so use it on bundles from people you would open a .tar.gz from; `evidence verify` extracts nothing.
# The four lines are those of docs/bundle-format.md, "Checking by hand".
set -euo pipefail

bundle=$(realpath -- "$1")
key=$(realpath -- "$2")
for tool in tar openssl sha256sum; do
    command -v "$tool" >/dev/null || { echo "$tool is missing"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work"
{
! tar -tvzf "$bundle" | grep -v '^-rw-r--r--' && mkdir b && tar -xzf "$bundle" -C b && cd b &&
openssl pkeyutl -verify -pubin -inkey "$key" -rawin -in checksums.sha256 -sigfile signature.sig &&
sha256sum --strict --quiet -c checksums.sha256 &&
tar -tzf "$bundle" | diff - <(echo checksums.sha256; echo signature.sig; cut -c67- checksums.sha256)
} 2>"$work/said" && [ ! -s "$work/said" ] || { cat "$work/said" >&2; exit 1; }
echo "OK: $(wc -l <checksums.sha256) files, none missing, none extra, none changed"
