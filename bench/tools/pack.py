"""The common last step of the Python scripts: a list of checksums, a signature over it, one archive."""

import hashlib
import os
import tarfile
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_private_key


def pack(output: Path) -> None:
    """Packs the directory `files` of `output`; BENCH_KEY is the private key."""
    files = output / "files"
    names = sorted(entry.name for entry in os.scandir(files))
    lines = (f"{hashlib.sha256((files / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    checksums = "".join(lines).encode()
    (files / "checksums.sha256").write_bytes(checksums)
    key = load_pem_private_key(Path(os.environ["BENCH_KEY"]).read_bytes(), password=None)
    (files / "signature.sig").write_bytes(key.sign(checksums))
    # Level 6 is gzip's default; Python's default, 9, takes longer.
    with tarfile.open(output / "bundle.tar.gz", "w:gz", compresslevel=6) as archive:
        for name in [*names, "checksums.sha256", "signature.sig"]:
            archive.add(files / name, name)
