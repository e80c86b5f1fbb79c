#!/usr/bin/env bash
# Runs in a booted system with both packages installed: sets up both services according to docs/deploy.md, uploads a
# bundle of a nightly run to the platform, and checks the behaviour of the units in case of errors.
#
# Usage: packages_inside.sh <address of the code host> <token>
set -euo pipefail
url=$1 token=$2
fail() {
  echo "FAILED: $1"
  journalctl --no-pager --lines=40 || true
  exit 1
}

# The platform, on a different port than an installed one.
echo "EVIDENCE_PLATFORM_LISTEN=127.0.0.1:18321" >/etc/evidence-platform.env
systemctl start evidence-platform || fail "the platform does not start"
for _ in $(seq 50); do
  EVIDENCE_PLATFORM_LISTEN=127.0.0.1:18321 evidence-platform health >/dev/null 2>&1 && healthy=1 && break
  sleep 0.1
done
[ -n "${healthy:-}" ] || fail "the platform is not healthy"
platform() { evidence-platform "$@" --data /var/lib/evidence-platform; }
platform organization create "Acme" --slug acme >/dev/null

# The nightly run.
mkdir -p /etc/evidence
install -d -m 700 /etc/evidence/acme.secrets
cd /etc/evidence
evidence keygen --output /root/acme-key.pem >/dev/null
mv /root/acme-key.pem acme.secrets/EVIDENCE_SIGNING_KEY
printf '%s\n' "$token" >acme.secrets/CODEHOST_TOKEN
platform key create --organization acme --role upload >acme.secrets/EVIDENCE_API_KEY
platform trust add --organization acme /root/acme-key.pub.pem >/dev/null
cp /usr/share/doc/evidence/example.yaml acme.yaml
printf 'upload:\n  api_url: http://127.0.0.1:18321\n' >>acme.yaml
printf 'COLLECT_OPTIONS=--upload\nCODEHOST_API_URL=%s\n' "$url" >acme.env
chmod 600 acme.secrets/* acme.env

run() {
  systemctl start evidence-collect@acme 2>/dev/null || true
  systemctl show --property ExecMainStatus --value evidence-collect@acme
}
[ "$(run)" = 3 ] || fail "the run against the sandbox, whose demo hides something, does not end with 3"
systemctl is-failed --quiet evidence-collect@acme || fail "an incomplete bundle is no failure of the unit"
bundle=$(ls /var/lib/evidence/acme/*.tar.gz)
evidence verify --quiet --public-key /root/acme-key.pub.pem "$bundle" || fail "the bundle"
ls /var/cache/evidence/acme/evidence >/dev/null || fail "nothing is kept for the next run"
stray=$(find /var/lib/private/evidence-platform -user root)
[ -z "$stray" ] || fail "what root did made files that the platform cannot write: $stray"
systemctl restart evidence-platform || fail "the platform does not start again"

systemctl enable --quiet --now evidence-collect@acme.timer
next=$(systemctl show --property NextElapseUSecRealtime --value evidence-collect@acme.timer)
[ -n "$next" ] || fail "the timer has no next time"

# Code 2, here caused by a refused token, is retried.
echo ghp_0000000000000000000000000000000000000 >acme.secrets/CODEHOST_TOKEN
[ "$(run)" = 2 ] || fail "a refused token does not end with 2"
[ "$(systemctl show --property SubState --value evidence-collect@acme)" = auto-restart ] || fail "code 2 is not tried again"
systemctl disable --quiet --now evidence-collect@acme.timer
systemctl stop evidence-collect@acme evidence-platform
[ "$(systemctl show --property Result --value evidence-platform)" = success ] || fail "the platform does not stop cleanly"
echo "nightly run: $bundle, verified and uploaded; the next: $next"
