#!/usr/bin/env bash
# Runs the demo with the real programs beside it, and keeps it running: its platform lists the four bundles for the
# printed key, and stops when the demo is terminated.
#
# Usage: ci/demo.sh <sandbox binary>
set -euo pipefail
sandbox=$(realpath "$1")
home=$(dirname "$sandbox")/demo
work=$(mktemp -d)
demo=
trap '[ -z "$demo" ] || kill "$demo" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
log=$work/log

fail() { echo "FAILED: $1"; tail -n 40 "$log"; exit 1; }

"$sandbox" demo --keep >"$log" 2>&1 &
demo=$!
for _ in $(seq 1200); do
  grep -q "Ctrl-C ends it" "$log" && break
  kill -0 "$demo" 2>/dev/null || fail "the demo ended"
  sleep 0.1
done
url=$(sed -n 's|^ *\(http://[^ ]*\)/bundles$|\1|p' "$log")
key=$(sed -n 's/^ *\(evp_[^ ]*\)$/\1/p' "$log")
upload_key=$(cat "$home/upload-key")
[ -n "$url" ] && [ -n "$key" ] || fail "no address, or no key"
made=$(grep -o 'evidence-bundles/[^/ ]*\.tar\.gz$' "$log" | sort -u)
[ "$(wc -l <<<"$made")" = 4 ] || fail "not four bundles"
if grep -qF "$upload_key" "$log"; then fail "the upload key is shown"; fi
if command -v curl >/dev/null; then
  curl -fsS -H "Authorization: Bearer $key" "$url/api/v1/bundles" >"$work/bundles" || fail "the key does not open it"
  for bundle in $made; do
    digest=$(sha256sum "$home/$bundle" | cut -d' ' -f1)
    grep -qF "$digest" "$work/bundles" || fail "the platform does not list $bundle"
  done
else
  echo "SKIPPED: the look at the kept platform needs curl"
fi

code=0
kill -TERM "$demo"
wait "$demo" || code=$?
demo=
[ "$code" = 0 ] || fail "exit code $code after SIGTERM"
if (exec 3<>"/dev/tcp/127.0.0.1/${url##*:}") 2>/dev/null; then fail "the platform is still there"; fi
echo "ok   the demo: four bundles on a platform that is kept, listed with the key that is shown; it ended with the demo"
