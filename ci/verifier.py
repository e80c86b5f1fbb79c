"""Verifies bundles with the verifier page, as an auditor would: see verifier.sh.

Fails on: a verdict, reason or sentence that differs from the command line's; a request to anywhere but the page itself; an
error in the console; a SHA-256 that is not the file's; a page wider than its window; a finding of axe-core.
"""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from playwright.sync_api import expect, sync_playwright

PAGE = pathlib.Path(sys.argv[1]).resolve()
CASES = pathlib.Path(sys.argv[2])
KEY = pathlib.Path(sys.argv[3])
BUNDLES = [pathlib.Path(path) for path in sys.argv[4:]]
EVIDENCE = os.environ["EVIDENCE"]
AXE = os.environ["AXE"]
PICTURES = pathlib.Path(os.environ["SCREENSHOTS"])
DESK = {"width": 1200, "height": 900}
PHONE = {"width": 390, "height": 844}
FIELDS = {
    "--public-key": "#key",
    "--allowed-signers": "#signers",
    "--revoked-keys": "#revoked",
    "--fingerprint": "#fingerprint",
    "--expect-org": "#organization",
    "--max-age": "#age",
}


class Host:
    """Serves the page, and counts all other requests."""

    def __init__(self):
        self.asked = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                asked.append(self.path)

        handler = functools.partial(Handler, directory=PAGE.parent)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Visit:
    """A user with a browser, and no network."""

    def __init__(self, browser, name, address, **settings):
        self.name = name
        self.address = address
        self.troubles = []
        self.blocked = 0
        self.context = browser.new_context(**{"viewport": DESK, "accept_downloads": True} | settings)
        self.context.on("request", self.asked)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.troubles.append(f"script error: {error}"))
        self.page.on("console", self.said)
        self.page.goto(address)
        expect(self.page.locator("#self")).to_have_text(re.compile(r"^[0-9a-f]{64}$"))

    def asked(self, request):
        if request.url != self.address and not request.url.startswith("blob:"):
            self.troubles.append(f"a request: {request.url}")

    def said(self, message):
        if message.type in ("error", "warning"):
            self.troubles.append(f"console: {message.text}")

    def verify(self, bundle, terms=()):
        """Returns the verdict of the page: its report for programs, and its text."""
        page = self.page
        page.locator("#terms").evaluate("form => form.reset()")
        page.locator("#terms details").evaluate("details => { details.open = true; }")
        for flag, value in terms:
            field = page.locator(FIELDS[flag])
            if flag in ("--public-key", "--allowed-signers"):
                field.set_input_files(value)
            else:
                field.fill(value)
        page.get_by_label("Bundle", exact=True).set_input_files(bundle)
        page.get_by_role("button", name="Verify", exact=True).click()
        expect(page.locator("#verify")).to_be_enabled(timeout=120_000)
        verdict = page.locator("#verdict")
        expect(verdict).to_be_visible()
        report = verdict.get_attribute("data-report")
        said = [" ".join(text.split()) for text in verdict.locator("h2, p:not(.name), dd").all_text_contents()]
        return json.loads(report) if report else None, said

    def check(self, name):
        """Checks that apply to every view."""
        wide, window = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        if wide > window:
            self.troubles.append(f"{name} is {wide} wide in a window of {window}")
        if AXE:
            self.page.evaluate(pathlib.Path(AXE).read_text())
            for finding in self.page.evaluate("axe.run({ iframes: false })")["violations"]:
                node = finding["nodes"][0]["html"][:160]
                self.troubles.append(f"{name}: {finding['impact']} {finding['id']}: {node}")
        self.page.screenshot(path=PICTURES / f"verifier-{name}-{self.name}.png", full_page=True)

    def end(self):
        self.context.close()
        if self.troubles:
            raise SystemExit(f"FAILED ({self.name}):\n  " + "\n  ".join(self.troubles))


def command_line(directory, bundle, terms):
    """The output of `evidence verify`: its report, and its text on one line."""
    arguments = [part for pair in terms for part in pair]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("EVIDENCE_")}
    run = functools.partial(subprocess.run, cwd=directory, env=environment, capture_output=True, text=True)
    report = run([EVIDENCE, "verify", bundle, "--json", *arguments])
    text = run([EVIDENCE, "verify", bundle, *arguments])
    return json.loads(report.stdout), " ".join(text.stdout.split()), text.returncode


def cases(directory):
    """Every bundle with the arguments of its verification, all files in one directory."""
    for case in sorted(path for path in CASES.iterdir() if path.is_dir()):
        expected = json.loads((case / "expect.json").read_text())
        own = directory / case.name
        own.mkdir()
        shutil.copy(case / "bundle.tar.gz", own)
        arguments = expected["args"]
        terms = []
        for flag, value in zip(arguments[::2], arguments[1::2]):
            if FIELDS[flag] in ("#key", "#signers", "#revoked"):
                shutil.copy(case / value, own)
                value = pathlib.Path(value).name
            terms.append((flag, value))
        yield case.name, own, "bundle.tar.gz", terms, expected["exit"]
    for bundle in BUNDLES:
        yield bundle.name, bundle.parent, bundle.name, [("--public-key", str(KEY))], 0


def compare(visit, directory):
    """Every verdict of the page equals that of the command line."""
    count = 0
    for name, own, bundle, terms, code in cases(directory):
        files = [(flag, str(own / value) if FIELDS[flag] in ("#key", "#signers", "#revoked") else value) for flag, value in terms]
        report, said = visit.verify(str(own / bundle), files)
        expected, text, exit_code = command_line(own, bundle, terms)
        if exit_code != code:
            visit.troubles.append(f"{name}: the command line ends with {exit_code} instead of {code}")
        # Labels name a key file by the path on the command line.
        text = text.replace(str(KEY), KEY.name)
        # The two programs read the clock at different times.
        aged = functools.partial(re.sub, r"is \d+ seconds old", "is many seconds old")
        report, expected = json.loads(aged(json.dumps(report))), json.loads(aged(json.dumps(expected)))
        text, said = aged(text), [aged(sentence) for sentence in said]
        if expected["trusted_by"] == str(KEY):
            expected["trusted_by"] = KEY.name
        if report != expected:
            visit.troubles.append(f"{name}: the page says {report}, the command line {expected}")
        for sentence in said:
            sentence = sentence.lstrip("✓!✕ ").removesuffix(", and choose it above.")
            if not sentence or sentence not in text:
                visit.troubles.append(f"{name}: {sentence!r} is not in {text!r}")
        count += 1
    return count


def usage(visit, directory):
    """Invalid questions get the same messages as on the command line."""
    bundle = str(CASES / "fingerprint_ok" / "bundle.tar.gz")
    other = directory / "not-a-key"
    other.write_bytes(b"caf\xe9")
    for terms, words in [
        ([("--public-key", str(other))], "cannot trust this key: "),
        ([("--fingerprint", "sha256:abc")], "cannot trust this key: "),
        ([("--max-age", "7")], "is not a duration"),
        ([("--public-key", str(CASES / "key.pub")), ("--fingerprint", "sha256:abc")], "not combined"),
    ]:
        report, said = visit.verify(bundle, terms)
        if report is not None or words not in said[0] or "VERIFIED" in said[0]:
            visit.troubles.append(f"{terms}: {said}")


def alone(visit, host):
    """The policy forbids every connection, including to the machine itself."""
    before, troubles = len(host.asked), visit.troubles
    visit.troubles = []
    listener = [f"{host.address}/asked?{kind}" for kind in ("fetch", "image", "beacon", "socket", "frame")]
    blocked = visit.page.evaluate(
        """async ([fetched, image, beacon, socket, frame]) => {
          const blocked = [];
          document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
          await fetch(fetched).catch(() => {});
          document.body.append(Object.assign(new Image(), { src: image }));
          navigator.sendBeacon(beacon);
          try { new WebSocket(socket.replace("http", "ws")); } catch {}
          document.body.append(Object.assign(document.createElement("iframe"), { src: frame }));
          await new Promise((done) => setTimeout(done, 500));
          return blocked;
        }""",
        listener,
    )
    if len(host.asked) != before:
        troubles.append(f"the host was asked: {host.asked[before:]}")
    if not {"connect-src", "img-src", "frame-src"} <= set(blocked):
        troubles.append(f"blocked was only {blocked}")
    # The browser's reactions to the attempts made here.
    tried = ("Content Security Policy", "/asked?", "violates")
    visit.troubles = troubles + [trouble for trouble in visit.troubles if not any(text in trouble for text in tried)]


def look(visit, bundle):
    """Everything that a user can look at."""
    page = visit.page
    visit.check("start")
    report, _ = visit.verify(str(bundle), [("--public-key", str(KEY))])
    assert report["verdict"] == "verified", report
    page.locator("#terms details").evaluate("details => { details.open = false; }")
    visit.check("results")

    page.get_by_role("tab", name="Report").click()
    frame = page.frame_locator("#report iframe")
    expect(frame.locator("h1")).to_be_visible()
    visit.check("report")
    page.get_by_role("tab", name="Checks").click()
    panel = page.locator("#checks")
    expect(panel.locator("tbody tr").first).to_be_visible()
    visit.check("checks")
    panel.get_by_label("Status").select_option("fail")
    panel.get_by_role("button", name="Show").click()
    expect(panel.locator("tbody .pill").first).to_contain_text("fail")
    panel.get_by_label("Status").select_option("")
    panel.get_by_label("Seed").fill("2026-Q4")
    panel.get_by_label("Sample size").fill("3")
    panel.get_by_role("button", name="Show").click()
    expect(panel.locator("tbody tr")).to_have_count(3)
    visit.check("sample")
    drawn = panel.locator("tbody tr td:last-child").all_text_contents()
    asked = [EVIDENCE, "sample", bundle, "--from", "checks", "--count", "3", "--seed", "2026-Q4", "-k", KEY]
    text = subprocess.run([*asked, "--format", "json"], capture_output=True, text=True, check=True).stdout
    if any(digest not in text for digest in drawn) or len(set(drawn)) != 3:
        visit.troubles.append(f"another sample than the command line's: {drawn}")
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download CSV").click()
    if len(pathlib.Path(download.value.path()).read_text().splitlines()) != 4:
        visit.troubles.append("the table has not the sample's rows")

    page.get_by_role("tab", name="Population").click()
    expect(page.locator("#population tbody tr").first).to_be_visible()
    visit.check("population")
    page.get_by_role("tab", name="Files").click()
    panel = page.locator("#files")
    panel.get_by_label("Filter by path").fill("org_settings")
    panel.get_by_role("button", name="Show").click()
    expect(panel.locator("tbody tr")).to_have_count(1)
    panel.locator("tbody button").click()
    expect(panel.locator("pre")).to_contain_text("{")
    visit.check("file")
    shown = panel.locator("#file code").inner_text()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download").click()
    found = hashlib.sha256(pathlib.Path(download.value.path()).read_bytes()).hexdigest()
    if found != shown:
        visit.troubles.append(f"the download has the SHA-256 {found}, the page says {shown}")
    # With another key, nothing of the previous bundle remains.
    report, said = visit.verify(str(bundle), [("--public-key", str(CASES / "other.pub"))])
    if report["verdict"] != "failed" or page.locator("#contents").is_visible():
        visit.troubles.append(f"another key: {said}")
    visit.check("failed")


def main():
    PICTURES.mkdir(parents=True, exist_ok=True)
    host = Host()
    digest = hashlib.sha256(PAGE.read_bytes()).hexdigest()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as directory:
        browser = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
        disk, served = PAGE.as_uri(), f"{host.address}/{PAGE.name}"
        visit = Visit(browser, "from disk", disk)
        count = compare(visit, pathlib.Path(directory))
        usage(visit, pathlib.Path(directory))
        alone(visit, host)
        visit.end()
        print(f"ok   {count} bundles: the page says what the command line says")
        for name, address, settings in [
            ("light", disk, {}),
            ("dark", served, {"color_scheme": "dark"}),
            ("phone", disk, {"viewport": PHONE}),
        ]:
            visit = Visit(browser, name, address, **settings)
            if visit.page.locator("#self").inner_text() != digest:
                visit.troubles.append(f"the page says another SHA-256 than {digest}")
            look(visit, BUNDLES[-1])
            visit.end()
            print(f"ok   the verifier page, {name}: no request, SHA-256 {digest[:12]}…")
        browser.close()


main()
