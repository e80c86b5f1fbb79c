#!/usr/bin/env bash
# Tests the last steps of a release, dist/publish, like the release workflow: with temporary keys and files, and a gh
# that only prints what it would send to GitHub.
#
# Usage: ci/publish.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/dist" "$work/bin"
cp Cargo.toml "$work"
cp dist/{common.sh,publish,sums} dist/*.in "$work/dist"
cd "$work"
version=$(sed -n '/^\[workspace\.package\]/,/^version/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
# shellcheck disable=SC2016 # the stand-in expands it
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >gh.arguments\ncat "$9" >gh.notes\n' >bin/gh
chmod +x bin/gh
export PATH=$work/bin:$PATH
export GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=OWNER/evidence GITHUB_SHA=0123456789012345678901234567890123456789
git init --quiet
git -c user.name=ci -c user.email=ci@localhost commit --quiet --allow-empty --message "a release"
openssl genpkey -algorithm ed25519 -out key.pem 2>/dev/null
openssl genpkey -algorithm ed25519 -out other.pem 2>/dev/null
openssl pkey -in key.pem -pubout -out public.pem

fail() {
  echo "FAILED: $1"
  cat log
  exit 1
}
publish() { RELEASE_KEY=$(cat "$key") dist/publish "$@" >log 2>&1; }
refused() {
  if publish "${@:2}"; then fail "dist/publish ${*:2} is not refused"; fi
  grep -q "$1" log || fail "dist/publish ${*:2} does not say: $1"
}
files() {
  rm -rf dist/out
  mkdir dist/out
  for name in evidence evidence-platform; do echo "$name" >"dist/out/$name-$version-x86_64-linux.tar.gz"; done
}
changelog() { printf '# Changelog\n\n## [%s]\n\n- New.\n\n## [0.0.1]\n\n- Old.\n' "$1" >CHANGELOG.md; }

key=key.pem
files
refused "dist/release.pub.pem is missing" sign "v$version"
cp public.pem dist/release.pub.pem
refused "the version in Cargo.toml" sign v9.9.9
key=other.pem refused "is not the private key of" sign "v$version"
changelog "$version"
refused "SHA256SUMS.sig is missing" draft "v$version"
publish sign "v$version" || fail "dist/publish sign"
openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in dist/out/SHA256SUMS -sigfile dist/out/SHA256SUMS.sig >/dev/null || fail "the signature"
grep -q "github.com/OWNER/evidence/releases/download/v$version" dist/out/install.sh || fail "the installer's address"

changelog Unreleased
refused "no section \[$version\]" draft "v$version"
changelog "$version"
publish draft "v$version" || fail "dist/publish draft"
[ "$(head -n 4 gh.arguments | tr '\n' ' ')" = "release create v$version --draft " ] || fail "no draft: $(cat gh.arguments)"
for file in dist/out/*; do grep -qx "$work/$file" gh.arguments || fail "$file is not in the release"; done
diff gh.notes - <<NOTES || fail "the notes"

- New.


To use this release as a GitHub Action:

\`\`\`yaml
- uses: OWNER/evidence@$GITHUB_SHA # v$version
\`\`\`
NOTES
rm gh.arguments
echo changed >>"dist/out/evidence-$version-x86_64-linux.tar.gz"
refused "not those that were signed" draft "v$version"
[ ! -e gh.arguments ] || fail "changed files went out"
if grep -rqF "$(sed -n 2p key.pem)" dist log gh.notes 2>/dev/null; then fail "the private key is left"; fi
echo "ok   the last steps of a release: signed, drafted with its notes; a wrong tag, key or file is refused"
