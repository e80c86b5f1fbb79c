#!/bin/sh
# Pulls the images that compose.yaml needs from registries, and prints their digests as lines for .env: a tag can be moved
# to another image later, a digest cannot.
#
# Usage: ./pin.sh >>.env
set -eu

# pin VARIABLE IMAGE
pin() {
  docker pull --quiet "$2" >&2
  digest=$(docker image inspect --format '{{index .RepoDigests 0}}' "$2")
  case $digest in
    *@sha256:*) echo "$1=$digest" ;;
    *) echo "error: $2 has no digest" >&2; exit 1 ;;
  esac
}

pin POSTGRES_IMAGE postgres:17.6-bookworm
pin CADDY_IMAGE caddy:2.10.2-alpine
