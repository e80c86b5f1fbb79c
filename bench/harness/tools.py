"""The compared tools, and their command lines."""

import sys
from dataclasses import dataclass
from pathlib import Path

from .host import ORGANIZATION
from .install import Programs
from .layout import NODE, TOOLS, VENV


@dataclass(frozen=True)
class Tool:
    """One compared tool."""

    name: str
    # Its description for the page.
    what: str
    # Its requirement: `python`, `node`, `floor`, or none.
    needs: str | None = None
    # Whether to measure it in every cell, however long it takes.
    always: bool = False


EVIDENCE = Tool("evidence", "`evidence collect`, pacing off; also judges, screens, and verifies what it wrote", always=True)
TOOLS_COMPARED = [
    EVIDENCE,
    Tool("floor", "a bare hyper loop, `bench/floor`: nothing is judged, screened, retried or verified", "floor", always=True),
    Tool("floor-gzip", "the same, asking for compressed answers, as `evidence` does", "floor", always=True),
    Tool("curl-parallel", "`curl --parallel` in a shell script, `sha256sum`, `openssl`, `tar`"),
    Tool("httpx", "httpx with asyncio", "python"),
    Tool("octokit-all", "Octokit, everything asked for at once", "node"),
    Tool("octokit", "Octokit, one request after the other", "node"),
    Tool("pygithub", "PyGithub without its pauses, one request after the other", "python"),
    Tool("curl", "a shell loop, one `curl` for each request"),
]
BY_NAME = {tool.name: tool for tool in TOOLS_COMPARED}


@dataclass(frozen=True)
class Job:
    """The inputs of a run."""

    url: str
    token: str
    key: Path
    in_flight: int
    # An empty directory for this run only.
    output: Path

    def variables(self) -> dict[str, str]:
        """The environment, without proxies, since everything is on loopback."""
        return {
            "BENCH_URL": self.url,
            "BENCH_ORG": ORGANIZATION,
            "BENCH_TOKEN": self.token,
            "BENCH_KEY": str(self.key),
            "BENCH_IN_FLIGHT": str(self.in_flight),
            "CODEHOST_API_URL": self.url,
            "CODEHOST_TOKEN": self.token,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }


def command(tool: Tool, job: Job, programs: Programs) -> list[str]:
    """The command line; for `evidence`, also writes its configuration."""
    output = str(job.output)
    if tool.needs == "floor":
        gzip = ["gzip"] if tool.name == "floor-gzip" else []
        return [str(programs.floor), job.url, ORGANIZATION, job.token, str(job.in_flight), output, *gzip]
    match tool.name:
        case "evidence":
            configuration = job.output / "evidence.yaml"
            configuration.write_text(CONFIGURATION.format(organization=ORGANIZATION, in_flight=job.in_flight, key=job.key))
            return [str(programs.evidence), "collect", "--quiet", "--config", str(configuration), "-o", output]
        case "curl-parallel":
            return [str(TOOLS / "curl_parallel.sh"), output]
        case "curl":
            return [str(TOOLS / "curl_serial.sh"), output]
        case "octokit" | "octokit-all":
            how = "all" if tool.name == "octokit-all" else "serial"
            return ["node", str(NODE / "octokit_job.mjs"), output, how]
        case "pygithub" | "httpx":
            return [str(VENV / "bin/python"), str(TOOLS / f"{tool.name}_job.py"), output]
    sys.exit(f"no such tool: {tool.name}")


CONFIGURATION = """\
framework: soc2_type1
controls: [CC6.1, CC6.6, CC7.2]
sources:
  codehost:
    mode: token
    org: {organization}
    repos: "*"
    rate_limit_pause: false
    requests_per_minute: 0
    max_concurrency: {in_flight}
bundle:
  max_size_mb: 10000
  signing:
    private_key_path: {key}
"""
