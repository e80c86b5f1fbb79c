"""Looks at the platform's pages with a browser, as a person would: see pages.sh.

Fails on: a step that does not work, with scripts and without; an error in the console; a request to another origin; a
page wider than its window; a serious finding of axe-core, light or dark; bytes that are not what was uploaded.
"""

import base64
import hashlib
import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request

from playwright.sync_api import expect, sync_playwright

BASE = sys.argv[1]
BUNDLES = sys.argv[2:]
PICTURES = pathlib.Path(os.environ["SCREENSHOTS"])
AXE = os.environ["AXE"]
PHONE = {"width": 390, "height": 844}
PAPER = {"width": 794, "height": 1123}
DESK = {"width": 1200, "height": 900}


def upload(path):
    contents = pathlib.Path(path).read_bytes()
    digest = base64.b64encode(hashlib.sha256(contents).digest()).decode()
    headers = {
        "Authorization": f"Bearer {os.environ['UPLOAD_KEY']}",
        "Content-Digest": f"sha-256=:{digest}:",
        "Content-Type": "application/gzip",
    }
    request = urllib.request.Request(f"{BASE}/api/v1/bundles", contents, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["bundle_id"]


def wait_until_ready():
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{BASE}/readyz").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise SystemExit("FAILED: the platform does not become ready")


class Visit:
    """A person with a browser."""

    def __init__(self, browser, name, **settings):
        self.name = name
        self.context = browser.new_context(**{"viewport": DESK, "accept_downloads": True} | settings)
        self.page = self.context.new_page()
        self.troubles = []
        self.requests = 0
        self.page.on("pageerror", lambda error: self.troubles.append(f"script error: {error}"))
        self.page.on("console", self.said)
        self.page.on("request", self.asked)

    def said(self, message):
        # The form to sign in is the answer 401 or 403 itself, and the console says so.
        refused = any(f"status of {code}" in message.text for code in (401, 403))
        if message.type in ("error", "warning") and not refused:
            self.troubles.append(f"console: {message.text}")

    def asked(self, request):
        self.requests += 1
        if not request.url.startswith(f"{BASE}/"):
            self.troubles.append(f"request to another origin: {request.url}")

    def picture(self, name):
        self.page.screenshot(path=PICTURES / f"{name}-{self.name}.png", full_page=True)

    def check(self, name):
        """What must hold of every page."""
        wide, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        if wide > window:
            self.troubles.append(f"{name} is {wide} wide in a window of {window}")
        if AXE:
            self.page.evaluate(pathlib.Path(AXE).read_text())
            for finding in self.page.evaluate("axe.run()")["violations"]:
                node = finding["nodes"][0]["html"][:160]
                self.troubles.append(f"{name}: {finding['impact']} {finding['id']}: {node}")
        self.picture(name)

    def end(self):
        self.context.close()
        if self.troubles:
            raise SystemExit(f"FAILED ({self.name}):\n  " + "\n  ".join(self.troubles))
        print(f"ok   the pages, {self.name}: {self.requests} requests, all to the platform")


def sign_in(visit, key):
    visit.page.get_by_label("API key").fill(key)
    visit.page.get_by_role("button", name="Sign in").click()


def tour(visit, ids, checked=True):
    """Everything a person can do."""
    page = visit.page
    look = visit.check if checked else visit.picture
    page.goto(f"{BASE}/bundles/{ids[-1]}")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    look("sign-in")
    sign_in(visit, os.environ["UPLOAD_KEY"])
    expect(page.get_by_role("alert")).to_contain_text("role upload")
    sign_in(visit, os.environ["READ_KEY"])
    # What was asked for at first.
    expect(page).to_have_url(f"{BASE}/bundles/{ids[-1]}")
    expect(page.get_by_text("verified to the last byte")).to_be_visible()
    expect(page.get_by_role("heading", name="Completeness")).to_be_visible()
    look("bundle")

    page.get_by_role("link", name="Evidence platform").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bundles of Acme & Söhne")
    expect(page.locator("svg.timeline > a")).to_have_count(len(ids))
    expect(page.locator("table.bundles tbody tr")).to_have_count(len(ids))
    look("timeline")

    page.get_by_role("button", name="Compare selected").click()
    expect(page.get_by_role("heading", name="Changes", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{BASE}/compare?to={ids[-1]}&from={ids[-2]}")
    look("compare")

    page.goto(f"{BASE}/bundles/{ids[-1]}")
    page.get_by_role("link", name="Artifacts", exact=True).click()
    page.get_by_role("searchbox").fill("org_settings")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    look("artifacts")
    page.locator("tbody a").click()
    expect(page.locator("pre")).to_contain_text("{")
    look("file")

    page.goto(f"{BASE}/bundles/{ids[-1]}")
    # From the keyboard alone: the first stop leads past the head of the page.
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to content")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    found = hashlib.sha256(pathlib.Path(download.value.path()).read_bytes()).hexdigest()
    sent = [hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in BUNDLES]
    if found not in sent:
        visit.troubles.append("the download is not what was uploaded")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{BASE}/bundles")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    wait_until_ready()
    ids = [upload(path) for path in sorted(BUNDLES)]
    with sync_playwright() as playwright:
        options = {"executable_path": os.environ["BROWSER"], "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        visits = [
            ("light", {}),
            ("dark", {"color_scheme": "dark"}),
            ("phone", {"viewport": PHONE}),
        ]
        for name, settings in visits:
            visit = Visit(browser, name, **settings)
            tour(visit, ids)
            visit.end()
        visit = Visit(browser, "without JavaScript", java_script_enabled=False)
        tour(visit, ids, checked=False)
        visit.end()

        # On paper nothing is folded.
        visit = Visit(browser, "paper")
        visit.page.goto(f"{BASE}/bundles/{ids[-1]}")
        sign_in(visit, os.environ["READ_KEY"])
        visit.page.emulate_media(media="print")
        folded = visit.page.locator("details:not([open]) table").first
        if folded.bounding_box()["height"] < 20:
            visit.troubles.append("what is folded on the screen is missing on paper")
        visit.page.pdf(path=PICTURES / "bundle.pdf", format="A4")
        visit.picture("bundle")
        visit.page.goto(f"{BASE}/bundles")
        visit.page.set_viewport_size(PAPER)
        for selector in ("svg.timeline", "table.bundles"):
            box = visit.page.locator(selector).bounding_box()
            if box["x"] + box["width"] > PAPER["width"]:
                visit.troubles.append(f"{selector} is wider than the paper")
        visit.page.pdf(path=PICTURES / "timeline.pdf", format="A4")
        visit.picture("timeline")
        visit.end()
        browser.close()


main()
