"""Tests the platform's pages in a browser: see pages.sh.

Fails on: a step that does not work, with scripts and without; an error in the console; a request to another origin; a
page wider than its window; a serious finding of axe-core, light or dark; bytes that are not what was uploaded.
"""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import sqlite3
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


DAY = 86_400_000


def upload(path, key):
    contents = pathlib.Path(path).read_bytes()
    digest = base64.b64encode(hashlib.sha256(contents).digest()).decode()
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Digest": f"sha-256=:{digest}:",
        "Content-Type": "application/gzip",
    }
    request = urllib.request.Request(f"{BASE}/api/v1/bundles", contents, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["bundle_id"]


def make_a_year(bundle):
    """365 nights with one bundle each, as database rows: with a gap of a month, failures, and doubtful times."""
    upload(bundle, os.environ["YEAR_UPLOAD_KEY"])
    with sqlite3.connect(os.environ["DATABASE"]) as database:
        database.row_factory = sqlite3.Row
        rows = "SELECT * FROM bundles WHERE organization_id = (SELECT id FROM organizations WHERE slug = 'year')"
        row = dict(database.execute(rows).fetchone())
        newest = row["collected_at"]
        for night in range(1, 365):
            if 120 <= night < 150:
                continue
            facts = json.loads(row["facts"])
            facts["complete"] = night % 30 != 7
            for control in facts["judgement"]["controls"]:
                if 200 <= night < 240:
                    control["status"] = "fail"
                elif 60 <= night < 70:
                    control["status"] = "not_verifiable"
                else:
                    control["status"] = "pass"
            time = newest - night * DAY
            late = 3 * DAY if night in (30, 31, 32) else 60_000
            new = row | {
                "id": f"night-{night}",
                "sha256": hashlib.sha256(str(night).encode()).hexdigest(),
                "collected_at": time,
                "uploaded_at": time + late,
                "facts": json.dumps(facts),
            }
            names = ", ".join(new)
            places = ", ".join("?" * len(new))
            database.execute(f"INSERT INTO bundles ({names}) VALUES ({places})", list(new.values()))


def wait_until_ready():
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{BASE}/readyz").close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise SystemExit("FAILED: the platform does not become ready")


class Visit:
    """A user with a browser."""

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
        # The sign-in form comes with status 401 or 403, which the console reports.
        refused = any(f"status of {code}" in message.text for code in (401, 403, 404))
        if message.type in ("error", "warning") and not refused:
            self.troubles.append(f"console: {message.text}")

    def asked(self, request):
        self.requests += 1
        if not request.url.startswith(f"{BASE}/"):
            self.troubles.append(f"request to another origin: {request.url}")

    def picture(self, name):
        self.page.screenshot(path=PICTURES / f"{name}-{self.name}.png", full_page=True)

    def check_around(self, name):
        """Checks that apply to every page, for one with a frame that has its own."""
        self.check(name, "{ iframes: false }")

    def check(self, name, options="{}"):
        """Checks that apply to every page."""
        wide, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        if wide > window:
            self.troubles.append(f"{name} is {wide} wide in a window of {window}")
        if AXE:
            self.page.evaluate(pathlib.Path(AXE).read_text())
            for finding in self.page.evaluate(f"axe.run({options})")["violations"]:
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
    """Everything that a user can do."""
    page = visit.page
    look = visit.check if checked else visit.picture
    page.goto(f"{BASE}/bundles/{ids[-1]}")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    look("sign-in")
    sign_in(visit, os.environ["UPLOAD_KEY"])
    expect(page.get_by_role("alert")).to_contain_text("role upload")
    sign_in(visit, os.environ["READ_KEY"])
    # The originally requested page.
    expect(page).to_have_url(f"{BASE}/bundles/{ids[-1]}")
    expect(page.get_by_text("verified to the last byte")).to_be_visible()
    expect(page.get_by_role("heading", name="Completeness")).to_be_visible()
    # The provenance comes before every table.
    signed, table = (page.locator(selector).first.bounding_box()["y"] for selector in (".provenance", "table"))
    if signed > table:
        visit.troubles.append("a table comes before the provenance")
    look("bundle")

    # The frame belongs to no origin and has no script, not even with the browser's tools: it is only looked at.
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Report")
    report = page.frame_locator("iframe.report")
    expect(report.get_by_role("heading", name="How to verify")).to_be_visible()
    expect(page.get_by_text("The signer's report is the same.")).to_be_visible()
    report.get_by_label("Contents").get_by_role("link", name="Population", exact=True).click()
    expect(page).to_have_url(f"{BASE}/bundles/{ids[-1]}/report")
    outside = "links => links.map(link => link.getAttribute('href')).filter(link => !link.startsWith('#'))"
    if links := report.locator("[href]").evaluate_all(outside):
        visit.troubles.append(f"the report has links: {links[:3]}")
    (visit.check_around if checked else visit.picture)("report")
    page.get_by_role("link", name="As signed, as text").click()
    expect(page.locator("pre")).to_contain_text("<!doctype html>")
    page.goto(f"{BASE}/bundles/{ids[-1]}")

    page.get_by_role("link", name="All checks").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Checks")
    total = page.locator("table.checks tbody tr").count()
    look("checks")
    page.get_by_role("navigation", name="Status").get_by_role("link", name="fail").click()
    failed = page.locator("table.checks tbody tr")
    failures = failed.count()
    expect(failed.first).to_contain_text("fail")
    if not 0 < failures < total:
        visit.troubles.append(f"{failures} failed of {total} checks")
    page.get_by_role("link", name="Subject").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Subject")
    subjects = page.locator("table.checks tbody th bdi").all_inner_texts()
    if subjects != sorted(subjects, key=str.lower):
        visit.troubles.append(f"not sorted: {subjects}")
    # The form keeps the status and the order.
    page.get_by_role("searchbox").fill(subjects[0])
    page.get_by_role("button", name="Apply").click()
    expect(failed.first).to_contain_text(subjects[0])
    shown = failed.count()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").click()
    text = pathlib.Path(download.value.path()).read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    if len(rows) != shown or {row["status"] for row in rows} != {"fail"}:
        visit.troubles.append(f"the table has {len(rows)} rows, the page {shown}")
    page.get_by_role("searchbox").fill("nothing is called so")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("heading", name="No checks match")).to_be_visible()
    look("checks-none")

    page.goto(f"{BASE}/bundles/{ids[-1]}x")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    look("not-found")

    page.get_by_role("link", name="Evidence platform").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bundles of Acme & Söhne")
    # Bundles in the same time slot share a column.
    if not 1 <= page.locator("svg.timeline > a").count() <= len(ids):
        visit.troubles.append("the chart has more columns than bundles")
    expect(page.locator(".latest table.state")).to_be_visible()
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
    # Keyboard navigation: the first tab stop skips the head of the page.
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


def year(visit):
    """The chart of a year."""
    page = visit.page
    expect(page.locator("svg.timeline > a")).to_have_count(335)
    lanes = page.locator("svg.timeline .lane").all_text_contents()
    if lanes[-2:] != ["incomplete", "time in doubt"]:
        visit.troubles.append(f"lanes: {lanes}")
    cut = page.evaluate(
        """() => { const svg = document.querySelector("svg.timeline"), all = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(text => { const box = text.getBoundingClientRect();
          return box.right > all.right + 1 || box.left < all.left - 1; }).map(text => text.textContent); }"""
    )
    if cut:
        visit.troubles.append(f"labels are cut: {cut}")
    wide = page.locator("svg.timeline").bounding_box()["width"]
    if page.viewport_size["width"] >= DESK["width"] and wide > DESK["width"]:
        visit.troubles.append(f"a year is {wide} wide")


def fleet(visit, ids):
    """A key of a group: the page of all, and from there into an organization and its pages over time."""
    page = visit.page
    page.goto(f"{BASE}/fleet")
    sign_in(visit, os.environ["GROUP_KEY"])
    page.goto(f"{BASE}/fleet")
    expect(page.get_by_role("heading", name="All organizations")).to_be_visible()
    expect(page.locator("table.fleet tbody")).to_have_count(3)
    visit.check("fleet")
    page.get_by_role("link", name="Acme & Söhne").click()
    expect(page.get_by_role("heading", name="Bundles of Acme & Söhne")).to_be_visible()
    visit.check("member")
    page.get_by_role("link", name="Its last year").first.click()
    visit.check("period")
    page.goto(f"{BASE}/organizations/acme/period/control")
    visit.check("period-control")
    page.goto(f"{BASE}/organizations/acme/bundles/{ids[-1]}/checks?status=fail")
    page.get_by_title("This subject over time").first.click()
    expect(page.get_by_role("heading", name="over time")).to_be_visible()
    visit.check("subject")
    page.goto(f"{BASE}/organizations/acme/bundles/{ids[-1]}")
    page.get_by_role("link", name="Observations", exact=True).click()
    expect(page.get_by_role("heading", name="Observations")).to_be_visible()
    visit.check("observations")
    page.get_by_role("link", name="Fleet").click()
    page.get_by_role("button", name="Sign out").click()


def administration(visit):
    """The pages of an administrator, and those of an administrator of the group."""
    page = visit.page
    page.goto(f"{BASE}/retention")
    sign_in(visit, os.environ["ADMIN_KEY"])
    expect(page.get_by_text("case=42")).to_be_visible()
    visit.check("retention")
    for link, heading in (("Keys", "API keys"), ("Trust", "Trusted signing keys"), ("Audit log", "Audit log"), ("Integrity", "Integrity")):
        page.get_by_role("navigation", name="Site").get_by_role("link", name=link, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
        if link == "Keys":
            expect(page.get_by_role("heading", name="Keys of the group All organizations")).to_be_visible()
        visit.check(link.lower().replace(" ", "-"))
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{BASE}/fleet")
    sign_in(visit, os.environ["HEAD_KEY"])
    page.goto(f"{BASE}/fleet")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Keys", exact=True).click()
    expect(page.get_by_role("cell", name="read", exact=True)).to_be_visible()
    visit.check("fleet-keys")


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    wait_until_ready()
    ids = [upload(path, os.environ["UPLOAD_KEY"]) for path in sorted(BUNDLES)]
    make_a_year(sorted(BUNDLES)[-1])
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

        for name, settings in visits:
            visit = Visit(browser, f"fleet, {name}", **settings)
            fleet(visit, ids)
            visit.end()
            visit = Visit(browser, f"administration, {name}", **settings)
            administration(visit)
            visit.end()

        # A year on one screen: no label is cut, no mark is missing, and the gap is visible.
        for name, settings in (("light", {}), ("phone", {"viewport": PHONE})):
            visit = Visit(browser, f"a year, {name}", **settings)
            visit.page.goto(f"{BASE}/bundles")
            sign_in(visit, os.environ["YEAR_READ_KEY"])
            visit.check("year")
            year(visit)
            visit.end()

        # On paper everything is unfolded.
        visit = Visit(browser, "paper")
        visit.page.goto(f"{BASE}/bundles/{ids[-1]}")
        sign_in(visit, os.environ["READ_KEY"])
        visit.page.emulate_media(media="print")
        folded = visit.page.locator("details:not([open]) p").first
        if folded.bounding_box()["height"] < 10:
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
