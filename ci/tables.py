"""Compares the tables of an extracted bundle with its documents, and with what a spreadsheet made of them.

It shares no code with the program: it implements the rules of docs/bundle-format.md independently.
"""

import csv
import json
import pathlib
import re
import sys

FORMULA = "=+-@＝＋－＠"


def printable(text):
    """The cell for a text of the documents."""
    text = text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    deceptive = [*range(0, 32), *range(127, 160), *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)]
    text = "".join(f"\\u{{{ord(c):x}}}" if ord(c) in deceptive else c for c in text)
    if len(text) > 2_000:
        text = text[:2_000] + " … (cut)"
    formula = text.lstrip()[:1] and text.lstrip()[0] in FORMULA
    number = re.fullmatch(r"[0-9][-+/.,:eE 0-9]*", text) and not re.fullmatch(r"0|[1-9][0-9]{0,10}", text)
    return "'" + text if formula or number else text


def document(bundle, path):
    return json.loads((bundle / path).read_bytes())


def origin(bundle):
    manifest = document(bundle, "manifest.json")
    return [manifest["organization"], manifest["bundle_id"]]


def asked(request):
    """The cells about a request: time, call, status, id."""
    return [request["at"], f"{request['method']} {request['path']}", str(request.get("status", "")),
            request.get("request_id", "")]


def answered(bundle):
    """The cells of the request that was answered, by artifact, or by observation if there is no artifact."""
    found = {}
    for row in document(bundle, "derived/observations.json")["observations"]:
        good = [request for request in row["requests"] if "artifact" in row and request.get("status", 999) < 400]
        if row["requests"]:
            found[row.get("artifact", row["id"])] = asked((good or row["requests"])[-1])
    return found


def checks(bundle):
    last = answered(bundle)
    for control in document(bundle, "derived/normalized.json")["controls"]:
        for check in control["checks"]:
            evidence = check["evidence"]
            files = [e["filename"] + (f"#{e['id']}" if "id" in e else "") for e in evidence]
            requests = [last.get(e.get("id", e["filename"]), [""] * 4) for e in evidence]
            cells = ["; ".join(texts) if any(texts) else "" for texts in zip(*requests)] or [""] * 4
            yield [control["id"], " ".join(control["criteria"][check["rule"]]), check["source"], check["rule"],
                   check["subject"], check["status"], check["reason"], check.get("expected", control["expected"][check["rule"]]),
                   check.get("actual", ""), "; ".join(files), "; ".join("sha256:" + e["checksum"] for e in evidence),
                   *cells, *origin(bundle)]


def artifacts(bundle):
    requests = answered(bundle)
    for row in document(bundle, "manifest.json")["artifacts"]:
        yield [row["source"], row["artifact_type"], row["subject"], " ".join(row["controls"]), row["filename"],
               "sha256:" + row["checksum"], str(row["size_bytes"]), row["collected_at"],
               *requests[row["filename"]][1:], *origin(bundle)]


def population(bundle):
    yes = {True: "yes", False: "no", None: ""}
    for row in document(bundle, "derived/population.json")["members"]:
        yield [row["source"], row["kind"], row["name"], row.get("id", ""), row.get("default_branch", ""),
               yes[row.get("archived")], row.get("visibility", ""), yes[row["in_scope"]], row.get("reason", ""),
               *origin(bundle)]


def observations(bundle):
    for row in document(bundle, "derived/observations.json")["observations"]:
        start = [row["id"], row["source"], row["kind"], row["subject"], row["outcome"], row.get("reason", ""),
                 row.get("detail", ""), row.get("artifact", "")]
        for request in row["requests"] or [None]:
            cells = [""] * 8
            if request:
                cells = [request["at"], request["method"], request["path"], str(request.get("status", "")),
                         request.get("etag", ""), request.get("request_id", ""), request.get("message", ""), request.get("permission", "")]
            yield [*start, *cells, *origin(bundle)]


def events(bundle):
    requests = answered(bundle)
    for row in document(bundle, "manifest.json")["artifacts"]:
        if row["artifact_type"] == "user_lifecycle":
            for event in document(bundle, row["filename"])["events"]:
                actor, about = event["actor"], event["parameters"]
                cells = [event.get("time"), event["name"], actor.get("email"), actor.get("callerType"),
                         about.get("USER_EMAIL"), about.get("ROLE_NAME")]
                yield [row["source"], *(cell or "" for cell in cells), row["filename"], "sha256:" + row["checksum"],
                       row["collected_at"], *requests[row["filename"]][1:], *origin(bundle)]


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, strict=True))


def main():
    bundle, office = map(pathlib.Path, sys.argv[1:])
    tables = [checks, artifacts, population, observations, events]
    for name, rows in [(rows.__name__, rows) for rows in tables]:
        path = bundle / "derived" / f"{name}.csv"
        header, *found = read(path)
        expected = [[printable(cell) for cell in row] for row in rows(bundle)]
        for number, (one, other) in enumerate(zip(found, expected)):
            assert one == other, f"{name}.csv, row {number + 1}: {one} instead of {other}"
        assert len(found) == len(expected) and (found or rows is events), f"{name}.csv: {len(found)} rows instead of {len(expected)}"
        raw = path.read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf") == (not raw.isascii()), f"{name}.csv: the mark of UTF-8"
        shown = office / f"{name}.csv"
        seen = ""
        if shown.exists():
            cells = read(shown)
            assert cells == [header, *found], f"{name}.csv: LibreOffice shows other cells"
            seen = ", LibreOffice the same"
        print(f"{name}.csv: {len(found)} rows are the document's{seen}")


main()
