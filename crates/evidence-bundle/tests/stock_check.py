#!/usr/bin/env python3
"""Checks a bundle without extracting it: stock_check.py BUNDLE PUBLIC_KEY_PEM

Exit 0: the key signed exactly these files. Exit 77: the module `cryptography` is missing. Anything else: refused.
Needs Python 3.8 and `pip install cryptography`; shares no code with the program.
"""

import hashlib
import re
import sys
import tarfile

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
except ImportError:
    print("the module `cryptography` is missing")
    sys.exit(77)


def main(bundle, key):
    with open(key, "rb") as file:
        public_key = load_pem_public_key(file.read())
    with tarfile.open(bundle, "r:gz") as archive:
        members = iter(archive)
        listing = read(archive, next(members), "checksums.sha256")
        signature = read(archive, next(members), "signature.sig")
        try:
            public_key.verify(signature, listing)
        except InvalidSignature:
            sys.exit("FAILED: the key did not sign this list")
        lines = listing.decode("ascii").splitlines(keepends=True)
        for line in lines:
            match = re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9._%/-]+)\n", line)
            if not match:
                sys.exit(f"FAILED: bad line {line!r}")
            contents = read(archive, next(members, None), match[2])
            if hashlib.sha256(contents).hexdigest() != match[1]:
                sys.exit(f"FAILED: {match[2]} was changed")
        extra = next(members, None)
        if extra is not None:
            sys.exit(f"FAILED: {extra.name!r} is not listed")
        if archive.fileobj.read().strip(b"\0"):
            sys.exit("FAILED: bytes follow the last file")
    print(f"OK: {len(lines)} files, none missing, none extra, none changed")


def read(archive, member, name):
    if member is None or member.name != name or not member.isreg() or member.mode != 0o644:
        sys.exit(f"FAILED: {name} is not where it must be")
    return archive.extractfile(member).read()


main(*sys.argv[1:])
