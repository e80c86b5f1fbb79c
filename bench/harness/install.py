"""Requirements of the measurements: the programs of this repository, and the packages to compare them with.

A package that cannot be installed is reported and its tools are skipped; nothing else depends on it.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .layout import BENCH, LOGS, NODE, ROOT, TOOLS, VENV


@dataclass
class Programs:
    """The installed programs. `missing` has the reason for each missing one."""

    evidence: Path
    sandbox: Path
    floor: Path | None = None
    bundle_bench: Path | None = None
    missing: dict[str, str] = field(default_factory=dict)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def build(with_floor: bool, with_bundle: bool) -> Programs:
    """Builds with the release profile."""
    say("Building evidence and the sandbox, release profile ...")
    made = cargo(["build", "--release", "--bins", "-p", "evidence", "-p", "sandbox"], ROOT)
    programs = Programs(evidence=made["evidence"], sandbox=made["sandbox"])
    floor = BENCH / "floor"
    if with_floor and (floor / "Cargo.toml").exists():
        say("Building the bare loop, bench/floor ...")
        try:
            programs.floor = cargo(["build", "--release", "--bins"], floor)["floor"]
        except (subprocess.CalledProcessError, KeyError):
            programs.missing["floor"] = "bench/floor does not build"
    elif with_floor:
        programs.missing["floor"] = "there is no bench/floor"
    if with_bundle:
        say("Building the benchmark of the bundle ...")
        made = cargo(["bench", "--no-run", "-p", "evidence-bundle", "--bench", "bundle"], ROOT)
        programs.bundle_bench = made["bundle"]
    return programs


def cargo(arguments: list[str], directory: Path) -> dict[str, Path]:
    """Runs cargo; returns the executables by name."""
    output = subprocess.run(
        ["cargo", *arguments, "--message-format=json-render-diagnostics"],
        cwd=directory,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    messages = (json.loads(line) for line in output.splitlines())
    return {m["target"]["name"]: Path(m["executable"]) for m in messages if m.get("executable")}


def python_packages() -> str | None:
    """Installs PyGithub, httpx and cryptography in a virtual environment. Returns an error, if any."""
    wanted = (TOOLS / "requirements.txt").read_text()
    stamp = VENV / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return None
    say("Installing PyGithub, httpx and cryptography ...")
    shutil.rmtree(VENV, ignore_errors=True)
    requirements = str(TOOLS / "requirements.txt")
    for command in (
        [sys.executable, "-m", "venv", str(VENV)],
        [str(VENV / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "-r", requirements],
    ):
        problem = attempt(command, "install-python", ROOT)
        if problem:
            return problem
    stamp.write_text(wanted)
    return None


def node_packages() -> str | None:
    """Installs Octokit with the script beside it, since Node looks for packages from the script's directory."""
    if not shutil.which("npm"):
        return "there is no npm"
    wanted = (TOOLS / "package.json").read_text()
    stamp = NODE / "installed.json"
    if not (stamp.exists() and stamp.read_text() == wanted):
        say("Installing Octokit ...")
        shutil.rmtree(NODE, ignore_errors=True)
        NODE.mkdir(parents=True)
        (NODE / "package.json").write_text(wanted)
        problem = attempt(["npm", "install", "--no-audit", "--no-fund", "--silent"], "install-node", NODE)
        if problem:
            return problem
        stamp.write_text(wanted)
    shutil.copy(TOOLS / "octokit_job.mjs", NODE / "octokit_job.mjs")
    return None


def attempt(command: list[str], name: str, directory: Path) -> str | None:
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with log.open("ab") as out:
        try:
            status = subprocess.run(command, cwd=directory, stdout=out, stderr=out, env=os.environ).returncode
        except OSError as error:
            return str(error)
    return None if status == 0 else f"{' '.join(command[:3])} ended with {status}, see {log}"
