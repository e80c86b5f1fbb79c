#!/usr/bin/env python3
"""Checks a bundle without extracting it: stock_check.py BUNDLE PUBLIC_KEY_PEM

Exit 0: the key signed exactly these bytes. Exit 77: the module `cryptography` is missing. Anything else: refused.
Needs Python 3.8 and `pip install cryptography`; shares no code with the program.
"""

import calendar
import hashlib
import json
import re
import sys
import time
import zlib

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
except ImportError:
    print("the module `cryptography` is missing")
    sys.exit(77)

FRAME = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
PIECE = 1 << 16


class Archive:
    """The tar bytes of a bundle, which must be those that the format prescribes."""

    def __init__(self, file):
        self.file, self.inflater, self.bytes = file, zlib.decompressobj(wbits=31), b""
        frame = file.read(len(FRAME))
        if frame != FRAME:
            refuse("this is not one gzip member without a name")
        self.compressed = frame

    def take(self, size):
        while len(self.bytes) < size and not self.inflater.eof:
            self.compressed = self.compressed or self.file.read(PIECE)
            if not self.compressed:
                refuse("the file is cut")
            try:
                self.bytes += self.inflater.decompress(self.compressed, PIECE)
            except zlib.error as error:
                refuse(f"the compressed data is damaged: {error}")
            self.compressed = self.inflater.unconsumed_tail
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        return taken

    def read(self, path):
        """The contents of the next entry, which must be this file. The size and the time are read from its header,
        which must then be the only possible header for them."""
        head = self.take(512)
        long = len(path) > 100
        if long:
            head += self.take(1024)
        last = head[-512:]
        numbers = re.fullmatch(rb"([0-7]{11})\0([0-7]{11})\0", last[124:148])
        if not numbers:
            refuse(f"{path} is not where it must be")
        size, made = (int(number, 8) for number in numbers.groups())
        if head != headers(path, size, made):
            refuse(f"{path} is not where it must be, or its header is not the canonical one")
        self.made = made if path == "checksums.sha256" else self.made
        if made != self.made:
            refuse(f"{path} has another time")
        contents, padding = self.take(size), self.take(-size % 512)
        if len(contents) != size or padding != bytes(-size % 512):
            refuse(f"{path} is cut, or bytes follow it")
        return contents

    def end(self):
        if self.take(1025) != bytes(1024):
            refuse("the archive does not end with 1,024 zeros")
        if self.inflater.unused_data or self.compressed or self.file.read(1):
            refuse("bytes follow the compressed data")


def headers(path, size, made):
    name = path.encode()
    if len(name) <= 100:
        return block(name, size, made, b"0")
    rest = b" path=" + name + b"\n"
    length = next(length for length in range(1000) if length == len(str(length)) + len(rest))
    record = str(length).encode() + rest
    return block(b"pax", length, made, b"x") + record.ljust(512, b"\0") + block(name[:100], size, made, b"0")


def block(name, size, made, kind):
    devices = b"0000000\0" * 2 if kind == b"0" else bytes(16)
    head = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0%011o\0" % (size, made)
    tail = kind + bytes(100) + b"ustar\x0000" + bytes(64) + devices + bytes(167)
    return head + b"%06o\0 " % (sum(head) + sum(tail) + 8 * 32) + tail


def refuse(why):
    sys.exit(f"FAILED: {why}")


def main(bundle, key):
    with open(key, "rb") as file:
        public_key = load_pem_public_key(file.read())
    with open(bundle, "rb") as file:
        archive = Archive(file)
        listing = archive.read("checksums.sha256")
        signature = archive.read("signature.sig")
        try:
            public_key.verify(signature, listing)
        except InvalidSignature:
            refuse("the key did not sign this list")
        lines = listing.split(b"\n")
        if lines.pop():
            refuse("the list does not end with a line")
        created = None
        for line in lines:
            match = re.fullmatch(rb"([0-9a-f]{64})  ([A-Za-z0-9._%/-]+)", line)
            if not match:
                refuse(f"bad line {line!r}")
            checksum, path = (part.decode() for part in match.groups())
            if {"", ".", ".."} & set(path.split("/")):
                refuse(f"bad path {path!r}")
            contents = archive.read(path)
            if hashlib.sha256(contents).hexdigest() != checksum:
                refuse(f"{path} was changed")
            if path == "manifest.json" and created is None:
                created = json.loads(contents)["created_at"]
        archive.end()
        if created is None or calendar.timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")) != archive.made:
            refuse("the time of the entries is not that of the manifest")
    print(f"OK: {len(lines)} files, none missing, none extra, none changed")


if __name__ == "__main__":
    main(*sys.argv[1:])
