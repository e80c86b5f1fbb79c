"""Verifies bundles with the verifier page, as an auditor would: see verifier.sh.

Fails on: a verdict, reason or sentence that differs from the command line's; a request to anywhere but the page itself; an
error in the console; a SHA-256 that is not the file's; a page wider than its window; a finding of axe-core; anything that
a hostile report of a signer does, in the page or as a file.
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

from playwright.sync_api import Error as Unreachable
from playwright.sync_api import expect, sync_playwright

import hostile

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
# The fields that take a file.
FILES = ("#key", "#signers", "#revoked")


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
        # The form folds after a bundle was verified.
        if page.locator("#unfold").is_visible():
            page.locator("#unfold").click()
        page.locator("#terms").evaluate("form => form.reset()")
        page.locator("#terms details").evaluate("details => { details.open = true; }")
        for flag, value in terms:
            field = page.locator(FIELDS[flag])
            if FIELDS[flag] in FILES:
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
            if FIELDS[flag] in FILES:
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
        files = [(flag, str(own / value) if FIELDS[flag] in FILES else value) for flag, value in terms]
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
    expect(page.locator("#terms")).to_be_hidden()
    if "evidence " in page.locator("#verdict").inner_text():
        visit.troubles.append("the verdict advises to run a command")
    visit.check("results")
    # A count leads to its rows.
    count = page.locator("#results").get_by_role("button").first
    number = int(re.match(r"[\d,]+", count.inner_text())[0].replace(",", ""))
    count.click()
    expect(page.locator("#checks tbody tr")).to_have_count(min(number, 200))
    page.get_by_role("tab", name="Scope").click()
    expect(page.locator("#scope tbody tr").first).to_be_visible()
    visit.check("scope")

    page.get_by_role("tab", name="Report").click()
    frame = page.frame_locator("#report iframe")
    expect(frame.locator("h1")).to_be_visible()
    visit.check("report")
    page.get_by_role("tab", name="Checks").click()
    panel = page.locator("#checks")
    panel.locator("form").evaluate("form => form.reset()")
    panel.get_by_role("button", name="Show").click()
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
    panel.get_by_label("Filter by path").fill("codeowners.json")
    panel.get_by_role("button", name="Show").click()
    panel.locator("tbody button").first.click()
    expect(panel.get_by_label("Decoded contents")).to_contain_text("@")
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


# What the driver calls a frame without an address.
QUIET = ("about:srcdoc", "about:blank", "")


class Prison:
    """Notices everything by which a page could leave its window: requests, navigations, windows, downloads, scripts."""

    def __init__(self, context, address):
        self.address, self.escapes, self.current = address, [], ""
        context.on("page", lambda page: self.note(f"a new window: {page.url}"))
        # A request that the policy forbids ends here, before the network.
        context.on("requestfinished", self.asked)
        context.on("requestfailed", lambda request: request.failure == "csp" or self.asked(request))
        self.page = page = context.pages[0] if context.pages else context.new_page()
        # The first page is no escape.
        self.escapes.clear()
        page.on("dialog", lambda dialog: (self.note("a dialog"), dialog.dismiss()))
        page.on("download", lambda _: self.note("a download"))
        page.on("console", lambda message: "SCRIPT RAN" in message.text and "Content Security" not in message.text and self.note("a script"))
        page.on("framenavigated", lambda frame: frame.url not in (address, *QUIET) and self.note(f"to {frame.url}"))

    def asked(self, request):
        if request.url != self.address and not request.url.startswith(("blob:", "data:")):
            self.note(f"a request to {request.url}")

    def note(self, what):
        self.escapes.append(f"{self.current}: {what}")

    def press(self, element, before=lambda: None):
        """Every kind of click on an element, and what the keyboard can do. Returns whether all of them reached it."""
        for kind, (button, keys) in KINDS.items():
            self.current = f"{self.name}, {kind}"
            before()
            try:
                if button:
                    element.click(button=button, modifiers=keys, force=True, timeout=1_000, click_count=1 + (kind == "double"))
                else:
                    element.evaluate("element => element.focus()", timeout=1_000)
                    self.page.keyboard.press("+".join([*keys, "Enter"]))
            except Unreachable:
                return False
        self.page.wait_for_timeout(30)
        return True


KINDS = {
    "left": ("left", []),
    "middle": ("middle", []),
    "Control": ("left", ["Control"]),
    "Shift": ("left", ["Shift"]),
    "Alt": ("left", ["Alt"]),
    "Control and Shift": ("left", ["Control", "Shift"]),
    "Enter": (None, []),
    "Control and Enter": (None, ["Control"]),
    "double": ("left", []),
}


def hostile_bundle(directory):
    """A bundle whose signer wrote a hostile report and hostile names, and the key to trust."""
    key = directory / "stranger.pem"
    subprocess.run([EVIDENCE, "keygen", "-o", key], check=True, capture_output=True)
    bundle = directory / "hostile.tar.gz"
    hostile.resigned(BUNDLES[-1], key, bundle, {"derived/report.html": hostile.page().encode()}, "9.9.9")
    return bundle, key.with_suffix(".pub.pem")


def as_signed(directory, page, into):
    """What `evidence report --as-signed` makes of a signer's report."""
    key, bundle = directory / "stranger.pem", directory / "opening.tar.gz"
    hostile.resigned(BUNDLES[-1], key, bundle, {"derived/report.html": page})
    asked = [EVIDENCE, "report", bundle, "-k", key.with_suffix(".pub.pem"), "--as-signed", "-o", into]
    subprocess.run(asked, check=True, capture_output=True)


def confined(browser, bundle, key, host):
    """No click in a page that shows something of the signer's report leaves it."""
    address = f"{host.address}/{PAGE.name}"
    visit = Visit(browser, "hostile", address)
    visit.troubles = []
    page = visit.page
    report, _ = visit.verify(str(bundle), [("--public-key", str(key))])
    assert report["verdict"] == "verified", report
    prison = Prison(visit.context, address)
    page.get_by_role("tab", name="Report").click()
    frame = page.frame_locator("#report iframe")
    expect(frame.locator("h1")).to_be_visible()
    expect(page.locator("#report .notice")).to_contain_text("As signed it differs.")
    visit.check("differs")
    shown = page.frames[-1].content()
    if "stranger.invalid" in shown or "<script" in shown:
        visit.troubles.append("the frame shows the signer's report")
    # What were links is followed by the page. Nothing else is there to click on.
    for selector in ("a[href]", "area", "form", "base", "iframe", "object", "embed"):
        if frame.locator(selector).count():
            visit.troubles.append(f"the frame has {selector}")
    for kind in (".contents [data-to^='#']", "td [data-to^='..']", "p [data-to$='.csv']"):
        prison.name = f"{kind} of the report"
        if not prison.press(frame.locator(kind).first, page.get_by_role("tab", name="Report").click):
            visit.troubles.append(f"{prison.current}: not reached")
    page.get_by_role("tab", name="Report").click()
    page.get_by_role("button", name="As signed, as text").click()
    text = page.locator("#file pre")
    expect(text).to_contain_text("stranger.invalid")
    if text.evaluate("text => text.childElementCount"):
        visit.troubles.append("the text of the report has elements")
    visit.check("as-text")
    prison.name = "the text of the report"
    if not prison.press(text):
        visit.troubles.append(f"{prison.current}: not reached")
    # A link that is dragged onto the page, and a file dropped beside the field.
    page.evaluate(
        """to => { const data = new DataTransfer(); data.setData("text/uri-list", to);
        for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        hostile.STRANGER,
    )
    page.get_by_role("tab", name="Report").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as signed").click()
    prison.escapes = [escape for escape in prison.escapes if "a download" not in escape]
    signed = bundle.parent / "downloaded.html"
    signed.write_bytes(pathlib.Path(download.value.path()).read_bytes())
    own = bundle.parent / "as-signed.html"
    asked = [EVIDENCE, "report", bundle, "-k", key, "--as-signed", "-o", own]
    subprocess.run(asked, check=True, capture_output=True)
    if own.read_bytes() != signed.read_bytes():
        visit.troubles.append("the page saves another file than the command line")
    # What the tools of this test may not do in the frame.
    visit.troubles = prison.escapes + [trouble for trouble in visit.troubles if "frame is sandboxed" not in trouble]
    visit.end()
    return own


def powerless(browser, file, name, picture=False):
    """The signer's report as a file: whatever it holds, it does nothing, and no click leaves it. Returns the clicks."""
    context = browser.new_context(viewport=DESK, accept_downloads=True)
    context.new_page()
    prison = Prison(context, file.as_uri())
    prison.name = prison.current = name
    page = prison.page
    page.goto(file.as_uri())
    page.wait_for_timeout(300)
    inside = page.main_frame.child_frames[0]
    count = 0
    if picture:
        page.screenshot(path=PICTURES / "as-signed.png")
        # The last one covers the rest, so it is removed before the others are clicked on.
        whole = inside.locator("a[style*=fixed]")
        prison.name = "whole page"
        if not prison.press(whole):
            prison.note("not reached")
        whole.evaluate("whole => whole.remove()")
        elements = inside.locator(".click")
        for index, kind in enumerate(list(hostile.CLICKS)[:-1]):
            prison.name = kind
            if not prison.press(elements.nth(index)):
                prison.note("not reached")
            count += 1
        if elements.count() != count:
            prison.note(f"{elements.count()} elements for {count} kinds")
        count += 1
    if page.main_frame.child_frames != [inside] or inside.url not in QUIET:
        prison.note(f"the frame is gone: {inside.url}")
    context.close()
    if prison.escapes:
        raise SystemExit(f"FAILED (the signer's report, {name}):\n  " + "\n  ".join(prison.escapes))
    return count


def several(visit, directory):
    """Several files at once: a verdict for each bundle, and keys are recognized by their names."""
    page = visit.page
    good, other = CASES / "fingerprint_ok" / "bundle.tar.gz", CASES / "gzip_fail" / "bundle.tar.gz"
    files = [str(directory / name) for name in ("one.tar.gz", "two.tar.gz", "three.tar.gz")]
    for source, file in zip((good, other, good), files):
        shutil.copy(source, file)
    reports, said = visit.verify(files, [("--public-key", str(CASES / "key.pub"))])
    if [report["verdict"] for report in reports] != ["verified", "failed", "verified"] or "2 of 3 bundles verified" not in said[0]:
        visit.troubles.append(f"several: {reports} {said}")
    expect(page.locator("#contents")).to_be_hidden()
    visit.check("several")
    page.locator("#verdict tbody tr").nth(2).get_by_role("button", name="Open").click()
    expect(page.locator("#headline")).to_have_text("VERIFIED")
    expect(page.locator("#contents")).to_be_visible()
    # The same by dropping them, with the key among them.
    page.locator("#terms").evaluate("form => form.reset()")
    dropped = [(pathlib.Path(file).name, list(pathlib.Path(file).read_bytes())) for file in [files[1], *files[::2]]]
    page.evaluate(
        """files => { const data = new DataTransfer();
        for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }""",
        [*dropped, ("key.pub", list((CASES / "key.pub").read_bytes()))],
    )
    expect(page.locator("#bundle-help")).to_contain_text("3 bundles")
    page.get_by_role("button", name="Verify", exact=True).click()
    expect(page.locator("#headline")).to_have_text("2 of 3 bundles verified")
    expect(page.locator("#verdict tbody tr")).to_have_count(3)


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
        several(visit, pathlib.Path(directory))
        alone(visit, host)
        visit.end()
        print(f"ok   {count} bundles: the page says what the command line says")
        own = confined(browser, *hostile_bundle(pathlib.Path(directory)), host)
        clicks = powerless(browser, own, "all of it", picture=True)
        for number, (name, page) in enumerate(hostile.openings().items()):
            opening = pathlib.Path(directory) / f"opening-{number}.html"
            as_signed(pathlib.Path(directory), page, opening)
            powerless(browser, opening, name)
        print(f"ok   {clicks} ways out of a hostile report, {len(KINDS)} kinds of clicks, {number + 1} openings: nothing left")
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
