"""The bill of materials of a program of the release, as CycloneDX 1.6.

Usage: dist/sbom.py PROGRAM OUTPUT TARGET=MESSAGES... [--with PROGRAM]

It lists the packages that are in the program: what `cargo tree -e normal` has for the target, without procedural macros,
which run in the compiler only. MESSAGES are what Cargo printed while it compiled for that target; unless it compiled
exactly those packages, this fails. `--with` names another program that the same call of Cargo compiled.
The same commit gives the same bytes.
"""
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from datetime import datetime, timezone
from pathlib import Path


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments], check=True, capture_output=True, text=True).stdout


def compiled(messages, target):
    """The packages whose libraries and programs were compiled for the target, as (name, version)."""
    found = set()
    for line in Path(messages).read_text().splitlines():
        message = json.loads(line)
        # Procedural macros and build scripts are compiled for this machine, in a directory without the target's
        # name.
        if message["reason"] == "compiler-artifact" and any(f"/{target}/" in name for name in message["filenames"]):
            found.add(PACKAGES[message["package_id"]])
    return found


def tree(programs, target):
    """What each package depends on, in the features that are selected for these programs."""
    selected = [word for program in programs for word in ("-p", program)]
    lines = cargo("tree", "--locked", *selected, "--target", target, "-e", "normal,no-proc-macro", "--prefix", "depth",
                  "--format", " {p}").splitlines()
    depends, path = {}, []
    for line in filter(None, lines):
        depth, name, version = re.match(r"(\d+) (\S+) v(\S+)", line).groups()
        package = (name, version)
        depends.setdefault(package, set())
        path[int(depth):] = [package]
        if len(path) > 1:
            depends[path[-2]].add(package)
    return depends


def reference(package):
    # The project's own crates are in no registry, where others may use the same names.
    return "pkg:cargo/%s@%s" % package if package in CHECKSUMS else "%s@%s" % package


def component(package, kind="library"):
    about = METADATA[package]
    entry = {"type": kind, "bom-ref": reference(package), "name": package[0], "version": package[1]}
    if about["description"]:
        entry["description"] = " ".join(about["description"].split())
    if package in CHECKSUMS:
        entry["purl"] = reference(package)
        entry["hashes"] = [{"alg": "SHA-256", "content": CHECKSUMS[package]}]
    if about["license"]:
        entry["licenses"] = [{"expression": about["license"].replace("/", " OR ")}]
    if about["repository"] and package in CHECKSUMS:
        entry["externalReferences"] = [{"type": "vcs", "url": about["repository"]}]
    return entry


def defined_in(directory, header, constant):
    """What a header of a C library defines."""
    text = (directory / header).read_text()
    return re.search(rf'^#define {constant}\s+"?([0-9.]+)', text, re.M).group(1)


def other(name, version, licence, description):
    purl = f"pkg:generic/{name}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "description": description, "licenses": [{"expression": licence}]}


program, output, *rest = sys.argv[1:]
together = [program, *rest[rest.index("--with") + 1:]] if "--with" in rest else [program]
messages = dict(word.split("=", 1) for word in rest if "=" in word)

METADATA, PACKAGES = {}, {}
for package in json.loads(cargo("metadata", "--locked", "--format-version", "1"))["packages"]:
    METADATA[package["name"], package["version"]] = package
    PACKAGES[package["id"]] = (package["name"], package["version"])
CHECKSUMS = {(package["name"], package["version"]): package["checksum"]
             for package in tomllib.loads(Path("Cargo.lock").read_text())["package"] if "checksum" in package}

trees = {target: tree([program], target) for target in messages}
for target, path in messages.items():
    built, expected = compiled(path, target), set(tree(together, target))
    if built != expected:
        sys.exit(f"{program} for {target}: compiled, but not in cargo tree: {sorted(built - expected)}; "
                 f"in cargo tree, but not compiled: {sorted(expected - built)}")

depends = {}
for edges in trees.values():
    for package, needed in edges.items():
        depends.setdefault(package, set()).update(needed)
root = next(package for package in depends if package[0] == program)
components = []
for package in sorted(set(depends) - {root}):
    entry = component(package)
    only = sorted(target for target, edges in trees.items() if package in edges)
    if len(only) < len(trees):
        entry["properties"] = [{"name": "evidence:target", "value": target} for target in only]
    components.append(entry)

rustc = dict(line.split(": ", 1) for line in subprocess.run(
    ["rustc", "-vV"], check=True, capture_output=True, text=True).stdout.splitlines() if ": " in line)
extra = [(root, other("rust-std", rustc["release"], "MIT OR Apache-2.0", "The standard library of Rust"))]
if any(target.endswith("-musl") for target in messages):
    import ziglang
    version = defined_in(Path(ziglang.__file__).parent, "lib/libc/musl/src/internal/version.h", "VERSION")
    extra.append((root, other("musl", version, "MIT", "The C library of the static programs")))
for package in depends:
    directory = Path(METADATA[package]["manifest_path"]).parent
    if package[0] == "libsqlite3-sys":
        version = defined_in(directory, "sqlite3/sqlite3.h", "SQLITE_VERSION")
        extra.append((package, other("sqlite", version, "blessing", "SQLite, compiled into the program")))
    if package[0] == "libmimalloc-sys":
        number = int(defined_in(directory, "c_src/mimalloc/v3/include/mimalloc.h", "MI_MALLOC_VERSION"))
        version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        extra.append((package, other("mimalloc", version, "MIT", "The allocator of the static programs")))
components += [library for _, library in extra]

graph = [{"ref": reference(package), "dependsOn": sorted(map(reference, needed))} for package, needed in sorted(depends.items())]
for entry in graph:
    for package, library in extra:
        if entry["ref"] == reference(package):
            entry["dependsOn"].append(library["bom-ref"])
commit = os.environ.get("EVIDENCE_COMMIT", "")
about = component(root, "application")
if commit:
    about["properties"] = [{"name": "evidence:commit", "value": commit}]
tools = [{"type": "application", "name": "rustc", "version": rustc["release"]}]
tools += [{"type": "application", "name": name, "version": version}
          for name, version in re.findall(r"^(\S+)==(\S+)", Path("dist/requirements.txt").read_text(), re.M)]
bom = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "version": 1,
    "metadata": {
        "timestamp": datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "lifecycles": [{"phase": "build"}],
        "tools": {"components": tools},
        "component": about,
    },
    "components": components,
    "dependencies": graph,
}
# A serial number derived from the contents.
bom["serialNumber"] = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(bom, sort_keys=True)).urn
Path(output).write_text(json.dumps(bom, indent=2, sort_keys=True) + "\n")
print(f"{Path(output).name}  {len(components)} components, those of the build")
