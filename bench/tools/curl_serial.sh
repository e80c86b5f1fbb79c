#!/usr/bin/env bash
# The job as a shell loop: sequential requests with one curl each.
#
# Usage: curl_serial.sh <output directory>, with BENCH_URL, BENCH_ORG, BENCH_TOKEN and BENCH_KEY.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/files"
cd "$1"

# Writes the answer to a file and prints the status; any other than 200 and 404 ends the script.
ask() {
  local status
  status=$(curl -sS -H "Authorization: token $BENCH_TOKEN" -H "Accept: application/vnd.github+json" \
    -D headers -o "$2" -w '%{http_code}' "$BENCH_URL$1")
  case $status in
    200) return 0 ;;
    404) rm -f "$2"; return 1 ;;
    *) echo "HTTP $status for $1" >&2; exit 1 ;;
  esac
}

ask "/orgs/$BENCH_ORG" files/org_settings.json
page=0
more=yes
while [ -n "$more" ]; do
  page=$((page + 1))
  ask "/orgs/$BENCH_ORG/repos?per_page=100&sort=full_name&direction=asc&page=$page" "page_$page.json"
  more=$(grep -io 'rel="next"' headers || true)
done
grep -oh '"full_name":"[^"]*"' page_*.json | cut -d'"' -f4 >repositories
while read -r repository; do
  name=files/repo_${repository/\//_}
  ask "/repos/$repository/branches/main/protection" "${name}_branch_protection.json" || true
  ask "/repos/$repository/contents/CODEOWNERS" "${name}_codeowners.json" ||
    ask "/repos/$repository/contents/.github/CODEOWNERS" "${name}_codeowners.json" || true
done <repositories
"$here/pack.sh" .
