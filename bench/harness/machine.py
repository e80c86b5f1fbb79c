"""The machine and the versions, without which figures are meaningless."""

import datetime
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from .install import Programs
from .layout import NODE, ROOT, VENV


def first_line(command: list[str]) -> str | None:
    """The version output of the command, or an empty text if it is not installed."""
    try:
        output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    lines = (output.stdout or output.stderr).strip().splitlines()
    return lines[0].strip() if lines else None


def number(command: list[str]) -> str | None:
    """The version number in a command's version output."""
    found = re.search(r"\d+\.[\w.]+", first_line(command) or "")
    return found.group() if found else None


def machine() -> dict[str, str]:
    """Cores, processor, memory, kernel."""
    info = Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.*)$", info, re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    system = os.uname()
    return {
        "cores": str(len(os.sched_getaffinity(0))),
        "processor": model.group(1) if model else system.machine,
        "memory": f"{int(memory.group(1)) * 1024 / 1e9:.0f} GB" if memory else "unknown",
        "kernel": f"{system.sysname} {system.release}",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def versions(programs: Programs) -> dict[str, str]:
    """The versions of all installed tools that are measured."""
    revision = first_line(["git", "rev-parse", "--short=12", "HEAD"])
    changed = first_line(["git", "status", "--porcelain", "--untracked-files=no"])
    own = number([str(programs.evidence), "--version"])
    found = {
        "evidence": f"{own} ({revision}{', changed' if changed else ''})",
        "rustc": number(["rustc", "--version"]),
        "curl": number(["curl", "--version"]),
        "openssl": number(["openssl", "version"]),
        "tar": number(["tar", "--version"]),
        "sha256sum": number(["sha256sum", "--version"]),
        "gzip": number(["gzip", "--version"]),
        "pigz": number(["pigz", "--version"]),
        "Python": sys.version.split()[0],
        "Node": number(["node", "--version"]),
    }
    pip = VENV / "bin/pip"
    if pip.exists():
        listed = subprocess.run([str(pip), "list", "--format=json"], capture_output=True, text=True)
        for package in json.loads(listed.stdout or "[]"):
            if package["name"] in ("PyGithub", "httpx", "cryptography"):
                found[package["name"]] = package["version"]
    octokit = NODE / "node_modules/@octokit/rest/package.json"
    if octokit.exists():
        found["@octokit/rest"] = json.loads(octokit.read_text())["version"]
    return {name: version for name, version in found.items() if version}
