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

if need caddy "the check of the Caddyfile"; then
  EVIDENCE_HOST=evidence.example.com XDG_DATA_HOME=$work HOME=$work caddy validate --adapter caddyfile --config deploy/Caddyfile >"$log" 2>&1 || fail "the Caddyfile"
  caddy fmt --diff deploy/Caddyfile >"$log" 2>&1 || fail "the form of the Caddyfile"
  echo "ok   Caddy reads the Caddyfile"
fi

if need kubectl "the check of the files for Kubernetes"; then
  for base in collect platform; do kubectl kustomize "deploy/kubernetes/$base" >"$work/$base.yaml" 2>"$log" || fail "kustomize of $base"; done
  kubernetes-validate --strict "$work"/{collect,platform}.yaml >"$log" 2>&1 || fail "the schema of Kubernetes"
  python3 - "$work"/{collect,platform}.yaml >"$log" 2>&1 <<'PYTHON' || fail "the profile restricted"
import sys, yaml
pods = []
def find(value):
    if isinstance(value, dict):
        if "containers" in value:
            pods.append(value)
        for inner in value.values():
            find(inner)
    elif isinstance(value, list):
        for inner in value:
            find(inner)
for path in sys.argv[1:]:
    find(list(yaml.safe_load_all(open(path))))
assert len(pods) == 2, pods
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
PYTHON
  echo "ok   kustomize, the schema of Kubernetes, the profile restricted"
fi
# The same version in all of them.
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
for file in deploy/compose.yaml deploy/kubernetes/{collect,platform}/kustomization.yaml; do
  grep -qF "$version" "$file" || fail "$file names another version than $version"
done
echo "ok   the files for deployments, in $SECONDS s"
