"""The licence texts of what is in a program of the release: most of them ask to be passed on with it.

Usage: dist/notices.py SBOM OUTPUT

SBOM is what dist/sbom.py wrote. Each text is there once, below the packages that carry it.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

sbom, output = map(Path, sys.argv[1:])
bom = json.loads(sbom.read_text())
metadata = json.loads(subprocess.run(
    ["cargo", "metadata", "--locked", "--format-version", "1"], check=True, capture_output=True, text=True).stdout)
directories = {(package["name"], package["version"]): Path(package["manifest_path"]).parent
               for package in metadata["packages"] if package["source"]}

texts, without = {}, []
for component in bom["components"]:
    package = (component["name"], component["version"])
    name = f"{component['name']} {component['version']} ({component['licenses'][0]['expression']})"
    if component["name"] == "musl":
        import ziglang
        copyright = Path(ziglang.__file__).parent / "lib/libc/musl/COPYRIGHT"
        texts.setdefault(copyright.read_text().strip(), []).append(name)
        continue
    if package not in directories:
        # The project's own crates have no purl; the archive has their licence.
        if "purl" in component:
            without.append(f"{name}: {component['description']}")
        continue
    is_text = re.compile(r"(licen[cs]e|copying|notice|unlicense)([-._].*)?", re.I).fullmatch
    files = [file for file in sorted(directories[package].rglob("*"))
             if file.is_file() and is_text(file.name) and file.suffix not in (".rs", ".toml", ".json", ".yml")]
    # Texts that differ only in line ends or trailing spaces are the same.
    found = {"\n".join(line.rstrip() for line in file.read_text(errors="replace").strip().splitlines()) for file in files}
    for text in found:
        texts.setdefault(text, []).append(name)
    if not found:
        without.append(f"{name}: {component.get('externalReferences', [{'url': 'no address'}])[0]['url']}")

rule = "=" * 78
parts = [f"{bom['metadata']['component']['name']} contains these packages, under their own licences.\n"]
for text, packages in sorted(texts.items(), key=lambda item: (sorted(item[1]), item[0])):
    parts.append("\n".join([rule, *sorted(packages), rule, "", text, ""]))
parts.append("\n".join([rule, "These carry no text of their licence:", "", *sorted(without), ""]))
output.write_text("\n".join(parts))
print(f"{output.name}  {len(texts)} texts; {len(without)} packages carry none")
