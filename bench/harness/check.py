"""Checks that the output is complete, so that a tool cannot win by omitting work."""

import hashlib
import json
import re
import subprocess
import tarfile
from pathlib import Path

from .launch import Failed
from .layout import SCRATCH


def complete(output: Path, expected: set[str], public_key: Path) -> None:
    """Checks that the archive has exactly the expected files, that they match the signed list, and that artifacts are
    JSON. Raises `Failed` otherwise.

    The floor signs with an unknown key, so only the length of its signature is checked.
    """
    archives = list(output.glob("*.tar.gz"))
    if len(archives) != 1:
        raise Failed(f"{len(archives)} archives in the output")
    try:
        sums, lists = read(archives[0])
        checksums = lists.get("checksums.sha256", b"")
        listed = {path: digest for digest, path in (line.split("  ", 1) for line in checksums.decode().splitlines())}
    except (ValueError, EOFError, OSError, tarfile.TarError) as error:
        raise Failed(f"what is in the archive cannot be read: {error}") from error
    if listed != {path: digest for path, digest in sums.items() if path not in lists}:
        raise Failed("the list of checksums does not say what is in the archive")
    # Documents belong to the tool; collected files have no directory, or one of these.
    collected = {path.removeprefix("files/").removeprefix("sources/codehost/") for path in listed}
    collected = {path for path in collected if "/" not in path and path.endswith(".json")} - {"manifest.json", "run.json"}
    # Only the tool requests the rules of rulesets and who can bypass them.
    collected = {path for path in collected if not re.search(r"_(branch_rules|ruleset_\d+)\.json$", path)}
    if collected != expected:
        missing, extra = len(expected - collected), len(collected - expected)
        raise Failed(f"{missing} files are missing and {extra} too many, of {len(expected)}")
    if "signature.sig" in lists:
        signed(checksums, lists["signature.sig"], public_key)
    elif len(lists.get("checksums.sha256.sig", b"")) != 128:
        raise Failed("there is no signature")


def read(archive_file: Path) -> tuple[dict[str, str], dict[str, bytes]]:
    """The digest of every file by its path, the list of checksums, and the signature."""
    sums, lists = {}, {}
    with tarfile.open(archive_file, "r:gz") as archive:
        for member in archive:
            if not member.isfile():
                continue
            content = archive.extractfile(member).read()
            path = member.name.removeprefix("./")
            sums[path] = hashlib.sha256(content).hexdigest()
            if "checksums.sha256" in path or path == "signature.sig":
                lists[path] = content
            elif path.endswith(".json"):
                json.loads(content)
    return sums, lists


def signed(checksums: bytes, signature: bytes, public_key: Path) -> None:
    """Raises `Failed` if the key did not make the signature."""
    list_file, signature_file = SCRATCH / "checked.sha256", SCRATCH / "checked.sig"
    list_file.write_bytes(checksums)
    signature_file.write_bytes(signature)
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(public_key), "-rawin"]
    command += ["-in", str(list_file), "-sigfile", str(signature_file)]
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0:
        raise Failed("the signature is not good")


def verifies(evidence: Path, output: Path, public_key: Path) -> None:
    """Raises `Failed` if the tool does not accept its own bundle."""
    bundle = next(output.glob("*.tar.gz"))
    command = [str(evidence), "verify", "--quiet", "--public-key", str(public_key), str(bundle)]
    status = subprocess.run(command, cwd=output, stdout=subprocess.DEVNULL).returncode
    if status != 0:
        raise Failed(f"evidence verify ended with {status}")
