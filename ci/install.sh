#!/usr/bin/env bash
# Installs the programs that the checks need, as root on Debian. Elsewhere it does nothing, and each check reports what
# it lacks.
#
# Usage: ci/install.sh
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
missing=()
while read -r program packages; do
  # shellcheck disable=SC2206 # several packages
  command -v "$program" >/dev/null || missing+=($packages)
done <<'PROGRAMS'
bsdtar                  libarchive-tools
busybox                 busybox-static
caddy                   caddy
chromium                chromium fonts-dejavu-core
crun                    crun
kubectl                 kubernetes-client
lintian                 lintian
mandoc                  mandoc
mmdebstrap              mmdebstrap
pacman                  pacman-package-manager
rpm                     rpm
shellcheck              shellcheck
skopeo                  skopeo
systemd-analyze         systemd
wine                    wine wine64
x86_64-w64-mingw32-gcc  gcc-mingw-w64-x86-64-win32
zsh                     zsh
PROGRAMS
[ ${#missing[@]} -gt 0 ] || exit 0
install() { DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@"; }
install "${missing[@]}" && exit
apt-get update --quiet
# A package that this Debian lacks must not prevent the installation of the others.
install "${missing[@]}" || for package in "${missing[@]}"; do install "$package" || true; done
