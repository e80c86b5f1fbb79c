"""The command line."""

import argparse
import datetime
import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from . import bundle, install, matrix, report
from .layout import RESULTS, SCRATCH
from .machine import machine, versions
from .tools import BY_NAME

PARTS = ("collect", "bundle")


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures `evidence` beside other ways to do the same job, against the sandbox on this machine. "
        "Builds and installs what it needs below target/bench. The full comparison takes hours.",
    )
    parser.add_argument("--sizes", type=numbers, help="repositories (50,500,5000,50000)")
    parser.add_argument("--latencies", type=numbers, help="milliseconds that the host waits with each answer (0,20,80)")
    parser.add_argument("--runs", type=int, help="rounds; medians are shown (3)")
    parser.add_argument("--tools", default=",".join(BY_NAME), help=f"({','.join(BY_NAME)})")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"({','.join(PARTS)})")
    parser.add_argument("--artifacts", type=int, help="files of the bundle in the part `bundle` (20000)")
    parser.add_argument("--in-flight", type=int, default=64, help="requests at once, where a tool can be told (64)")
    parser.add_argument(
        "--budget", type=float, help="leave out what would take more seconds for one run; not `evidence` and the floor (240)"
    )
    parser.add_argument("--quick", action="store_true", help="other defaults: some minutes, to see that it works")
    parser.add_argument("--markdown", action="store_true", help="print what bench/RESULTS.md shows")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="write it into the page as well")
    parser.add_argument("--note", help="a remark on these figures, shown with them")
    parser.add_argument("--from", type=Path, dest="earlier", metavar="JSON", help="show an earlier result; measure nothing")
    chosen = parser.parse_args()
    defaults = {
        "sizes": ([50, 500, 5000, 50000], [50, 500]),
        "latencies": ([0, 20, 80], [0, 20]),
        "runs": (3, 1),
        "artifacts": (20000, 2000),
        "budget": (240.0, 60.0),
    }
    for name, (full, quick) in defaults.items():
        if getattr(chosen, name) is None:
            setattr(chosen, name, quick if chosen.quick else full)
    chosen.tools = chosen.tools.split(",")
    chosen.parts = chosen.parts.split(",")
    for name in chosen.tools:
        if name not in BY_NAME:
            parser.error(f"no such tool: {name}; there are {', '.join(BY_NAME)}")
    for name in chosen.parts:
        if name not in PARTS:
            parser.error(f"no such part: {name}; there are {', '.join(PARTS)}")
    if chosen.runs < 1 or min(chosen.sizes) < 1 or min(chosen.latencies) < 0:
        parser.error("one run, one repository, no latency: that is the least")
    return chosen


def prepare(chosen: argparse.Namespace) -> install.Programs:
    """Builds and installs; reports what failed."""
    tools = [BY_NAME[name] for name in chosen.tools] if "collect" in chosen.parts else []
    needs = {tool.needs for tool in tools}
    programs = install.build("floor" in needs, "bundle" in chosen.parts)
    for need, put in (("python", install.python_packages), ("node", install.node_packages)):
        if need in needs:
            problem = put()
            if problem:
                programs.missing[need] = f"its packages do not install: {problem}"
    for need, why in programs.missing.items():
        left_out = ", ".join(tool.name for tool in tools if tool.needs == need)
        install.say(f"\nNOT MEASURED: {left_out}: {why}\n")
    return programs


def measure(chosen: argparse.Namespace, path: Path) -> dict:
    programs = prepare(chosen)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir(parents=True)
    key, public_key = SCRATCH / "key.pem", SCRATCH / "key.pub.pem"
    subprocess.run([str(programs.evidence), "keygen", "-o", str(key)], check=True, stdout=subprocess.DEVNULL)
    made = {
        "command": shlex.join(["bench/run", *sys.argv[1:]]),
        "machine": machine(),
        "versions": versions(programs),
        "runs": chosen.runs,
        "in_flight": chosen.in_flight,
        "cells": [],
        "bundle": None,
    }
    if "collect" in chosen.parts:
        options = matrix.Options(
            sizes=chosen.sizes,
            latencies=chosen.latencies,
            runs=chosen.runs,
            in_flight=chosen.in_flight,
            budget=chosen.budget,
            tools=[BY_NAME[name] for name in chosen.tools],
            key=key,
            public_key=public_key,
        )
        for cells in matrix.measure(options, programs):
            made["cells"] += [asdict(cell) for cell in cells]
            keep(made, path)
    if "bundle" in chosen.parts:
        made["bundle"] = asdict(bundle.measure(chosen.artifacts, chosen.runs, key, public_key, programs))
        keep(made, path)
    shutil.rmtree(SCRATCH, ignore_errors=True)
    return made


def keep(made: dict, path: Path) -> None:
    """Saves after each group, so that a failure does not lose hours of measurements."""
    path.write_text(json.dumps(made, indent=2) + "\n")


def main() -> int:
    chosen = arguments()
    if chosen.earlier:
        made = json.loads(chosen.earlier.read_text())
    else:
        RESULTS.mkdir(parents=True, exist_ok=True)
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d-%H%M%S")
        path = RESULTS / f"{stamp}.json"
        try:
            made = measure(chosen, path)
        except KeyboardInterrupt:
            return 130
        install.say(f"\nThe figures of every run are in {path}")
    if chosen.note:
        made["note"] = chosen.note
    print(report.markdown(made) if chosen.markdown else report.text(made))
    if chosen.into:
        chosen.into.write_text(report.into(chosen.into.read_text(), made))
    # Failures of other tools are reported above; the run fails only if our own tool did.
    return 1 if any(cell["tool"] == "evidence" and cell["failed"] for cell in made["cells"]) else 0
