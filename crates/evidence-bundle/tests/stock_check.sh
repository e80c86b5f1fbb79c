#!/usr/bin/env bash
# Checks a bundle with nothing but GNU tar, gzip, openssl and coreutils: stock_check.sh BUNDLE PUBLIC_KEY_PEM
# Exit 0: the key signed exactly these bytes. Exit 77: a tool is missing. Anything else: refused.
# It extracts, so use it on bundles from people you would open a .tar.gz from; `evidence verify` extracts nothing.
# The commands are those of docs/bundle-format.md, "Checking by hand".
set -euo pipefail

commands=$(dirname -- "$(realpath -- "$0")")/../src/by_hand.sh
bundle=$(realpath -- "$1")
key=$(realpath -- "$2")
for tool in tar gzip openssl sha256sum cmp; do
    command -v "$tool" >/dev/null || { echo "$tool is missing"; exit 77; }
done

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cp -- "$commands" "$work/commands.sh"
cd "$work"
ln -s -- "$bundle" BUNDLE.tar.gz
ln -s -- "$key" KEY.pub.pem
bash commands.sh 2>said && [ ! -s said ] || { cat said >&2; exit 1; }
echo "OK: $(wc -l <b/checksums.sha256) files, none missing, none extra, none changed"
