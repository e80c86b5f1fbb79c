#!/usr/bin/env bash
# Checks the dependencies: the lock files are in step, there are fewer than 450 packages, and deny.toml allows all
# their licences and sources. Advisories are checked elsewhere: they need a database from the network and appear
# without a change here.
#
# Installs cargo-deny below target/, once.
#
# Usage: ci/supply.sh
set -euo pipefail
cd "$(dirname "$0")/.."
version=0.20.2
tools=$PWD/target/tools
manifests=(Cargo.toml fuzz/Cargo.toml bench/floor/Cargo.toml)

for manifest in "${manifests[@]}"; do
  cargo metadata --locked --format-version 1 --manifest-path "$manifest" >/dev/null
done

packages=$(grep -c '^name = ' Cargo.lock)
echo "$packages packages in Cargo.lock"
if [ "$packages" -ge 450 ]; then
  echo "that is too many: \`cargo tree --duplicates --target all\` and each crate's optional features show what can go"
  exit 1
fi

if [ "$("$tools/bin/cargo-deny" --version 2>/dev/null)" != "cargo-deny $version" ]; then
  # Neither optimized nor with debug information: it runs for seconds, but compiles for minutes.
  CARGO_TARGET_DIR=$tools/build CARGO_PROFILE_DEV_DEBUG=0 \
    cargo install --quiet --locked --debug --root "$tools" "cargo-deny@$version"
  rm -rf "$tools/build"
fi
"$tools/bin/cargo-deny" --locked check bans licenses sources
# These are not shipped, so their licences do not matter.
for manifest in "${manifests[@]:1}"; do
  "$tools/bin/cargo-deny" --locked --manifest-path "$manifest" --config deny.toml check bans sources
done
