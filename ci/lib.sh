# Common parts of the release checks, to be sourced; changes to the root of the checkout. $given is their first
# argument, the program they use; $archives the second, by default dist/out; $work a temporary directory.
# shellcheck shell=bash disable=SC2034
root_of_checkout=$(dirname "${BASH_SOURCE[0]}")/..
given=$(realpath "$1")
archives=$(realpath -m "${2:-$root_of_checkout/dist/out}")
cd "$root_of_checkout" || exit
work=$(mktemp -d)
log=$work/log
arch=$(uname -m)
others=()
stop_all() {
  for other in "${others[@]}"; do kill "$other" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap stop_all EXIT
fail() { echo "FAILED: $1"; [ ! -s "$log" ] || tail -n 40 "$log"; exit 1; }

# need PROGRAM WHAT: checks that the program is installed. ci/install.sh installs it.
need() {
  command -v "$1" >/dev/null && return
  echo "SKIPPED: $2 needs $1"
  return 1
}

# Copies the Linux archives to a working directory.
copy_archives() {
  ls "$archives"/evidence{,-platform}-[0-9]*-"$arch"-linux.tar.gz >/dev/null 2>&1 ||
    { echo "SKIPPED: there are no archives for $arch in $archives; dist/build makes them"; exit 0; }
  mkdir "$work/out"
  cp "$archives"/evidence*-linux.tar.gz "$work/out"
}

# made SCRIPT: runs it for these archives.
made() {
  if ! DIST_OUT=$work/out "$1" >"$work/made" 2>"$log"; then
    if grep -q -e "No matching distribution" -e "ensurepip" "$log"; then
      echo "SKIPPED: $1 needs python3 with packages that do not install:"
      tail -n 3 "$log"
      exit 0
    fi
    fail "$1"
  fi
  sort "$work/made"
}

# made_twice SCRIPT: puts its results into $work/out, and checks that a second run for the smaller archive gives the
# same bytes.
made_twice() {
  copy_archives
  made "$1"
  mkdir "$work/again"
  cp "$archives"/evidence-[0-9]*-"$arch"-linux.tar.gz "$work/again"
  DIST_OUT=$work/again "$1" >"$log" 2>&1 || fail "$1, the second time"
  for file in "$work"/again/*; do cmp "$file" "$work/out/${file##*/}" || fail "two builds of ${file##*/} differ"; done
  echo "ok   made in $SECONDS s; a second build has the same bytes"
}

# Starts the sandbox as a code host: $url is its address, $token a token.
start_sandbox() {
  "$given" serve >"$work/host" 2>&1 &
  others+=($!)
  for _ in $(seq 100); do grep -qs "Ctrl-C ends it" "$work/host" && break; sleep 0.1; done
  url=$(sed -n 's|.* at \(http://[^,]*\),.*|\1|p' "$work/host")
  token=$(sed -n 's/^  owner, fine-grained *//p' "$work/host")
  [ -n "$url$token" ] || fail "the sandbox has no address"
}
