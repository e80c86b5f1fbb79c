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
    number = re.fullmatch(r"[0-9][-+/.,:eE 0-9]*", text) and not re.fullmatch(r"0|[1-9][0-9]{0,14}", text)
    return "'" + text if formula or number else text


def checks(bundle):
    document = json.loads((bundle / "derived/normalized.json").read_bytes())
    for control in document["controls"]:
        for check in control["checks"]:
            evidence = check["evidence"]
            files = [e["filename"] + (f"#{e['id']}" if "id" in e else "") for e in evidence]
            yield [control["id"], " ".join(control["criteria"][check["rule"]]), check["source"], check["rule"],
                   check["subject"], check["status"], check["reason"], check.get("expected", ""),
                   check.get("actual", ""), "; ".join(files), "; ".join("sha256:" + e["checksum"] for e in evidence)]


def artifacts(bundle):
    for row in json.loads((bundle / "manifest.json").read_bytes())["artifacts"]:
        request = row["request"]
        yield [row["source"], row["artifact_type"], row["subject"], " ".join(row["controls"]), row["filename"],
               "sha256:" + row["checksum"], str(row["size_bytes"]), row["collected_at"], request["path"],
               str(request["status"]), request.get("etag", ""), request.get("request_id", "")]


def population(bundle):
    yes = {True: "yes", False: "no", None: ""}
    for row in json.loads((bundle / "derived/population.json").read_bytes())["members"]:
        yield [row["source"], row["kind"], row["name"], row.get("id", ""), row.get("default_branch", ""),
               yes[row.get("archived")], row.get("visibility", ""), yes[row["in_scope"]], row.get("reason", "")]


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file, strict=True))


def main():
    bundle, office = map(pathlib.Path, sys.argv[1:])
    for name, rows in [("checks", checks), ("artifacts", artifacts), ("population", population)]:
        path = bundle / "derived" / f"{name}.csv"
        header, *found = read(path)
        expected = [[printable(cell) for cell in row] for row in rows(bundle)]
        for number, (one, other) in enumerate(zip(found, expected)):
            assert one == other, f"{name}.csv, row {number + 1}: {one} instead of {other}"
        assert len(found) == len(expected) > 0, f"{name}.csv: {len(found)} rows instead of {len(expected)}"
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
