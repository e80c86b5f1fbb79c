#!/usr/bin/env bash
# The job with `curl --parallel`: one curl for all pages, one for all repositories, and one for the files that are not
# in the first place. As efficient as a script of this size can be.
#
# Usage: curl_parallel.sh <output directory>, with BENCH_URL, BENCH_ORG, BENCH_TOKEN, BENCH_KEY and BENCH_IN_FLIGHT.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/files"
cd "$1"

ask=(curl -sS -H "Authorization: token $BENCH_TOKEN" -H "Accept: application/vnd.github+json")
together=("${ask[@]}" --parallel --parallel-immediate --parallel-max "$BENCH_IN_FLIGHT"
  -w '%{http_code} %{filename_effective}\n')
listing="$BENCH_URL/orgs/$BENCH_ORG/repos?per_page=100&sort=full_name&direction=asc"

"${ask[@]}" -f -o files/org_settings.json "$BENCH_URL/orgs/$BENCH_ORG"
"${ask[@]}" -f -D headers -o page_1.json "$listing&page=1"
last=$(sed -n 's/^[Ll]ink: .*[?&]page=\([0-9]*\)[^>]*>; rel="last".*/\1/p' headers)
if [ -n "$last" ]; then
  for page in $(seq 2 "$last"); do
    printf 'url = "%s&page=%s"\noutput = "page_%s.json"\n' "$listing" "$page" "$page"
  done >pages
  "${together[@]}" -K pages >answers_pages
  if grep -qv '^200 ' answers_pages; then echo "a page was refused" >&2; exit 1; fi
fi
grep -oh '"full_name":"[^"]*"' page_*.json | cut -d'"' -f4 >repositories

awk -v base="$BENCH_URL/repos/" '{
  name = $0; sub("/", "_", name)
  printf "url = \"%s%s/branches/main/protection\"\noutput = \"files/repo_%s_branch_protection.json\"\n", base, $0, name
  printf "url = \"%s%s/contents/CODEOWNERS\"\noutput = \"files/repo_%s_codeowners.json\"\n", base, $0, name
}' repositories >first
"${together[@]}" -K first >answers
awk '$1 == 404 && /_codeowners\.json$/ { print $2 }' answers >elsewhere
if [ -s elsewhere ]; then
  awk -v base="$BENCH_URL/repos/" 'NR == FNR { name = $0; sub("/", "_", name); of["files/repo_" name "_codeowners.json"] = $0; next }
    { printf "url = \"%s%s/contents/.github/CODEOWNERS\"\noutput = \"%s\"\n", base, of[$1], $1 }' repositories elsewhere >second
  "${together[@]}" -K second >answers_second
  # If a file was requested twice, the second answer counts.
  awk 'NR == FNR { again[$2] = 1; print; next } !($2 in again)' answers_second answers >answers_all
  mv answers_all answers
fi
awk '$1 != 200 && $1 != 404 { print "HTTP " $1 " for " $2 > "/dev/stderr"; bad = 1 } END { exit bad }' answers
awk '$1 == 404 { print $2 }' answers | xargs -r -d '\n' rm -f
"$here/pack.sh" .
