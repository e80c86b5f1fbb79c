#!/usr/bin/env bash
# Reads the tables of real bundles with independent programs: Python's csv module, compared with the source
# documents, and LibreOffice if it is installed (Debian package `libreoffice-calc`), which must show every cell
# unchanged.
#
# Usage: ci/tables.sh <bundle>...
set -euo pipefail
here=$(realpath "$(dirname "$0")")
if ! command -v python3 >/dev/null; then
  echo "SKIPPED: the tables beside other readers need python3"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for bundle in "$@"; do
  rm -rf "$work/bundle" "$work/office"
  mkdir "$work/bundle" "$work/office"
  tar -xzf "$bundle" -C "$work/bundle"
  if command -v soffice >/dev/null; then
    # Comma, double quote, UTF-8, from line 1, and no other option: numbers are recognized, as after a double
    # click.
    soffice --headless "-env:UserInstallation=file://$work/profile" \
      --infilter="Text - txt - csv (StarCalc):44,34,76,1" \
      --convert-to 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false' \
      --outdir "$work/office" "$work"/bundle/derived/*.csv >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  else
    echo "SKIPPED: the tables in a spreadsheet need LibreOffice (soffice)"
  fi
  python3 -B "$here/tables.py" "$work/bundle" "$work/office"
done
