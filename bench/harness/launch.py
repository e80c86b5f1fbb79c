"""Launches measured commands."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .layout import LOGS, MADE


@dataclass
class Measured:
    """The measurements of one run of a command."""

    wall: float
    cpu: float
    # The peak memory of the largest process, in MB of a million bytes; `small` if it is too small to measure.
    peak: float
    small: bool
    started_at: float
    ended_at: float


class Failed(Exception):
    """The command ended in an unexpected way."""


def measured(
    command: list[str], *, name: str, directory: Path, variables: dict[str, str] | None = None, limit: float = 3600
) -> Measured:
    """Runs the command to its end; its output goes to a log. Raises `Failed`."""
    result = MADE / "measured.json"
    result.unlink(missing_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    launcher = str(Path(__file__).with_name("measure.py"))
    # Flush pending writes of other processes first.
    os.sync()
    with log.open("wb") as out:
        subprocess.run(
            [sys.executable, "-I", "-S", launcher, str(result), str(int(limit) + 1), str(directory), *command],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            check=True,
        )
    found = json.loads(result.read_text())
    if found["exit_code"] is None:
        raise Failed(f"stopped after {int(limit)} s")
    if found["exit_code"] != 0:
        lines = log.read_text(errors="replace").strip().splitlines()
        raise Failed(f"exit code {found['exit_code']}: {lines[-1][:200] if lines else 'no output'}")
    return Measured(
        wall=found["wall"],
        cpu=found["cpu"],
        peak=found["peak_kilobytes"] * 1024 / 1e6,
        small=found["peak_kilobytes"] <= found["own_kilobytes"] + 512,
        started_at=found["started_at"],
        ended_at=found["ended_at"],
    )
