"""Makes or checks the README's pictures: see pictures.sh.

run.svg shows lines of a run and of the verification of its bundle, unchanged; ⋮ marks omitted lines. report-light.png
and report-dark.png show the cover of the bundle's report. Their metadata holds the part of its HTML that they show, which
the check compares with the report of today.
"""

import difflib
import html
import io
import os
import pathlib
import re
import sys
import zlib

# The lines in the picture, by their beginnings.
SHOWN = [
    r"\$ evidence collect$",
    r"evidence \d",
    r"Credentials$",
    r"  (codehost|cloud|altcloud) +[A-Z_]{3,} +http",
    r"Connections$",
    r"  (codehost|cloud) +ok ",
    r"Collection$",
    r"  codehost +14 repositories",
    r"  codehost +(warn   acme/prototype: branch|deny|none   acme/docs-site|drop|done)",
    r"Controls$",
    r"  CC\d\.\d  (pass|fail|not verifiable) ",
    r"Bundle$",
    r"  \./evidence-bundles/evidence-bundle-\S+$",
    r"  [\d.]+ kB, ",
    r"\$ evidence verify ",
    r"  (signature|contents) ",
    r"VERIFIED$",
]
# Texts that differ from run to run.
VARIES = [
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"sha256:[0-9a-f]{64}", "sha256:KEY"),
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
    (r"evidence-bundle-\d{8}-\d{6}", "evidence-bundle-TIME"),
    (r"\d{4}-\d\d-\d\d", "DATE"),
    (r"\d\d:\d\d:\d\d", "TIME"),
    (r"[\d.,]+ (kB|bytes)", r"SIZE \1"),
]
COLUMNS = 108
SIZE, ADVANCE, LEADING, MARGIN = 14, 8.4, 21, 24
FRAMES = {"light": "#d1d9e0", "dark": "#3d444d"}
STYLES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y"}
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">
<title>A run of evidence collect and evidence verify</title>
<style>
  text {{ font: {size}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #d1d7e0; white-space: pre; }}
  rect {{ fill: #151b23; stroke: #3d444d; }}
  .b {{ font-weight: 700; fill: #f0f6fc; }} .d {{ fill: #9198a1; }}
  .r {{ fill: #ff7b72; }} .g {{ fill: #56d364; }} .y {{ fill: #e3b341; }}
</style>
<rect x="0.5" y="0.5" width="{right:g}" height="{bottom:g}" rx="8"/>
{lines}
</svg>
"""


def without_styles(line):
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def cells(line):
    """The characters of a line, each with its style."""
    style, found = set(), []
    for part in re.split(r"(\x1b\[[\d;]*m)", line.rstrip()):
        if not part.startswith("\x1b"):
            found += [(character, " ".join(sorted(style))) for character in part]
        elif part == "\x1b[0m":
            style = set()
        else:
            style |= {STYLES[code] for code in part[2:-1].split(";")}
    return found


def shown(log):
    """The chosen lines, with a mark for the lines between them."""
    lines = log.splitlines()
    plain = [without_styles(line) for line in lines]
    first = plain.index("$ evidence collect")
    last = plain.index("VERIFIED", first)
    unused, rows, empty, omitted = set(SHOWN), [], False, False
    for line, text in zip(lines[first : last + 1], plain[first : last + 1], strict=True):
        pattern = next((pattern for pattern in SHOWN if re.match(pattern, text)), None)
        if pattern:
            unused.discard(pattern)
            # The mark also replaces an empty line.
            rows += [cells("  \x1b[2m⋮\x1b[0m")] if omitted else [[]] if empty else []
            rows.append(cells(line))
            empty = omitted = False
        else:
            empty, omitted = empty or not text, omitted or bool(text)
    if unused:
        raise SystemExit(f"FAILED: the demo prints no line that begins with {sorted(unused)}")
    return rows


def wrapped(row):
    """The row, broken at spaces; its rest is indented to its last column."""
    text = "".join(character for character, _ in row)
    column = max((match.end() for match in re.finditer(r"\S {2,}", text[:40])), default=4)
    rows = []
    while len(row) > COLUMNS:
        at = max(index for index in range(COLUMNS) if row[index][0] == " ")
        rest = next(index for index in range(at, len(row)) if row[index][0] != " ")
        rows.append(row[:at])
        row = [(" ", "")] * column + row[rest:]
    return [*rows, row]


def drawn(rows):
    """The picture of these rows. Each piece states its width, so that columns are straight in every font."""
    rows = [short for row in rows for short in wrapped(row)]
    width, height = COLUMNS * ADVANCE + 2 * MARGIN, (len(rows) - 1) * LEADING + SIZE + 2 * MARGIN
    lines = []
    for number, row in enumerate(rows):
        text = "".join(character for character, _ in row)
        styles = [style for _, style in row]
        # Pieces with the same style, without trailing spaces.
        start = 0
        for index in range(1, len(row) + 1):
            if index == len(row) or styles[index] != styles[start]:
                piece = text[start:index].strip()
                if piece:
                    x = MARGIN + (text.index(piece, start)) * ADVANCE
                    style = f' class="{styles[start]}"' if styles[start] else ""
                    lines.append(
                        f'<text x="{x:g}" y="{MARGIN + number * LEADING + 12}" '
                        f'textLength="{len(piece) * ADVANCE:g}"{style}>{html.escape(piece, quote=False)}</text>'
                    )
                start = index
    return SVG.format(width=width, height=height, right=width - 1, bottom=height - 1, size=SIZE, lines="\n".join(lines))


def cover(report):
    """The HTML of the pictured part of the report, and its style."""
    text = report.read_text()
    return text[text.index("<style>") : text.index("</ul>", text.index('class="glance"'))]


def remembered(picture):
    """The HTML in the metadata of a picture."""
    data = picture.read_bytes()
    at = data.index(b"iTXtDescription\0")
    chunk = data[at + 4 : at + 4 + int.from_bytes(data[at - 4 : at], "big")]
    return zlib.decompress(chunk.removeprefix(b"Description\0\1\0\0\0")).decode()


def photograph(report, directory):
    """Writes the pictures of the report."""
    from PIL import Image, ImageDraw, PngImagePlugin
    from playwright.sync_api import sync_playwright

    info = PngImagePlugin.PngInfo()
    info.add_itxt("Description", cover(report), zip=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
        for scheme in FRAMES:
            size = {"width": 900, "height": 900}
            page = browser.new_page(viewport=size, device_scale_factor=2, color_scheme=scheme)
            page.goto(report.resolve().as_uri())
            places = [page.locator(part).bounding_box() for part in (".cover", ".glance")]
            top, bottom = round(places[0]["y"]) - 24, round(places[1]["y"] + places[1]["height"]) + 24
            image = page.screenshot(clip={"x": 0, "y": top, "width": 900, "height": bottom - top})
            image = Image.open(io.BytesIO(image)).convert("RGB")
            ImageDraw.Draw(image).rectangle((0, 0, image.width - 1, image.height - 1), outline=FRAMES[scheme], width=2)
            # The cover has few colours; a palette makes the file a third of the size.
            image = image.quantize(96, dither=Image.Dither.NONE)
            image.save(directory / f"report-{scheme}.png", optimize=True, pnginfo=info)
        browser.close()


def masked(text):
    """The text without the parts that differ between runs, and without the positions in a drawing."""
    text = re.sub(r' (x|y|textLength)="[^"]*"', "", text)
    for pattern, word in VARIES:
        text = re.sub(pattern, word, text)
    return text.splitlines()


def compare(picture, then, now):
    difference = list(difflib.unified_diff(masked(then), masked(now), picture.name, "the demo", n=0, lineterm=""))
    if difference:
        print("\n".join(difference))
        raise SystemExit(f"FAILED: {picture.name} is not what the demo shows: ci/pictures.sh makes it again")


def main():
    log, report, directory = (pathlib.Path(argument) for argument in sys.argv[2:])
    drawing = drawn(shown(log.read_text()))
    run, photographs = directory / "run.svg", [directory / f"report-{scheme}.png" for scheme in FRAMES]
    if sys.argv[1] == "--make":
        run.write_text(drawing)
        photograph(report, directory)
    compare(run, run.read_text(), drawing)
    for picture in photographs:
        compare(picture, remembered(picture), cover(report))
    sizes = ", ".join(f"{picture.name} {picture.stat().st_size // 1000} kB" for picture in (run, *photographs))
    print(f"ok   the README's pictures show what the demo prints and reports: {sizes}")


main()
