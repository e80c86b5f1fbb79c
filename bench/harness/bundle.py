"""Writing and verifying a bundle, compared with stock programs on the same files."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .host import Host, expected_files
from .install import Programs, say
from .launch import Failed, measured
from .layout import SCRATCH
from .tools import EVIDENCE, Job, command

# The commands of a typical script. `$0` is the directory with the files, `$1` the path of the result.
PACK = 'find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >"$1.sha256" && tar -cf - . | {compressor} >"$1"'
VERIFY = (
    'mkdir "$1" && tar -xzf "$0" -C "$1" && cd "$1" && '
    'openssl pkeyutl -verify -pubin -inkey "$2" -rawin -in checksums.sha256 -sigfile signature.sig && '
    "sha256sum --strict --quiet -c checksums.sha256"
)


@dataclass
class Bundle:
    """The steps by name, each with its runs, or the reason for missing ones."""

    artifacts: int = 0
    bytes: int = 0
    archive_bytes: int = 0
    compressor: str = ""
    steps: dict[str, list[dict]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)


def repositories_for(artifacts: int) -> int:
    """The smallest organization with this many artifacts."""
    low, high = 1, artifacts
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if len(expected_files(middle)) >= artifacts else (middle + 1, high)
    return low


def measure(artifacts: int, runs: int, key: Path, public_key: Path, programs: Programs) -> Bundle:
    """The steps in rounds."""
    work = SCRATCH / "bundle"
    shutil.rmtree(work, ignore_errors=True)
    result = Bundle()
    result.compressor = "pigz -p2" if shutil.which("pigz") else "gzip"
    repositories = repositories_for(artifacts)
    result.artifacts = len(expected_files(repositories))
    try:
        for number in range(1, runs + 1):
            say(f"bundle of {result.artifacts} artifacts, round {number}")
            one_round(result, number, repositories, work, key, public_key, programs)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return result


def one_round(
    result: Bundle, number: int, repositories: int, work: Path, key: Path, public_key: Path, programs: Programs
) -> None:
    out, bundle, tree = work / "out", work / "bundle.tar.gz", work / "tree"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)

    # The tool's own phase: the work left after the last answer.
    with Host(programs.sandbox, repositories, 0) as host:
        job = Job(host.url, host.token, key, 64, out)
        took = measured(command(EVIDENCE, job, programs), name="bundle", directory=out, variables=job.variables())
        seen = host.end()
    after = {**vars(took), "wall": took.ended_at - seen.last_answer, "cpu": None}
    result.steps.setdefault("evidence: after the last answer", []).append(after)

    if number == 1:
        next(out.glob("*.tar.gz")).rename(bundle)
        tree.mkdir()
        subprocess.run(["tar", "-xzf", str(bundle), "-C", str(tree)], check=True)
        result.archive_bytes = bundle.stat().st_size
        # Packing creates these.
        (tree / "checksums.sha256").unlink()
        (tree / "signature.sig").unlink()
        result.bytes = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())

    def step(name: str, command: list[str], directory: Path) -> None:
        if name in result.problems:
            return
        try:
            result.steps.setdefault(name, []).append(vars(measured(command, name="bundle", directory=directory)))
        except Failed as failure:
            result.problems[name] = str(failure)

    packed, unpacked = work / "packed", work / "unpacked"
    step("evidence: hash, sign, write", [str(programs.bundle_bench), "write", str(tree), str(packed)], tree)
    stock = PACK.format(compressor=result.compressor)
    step("sha256sum, tar | " + result.compressor, ["sh", "-c", stock, str(tree), str(packed)], tree)
    verify = [str(programs.evidence), "verify", "--quiet", "--public-key", str(public_key), str(bundle)]
    step("evidence verify", verify, work)
    step("tar, openssl, sha256sum -c", ["sh", "-c", VERIFY, str(bundle), str(unpacked), str(public_key)], work)
    shutil.rmtree(unpacked, ignore_errors=True)
