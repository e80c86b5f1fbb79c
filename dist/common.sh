# Common parts of the release scripts, to be sourced; changes to the root of the checkout.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }

# GNU tar, which has another name on macOS, if it is installed.
tar=$(command -v gtar || command -v tar)

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
out=${DIST_OUT:-$PWD/dist/out}

# The commit and its time. A modified tree differs from its commit, so such a build names none.
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
  echo "note: the checkout has changes; the build names no commit" >&2
  unset EVIDENCE_COMMIT
else
  EVIDENCE_COMMIT=$(git rev-parse HEAD)
  export EVIDENCE_COMMIT
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
# The same sort order of names and the same file modes everywhere.
export LC_ALL=C TZ=UTC
umask 022

# pack ARCHIVE PARENT DIRECTORY: the directory as .tar.gz or .zip, with the same bytes for the same files.
pack() {
  case $1 in
    *.zip) python3 - "$@" <<'PYTHON' ;;
import os, sys, time, zipfile
from pathlib import Path
archive, parent, directory = sys.argv[1:]
date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
    for path in sorted(Path(parent, directory).rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(str(path.relative_to(parent)), date)
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            packed.writestr(entry, path.read_bytes())
PYTHON
    *)
      "$tar" --create --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u+rwX,go+rX,go-w --directory "$2" "$3" | gzip --no-name --best >"$1"
      ;;
  esac
}
