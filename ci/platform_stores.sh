#!/usr/bin/env bash
# Tests the platform on the storage of large installations: a real PostgreSQL and an independent S3-compatible
# service, which the script starts on loopback ports and stops at the end. Fails if a test reports that it was
# skipped. Needs python3 for its packages pgserver (or an installed PostgreSQL) and moto; without them it prints a
# message and checks nothing. Works as root and as a user. As root it also provides a small disk for PostgreSQL to
# fill and, if pgbouncer is installed, that pooler in each of its modes.
#
# Usage: ci/platform_stores.sh [command...]     by default: cargo test -p evidence-platform
set -euo pipefail
[ $# -gt 0 ] || set -- cargo test -p evidence-platform
cd "$(dirname "$0")/.."

work=$(mktemp -d)
postgres='' s3='' poolers=() disk=''
stop() {
  for pooler in "${poolers[@]}"; do kill -TERM "$pooler" 2>/dev/null || true; done
  # The data is no longer needed, so PostgreSQL need not clean up.
  [ -z "$postgres" ] || kill -QUIT "$postgres" 2>/dev/null || true
  [ -z "$s3" ] || kill -TERM "$s3" 2>/dev/null || true
  wait 2>/dev/null || true
  [ -z "$disk" ] || umount -l "$disk" || true
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

skip() {
  echo "SKIPPED: the platform on PostgreSQL and S3 needs $1"
  [ ! -f "$work/log" ] || tail -n 3 "$work/log"
  exit 0
}
fail() {
  echo "FAILED: $1"
  tail -n 20 "$work/$2"
  exit 1
}

# The servers.
if ! python3 -m venv "$work/venv" >"$work/log" 2>&1 ||
  ! "$work/venv/bin/pip" install --quiet --no-compile 'moto[server]==5.2.5' >"$work/log" 2>&1; then
  skip "python3 and the package moto, which does not install:"
fi
if "$work/venv/bin/pip" install --quiet --no-compile pgserver==0.1.4 >"$work/log" 2>&1; then
  programs=$(echo "$work"/venv/lib/python3*/site-packages/pgserver/pginstall/bin)
else
  programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  [ -n "$programs" ] || programs=$(dirname "$(command -v initdb || true)")
fi
[ -x "$programs/initdb" ] || skip "PostgreSQL: the package pgserver does not install, and there is no other:"
ports=$("$work/venv/bin/python" - <<'PYTHON'
import socket
open_ones = [socket.socket() for _ in range(4)]
for one in open_ones:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in open_ones))
PYTHON
)
read -r postgres_port s3_port stock_port pooler_port <<<"$ports"

# PostgreSQL refuses to run as root; use the user nobody instead.
password=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
mkdir -m 700 "$work/postgres"
echo "$password" >"$work/postgres/password"
as_owner=()
if [ "$(id -u)" = 0 ]; then
  chmod 755 "$work"
  chown -R nobody "$work/postgres"
  as_owner=(setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups)
fi
# A small disk for its tables.
if [ "$(id -u)" = 0 ] && mkdir "$work/small" && mount -t tmpfs -o size=12m,mode=0755 tmpfs "$work/small" 2>/dev/null; then
  disk=$work/small
  mkdir "$disk/tables"
  chown nobody "$disk/tables"
  export EVIDENCE_TEST_SMALL_DISK=$disk
fi
"${as_owner[@]}" "$programs/initdb" --pgdata "$work/postgres/data" --username evidence --auth scram-sha-256 \
  --pwfile "$work/postgres/password" --encoding UTF8 --locale C >"$work/initdb" 2>&1 || fail "initdb" initdb
"${as_owner[@]}" "$programs/postgres" -D "$work/postgres/data" -h 127.0.0.1 -p "$postgres_port" -k "" \
  >"$work/postgres.log" 2>&1 &
postgres=$!
"$work/venv/bin/moto_server" -H 127.0.0.1 -p "$s3_port" >"$work/s3.log" 2>&1 &
s3=$!

# PgBouncer with its default settings, and with those in the documentation.
pooler=$(command -v pgbouncer || ls /usr/sbin/pgbouncer 2>/dev/null || true)
if [ -n "$pooler" ]; then
  upstream="host=127.0.0.1 port=$postgres_port dbname=postgres"
  echo "\"evidence\" \"$password\"" >"$work/userlist"
  for name in stock pooler; do
    port="${name}_port"
    cat >"$work/$name.ini" <<INI
[databases]
transaction = $upstream pool_mode=transaction
session = $upstream pool_mode=session
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${!port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $work/userlist
INI
  done
  echo "ignore_startup_parameters = extra_float_digits" >>"$work/pooler.ini"
  [ "$(id -u)" != 0 ] || chown nobody "$work/userlist" "$work/stock.ini" "$work/pooler.ini"
  for name in stock pooler; do
    "${as_owner[@]}" "$pooler" "$work/$name.ini" >"$work/$name.log" 2>&1 &
    poolers+=($!)
  done
  export EVIDENCE_TEST_PGBOUNCER_STOCK="postgres://evidence:$password@127.0.0.1:$stock_port/transaction"
  export EVIDENCE_TEST_PGBOUNCER_TRANSACTION="postgres://evidence:$password@127.0.0.1:$pooler_port/transaction"
  export EVIDENCE_TEST_PGBOUNCER_SESSION="postgres://evidence:$password@127.0.0.1:$pooler_port/session"
fi

export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost
export EVIDENCE_TEST_POSTGRES="postgres://evidence:$password@127.0.0.1:$postgres_port/postgres"
export EVIDENCE_TEST_POSTGRES_PROGRAMS=$programs
export EVIDENCE_TEST_S3=s3://evidence AWS_ENDPOINT_URL="http://127.0.0.1:$s3_port"
export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
for _ in $(seq 300); do
  if grep -q "ready to accept connections" "$work/postgres.log" &&
    "$work/venv/bin/python" -c 'import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], method="PUT"))' \
      "$AWS_ENDPOINT_URL/evidence" 2>/dev/null; then
    ready=yes
    break
  fi
  sleep 0.1
done
grep -q "ready to accept connections" "$work/postgres.log" || fail "PostgreSQL does not start" postgres.log
[ -n "${ready:-}" ] || fail "the S3 service does not start" s3.log
# A bucket with Object Lock and a default retention, on another S3 service: moto demands a header that the real one does not.
if "$work/venv/bin/pip" install --quiet --no-compile ministack==1.5.33 >"$work/log" 2>&1; then
  locked_port=$("$work/venv/bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  GATEWAY_PORT=$locked_port "$work/venv/bin/ministack" >"$work/locked.log" 2>&1 &
  poolers+=($!)
  for _ in $(seq 100); do
    if "$work/venv/bin/python" - "http://127.0.0.1:$locked_port" 2>/dev/null <<'PYTHON'
import sys
import boto3
service = boto3.client("s3", endpoint_url=sys.argv[1])
service.create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
service.put_object_lock_configuration(
    Bucket="locked", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
)
PYTHON
    then
      export EVIDENCE_TEST_LOCKED_S3=s3://locked EVIDENCE_TEST_LOCKED_ENDPOINT="http://127.0.0.1:$locked_port"
      break
    fi
    sleep 0.2
  done
fi
echo "$("$programs/postgres" --version) and moto's S3, ready after $SECONDS s"

# Tests report skipped parts outside their captured output.
code=0
"$@" 2>&1 | tee "$work/said" || code=$?
[ "$code" = 0 ] || { echo "FAILED: $* ($code)"; exit "$code"; }
# The disk, the pooler and the locked bucket are optional; the tests report when they are missing.
if grep "SKIPPED" "$work/said" | grep -qv -e "SKIPPED: a full disk" -e "SKIPPED: a pooler" -e "SKIPPED: a bucket with Object Lock"; then
  echo "FAILED: a test was skipped although both are there"
  exit 1
fi
grep "SKIPPED" "$work/said" | sort -u || true
echo "ok   on PostgreSQL and S3 in $SECONDS s"
