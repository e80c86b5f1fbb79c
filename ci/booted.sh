#!/usr/bin/env bash
# Boots the systemd of an unpacked system in separate namespaces, on this machine's network, runs a command in it and
# shuts it down. Needs root; exits with code 77 if this machine does not allow it.
#
# Usage: ci/booted.sh ROOT COMMAND [ARGUMENT...]
set -euo pipefail
root=$(realpath "$1")
shift
log=$(mktemp)
group='' boot=''
stop() {
  [ -z "$boot" ] || kill -KILL "$boot" 2>/dev/null || true
  # A cgroup is empty once its last process has been reaped; the innermost go first.
  for _ in $(seq 50); do
    [ -d "$group" ] || break
    find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || sleep 0.1
  done
  rm -f "$log"
}
trap stop EXIT
trap 'exit 1' INT TERM
refused() { echo "cannot boot $root: $1"; exit 77; }

[ "$(id -u)" = 0 ] || refused "not root"
[ -x "$root/lib/systemd/systemd" ] || refused "it has no systemd"
hierarchy=$(findmnt --noheadings --first-only --output TARGET --types cgroup2) || refused "no cgroup2"
group=$hierarchy/booted-$$
mkdir "$group" 2>"$log" || { group=; refused "$(cat "$log")"; }

# In the new namespaces: what a container manager mounts.
prepare='
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch "dev/$device"; mount --bind "/dev/$device" "dev/$device"; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs dev/shm
# chroot is not enough: processes in a changed root cannot create user namespaces, which PrivateUsers= needs.
pivot_root . mnt
cd /
umount --lazy mnt
# Otherwise credentials, which systemd mounts in a separate namespace, do not become visible.
mount --make-rshared /
exec env -i container=booted PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=multi-user.target --show-status=false
'
(
  echo "$BASHPID" >"$group/cgroup.procs"
  exec unshare --mount --pid --fork --kill-child --cgroup --uts --ipc bash -c "$prepare" booted "$root"
) >"$log" 2>&1 &
boot=$!
disown
system=
for _ in $(seq 100); do
  system=$(cat "/proc/$boot/task/$boot/children" 2>/dev/null) && system=${system%% *}
  [ -z "$system" ] || [ ! -S "/proc/$system/root/run/systemd/private" ] || break
  kill -0 "$boot" 2>/dev/null || refused "$(cat "$log")"
  sleep 0.1
done
inside=(nsenter --target "$system" --mount --pid --cgroup --uts --ipc --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin)
# Some of the machine's own units may fail here; it only matters that the system is up.
"${inside[@]}" timeout 60 systemctl is-system-running --wait >/dev/null 2>&1 || true
"${inside[@]}" systemctl is-active --quiet basic.target || refused "$(tail -n 5 "$log")"
code=0
"${inside[@]}" "$@" || code=$?
"${inside[@]}" systemctl poweroff --force >/dev/null 2>&1 || true
exit "$code"
