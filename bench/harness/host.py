"""The sandbox as a separate process for each run, and its counters."""

import json
import os
import re
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .layout import MADE

ORGANIZATION = "acme"


@dataclass
class Seen:
    """The host's counters, and its own processor time."""

    requests: int
    connections: int
    highest_concurrency: int
    first_request: float
    last_answer: float
    cpu: float


def expected_files(repositories: int) -> set[str]:
    """The expected files for the sandbox's large organization, `crates/sandbox/src/scenario/fleet.rs`."""
    names = {"org_settings.json"}
    for number in range(repositories):
        name = f"repo_{ORGANIZATION}_service-{number:06}"
        if number % 25 != 9:
            names.add(f"{name}_branch_protection.json")
        if number % 10 != 9:
            names.add(f"{name}_codeowners.json")
    return names


def fewest_requests(repositories: int) -> int:
    """The organization, the pages, a protection and a CODEOWNERS per repository, a second place for every fifth."""
    second = sum(1 for number in range(repositories) if number % 10 in (4, 9))
    return 1 + -(-repositories // 100) + 2 * repositories + second


class Host:
    """A running sandbox, as a context manager that always stops it."""

    def __init__(self, program: Path, repositories: int, latency: int) -> None:
        self.summary = MADE / "host.json"
        self.summary.unlink(missing_ok=True)
        # Requests without a concurrency limit need as many connections.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        command = [str(program), "serve", "--scenario", "large", "--repositories", str(repositories)]
        command += ["--latency-ms", str(latency), "--summary", str(self.summary)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        said = ""
        for line in self.process.stdout:
            said += line
            if "Ctrl-C ends it." in line:
                break
        else:
            raise RuntimeError(f"the sandbox does not serve: {said}")
        self.url = re.search(r"http://[^,\s]+", said).group()
        self.token = re.search(r"^ *owner +(\S+)$", said, re.MULTILINE).group(1)

    def __enter__(self) -> "Host":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()

    def end(self) -> Seen:
        """Stops it and reads its counters."""
        self.process.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        counted = json.loads(self.summary.read_text())
        return Seen(
            requests=counted["requests"],
            connections=counted["connections"],
            highest_concurrency=counted["highest_concurrency"],
            first_request=counted["first_request"] or 0.0,
            last_answer=counted["last_answer"] or 0.0,
            cpu=usage.ru_utime + usage.ru_stime,
        )
