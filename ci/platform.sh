#!/usr/bin/env bash
# Tests the real tool with the real platform: creates an organization, a key and a trusted signer; uploads the demo's
# bundle, verifies it there, uploads it again under the same id, and downloads the same bytes. A key of another
# organization is refused. `collect --upload` asks the platform before it sends a request to a source.
#
# Usage: ci/platform.sh <evidence binary> <evidence-platform binary> <bundle> <public key>
set -euo pipefail
evidence=$(realpath "$1")
platform=$(realpath "$2")
bundle=$(realpath "$3")
public_key=$(realpath "$4")
work=$(mktemp -d)
cd "$work"
server=
source=
# shellcheck disable=SC2154 # `one` is set by the loop
trap 'for one in $server $source; do kill "$one" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$work"' EXIT

fail() { echo "FAILED: $1"; [ ! -f log ] || tail -n 20 log; exit 1; }

"$platform" init --data data >created
"$platform" organization create "Acme" --slug acme --data data >>created
key=$("$platform" key create --organization acme --role upload --name ci --data data)
reader=$("$platform" key create --organization acme --role read --name reader --data data)
"$platform" trust add --organization acme "$public_key" --data data >trusted
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$platform" serve --data data --listen "127.0.0.1:$port" >log 2>&1 &
server=$!
url="http://127.0.0.1:$port"
for _ in $(seq 100); do
  curl -fsS "$url/readyz" >ready 2>/dev/null && break
  sleep 0.1
done
curl -fsS "$url/readyz" >ready || fail "the platform does not become ready"

printf 'framework: soc2_type1\ncontrols: [CC6.1]\nsources:\n  codehost:\n    mode: token\n    org: acme\n    repos: "*"\nbundle:\n  signing:\n    private_key_path: none.pem\n    trusted_keys: [%s]\nupload:\n  api_url: %s\n  tags: {run: ci}\n' "$public_key" "$url" >evidence.yaml
EVIDENCE_API_KEY=$key "$evidence" upload --config evidence.yaml "$bundle" >first 2>&1 || { cat first; fail "the upload"; }
cat first
EVIDENCE_API_KEY=$key "$evidence" upload --config evidence.yaml --quiet "$bundle" >second || fail "the second upload"
grep -qF "$(cat second)" first || fail "the same bytes have two ids"
id=$(sed 's|.*/bundles/||' second)
curl -fsS -H "Authorization: Bearer $reader" "$url/api/v1/bundles/$id/download" >downloaded || fail "the download"
"$evidence" verify --json --public-key "$public_key" "$bundle" | grep -qF "\"bundle_id\": \"$id\"" || fail "the manifest has another id than the platform"
cmp downloaded "$bundle" || fail "what is stored is not what was sent"

if EVIDENCE_API_KEY=$reader "$evidence" upload --config evidence.yaml "$bundle" >refused 2>&1; then fail "a key that may only read can upload"; fi
code=0
EVIDENCE_API_KEY=evp_nobody_nobody_nobody "$evidence" upload --config evidence.yaml "$bundle" >refused 2>&1 || code=$?
[ "$code" = 6 ] || fail "a stranger's key: exit code $code"
# A code host that counts requests and answers none.
cat >host.py <<'PYTHON'
import http.server

class Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("asked", "a") as asked:
            asked.write(self.path + "\n")
        self.send_error(400)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Host)
with open("host.new", "w") as file:
    file.write(f"http://127.0.0.1:{server.server_port}")
__import__("os").rename("host.new", "host")
server.serve_forever()
PYTHON
python3 host.py &
source=$!
for _ in $(seq 100); do [ -e host ] && break; sleep 0.1; done
"$evidence" keygen --output own.pem >/dev/null
sed -e "s|    repos:|    api_url: $(cat host)\n    repos:|" -e 's|none.pem|own.pem|' -e '/trusted_keys/d' evidence.yaml >collect.yaml
sed "s|$url|$url/wrong|" collect.yaml >wrong.yaml
# collects CODE KEY CONFIGURATION TEXT: `collect --upload` ends so and says so.
collects() {
  code=0
  CODEHOST_TOKEN=made-up EVIDENCE_API_KEY=$2 "$evidence" collect --quiet --upload --config "$3" >printed 2>said || code=$?
  cat said >>refused
  [ "$code" = "$1" ] || { cat said; fail "collect --upload: exit code $code instead of $1"; }
  grep -qF "$4" said || { cat said; fail "collect --upload does not say: $4"; }
}
collects 6 evp_nobody_nobody_nobody collect.yaml "HTTP 401"
collects 6 "$reader" collect.yaml "role read"
collects 6 "$key" wrong.yaml "HTTP 404"
collects 6 "$key" collect.yaml "does not trust the signing key"
[ ! -e asked ] || fail "the source was asked before the platform: $(cat asked)"
"$platform" trust add --organization acme own.pub.pem --data data >>trusted
collects 2 "$key" collect.yaml "connection test failed"
[ -s asked ] || fail "the source was not asked"
if grep -rqF "$key" log first refused; then fail "the key is in a log"; fi
echo "ok   the tool and the platform: uploaded, verified, the same id again, the same bytes back; strangers refused, before a source is asked"
