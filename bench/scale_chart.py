#!/usr/bin/env python3
"""Draws docs/scale.svg from docs/scale.csv and the first table of docs/scale.md.

Both are written by the tests from the tool's own arithmetic (UPDATE_DOCS=1 cargo test -p evidence --test faults scale),
and a test compares the picture's points with the table. This script computes nothing. Needs only Python.
"""

import csv
import math
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 78, 196, 74, 58
FROM, TO = (50, 1), (100_000, 400_000)
# In the order of the table: name, class, and the label beside the line.
RUNS = [
    ("naive", "naive", "one request after the other"),
    ("first run", "first", "900 a minute, 4,900 an hour"),
    ("re-run", "again", "what has not changed is free"),
]
# Value, label, and the offset of the label.
ACROSS = [(50, "50", 0), (500, "500", 0), (5_000, "5,000", -4), (10_000, "10,000", 4), (50_000, "50,000", -8), (100_000, "100,000", 8)]
# Notes at the jumps of the first run's line: repositories, seconds, lines.
NOTES = [(470, 25, ["the minute's 900", "are used up"]), (2_450, 2_100, ["the hour's 4,900", "are used up"])]
UP = [
    (1, "1 s"), (10, "10 s"), (60, "1 min"), (600, "10 min"), (3_600, "1 h"), (36_000, "10 h"), (86_400, "1 day"),
    (259_200, "3 days"),
]
STYLE = """
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; fill: #57606a; }
  .paper { fill: #ffffff; } .title { font-size: 17px; font-weight: 600; fill: #1f2328; }
  .grid { stroke: #d8dee4; stroke-width: 1; } .name { font-weight: 600; } .small { font-size: 12px; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; }
  polyline.first { stroke-width: 5; }
  .naive { stroke: #8c959f; } .first { stroke: #bc4c00; } .again { stroke: #0969da; }
  circle { fill: #ffffff; stroke-width: 2.5; }
  text.naive { fill: #6e7781; stroke: none; } text.first { fill: #bc4c00; stroke: none; }
  text.again { fill: #0969da; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; } .paper { fill: #0d1117; } .title { fill: #f0f6fc; } .grid { stroke: #2a313c; }
    circle { fill: #0d1117; }
    .naive { stroke: #7d8590; } .first { stroke: #f0883e; } .again { stroke: #58a6ff; }
    text.naive { fill: #9198a1; } text.first { fill: #f0883e; } text.again { fill: #58a6ff; }
  }
"""


def place(value, low, high, start, end):
    return start + (end - start) * math.log(value / low) / math.log(high / low)


def x(repositories):
    return round(place(repositories, FROM[0], TO[0], LEFT, WIDTH - RIGHT), 1)


def y(seconds):
    return round(place(max(seconds, FROM[1]), FROM[1], TO[1], HEIGHT - BOTTOM, TOP), 1)


def table():
    """The rows of the first generated table: repositories as written, and the times as written, by run."""
    text = (DOCS / "scale.md").read_text()
    rows = re.search(r"<!-- generated: runs -->\n(.*?)<!-- end: runs -->", text, re.S).group(1)
    for row in rows.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        yield cells[0], dict(zip((name for name, _, _ in RUNS), cells[2::2]))


def main():
    curve = list(csv.DictReader((DOCS / "scale.csv").open()))
    seconds = {int(row["repositories"]): row for row in curve}
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-label="Collection time by repositories: naive, first run, re-run">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="8"/>',
        f'<text class="title" x="{LEFT}" y="32">Collection time under the code host\'s limits</text>',
        f'<text x="{LEFT}" y="53">computed, both axes logarithmic; 5,000 requests an hour, 900 a minute, 0.3 s an '
        "answer</text>",
    ]
    for value, label in UP:
        out.append(f'<line class="grid" x1="{LEFT}" y1="{y(value)}" x2="{WIDTH - RIGHT}" y2="{y(value)}"/>')
        out.append(f'<text x="{LEFT - 10}" y="{y(value) + 4.5}" text-anchor="end">{label}</text>')
    for value, label, aside in ACROSS:
        out.append(f'<line class="grid" x1="{x(value)}" y1="{TOP}" x2="{x(value)}" y2="{HEIGHT - BOTTOM}"/>')
        out.append(f'<text x="{x(value) + aside}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{label}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">repositories</text>')
    rows = list(table())
    for name, kind, _ in RUNS:
        line = " ".join(f"{x(int(row['repositories']))},{y(float(row[name]))}" for row in curve)
        out.append(f'<polyline class="line {kind}" points="{line}"/>')
    for repositories, times in rows:
        number = int(repositories.replace(",", ""))
        for name, kind, _ in RUNS:
            at = f'cx="{x(number)}" cy="{y(float(seconds[number][name]))}"'
            title = f"<title>{name}, {repositories} repositories: {times[name]}</title>"
            out.append(f'<circle class="{kind}" {at} r="4">{title}</circle>')
    for repositories, time, lines in NOTES:
        for number, text in enumerate(lines):
            out.append(f'<text class="small" x="{x(repositories)}" y="{y(time) + 15 * number}">{text}</text>')
    # Labels beside the ends of the lines, far enough apart to be readable.
    last, times = rows[-1]
    ends = sorted((y(float(seconds[int(last.replace(",", ""))][name])), name, kind, what) for name, kind, what in RUNS)
    out.append(f'<text class="small" x="{WIDTH - RIGHT + 14}" y="{TOP - 6}">{last} repositories</text>')
    lowest = TOP - 26
    for height, name, kind, what in ends:
        height = max(height - 8, lowest + 40)
        lowest = height
        left = WIDTH - RIGHT + 14
        out.append(f'<text class="name {kind}" x="{left}" y="{height + 4}">{name}: {times[name]}</text>')
        out.append(f'<text class="small" x="{left}" y="{height + 20}">{what}</text>')
    out.append("</svg>")
    (DOCS / "scale.svg").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
