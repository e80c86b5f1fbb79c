"""Runs the tool in a temporary directory, reads its bundle, and reports differences.

For the checks in this directory that set the real binary against servers and clients by others. Shares no code with
the tool: it reads a bundle with `tarfile` and `json`, and lets `evidence verify` judge the signature.
"""

import base64
import contextlib
import difflib
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path


class Differs(Exception):
    """A difference between the actual and the expected value."""


def expect(what, actual, expected):
    """Compares two values as JSON, and shows the lines that differ."""
    if actual == expected:
        return
    shown = [json.dumps(value, indent=1, sort_keys=True, default=sorted).splitlines() for value in (expected, actual)]
    difference = "\n".join(difflib.unified_diff(*shown, "expected", "found", lineterm=""))
    raise Differs(f"{what}\n{difference or f'expected {expected!r}, found {actual!r}'}")


def expect_in(what, part, text):
    if part not in text:
        raise Differs(f"{what}: {part!r} is not in\n{text}")


class Bundle:
    """The files of a bundle, by path."""

    def __init__(self, path):
        with tarfile.open(path, "r:gz") as archive:
            self.files = {member.name: archive.extractfile(member).read() for member in archive}
        self.manifest = self.json("manifest.json")
        self.normalized = self.json("derived/normalized.json")

    def json(self, path):
        if path not in self.files:
            raise Differs(f"{path} is not in the bundle, which has {sorted(self.files)}")
        return json.loads(self.files[path])

    def artifacts(self, source):
        """The names of a source's artifacts, without its directory."""
        start = f"sources/{source}/"
        return sorted(path.removeprefix(start) for path in self.files if path.startswith(start))

    def control(self, identifier):
        found = [control for control in self.normalized["controls"] if control["id"] == identifier]
        expect(f"one control {identifier}", len(found), 1)
        return found[0]

    def checks(self, identifier):
        """The checks of a control as `{rule: {(status, reason), ...}}`."""
        found = {}
        for check in self.control(identifier)["checks"]:
            found.setdefault(check["rule"], set()).add((check["status"], check["reason"]))
        return found


class Run:
    """A finished `evidence collect`."""

    def __init__(self, code, out, err, bundle, verified):
        self.code, self.out, self.err, self.bundle, self.verified = code, out, err, bundle, verified

    def text(self):
        return f"--- standard output\n{self.out}--- standard error\n{self.err}--- exit code {self.code}"

    def expect_bundle(self, code, complete=True):
        """Checks that it ended with `code` and a bundle that verifies."""
        if self.code != code or self.bundle is None:
            raise Differs(f"exit code {code} and a bundle were expected\n{self.text()}")
        expect("`evidence verify`", self.verified, 0)
        expect("manifest.complete", self.bundle.manifest["complete"], complete)
        if complete:
            expect("manifest.errors", self.bundle.manifest["errors"], [])
        return self.bundle

    def expect_refused(self, code, *parts):
        """Checks that it ended with `code` and without a bundle, and printed each of `parts`."""
        if self.code != code or self.bundle is not None:
            raise Differs(f"exit code {code} and no bundle were expected\n{self.text()}")
        for part in parts:
            expect_in("the message", part.lower(), (self.out + self.err).lower())

    def expect_nowhere(self, secrets):
        """Checks that none of `secrets` (name: text) is in the output or the bundle, not even encoded."""
        places = {"standard output": self.out.encode(), "standard error": self.err.encode()}
        if self.bundle:
            places |= self.bundle.files
        for name, secret in secrets.items():
            plain = secret.encode()
            for form in (plain, json.dumps(secret)[1:-1].encode(), base64.b64encode(plain).rstrip(b"=")):
                for place, contents in places.items():
                    if form in contents:
                        raise Differs(f"{name} is in {place}")


class Tool:
    """The program, with a signing key that it generated."""

    def __init__(self, binary, work):
        self.binary, self.work = binary, Path(work)
        self.key = self.work / "signing-key.pem"
        self.run(self.work, {}, "keygen", "--output", self.key, check=True)

    def run(self, directory, variables, *arguments, check=False):
        # The tool gets nothing of the caller's environment: neither credentials nor a proxy.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.work), "NO_COLOR": "1"} | variables
        return subprocess.run(
            [self.binary, *map(str, arguments)],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=check,
        )

    def collect(self, controls, sources, variables, framework="soc2_type1"):
        """Collects with the given `sources` section and the most verbose output, and verifies the bundle."""
        directory = Path(tempfile.mkdtemp(dir=self.work))
        configuration = {
            "framework": framework,
            "controls": controls,
            "sources": sources,
            "bundle": {"signing": {"private_key_path": str(self.key)}},
        }
        # JSON is YAML.
        (directory / "evidence.yaml").write_text(json.dumps(configuration, indent=1))
        # Named, because the key is in another folder.
        named = ("--config", "evidence.yaml", "--output", directory / "bundles")
        done = self.run(directory, variables, "collect", "--verbose", *named)
        paths = list((directory / "bundles").glob("*")) if (directory / "bundles").exists() else []
        if not paths:
            return Run(done.returncode, done.stdout, done.stderr, None, None)
        expect("number of files beside the bundle", len(paths), 1)
        public = self.key.with_suffix(".pub.pem")
        verified = self.run(directory, {}, "verify", "--public-key", public, paths[0]).returncode
        return Run(done.returncode, done.stdout, done.stderr, Bundle(paths[0]), verified)


class Scenarios:
    """Runs functions in order and prints a line for each."""

    def __init__(self):
        self.failed = 0
        # Stop the processes that were started.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def run(self, name, function, *arguments):
        started = time.monotonic()
        try:
            function(*arguments)
        except Exception as error:
            self.failed += 1
            shown = str(error) if isinstance(error, Differs) else traceback.format_exc()
            print(f"FAILED  {name}\n{shown}", flush=True)
        else:
            print(f"ok   {name} ({time.monotonic() - started:.1f} s)", flush=True)

    def finish(self):
        if self.failed:
            print(f"FAILED: {self.failed} scenarios")
        sys.exit(1 if self.failed else 0)


@contextlib.contextmanager
def sandbox(binary, work, *arguments):
    """Runs the project's own sandbox; yields its output."""
    log = Path(work) / "sandbox.log"
    with log.open("wb") as file:
        process = subprocess.Popen([binary, "serve", *map(str, arguments)], stdout=file, stderr=subprocess.STDOUT)
    try:
        wait_for("the sandbox", lambda: process.poll() is not None or "Ctrl-C" in log.read_text())
        if process.poll() is not None:
            raise Differs(f"the sandbox does not serve:\n{log.read_text()}")
        yield log.read_text()
    finally:
        process.terminate()
        process.wait(30)


@contextlib.contextmanager
def refused(kind, text):
    """Checks that the block raises `kind` with `text` in its message."""
    try:
        yield
    except kind as error:
        expect_in("the refusal", text, str(error))
    else:
        raise Differs(f"not refused: {text}")


def wait_for(what, probe, seconds=30):
    """Calls `probe` until it returns something true, and returns that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.1)
    raise Differs(f"{what} is not there after {seconds} s")
