#!/usr/bin/env bash
# The steps of the GitHub Action (action.yml). Inputs arrive as INPUT_* variables, never as part of a script.
# Runs in bash 3.2 (macOS) and in Git's bash (Windows), so: no arrays, no `mapfile`.
#
# Usage: dist/action.sh install | collect | finish
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

fail() {
  echo "::error title=Evidence::$1"
  exit "${2:-1}"
}

# A random delimiter, so that a value cannot set another output.
output() {
  local end
  end=end-$(openssl rand -hex 16)
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >>"$GITHUB_OUTPUT"
}

# A path for programs outside bash: on Windows, D:/a/b instead of /d/a/b.
native() {
  if command -v cygpath >/dev/null; then
    cygpath -am "$1"
  else
    echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
  fi
}

# The first OpenSSL of version 3 or later: on macOS, LibreSSL precedes Homebrew's in the path and cannot check the
# signature.
find_openssl() {
  local candidate
  for candidate in openssl /opt/homebrew/opt/openssl@3/bin/openssl /usr/local/opt/openssl@3/bin/openssl; do
    case $("$candidate" version 2>/dev/null || true) in
      "OpenSSL "[3-9]*)
        echo "$candidate"
        return
        ;;
    esac
  done
  fail "the release's signature cannot be checked: OpenSSL 3 or later is not installed"
}

check_inputs() {
  local name
  for name in INPUT_UPLOAD_ARTIFACT INPUT_SUMMARY INPUT_CACHE; do
    case ${!name} in
      true | false) ;;
      *) fail "$name must be true or false" ;;
    esac
  done
  [[ $INPUT_FAIL_ON =~ ^([0-9]+(,[0-9]+)*)?$ ]] || fail "the input fail-on must be exit codes, separated by commas: 1,2,5,6"
  [[ $INPUT_VERSION =~ ^(v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?)?$ ]] || fail "the input version must be a version: 0.1.0"
  # Everyone can download a public repository's artifacts, read its summaries, and read its caches from a fork.
  [ "$INPUT_UPLOAD_ARTIFACT$INPUT_SUMMARY$INPUT_CACHE" != falsefalsefalse ] || return 0
  case $REPOSITORY_VISIBILITY in
    private | internal) ;;
    public) fail "this repository is public, and everyone could read the evidence: use a private one, or set upload-artifact, summary and cache to false" ;;
    *) fail "the event that started this workflow does not report that the repository is private or internal, so everyone may be able to read the evidence: use an event that does, such as workflow_dispatch, or set upload-artifact, summary and cache to false" ;;
  esac
}

fetch() {
  curl --proto '=https' --proto-redir '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 \
    --output "$1" "$address/$1" || fail "cannot download $address/$1"
}

# Downloads the program for this system, and installs it if the release's signed list of checksums contains exactly this
# file.
install() {
  check_inputs
  local version system archive name expected actual
  # By default, the version of the action's own commit, so pinning the commit pins the program.
  version=${INPUT_VERSION#v}
  [ -n "$version" ] || version=$(sed -n '/^\[workspace\.package\]/,/^version/s/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
  # The action's repository has no name if a workflow uses the action of its own checkout (`uses: ./`).
  address=${INPUT_DOWNLOAD_URL:-$GITHUB_SERVER_URL/${ACTION_REPOSITORY:-$GITHUB_REPOSITORY}/releases/download/v$version}
  address=${address%/}
  case $RUNNER_OS-$RUNNER_ARCH in
    Linux-X64) system=x86_64-linux.tar.gz ;;
    Linux-ARM64) system=aarch64-linux.tar.gz ;;
    macOS-X64) system=x86_64-macos.tar.gz ;;
    macOS-ARM64) system=aarch64-macos.tar.gz ;;
    # Windows on ARM runs programs for x86-64.
    Windows-X64 | Windows-ARM64) system=x86_64-windows.zip ;;
    *) fail "there is no release for $RUNNER_OS on $RUNNER_ARCH" ;;
  esac
  archive=evidence-$version-$system
  openssl=$(find_openssl) || { echo "$openssl"; exit 1; }
  [ -f "$root/dist/release.pub.pem" ] || fail "this commit of the action has no release key (dist/release.pub.pem): use the commit of a release"

  rm -rf "$RUNNER_TEMP/evidence-$version"
  mkdir -p "$RUNNER_TEMP/evidence-$version"
  cd "$RUNNER_TEMP/evidence-$version"
  fetch SHA256SUMS
  fetch SHA256SUMS.sig
  "$openssl" pkeyutl -verify -pubin -inkey "$root/dist/release.pub.pem" -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig >/dev/null ||
    fail "SHA256SUMS is not signed with the release key"
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' SHA256SUMS)
  [ -n "$expected" ] || fail "the release has no $archive"
  fetch "$archive"
  actual=$("$openssl" dgst -sha256 -r "$archive" | cut -c1-64)
  [ "$actual" = "$expected" ] || fail "$archive has the SHA-256 $actual, and the release says $expected"
  case $archive in
    *.zip) unzip -q "$archive" ;;
    *) tar -xzf "$archive" ;;
  esac
  name=evidence-$version-${system%%.*}
  actual=$("./$name/evidence" --version)
  [ "$actual" = "evidence $version" ] || fail "$archive contains another version: $actual"
  native "$name" >>"$GITHUB_PATH"
  echo "evidence $version, $archive: signature and checksum verified"
}

# The contents of the bundle, for the page of the run. GitHub accepts at most 1 MiB.
summarize() {
  evidence show "$@" --format markdown >"$RUNNER_TEMP/evidence-summary.md"
  if [ "$(wc -c <"$RUNNER_TEMP/evidence-summary.md")" -gt 900000 ]; then
    head -c 900000 "$RUNNER_TEMP/evidence-summary.md" | sed '$d'
    printf '\nThe list is cut off here. The bundle has all checks.\n'
  else
    cat "$RUNNER_TEMP/evidence-summary.md"
  fi >>"$GITHUB_STEP_SUMMARY"
}

# Runs `evidence collect` with these arguments; standard output goes to $printed, standard error to the log and to $causes.
# Returns its exit code.
#
# The runner ends a cancelled job, or one that is out of time, with SIGINT and SIGTERM to this script. `evidence` gets
# the signal too, ends cleanly, and the next run resumes it.
run_evidence() {
  local pid code=0
  rm -f "$causes.done"
  evidence collect --quiet "$@" >"$printed" 2> >(tee "$causes" >&2; : >"$causes.done") &
  pid=$!
  trap 'kill -s TERM "$pid" 2>/dev/null || true' INT TERM
  wait "$pid" || code=$?
  # A signal ends the first wait before the program.
  while kill -0 "$pid" 2>/dev/null; do
    code=0
    wait "$pid" || code=$?
  done
  trap - INT TERM
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ ! -e "$causes.done" ] || break
    sleep 0.1
  done
  return "$code"
}

# Why the collection does not end with 0, for the page of the run. Indented lines are text, whatever they contain.
explain() {
  printf '## Evidence: exit code %s\n\n%s\n\n' "$1" "$(meaning "$1")"
  sed 's/^/    /' "$causes"
  printf '\n'
}

# Collects and verifies. The exit code of the collection is an output; `finish` judges it, after the bundle is uploaded.
collect() {
  local argument marker bundle code=0 verified files resume=$INPUT_CACHE
  printed=$RUNNER_TEMP/evidence-printed causes=$RUNNER_TEMP/evidence-causes
  cd "$INPUT_WORKING_DIRECTORY"
  set -- --config "$INPUT_CONFIG" --output "$INPUT_OUTPUT"
  while IFS= read -r argument; do
    [ -z "$argument" ] || set -- "$@" "$argument"
    case $argument in --resume | --reproducible) resume=false ;; esac
  done <<<"$INPUT_ARGS"
  # The cache steps expect the records here. Otherwise, the machine's own cache directory stays in use.
  if [ "$INPUT_CACHE" = true ]; then export XDG_CACHE_HOME="$RUNNER_TEMP/evidence-cache"; fi
  # Without an interrupted run, this changes nothing.
  if [ "$resume" = true ]; then set -- "$@" --resume; fi
  # Messages quote hosts, so no line of them may act as a command of the runner.
  marker=$(openssl rand -hex 16)
  echo "::stop-commands::$marker"
  run_evidence "$@" || code=$?
  echo "::$marker::"
  output exit-code "$code"
  if [ "$code" != 0 ] && [ "$INPUT_SUMMARY" = true ]; then explain "$code" >>"$GITHUB_STEP_SUMMARY"; fi
  bundle=$(cat "$printed")
  if [ -z "$bundle" ] || ! [ -f "$bundle" ]; then return; fi

  set -- "$bundle"
  if [ -n "$INPUT_PUBLIC_KEY" ]; then
    set -- --public-key "$INPUT_PUBLIC_KEY" "$@"
  else
    set -- --config "$INPUT_CONFIG" "$@"
  fi
  verified=$(evidence verify --json "$@") || {
    echo "$verified"
    fail "the new bundle does not verify, and is not kept"
  }
  bundle=$(native "$bundle")
  files=$bundle
  if [ -f "$bundle.sig" ]; then files+=$'\n'$bundle.sig; fi
  output bundle "$bundle"
  output files "$files"
  output bundle-id "$(sed -n 's/^  "bundle_id": "\(.*\)",$/\1/p' <<<"$verified")"
  output complete "$(sed -n 's/^  "complete": \([a-z]*\),*$/\1/p' <<<"$verified")"
  if [ "$INPUT_SUMMARY" = true ]; then summarize "$@"; fi
}

meaning() {
  case $1 in
    0) echo "success" ;;
    1) echo "the command line, the configuration or the signing key is invalid" ;;
    2) echo "a source could not be connected" ;;
    3) echo "something could not be collected; the bundle lists it" ;;
    4) echo "an artifact contained a credential and was left out; the bundle names it" ;;
    5) echo "the bundle could not be created" ;;
    6) echo "the upload to the platform failed" ;;
    *) echo "the run was cut off" ;;
  esac
}

# annotate LEVEL: an annotation for each cause. GitHub shows ten of a step; one is the exit code's. No line of a cause can
# act as a command: each follows one, with the characters that would end it escaped.
annotate() {
  local line
  [ -f "$RUNNER_TEMP/evidence-causes" ] || return 0
  { grep -E '^(incomplete|error): ' "$RUNNER_TEMP/evidence-causes" || true; } | head -n 9 | while IFS= read -r line; do
    line=${line//'%'/%25}
    echo "::$1 title=Evidence::${line//$'\r'/%0D}"
  done
}

# Fails the job if there is no bundle, if fail-on contains the exit code, or if the run ended without a
# published code.
finish() {
  local text
  text="exit code $EXIT_CODE: $(meaning "$EXIT_CODE")"
  if [ -z "$BUNDLE" ]; then
    annotate error
    [ "$EXIT_CODE" != 0 ] || fail "the collection succeeded but left no bundle: do not use --dry-run or delete_after_upload here"
    fail "$text; there is no bundle" "$EXIT_CODE"
  fi
  case ",$INPUT_FAIL_ON," in *",$EXIT_CODE,"*) annotate error; fail "$text" "$EXIT_CODE" ;; esac
  case $EXIT_CODE in
    0) ;;
    [1-6]) annotate warning; echo "::warning title=Evidence::$text" ;;
    *) fail "$text" "$EXIT_CODE" ;;
  esac
}

case ${1:-} in
  install | collect | finish) "$1" ;;
  *) fail "usage: dist/action.sh install | collect | finish" ;;
esac
