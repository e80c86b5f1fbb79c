"""The job with PyGithub, without its pauses between requests.

Usage: pygithub_job.py <output directory>, with BENCH_URL, BENCH_ORG, BENCH_TOKEN and BENCH_KEY.
"""

import json
import os
import sys
from pathlib import Path

from github import Auth, Github, GithubException

from pack import pack


def main() -> None:
    output = Path(sys.argv[1])
    files = output / "files"
    files.mkdir(parents=True)
    host = Github(
        auth=Auth.Token(os.environ["BENCH_TOKEN"]),
        base_url=os.environ["BENCH_URL"],
        per_page=100,
        seconds_between_requests=0,
        seconds_between_writes=0,
        retry=None,
    )

    def write(name: str, answer: object) -> None:
        (files / name).write_text(json.dumps(answer, indent=2))

    def not_there(error: GithubException) -> None:
        # Only some of the host's 404s have a specific exception.
        if error.status != 404:
            raise error

    organization = host.get_organization(os.environ["BENCH_ORG"])
    write("org_settings.json", organization.raw_data)
    for repository in organization.get_repos(sort="full_name", direction="asc"):
        name = f"repo_{repository.full_name.replace('/', '_')}"
        try:
            # The library reaches the protection only through the branch, which costs one more request.
            protection = repository.get_branch("main").get_protection()
            write(f"{name}_branch_protection.json", protection.raw_data)
        except GithubException as error:
            not_there(error)
        for place in ("CODEOWNERS", ".github/CODEOWNERS"):
            try:
                write(f"{name}_codeowners.json", repository.get_contents(place).raw_data)
                break
            except GithubException as error:
                not_there(error)
    pack(output)


if __name__ == "__main__":
    main()
