#!/usr/bin/env bash
# Tests the container images made from the archives of a release: builds them twice with the same bytes, and runs them
# with crun like Kubernetes' profile "restricted", with a read-only root: a run against the sandbox, whose bundle is
# uploaded to the platform in the other image. Reports what it skips.
#
# Usage: ci/images.sh <sandbox binary> [directory with the archives]      by default dist/out
set -euo pipefail
# shellcheck source=ci/lib.sh
source "$(dirname "$0")/lib.sh"

made_twice dist/images

if need skopeo "the look at the images"; then
  for image in "$work"/out/*-image.tar; do
    skopeo --insecure-policy copy --quiet "docker-archive:$image" "dir:$work/copy" >"$log" 2>&1 || fail "skopeo cannot read ${image##*/}"
    rm -rf "$work/copy"
  done
  echo "ok   skopeo reads and checks them"
fi

if [ "$(id -u)" != 0 ] || ! need crun "the run of the images"; then
  [ "$(id -u)" = 0 ] || echo "SKIPPED: the run of the images needs root"
  exit 0
fi

# container PROGRAM [ARGUMENT...]: prints the command that runs the program in its image, on this machine's
# network.
cat >"$work/container.py" <<'PYTHON'
"""Unpacks an image and writes what crun needs: UNPACK IMAGE DIRECTORY; RUN DIRECTORY [VOLUME...] -- VARIABLE=VALUE... -- ARGUMENT..."""
import json, os, sys, tarfile
action, *words = sys.argv[1:]
if action == "unpack":
    image, directory = words
    with tarfile.open(image) as archive:
        entry = json.load(archive.extractfile("manifest.json"))[0]
        config = json.load(archive.extractfile(entry["Config"]))["config"]
        for layer in entry["Layers"]:
            with tarfile.open(fileobj=archive.extractfile(layer)) as files:
                files.extractall(f"{directory}/root", numeric_owner=True)
    # Mount points, which a container manager would create.
    for name in ("proc", "dev", "run"):
        os.makedirs(f"{directory}/root/{name}", exist_ok=True)
    json.dump(config, open(f"{directory}/image.json", "w"))
else:
    directory, words = words[0], words[1:]
    first = words.index("--")
    second = words.index("--", first + 1)
    volumes, variables, arguments = words[:first], words[first + 1:second], words[second + 1:]
    image = json.load(open(f"{directory}/image.json"))
    user, group = map(int, image["User"].split(":"))
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"},
              {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}]
    for volume in volumes:
        source, destination, *options = volume.split(":")
        mounts.append({"destination": destination, "type": "bind", "source": source, "options": ["bind", *(options or ["rw"])]})
    no_capabilities = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
    json.dump({
        "ociVersion": "1.0.2",
        "process": {"user": {"uid": user, "gid": group}, "cwd": image["WorkingDir"], "env": image["Env"] + variables,
                    "args": image["Entrypoint"] + (arguments or image.get("Cmd", [])),
                    "capabilities": no_capabilities, "noNewPrivileges": True},
        "root": {"path": "root", "readonly": True},
        "mounts": mounts,
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")]},
    }, open(f"{directory}/config.json", "w"))
PYTHON
for program in evidence evidence-platform; do
  mkdir "$work/$program"
  python3 "$work/container.py" unpack "$work/out/$program"-[0-9]*-"$arch"-image.tar "$work/$program"
done
# run PROGRAM [VOLUME...] -- [VARIABLE=VALUE...] -- [ARGUMENT...]
count=0
run() {
  local bundle=$work/run-$((count += 1))-$BASHPID
  mkdir "$bundle"
  cp "$work/$1/image.json" "$bundle"
  ln -s "$work/$1/root" "$bundle/root"
  python3 "$work/container.py" run "$bundle" "${@:2}"
  # crun supports only version 2 of cgroups, which not every machine mounts at the expected place.
  unshare --mount sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec crun "$@"' crun \
    --root "$work/crun" --cgroup-manager disabled run --pid-file "$bundle/pid" --bundle "$bundle" "images-$$-${bundle##*/}"
}
if ! run evidence -- -- --version >"$log" 2>&1; then
  echo "SKIPPED: crun does not run here:"
  cat "$log"
  exit 0
fi

start_sandbox
mkdir -m 700 "$work"/{evidence-files,cache,data,secrets}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
chown 65532:65532 "$work"/{evidence-files,cache,data,secrets}
listen=EVIDENCE_PLATFORM_LISTEN=127.0.0.1:$port
platform() { run evidence-platform "$work/data:/data" "$work/evidence-files:/keys:ro" -- "$listen" -- "$@"; }

if platform health >"$log" 2>&1; then fail "a platform that is not there is healthy"; fi
platform serve >"$work/platform.log" 2>&1 &
# To stop the container, signal its process, not the shell that waits for it.
for _ in $(seq 100); do cat "$work"/run-*-$!/pid >"$work/pid" 2>/dev/null && break; sleep 0.1; done
others+=("$(cat "$work/pid")")
for _ in $(seq 50); do platform health >"$log" 2>&1 && healthy=1 && break; sleep 0.1; done
[ -n "${healthy:-}" ] || { cat "$work/platform.log"; fail "the platform is not healthy"; }

tool() {
  run evidence "$work/evidence-files:/evidence" "$work/cache:/cache" "$work/secrets:/run/secrets:ro" -- \
    "CODEHOST_API_URL=$url" CODEHOST_TOKEN_FILE=/run/secrets/token EVIDENCE_API_KEY_FILE=/run/secrets/api-key \
    EVIDENCE_SIGNING_KEY_FILE=/run/secrets/signing-key -- "$@"
}
tool keygen --output signing-key >"$log" 2>&1 || fail "keygen"
platform organization create Acme --slug acme >"$log" 2>&1 || fail "the organization"
platform trust add --organization acme /keys/signing-key.pub.pem >"$log" 2>&1 || fail "the trusted key"
platform key create --organization acme --role upload >"$work/secrets/api-key" 2>"$log" || fail "the API key"
echo "$token" >"$work/secrets/token"
mv "$work/evidence-files/signing-key" "$work/secrets/signing-key"
cp dist/systemd/example.yaml "$work/evidence-files/evidence.yaml"
printf 'upload:\n  api_url: http://127.0.0.1:%s\n' "$port" >>"$work/evidence-files/evidence.yaml"
# The demo's organization lacks a permission: code 3.
code=0
bundle=$(tool collect --quiet --upload 2>"$log") || code=$?
[ "$code" = 3 ] || fail "collect: exit code $code"
tool verify --public-key signing-key.pub.pem "$bundle" >"$log" 2>&1 || fail "the bundle"
ls "$work"/cache/evidence/* >"$log" 2>&1 || fail "nothing is kept for the next run"
[ -n "$(find "$work/data/blobs" -type f -size +1k)" ] || fail "the platform has no bundle"
echo "ok   the images, run by crun with a read-only root: collected, verified, uploaded, healthy; $SECONDS s"
