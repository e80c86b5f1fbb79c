"""The comparison: each tool at each size and latency, in rounds with one run of each tool."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import check
from .host import Host, Seen, expected_files, fewest_requests
from .install import Programs, say
from .launch import Failed, measured
from .layout import SCRATCH
from .tools import EVIDENCE, Job, Tool, command

# A run is stopped after this multiple of the predicted time.
PATIENCE = 3
# The limit in seconds for tools that are always measured.
LONGEST = 7200.0


@dataclass
class Options:
    """The measurements to make."""

    sizes: list[int]
    latencies: list[int]
    runs: int
    in_flight: int
    budget: float
    tools: list[Tool]
    key: Path
    public_key: Path


@dataclass
class Cell:
    """A tool at a size and a latency. `left_out` or `failed` explains a missing figure."""

    tool: str
    repositories: int
    latency: int
    runs: list[dict] = field(default_factory=list)
    left_out: str | None = None
    failed: str | None = None


def measure(options: Options, programs: Programs) -> Iterator[list[Cell]]:
    """All cells, the small ones first: their times predict which of the others would take too long."""
    last: dict[tuple[str, int], tuple[int, float]] = {}
    for repositories in sorted(options.sizes):
        for latency in sorted(options.latencies):
            yield group(options, programs, repositories, latency, last)


def group(options: Options, programs: Programs, repositories: int, latency: int, last: dict) -> list[Cell]:
    """All tools at one size and latency. They take turns, so that other load on the machine affects all alike."""
    cells = [Cell(tool.name, repositories, latency) for tool in options.tools]
    expected = expected_files(repositories)
    limits = {}
    for tool, cell in zip(options.tools, cells):
        size, wall = last.get((tool.name, latency), (0, 0.0))
        predicted = wall * repositories / size if size else 0.0
        limits[tool.name] = LONGEST if tool.always else max(60.0, options.budget, predicted * PATIENCE)
        if predicted > options.budget and not tool.always:
            cell.left_out = f"{wall:.1f} s for {size} repositories: more than {options.budget:.0f} s were to be expected"
        if tool.needs in programs.missing:
            cell.left_out = programs.missing[tool.needs]
    for round_number in range(1, options.runs + 1):
        for tool, cell in zip(options.tools, cells):
            if cell.left_out or cell.failed:
                continue
            where = f"{repositories} repositories, {latency} ms, round {round_number}, {tool.name}"
            try:
                run = once(options, programs, tool, repositories, latency, expected, limits[tool.name])
            except Failed as failure:
                cell.failed = str(failure)
                say(f"{where}: FAILED: {failure}")
                continue
            cell.runs.append(run)
            last[(tool.name, latency)] = (repositories, run["wall"])
            say(f"{where}: {run['wall']:.2f} s, {run['requests']} requests")
    return cells


def once(
    options: Options,
    programs: Programs,
    tool: Tool,
    repositories: int,
    latency: int,
    expected: set[str],
    limit: float,
) -> dict:
    """One run against a new sandbox, so that no run profits from another's warm-up; its output is checked."""
    output = SCRATCH / tool.name
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    try:
        with Host(programs.sandbox, repositories, latency) as host:
            job = Job(host.url, host.token, options.key, options.in_flight, output)
            took = measured(
                command(tool, job, programs),
                name=tool.name,
                directory=output,
                variables=job.variables(),
                limit=limit,
            )
            seen = host.end()
        if seen.requests < fewest_requests(repositories):
            raise Failed(f"{seen.requests} requests cannot have been all")
        check.complete(output, expected, options.public_key)
        if tool is EVIDENCE:
            check.verifies(programs.evidence, output, options.public_key)
        archive = next(output.glob("*.tar.gz")).stat().st_size
    finally:
        shutil.rmtree(output, ignore_errors=True)
    return {**vars(took), **of_host(seen), **phases(took, seen), "archive_bytes": archive}


def of_host(seen: Seen) -> dict:
    return {
        "requests": seen.requests,
        "connections": seen.connections,
        "highest_concurrency": seen.highest_concurrency,
        "host_cpu": seen.cpu,
    }


def phases(took: object, seen: Seen) -> dict:
    """The times before the first request, up to the last answer, and after it, by the shared clock."""
    return {
        "before": seen.first_request - took.started_at,
        "network": seen.last_answer - seen.first_request,
        "after": took.ended_at - seen.last_answer,
    }
