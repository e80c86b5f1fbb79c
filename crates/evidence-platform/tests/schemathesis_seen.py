"""Prints which statuses each route of the API was answered with, and fails if one is a 5xx or a route never succeeded.

schemathesis_seen.py http://127.0.0.1:8321
"""

import collections
import json
import re
import sys
import urllib.request


def get(path):
    with urllib.request.urlopen(sys.argv[1] + path) as answer:
        return answer.read().decode()


seen = collections.defaultdict(dict)
count = r'evidence_platform_requests_total\{route="(.*)",method="(.*)",status="(\d+)"\} (\d+)'
for route, method, status, number in re.findall(count, get("/metrics")):
    seen[method, route][int(status)] = int(number)

wrong = []
for route, operations in json.loads(get("/api/v1/openapi.json"))["paths"].items():
    for method in operations:
        statuses = seen[method.upper(), route]
        print(f"{method.upper():6} {route}:", ", ".join(f"{status} x{n}" for status, n in sorted(statuses.items())))
        if not any(200 <= status < 300 for status in statuses):
            wrong.append(f"{method.upper()} {route} never succeeded")
total = sum(sum(statuses.values()) for statuses in seen.values())
# A monitor asks for this one, with max_age.
asked_for = {("GET", "/api/v1/status", 503)}
wrong += [
    f"{method} {route} was answered {status}"
    for (method, route), statuses in seen.items()
    for status in statuses
    if status >= 500 and (method, route, status) not in asked_for
]
print("\n".join(wrong) or f"ok   {total} requests; every route succeeded, none was answered 5xx that was not asked for")
sys.exit(bool(wrong))
