"""Tests the reports of extracted bundles in a browser: see report.sh.

Fails on: an error in the console; a request; a link that leads nowhere; a page wider than its window; a finding of
axe-core, light, dark or on a phone; fewer or more printed pages than the report needs.
"""

import os
import pathlib
import re
import sys
import time
import urllib.parse

from playwright.sync_api import sync_playwright

PICTURES = pathlib.Path(os.environ["SCREENSHOTS"])
AXE = os.environ["AXE"]
# The checker takes minutes for a page with a thousand rows, and finds nothing there that a short page lacks.
AXE_ROWS = 500
VIEWS = {
    "light": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
}


def opened(browser, report, troubles, **settings):
    """Opens the report from disk in a new window."""
    page = browser.new_context(**settings).new_page()
    page.on("pageerror", lambda error: troubles.append(f"script error: {error}"))
    page.on("console", lambda message: troubles.append(f"console: {message.text}"))
    page.on("request", lambda request: request.url == report.as_uri() or troubles.append(f"request: {request.url}"))
    page.goto(report.as_uri())
    return page


def look(browser, report, name, view, troubles):
    """Checks that apply to the page in this view."""
    # The page's own policy forbids scripts, including the checker's.
    page = opened(browser, report, troubles, bypass_csp=True, **VIEWS[view])
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    if wide > window:
        troubles.append(f"{view}: {wide} wide in a window of {window}")
    page.screenshot(path=PICTURES / f"{name}-{view}.png")
    rows = page.locator("tr").count()
    if AXE and rows > AXE_ROWS:
        print(f"     {name}, {view}: {rows} rows, not checked for accessibility")
    elif AXE:
        page.evaluate(pathlib.Path(AXE).read_text())
        for finding in page.evaluate("axe.run()")["violations"]:
            node = finding["nodes"][0]["html"][:160]
            troubles.append(f"{view}: {finding['impact']} {finding['id']}: {node}")
    page.context.close()


def follow(browser, report, troubles):
    """Checks that every link leads to a part of the page or to a file of the bundle."""
    page = opened(browser, report, troubles)
    links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.getAttribute('href'))")
    places = set(page.eval_on_selector_all("[id]", "places => places.map(place => place.id)"))
    root = report.parent.parent
    for link in sorted(set(links)):
        file = (report.parent / urllib.parse.unquote(link)).resolve()
        inside = link.startswith("#") and link[1:] in places
        if not inside and not (file.is_file() and file.is_relative_to(root)):
            troubles.append(f"{link} leads nowhere")
    # Keyboard navigation: the first tab stop skips the head of the page.
    page.keyboard.press("Tab")
    if page.evaluate("document.activeElement.textContent") != "Skip to the results":
        troubles.append("the first stop of the keyboard is not the skip link")
    page.context.close()
    return len(links)


def printed(browser, report, name, troubles):
    """The number of printed pages of the report."""
    page = opened(browser, report, troubles)
    rows = page.locator("tr").count()
    pages = {}
    for paper in ("A4", "Letter"):
        file = PICTURES / f"{name}-{paper}.pdf"
        page.pdf(path=file, format=paper)
        pages[paper] = len(re.findall(rb"/Type\s*/Page\b", file.read_bytes()))
        # A cover and at least two pages; at most one page for five rows beyond the other sections.
        if not 3 <= pages[paper] <= 8 + rows / 5:
            troubles.append(f"{pages[paper]} pages of {paper} for {rows} rows")
    page.context.close()
    return pages


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        options = {"executable_path": os.environ["BROWSER"], "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        for directory in sys.argv[1:]:
            root = pathlib.Path(directory).resolve()
            report, name, troubles = root / "derived" / "report.html", root.name, []
            for view in VIEWS:
                look(browser, report, name, view, troubles)
            links = follow(browser, report, troubles)
            start = time.monotonic()
            opened(browser, report, troubles).evaluate("document.documentElement.scrollHeight")
            laid_out = time.monotonic() - start
            pages = printed(browser, report, name, troubles)
            if troubles:
                raise SystemExit(f"FAILED ({name}):\n  " + "\n  ".join(troubles))
            size = report.stat().st_size // 1000
            print(f"ok   the report of {name}: {size} kB, {links} links, laid out in {laid_out:.2f} s, pages {pages}")
        browser.close()


main()
