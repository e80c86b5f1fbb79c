#!/usr/bin/env bash
# Tests the packages made from the archives of a release: builds them twice with the same bytes and checks them with
# lintian and systemd-analyze. Installs the Debian packages in a clean Debian, where systemd runs both services against
# the sandbox, and removes them; installs the others in empty directories. Reports what it skips. Works best as root.
#
# Usage: ci/packages.sh <sandbox binary> [directory with the archives]      by default dist/out
set -euo pipefail
# shellcheck source=ci/lib.sh
source "$(dirname "$0")/lib.sh"

made_twice dist/packages

if need lintian "the check of the Debian packages"; then
  # lintian warns when it runs as root.
  lintian --allow-root --fail-on error "$work"/out/*.deb >"$log" 2>&1 || fail "lintian"
  cat "$log"
  echo "ok   lintian: no error"
fi

if need systemd-analyze "the check of the units"; then
  units=$work/units
  mkdir "$units"
  # With a placeholder program, since ours is not installed here.
  for unit in dist/systemd/*.service; do sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|; /^Documentation=/d' "$unit" >"$units/${unit##*/}"; done
  cp dist/systemd/*.timer "$units"
  cp "$units/evidence-collect@.service" "$units/evidence-collect@acme.service"
  cp "$units/evidence-collect@.timer" "$units/evidence-collect@acme.timer"
  systemd-analyze verify "$units"/evidence-platform.service "$units"/evidence-collect@acme.{service,timer} >"$log" 2>&1 || fail "systemd-analyze verify"
  [ ! -s "$log" ] || fail "systemd-analyze verify has something to say"
  for unit in dist/systemd/*.service; do
    systemd-analyze security --offline=true --threshold=15 "$unit" >"$log" 2>&1 || fail "$unit is exposed more than 1.5"
    echo "ok   ${unit##*/}: $(tail -n 1 "$log" | sed 's/^[^O]*//; s/ [^ ]*$//')"
  done
fi

start_sandbox
clean_debian() {
  local root=$work/debian began=$SECONDS
  local suite
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  mmdebstrap --quiet --variant=essential --include=ca-certificates,systemd --dpkgopt=force-unsafe-io \
    --aptopt='Acquire::Languages "none"' "$suite" "$root" >"$log" 2>&1 || { echo "SKIPPED: a clean Debian cannot be made:"; tail -n 3 "$log"; return; }
  echo "ok   a clean Debian in $((SECONDS - began)) s"
  inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
  if inside sh -c 'command -v cargo rustc'; then fail "the clean Debian has Rust"; fi
  files() { inside find / -xdev \( -path /tmp -o -path /run -o -path /proc -o -path /var/lib/dpkg -o -path /var/cache \
    -o -path /var/log -o -path /root \) -prune -o -print | sort; }
  files >"$work/before"

  began=$SECONDS
  mkdir -p "$root/root/packages"
  cp "$work"/out/*_"$(dpkg --print-architecture)".deb ci/packages_inside.sh "$root/root/packages"
  local debs=("$root"/root/packages/*.deb)
  debs=("${debs[@]#"$root"}")
  inside dpkg --install "${debs[@]}" >"$log" 2>&1 || fail "the installation"
  for program in evidence evidence-platform; do
    inside "$program" --version >"$log" 2>&1 || fail "$program does not run"
    inside test -s "/usr/share/man/man1/$program.1.gz" || fail "$program has no manual page"
  done
  inside test -s /usr/share/man/man1/evidence-collect.1.gz || fail "evidence collect has no manual page"
  # Run manually as a user.
  install --directory --owner 1000 --group 1000 "$root/home/user"
  cat >"$root/home/user/collect" <<SCRIPT
set -eu
cd
evidence init --org acme --generate-keys >/dev/null
CODEHOST_API_URL=$url CODEHOST_TOKEN=$token evidence collect --quiet >bundle || [ \$? = 3 ]
evidence verify -k evidence-signing-key.pub.pem "\$(cat bundle)"
SCRIPT
  inside setpriv --reuid 1000 --regid 1000 --clear-groups env HOME=/home/user sh /home/user/collect >"$log" 2>&1 || fail "collect and verify"
  grep -q "^VERIFIED" "$log" || fail "the bundle is not verified"
  echo "ok   .deb: installed, collected and verified in $((SECONDS - began)) s"
  rm -rf "$root/home/user"

  began=$SECONDS
  local code=0
  bash ci/booted.sh "$root" bash /root/packages/packages_inside.sh "$url" "$token" >"$log" 2>&1 || code=$?
  case $code in
    0) sed 's/^/     /' "$log"; echo "ok   the units, run by systemd, in $((SECONDS - began)) s" ;;
    77) echo "SKIPPED: the units are not run: $(cat "$log")" ;;
    *) fail "the units" ;;
  esac

  inside dpkg --purge evidence evidence-platform >"$log" 2>&1 || fail "the removal"
  files >"$work/after"
  # Configuration and data remain, as with every package.
  comm -13 "$work/before" "$work/after" | grep -v -E '^/(etc/evidence|var/(lib/(private/)?evidence|lib/systemd|tmp)/?)' >"$log" &&
    fail "the removal leaves something behind"
  echo "ok   .deb: removed"
}
if [ "$(id -u)" != 0 ]; then
  echo "SKIPPED: the installation in a clean Debian needs root"
elif need mmdebstrap "the installation in a clean Debian"; then
  clean_debian
fi

# expect ROOT: checks that both programs run in an otherwise empty root.
expect() {
  for program in evidence evidence-platform; do
    "$1/usr/bin/$program" --version >"$log" 2>&1 || fail "$program of ${1##*/} does not run"
    for file in man/man1/$program.1.gz bash-completion/completions/$program fish/vendor_completions.d/$program.fish \
      zsh/site-functions/_$program licenses/$program/LICENSE-MIT licenses/$program/LICENSE-APACHE; do
      [ -s "$1/usr/share/$file" ] || fail "${1##*/} has no /usr/share/$file"
    done
  done
}
if need rpm "the installation of .rpm"; then
  root=$work/rpm
  mkdir "$root"
  rpm --root "$root" --install --nodeps "$work"/out/*."$arch".rpm >"$log" 2>&1 || fail "the installation of .rpm"
  expect "$root"
  rpm --root "$root" --query --requires evidence | grep -q ca-certificates || fail ".rpm: does not require ca-certificates"
  rpm --root "$root" --erase evidence evidence-platform >"$log" 2>&1 || fail "the removal of .rpm"
  [ ! -e "$root/usr/bin/evidence" ] || fail ".rpm: removed, and still there"
  echo "ok   .rpm: installed, run, removed"
fi
if need pacman "the installation of the Arch packages"; then
  root=$work/arch
  mkdir -p "$root/var/lib/pacman"
  arch_packages() { pacman --root "$root" --config /dev/null --noconfirm --nodeps --nodeps "$@" >"$log" 2>&1; }
  arch_packages --upgrade "$work"/out/*-"$arch".pkg.tar.zst || fail "the installation of the Arch packages"
  expect "$root"
  arch_packages --remove evidence evidence-platform || fail "the removal of the Arch packages"
  [ ! -e "$root/usr/bin/evidence" ] || fail "the Arch packages: removed, and still there"
  echo "ok   Arch: installed, run, removed"
fi
# An .apk consists of two concatenated .tar.gz; its own tools exist only on Alpine.
root=$work/apk
mkdir "$root"
for package in "$work"/out/*_"$arch".apk; do tar --extract --gzip --ignore-zeros --file "$package" --directory "$root" 2>"$log" || fail "$package"; done
expect "$root"
grep -q '^depend = ca-certificates' "$root/.PKGINFO" || fail ".apk: does not depend on ca-certificates"
echo "ok   .apk: unpacked and run; not installed, which only Alpine can"
echo "ok   the packages, in $SECONDS s"
