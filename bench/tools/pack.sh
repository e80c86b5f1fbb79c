#!/usr/bin/env bash
# The common last step of the shell scripts: a list of checksums, a signature over it, one archive.
#
# Usage: pack.sh <output directory>; the answers are in its directory `files`. BENCH_KEY is the private key.
set -euo pipefail
cd "$1/files"
find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >../checksums.sha256
mv ../checksums.sha256 .
openssl pkeyutl -sign -rawin -inkey "$BENCH_KEY" -in checksums.sha256 -out signature.sig
tar -czf ../bundle.tar.gz .
