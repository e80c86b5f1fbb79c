#!/usr/bin/env bash
# Installs the Debian packages that the checks need, as root on Debian. Elsewhere it does nothing, and each check says what
# it lacks.
#
# Usage: ci/install.sh
set -euo pipefail
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0
packages=(
  busybox-static caddy chromium crun fonts-dejavu-core gcc-mingw-w64-x86-64-win32 kubernetes-client lintian mandoc
  mmdebstrap pacman-package-manager rpm shellcheck skopeo systemd wine wine64
)
missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
install() { DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "$@"; }
install "${missing[@]}" || apt-get update --quiet || true
# One that this Debian does not have must not keep the others away.
install "${missing[@]}" || for package in "${missing[@]}"; do install "$package" || true; done
