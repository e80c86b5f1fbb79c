"""Prepares the code host's own API description for the contract proxy.

Usage: codehost.py <api description> <output> <own origin>. Keeps the calls that the tool makes, and corrects
what the proxy cannot read: the vendor media type has no schema, the directory form of `contents` is not used here, and a
`/` inside a path parameter needs a separate path.
"""

import copy
import json
import sys

source, target, origin = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    description = json.load(file)

CONTENTS = "/repos/{owner}/{repo}/contents/{path}"
KEPT = [
    "/orgs/{org}",
    "/orgs/{org}/repos",
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/branches/{branch}",
    "/repos/{owner}/{repo}/branches/{branch}/protection",
    "/repos/{owner}/{repo}/rules/branches/{branch}",
    "/repos/{owner}/{repo}/rulesets/{ruleset_id}",
    "/repos/{owner}/{repo}/codeowners/errors",
    CONTENTS,
    "/user",
    "/rate_limit",
]

# The real host returns `null` for these although its description says "string", as recorded answers show.
NULL_ANYWAY = {"company", "location", "email", "name", "blog", "license", "spdx_id", "url", "html_url", "key"}


def allow_null(schema):
    """Lets the named properties be null, at any depth."""
    if isinstance(schema, list):
        for item in schema:
            allow_null(item)
    elif isinstance(schema, dict):
        for name, value in schema.get("properties", {}).items():
            if name in NULL_ANYWAY and isinstance(value, dict):
                kinds = value.get("type")
                if isinstance(kinds, str):
                    value["type"] = [kinds, "null"]
                value.pop("nullable", None)
        for value in schema.values():
            allow_null(value)


paths = {}
for path in KEPT:
    operation = copy.deepcopy(description["paths"][path]["get"])
    for answer in operation["responses"].values():
        content = answer.get("content", {})
        for media_type in [name for name in content if "vnd.github.object" in name]:
            del content[media_type]
        allow_null(content)
        if "application/json" in content:
            content["application/vnd.github+json"] = content["application/json"]
    paths[path] = {"get": operation}

# Discovery follows `Link`, which names the organization by its id.
by_number = copy.deepcopy(paths["/orgs/{org}/repos"])
paths["/organizations/{org}/repos"] = by_number
by_number["get"]["operationId"] += "-by-number"

for place in [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"]:
    literal = copy.deepcopy(paths[CONTENTS])
    operation = literal["get"]
    operation["operationId"] += "-" + place.replace("/", "-")
    operation["parameters"] = [p for p in operation["parameters"] if p.get("name") != "path"]
    # A raw read has its own media type, and any bytes as its answer.
    paths[f"/repos/{{owner}}/{{repo}}/contents/{place}"] = literal
del paths[CONTENTS]

description["paths"] = paths
description["servers"] = [{"url": origin}]
description.pop("webhooks", None)
description.pop("x-webhooks", None)
with open(target, "w", encoding="utf-8") as file:
    json.dump(description, file)
