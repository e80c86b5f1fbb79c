#!/usr/bin/env bash
# Fuzzes every target, or only the targets given after the first argument, for that many seconds each (10 by default).
# Findings are in fuzz/artifacts; put a minimized copy into fuzz/seeds, where `cargo test -p evidence --test seeds`
# runs it again. An input may take 1 GiB and 25 seconds, far more than any should need even on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-10}
shift || true

if ! cargo fuzz --version >/dev/null 2>&1; then
  echo "SKIPPED: fuzzing needs cargo-fuzz (cargo install cargo-fuzz --locked)"
  exit 0
fi
if ! rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
  echo "SKIPPED: fuzzing needs a nightly toolchain (rustup toolchain install nightly)"
  exit 0
fi

cargo +nightly fuzz build
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046 # names of targets have no spaces
  set -- $(cargo +nightly fuzz list)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for target in "$@"; do
  mkdir -p "corpus/$target"
  if ! cargo +nightly fuzz run "$target" "corpus/$target" "seeds/$target" -- \
    -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=25 -print_final_stats=1 >"$log" 2>&1; then
    cat "$log"
    echo "FOUND: the target $target failed; see fuzz/artifacts/$target"
    exit 1
  fi
  executed=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(sed -n 's/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 edges, \2 features/p' "$log" | tail -n 1)
  printf '%-14s %s inputs, %s, nothing found\n' "$target" "$executed" "$coverage"
done
