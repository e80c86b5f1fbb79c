#!/usr/bin/env bash
# Checks the deployment files against the schemas of their readers (compose, Caddy, kustomize, and Kubernetes with the
# profile "restricted"), and their configurations against the tool's own schema. Starts nothing.
#
# Usage: ci/deploy.sh <evidence binary>
set -euo pipefail
# shellcheck source=ci/lib.sh
source "$(dirname "$0")/lib.sh"

if ! python3 -m venv "$work/venv" >"$log" 2>&1 ||
  ! "$work/venv/bin/pip" install --quiet check-jsonschema==0.39.0 kubernetes-validate==1.37.0 pyyaml==6.0.3 >"$log" 2>&1; then
  echo "SKIPPED: the check of the files for deployments needs python3 with packages that do not install:"
  tail -n 3 "$log"
  exit 0
fi
PATH=$work/venv/bin:$PATH

"$given" schema >"$work/schema.json"
check-jsonschema --schemafile "$work/schema.json" dist/systemd/example.yaml deploy/kubernetes/collect/evidence.yaml >"$log" 2>&1 || fail "a configuration"
check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml >"$log" 2>&1 || fail "deploy/compose.yaml"
echo "ok   the configurations and compose.yaml fit their schemas"

# pin.sh with a stand-in for Docker; then every image of compose.yaml is pinned, or comes from a file.
mkdir "$work/fake"
cat >"$work/fake/docker" <<'SH'
#!/bin/sh
case $1 in
  pull) [ "$FAKE_PULL" != fails ] || { echo "no such host" >&2; exit 1; } ;;
  image) eval "image=\${$#}"; echo "${image%%:*}@sha256:$(echo "$image" | sha256sum | cut -d' ' -f1)" ;;
esac
SH
chmod +x "$work/fake/docker"
echo EVIDENCE_HOST=evidence.example.com >"$work/env"
if PATH=$work/fake:$PATH FAKE_PULL=fails deploy/pin.sh >"$log" 2>&1; then fail "pin.sh without a registry"; fi
PATH=$work/fake:$PATH FAKE_PULL=works deploy/pin.sh >>"$work/env" 2>"$log" || fail "pin.sh"
python3 - "$work/env" >"$log" 2>&1 <<'PYTHON' || fail "the images of compose.yaml"
import re, sys, yaml
known = dict(line.strip().split("=", 1) for line in open(sys.argv[1]))
def value(match):
    name, default = re.fullmatch(r"(\w+)(?::-(.*)|:\?.*)?", match[1]).groups()
    return known[name] if name in known else default
images = {}
for name, service in yaml.safe_load(open("deploy/compose.yaml"))["services"].items():
    images[name] = re.sub(r"\$\{([^}]*)\}", value, service["image"])
assert set(images) == {"platform", "database", "proxy"}, images
assert re.fullmatch(r"localhost/evidence-platform:[0-9.]+", images.pop("platform")), images
for image in images.values():
    assert re.fullmatch(r"[a-z]+@sha256:[0-9a-f]{64}", image), image
PYTHON
echo "ok   compose starts other images by digest only"

if need caddy "the check of the Caddyfile"; then
  EVIDENCE_HOST=evidence.example.com XDG_DATA_HOME=$work HOME=$work caddy validate --adapter caddyfile --config deploy/Caddyfile >"$log" 2>&1 || fail "the Caddyfile"
  caddy fmt --diff deploy/Caddyfile >"$log" 2>&1 || fail "the form of the Caddyfile"
  echo "ok   Caddy reads the Caddyfile"
fi

if need kubectl "the check of the files for Kubernetes"; then
  for base in collect platform; do kubectl kustomize "deploy/kubernetes/$base" >"$work/$base.yaml" 2>"$log" || fail "kustomize of $base"; done
  # The overlay of the documentation.
  mkdir -p "$work/overlay/evidence"
  cp -r deploy "$work/overlay/evidence/deploy"
  cp deploy/kubernetes/collect/evidence.yaml "$work/overlay"
  sed -n '/^# kustomization.yaml$/,/^```$/{/^```$/!p}' docs/deploy.md >"$work/overlay/kustomization.yaml"
  kubectl kustomize "$work/overlay" >"$work/both.yaml" 2>"$log" || fail "kustomize of the documented overlay"
  kubernetes-validate --strict "$work"/{collect,platform,both}.yaml >"$log" 2>&1 || fail "the schema of Kubernetes"
  python3 - "$work"/{collect,platform,both}.yaml >"$log" 2>&1 <<'PYTHON' || fail "the profile restricted, digests, network policies"
import re, sys, yaml
pods = []
def find(value, labels=None):
    if isinstance(value, dict):
        if "containers" in value:
            pods.append((value, labels))
        labels = value.get("metadata", {}).get("labels") if "spec" in value else labels
        for inner in value.values():
            find(inner, labels)
    elif isinstance(value, list):
        for inner in value:
            find(inner, labels)
for path in sys.argv[1:]:
    objects = list(yaml.safe_load_all(open(path)))
    before = len(pods)
    find(objects)
    policies = [one["spec"] for one in objects if one["kind"] == "NetworkPolicy"]
    for pod, labels in pods[before:]:
        mine = [policy for policy in policies if policy["podSelector"]["matchLabels"].items() <= (labels or {}).items()]
        assert len(mine) == 1 and set(mine[0]["policyTypes"]) == {"Ingress", "Egress"}, (labels, policies)
        for container in pod["containers"]:
            pinned = re.fullmatch(r"registry\.example\.com/[a-z-]+@sha256:(\d)\1{63}", container["image"])
            assert pinned or not path.endswith("both.yaml"), container["image"]
assert len(pods) == 4, pods
pods = [pod for pod, _ in pods]
volumes = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
for pod in pods:
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod), pod
    context = pod["securityContext"]
    assert context["runAsNonRoot"] is True and context["runAsUser"] > 0, context
    assert context["seccompProfile"]["type"] == "RuntimeDefault", context
    for volume in pod.get("volumes", []):
        assert set(volume) - {"name"} <= volumes, volume
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False and context["capabilities"] == {"drop": ["ALL"]}, context
        assert context["readOnlyRootFilesystem"] is True, context
        assert ":" in container["image"], container["image"]
collect = [container for pod in pods for container in pod["containers"] if container["name"] == "evidence"]
# The status of a failed pod shows why.
assert collect and all(one["terminationMessagePolicy"] == "FallbackToLogsOnError" for one in collect), collect
PYTHON
  echo "ok   kustomize, the schema of Kubernetes, the profile restricted, digests and network policies"
fi
# The documented unit that mails why a run failed: systemd reads it, and its command makes a mail of the journal.
mkdir -p "$work/alert/bin"
sed -n '/^Description=Mail why/,/^```$/{/^```$/!p}' docs/deploy.md | sed '1i [Unit]' >"$work/alert/evidence-alert@.service"
if need systemd-analyze "the check of the documented unit"; then
  systemd-analyze verify "$work/alert/evidence-alert@.service" >"$log" 2>&1 || fail "the documented unit for alerts"
  [ ! -s "$log" ] || fail "the documented unit for alerts"
fi
printf '#!/bin/sh\necho "$*" >>"%s"\necho "incomplete: cloud: not reached"\n' "$work/alert/journal" >"$work/alert/bin/journalctl"
printf '#!/bin/sh\ncat >"%s"\n' "$work/alert/mail" >"$work/alert/bin/sendmail"
chmod +x "$work"/alert/bin/*
command=$(python3 - "$work/alert/evidence-alert@.service" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read().replace("\\\n", " ")
print(re.search(r"^ExecStart=/bin/sh -c '(.*)'$", text, re.M)[1].replace("%i", "evidence-collect@acme.service").replace("%H", "collector"))
PYTHON
)
PATH=$work/alert/bin:$PATH sh -c "$command" >"$log" 2>&1 || fail "the command of the documented unit"
grep -qx "Subject: evidence-collect@acme.service failed on collector" "$work/alert/mail" || fail "the subject of the mail"
grep -qx "incomplete: cloud: not reached" "$work/alert/mail" || fail "the cause is not in the mail"
grep -qF -- "--unit evidence-collect@acme.service --since=-6h" "$work/alert/journal" || fail "another unit's journal"
echo "ok   the documented unit mails why a run failed"

# The same version in all of them.
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
for file in deploy/compose.yaml deploy/kubernetes/{collect,platform}/kustomization.yaml; do
  grep -qF "$version" "$file" || fail "$file names another version than $version"
done
echo "ok   the files for deployments, in $SECONDS s"
