"""The job with httpx: asyncio, BENCH_IN_FLIGHT requests in flight, connections reused.

Usage: httpx_job.py <output directory>, with BENCH_URL, BENCH_ORG, BENCH_TOKEN, BENCH_KEY and BENCH_IN_FLIGHT.
"""

import asyncio
import os
import sys
from pathlib import Path

import httpx

from pack import pack


async def collect(files: Path) -> None:
    in_flight = int(os.environ["BENCH_IN_FLIGHT"])
    organization = os.environ["BENCH_ORG"]
    # Use workers instead of a pool with thousands of waiters, which it would scan for every connection.
    limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    headers = {
        "Authorization": f"token {os.environ['BENCH_TOKEN']}",
        "Accept": "application/vnd.github+json",
    }
    async with httpx.AsyncClient(
        base_url=os.environ["BENCH_URL"], headers=headers, limits=limits, timeout=60
    ) as client:

        async def ask(path: str) -> httpx.Response:
            answer = await client.get(path)
            if answer.status_code not in (200, 404):
                raise RuntimeError(f"HTTP {answer.status_code} for {path}")
            return answer

        async def all_of(jobs: list) -> list:
            """Makes all calls, at most `in_flight` at once; returns the results in order."""
            results = [None] * len(jobs)
            queue = iter(enumerate(jobs))

            async def worker() -> None:
                for number, (call, *arguments) in queue:
                    results[number] = await call(*arguments)

            await asyncio.gather(*(worker() for _ in range(in_flight)))
            return results

        async def protection(repository: str, name: str) -> None:
            answer = await ask(f"/repos/{repository}/branches/main/protection")
            if answer.status_code == 200:
                (files / f"{name}_branch_protection.json").write_bytes(answer.content)

        async def codeowners(repository: str, name: str) -> None:
            for place in ("CODEOWNERS", ".github/CODEOWNERS"):
                answer = await ask(f"/repos/{repository}/contents/{place}")
                if answer.status_code == 200:
                    (files / f"{name}_codeowners.json").write_bytes(answer.content)
                    return

        settings = await ask(f"/orgs/{organization}")
        (files / "org_settings.json").write_bytes(settings.content)
        listing = f"/orgs/{organization}/repos?per_page=100&sort=full_name&direction=asc"
        first = await ask(f"{listing}&page=1")
        last = int(httpx.URL(first.links["last"]["url"]).params["page"]) if "last" in first.links else 1
        rest = await all_of([(ask, f"{listing}&page={page}") for page in range(2, last + 1)])
        repositories = [entry["full_name"] for page in [first, *rest] for entry in page.json()]
        jobs = []
        for repository in repositories:
            name = f"repo_{repository.replace('/', '_')}"
            jobs += [(protection, repository, name), (codeowners, repository, name)]
        await all_of(jobs)


def main() -> None:
    output = Path(sys.argv[1])
    files = output / "files"
    files.mkdir(parents=True)
    asyncio.run(collect(files))
    pack(output)


if __name__ == "__main__":
    main()
