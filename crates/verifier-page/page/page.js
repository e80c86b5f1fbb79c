"use strict";
// The page around the verifier: it sends questions and shows the answers. WebAssembly decides what is right or wrong.

// The page as the browser read it, before any change.
const ownText = "<!doctype html>" + document.documentElement.outerHTML;

const byId = (id) => document.getElementById(id);
const decode = (bytes) => new TextDecoder().decode(bytes);
const number = (value) => value.toLocaleString("en-US");
const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// Creates an element with attributes and contents. Texts become text, never markup.
function make(name, attributes, ...contents) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null) element.setAttribute(key, value);
  }
  element.append(...contents.filter((part) => part !== null && part !== undefined));
  return element;
}

// The verifier runs in a worker, which answers questions in order.
const verifier = {
  worker: null,
  waiting: [],
  start() {
    const address = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker.onmessage = ({ data }) => {
      if (data.progress !== undefined) return showProgress(data.progress);
      const asked = this.waiting.shift();
      if (data.stopped) return this.end(asked, data.stopped);
      asked?.resolve(data);
    };
    this.worker.onerror = (event) => this.end(this.waiting.shift(), event.message ?? "it did not start");
    const packed = Uint8Array.from(atob(byId("wasm").textContent), (character) => character.charCodeAt(0));
    this.worker.postMessage({ packed }, [packed.buffer]);
  },
  // After a fault its answers are no longer reliable.
  end(asked, why) {
    this.worker?.terminate();
    this.worker = null;
    for (const each of [asked, ...this.waiting.splice(0)]) each?.reject(new Error(why));
  },
  ask(question, bundle) {
    if (this.worker === null) this.start();
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.worker.postMessage({ question, bundle });
    });
  },
};

// Sends a question, and returns the answer or an error message.
async function ask(question, bundle) {
  const { answer, bytes } = await verifier.ask(question, bundle);
  if (answer?.error) throw Object.assign(new Error(answer.error), { help: answer.help });
  return { answer, bytes };
}

function failure(error) {
  const message = make("p", {}, make("strong", {}, "error"), `: ${error.message}`);
  const help = error.help ? make("p", { class: "quiet" }, make("strong", {}, "help"), `: ${error.help}`) : null;
  return make("div", { class: "failure", role: "alert" }, message, help);
}

/* The page itself */

async function showOwnHash() {
  try {
    const { answer } = await ask({ ask: "page", html: ownText });
    byId("self").textContent =
      answer.sha256 ?? "unknown: the browser or an extension changed this page while it loaded";
  } catch (error) {
    byId("self").textContent = `unknown: ${error.message}`;
  }
}

/* The bundle and the keys */

const MOST_KEY_BYTES = 1024 * 1024;

// A file with keys. The verifier refuses a text that is too long or not UTF-8.
async function keyFile(file) {
  const bytes = await file.slice(0, MOST_KEY_BYTES + 1).arrayBuffer();
  let text = null;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8.
  }
  return { name: file.name, text };
}

async function terms(file) {
  const keys = await Promise.all([...byId("key").files].map(keyFile));
  const pasted = byId("key-text").value;
  if (pasted.trim() !== "") keys.push({ name: "the pasted key", text: pasted });
  const [signers] = byId("signers").files;
  const [revoked] = byId("revoked").files;
  return {
    ask: "verify",
    name: file.name,
    public_keys: keys,
    allowed_signers: signers ? await keyFile(signers) : null,
    fingerprints: byId("fingerprint").value,
    revoked_keys: revoked ? await keyFile(revoked) : null,
    organization: byId("organization").value,
    max_age: byId("age").value,
    now: Math.floor(Date.now() / 1000),
  };
}

let chosen = [];

function choose(files) {
  chosen = files;
  const bytes = counted(files.reduce((sum, file) => sum + file.size, 0), "byte");
  const several = files.length > 1 ? `${counted(files.length, "bundle")}, ` : "";
  byId("bundle-help").textContent = files.length > 0 ? `${several}${bytes}. Nothing is checked yet.` : "Choose one or more .tar.gz files, or drop them here.";
  byId("drop").classList.toggle("chosen", files.length > 0);
  forget();
}

// The display concerns the verified bundle and key, never the current selection.
function forget() {
  byId("verdict").hidden = true;
  byId("verdict").replaceChildren();
  delete byId("verdict").dataset.report;
  byId("contents").hidden = true;
  byId("report").replaceChildren();
  fold(null);
}

// After success the form gives way to what the bundle holds.
function fold(text) {
  byId("terms").hidden = text !== null;
  byId("folded").hidden = text === null;
  byId("folded-text").textContent = text ?? "";
}

function showProgress(part) {
  byId("progress").value = part;
  byId("percent").textContent = `${Math.floor(part * 100)} %`;
}

function work(isWorking) {
  byId("verify").disabled = isWorking;
  byId("working").hidden = !isWorking;
  showProgress(0);
}

async function verify(event) {
  event.preventDefault();
  forget();
  if (chosen.length === 0) {
    showVerdict(failure(new Error("choose a bundle first")));
    byId("bundle").focus();
    return;
  }
  work(true);
  try {
    if (chosen.length > 1) {
      await verifyEach(chosen);
    } else {
      await verifyOne(chosen[0]);
    }
  } catch (error) {
    showVerdict(failure(error));
  } finally {
    work(false);
    byId("verdict").focus({ preventScroll: true });
    byId("verdict").scrollIntoView({ block: "nearest" });
  }
}

async function verifyOne(file) {
  const began = performance.now();
  const { answer } = await ask(await terms(file), file);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  showVerdict(...verdict(answer, seconds));
  byId("verdict").dataset.report = JSON.stringify(answer.report);
  byId("bundle-help").textContent = `${counted(file.size, "byte")}.`;
  if (answer.contents) {
    fold(`${answer.name}, ${counted(file.size, "byte")}`);
    showContents(answer.contents);
  }
}

// Several bundles: a verdict for each. The contents of one are shown after its button.
async function verifyEach(files) {
  const reports = [];
  const rows = [];
  for (const file of files) {
    byId("bundle-help").textContent = `Bundle ${number(rows.length + 1)} of ${number(files.length)} …`;
    const { answer } = await ask(await terms(file), file);
    reports.push(answer.report);
    rows.push([
      make("strong", {}, answer.name),
      [
        make("span", { class: `word ${answer.verdict.tone}` }, make("span", { "aria-hidden": "true" }, `${signs[answer.verdict.tone]} `), answer.verdict.headline),
        answer.verdict.detail,
      ],
      answer.contents ? [answer.contents.organization, make("br"), make("span", { class: "quiet" }, `${answer.contents.created_at}, claimed by the signer`)] : "",
      make("button", { type: "button", click: () => { choose([file]); byId("terms").requestSubmit(); } }, "Open"),
    ]);
  }
  const verified = reports.filter((report) => report.verdict === "verified").length;
  byId("bundle-help").textContent = `${counted(files.length, "bundle")}.`;
  showVerdict(
    make("h2", { class: `headline ${verified === files.length ? "good" : "caution"}` }, make("span", {}, make("strong", { id: "headline" }, `${number(verified)} of ${number(files.length)} bundles verified`))),
    table("Verdict on each bundle", ["File", "Verdict", "Bundle", "Contents"], rows),
  );
  byId("verdict").dataset.report = JSON.stringify(reports);
}

function showVerdict(...parts) {
  const place = byId("verdict");
  place.replaceChildren(...parts);
  place.className = "card verdict";
  place.hidden = false;
}

const signs = { good: "✓", caution: "!", bad: "✕" };

function verdict({ verdict, report, name, contents }, seconds) {
  const meaning = verdict.meaning.map((sentence) => make("p", {}, sentence));
  if (report.verdict === "not_authenticated") {
    meaning.at(-1)?.append(", and choose it above.");
  }
  const facts = make("dl", { class: "facts" });
  for (const fact of verdict.facts) {
    const checked = fact.checked ? make("strong", { class: "ok" }, "OK ") : null;
    facts.append(make("dt", {}, fact.label), make("dd", {}, checked, fact.text));
  }
  return [
    make("p", { class: "name" }, name, make("span", { class: "quiet" }, ` checked in ${seconds} s`)),
    make(
      "h2",
      { class: `headline ${verdict.tone}` },
      make("span", { class: "sign", "aria-hidden": "true" }, signs[verdict.tone]),
      make("span", {}, make("strong", { id: "headline" }, verdict.headline), make("span", { class: "detail" }, verdict.detail)),
    ),
    ...meaning,
    ...(verdict.facts.length > 0 ? [facts] : []),
    ...(contents && !contents.complete
      ? [make("div", { class: "actions" }, rowsLink("Show the checks that could not be verified", { status: "not_verifiable" }))]
      : []),
  ];
}

/* What a verified bundle holds */

function pill(status) {
  const words = { pass: "✓ pass", fail: "✕ fail", not_verifiable: "? not verifiable", not_applicable: "– not applicable" };
  return make("span", { class: `pill ${status}` }, words[status] ?? status);
}

function table(caption, heads, rows) {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, ...[cell].flat()))));
  const name = make("caption", { class: "hidden" }, caption);
  const whole = make("table", {}, name, make("thead", {}, head), make("tbody", {}, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

function fileLink(path) {
  return make("button", { type: "button", class: "link", click: () => openFile(path) }, path);
}

function fill(select, values) {
  select.replaceChildren(make("option", { value: "" }, "all"), ...values.map((value) => make("option", { value }, value)));
}

// A button that leads to the checks or members behind a number.
function rowsLink(text, filter, list = "checks") {
  return make("button", { type: "button", class: "link count", click: () => showRows(list, filter) }, text);
}

function showRows(list, filter) {
  const form = byId(list).querySelector("form");
  form.reset();
  for (const [name, value] of Object.entries(filter)) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
  }
  selectTab(`tab-${list}`);
  lists[list](0);
  byId(list).focus({ preventScroll: true });
  byId("tabs").scrollIntoView({ block: "start" });
}

const statuses = [["fail", "failed"], ["not_verifiable", "not verifiable"], ["pass", "passed"], ["not_applicable", "not applicable"]];

// The counts by status, each with a link to its checks.
function countLinks(counts, filter) {
  const links = statuses
    .filter(([status]) => counts[status] > 0)
    .map(([status, words]) => rowsLink(`${number(counts[status])} ${words}`, { ...filter, status }));
  return links.length > 0 ? links.flatMap((link, index) => (index > 0 ? [", ", link] : [link])) : "no checks";
}

function showScope(contents) {
  const rows = contents.scopes.map((source) => [
    make("strong", {}, source.source),
    source.sentence,
    source.host_total === null ? "not reported" : number(source.host_total),
    rowsLink(number(source.listed), { source: source.source, kind: source.kind }, "population"),
    rowsLink(number(source.in_scope), { source: source.source, kind: source.kind, in_scope: true }, "population"),
  ]);
  const isWhole = contents.complete && contents.scopes.every((source) => source.scope === "whole");
  const isChosen = contents.complete && !isWhole;
  const sentence = isWhole
    ? "Everything requested was read, and the scope is the whole, according to the signer."
    : isChosen
      ? "Everything in the chosen scope was read, according to the signer."
      : "Something is missing: do not take these results for the whole.";
  byId("scope").replaceChildren(
    make("h2", {}, "Scope"),
    make("p", { class: isWhole ? "ok" : "" }, sentence),
    table("Scope of each source", ["Source", "Scope", "The host counts", "Listed", "In scope"], rows),
    make("p", { class: "quiet" }, "Compare the numbers with a list that the tool did not make, such as the organization's inventory."),
  );
}

function showContents(contents) {
  byId("contents").hidden = false;
  const missing = "This page does not know the format of this bundle's results.";
  const criteria = contents.criteria
    ? table("Results by criterion", ["Criterion", "Rules", "Status", "Checks"], contents.criteria.map((criterion) => [
        make("strong", {}, criterion.id), criterion.rules, pill(criterion.status), countLinks(criterion.counts, { criterion: criterion.id }),
      ]))
    : make("p", {}, missing);
  const controls = contents.controls
    ? table("Results by control", ["Control", "Criteria", "Title", "Status", "Checks"], contents.controls.map((control) => [
        make("strong", {}, control.id), control.criteria, control.title, pill(control.status), countLinks(control.counts, { control: control.id }),
      ]))
    : make("p", {}, missing);
  byId("results").replaceChildren(
    make("h2", {}, "Results by criterion"),
    make("p", { class: "quiet" }, `${contents.organization}, ${contents.framework}, collected ${contents.created_at} according to the signer, with evidence ${contents.tool_version}. Bundle ${contents.bundle_id}.`),
    criteria,
    make("h2", {}, "Results by control"),
    controls,
    ...noted("Warnings", contents.warnings),
    ...noted("Left out: forbidden data", contents.excluded),
    ...noted("Errors during collection", contents.errors),
  );
  showScope(contents);
  for (const panel of [byId("checks"), byId("population")]) {
    panel.querySelector("form").reset();
    fill(panel.querySelector("[name=source]"), contents.sources);
  }
  fill(byId("checks").querySelector("[name=criterion]"), (contents.criteria ?? []).map((criterion) => criterion.id));
  fill(byId("checks").querySelector("[name=control]"), (contents.controls ?? []).map((control) => control.id));
  fill(byId("checks").querySelector("[name=rule]"), contents.rules);
  fill(byId("population").querySelector("[name=kind]"), contents.kinds);
  byId("files").querySelector("form").reset();
  byId("file").replaceChildren();
  for (const show of Object.values(lists)) show(0);
  selectTab("tab-results");
}

function noted(title, rows) {
  if (rows.length === 0) return [];
  const list = make("ul", {}, ...rows.map((row) => make("li", {}, row)));
  return [make("details", {}, make("summary", {}, `${title} (${number(rows.length)})`), list)];
}

/* Lists */

const SHOWN = 200;

function lister(id, question, noun, heads, cells) {
  const panel = byId(id);
  const form = panel.querySelector("form");
  const place = panel.querySelector(".list");
  const current = () => {
    const fields = Object.fromEntries(new FormData(form));
    const seed = fields.seed ?? "";
    const count = Math.max(1, Number.parseInt(fields.count, 10) || 1);
    return question(fields, seed === "" ? null : { seed, count });
  };
  async function show(skip) {
    try {
      const asked = { ...current(), skip };
      const { answer } = await ask(asked);
      const isSample = Boolean(asked.sample);
      const last = skip + answer.rows.length;
      const found = isSample ? `Sample of ${counted(answer.found, noun)}, in the order of SHA-256(seed:identity)` : counted(answer.found, noun);
      const range = answer.found > answer.rows.length ? `, ${number(skip + 1)} to ${number(last)} shown` : "";
      const titles = isSample ? [...heads, "SHA-256 begins"] : heads;
      const rows = answer.rows.map((row) => (isSample ? [...cells(row), make("code", { title: row.sha256 }, row.sha256.slice(0, 16))] : cells(row)));
      const turn = (text, to, works) => make("button", { type: "button", click: () => show(to), ...(works ? {} : { disabled: "" }) }, text);
      const pages = answer.found > answer.rows.length
        ? make("p", { class: "actions" }, turn("Previous", skip - SHOWN, skip > 0), turn("Next", last, last < answer.found))
        : null;
      place.replaceChildren(make("p", { class: "found", role: "status" }, `${found}${range}.`), ...(rows.length > 0 ? [table(noun, titles, rows)] : []), ...(pages ? [pages] : []));
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(0);
  });
  form.querySelector(".csv")?.addEventListener("click", async () => {
    try {
      const { bytes } = await ask({ ...current(), skip: 0, table: true });
      save(bytes, `${id}.csv`, "text/csv");
    } catch (error) {
      place.replaceChildren(failure(error));
    }
  });
  return show;
}

const lists = {
  checks: lister(
    "checks",
    ({ status, criterion, control, rule, source, subject }, sample) => ({
      ask: "checks", filter: { status: status || null, criterion, control, rule, source, subject }, sample, table: false,
    }),
    "check",
    ["Status", "Criteria and control", "Subject", "Result", "Found", "Evidence"],
    (check) => [
      pill(check.status),
      [make("strong", {}, check.criteria), make("br"), make("span", { class: "quiet" }, check.control)],
      [check.subject, make("br"), make("span", { class: "quiet" }, `${check.source}, ${check.rule}`)],
      check.title,
      [check.actual, make("br"), make("span", { class: "quiet" }, check.expected ? `expected: ${check.expected}` : "")],
      make("div", { class: "links" }, ...check.evidence.map(fileLink)),
    ],
  ),
  population: lister(
    "population",
    ({ source, kind, name, in_scope }, sample) => ({
      ask: "population", filter: { source, kind, name, in_scope: in_scope === "on" }, sample, table: false,
    }),
    "member",
    ["Source", "Kind", "Name", "In scope", "Visibility", "Archived", "Default branch", "Id"],
    (member) => [
      member.source, member.kind, make("strong", {}, member.name),
      member.in_scope ? "yes" : `no: ${member.reason}`, member.visibility,
      member.archived === null ? "" : member.archived ? "yes" : "no", member.default_branch, member.id,
    ],
  ),
  files: lister("files", ({ search }) => ({ ask: "files", search }), "file", ["Path", "Bytes"], (file) => [fileLink(file.path), number(file.size)]),
};

/* Files and the report */

function save(bytes, name, type) {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  make("a", { href: address, download: name }).click();
  // The browser needs the address until it has begun to write.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

async function openFile(path) {
  selectTab("tab-files");
  const place = byId("file");
  place.replaceChildren(make("p", { class: "quiet" }, `Reading ${path} …`));
  try {
    const { answer } = await ask({ ask: "file", path, download: false });
    const download = async () => {
      try {
        const { bytes } = await ask({ ask: "file", path, download: true });
        // The evidence is JSON and tables. Anything else opens as text, never as a page.
        const name = path.split("/").at(-1);
        save(bytes, /\.(json|csv|txt)$/.test(name) ? name : `${name}.txt`, "application/octet-stream");
      } catch (error) {
        place.prepend(failure(error));
      }
    };
    place.replaceChildren(
      make("h2", { class: "path" }, answer.path),
      make("p", { class: "quiet" }, `${counted(answer.size, "byte")}, SHA-256 `, make("code", {}, answer.sha256)),
      make("p", { class: "actions" }, make("button", { type: "button", click: download }, "Download"), make("button", { type: "button", click: () => place.replaceChildren() }, "Close")),
      ...(answer.decoded === null
        ? []
        : [
            make("h3", {}, "Decoded contents"),
            make("pre", { tabindex: "0", "aria-label": "Decoded contents" }, answer.decoded),
            make("h3", {}, "As stored"),
          ]),
      answer.text === null
        ? make("p", {}, "This file is too large to show, or is not text. Download it to read it.")
        : make("pre", { tabindex: "0", "aria-label": answer.path }, answer.text),
    );
  } catch (error) {
    place.replaceChildren(failure(error));
  }
  place.focus();
  place.scrollIntoView({ block: "start" });
}

// The report in its frame has no links: this page follows what were links, inside the report or to a file.
function follow(event) {
  if (event.type === "keydown" && event.key !== "Enter") return;
  const place = event.target.closest?.("[data-to]");
  if (!place) return;
  event.preventDefault();
  const address = place.getAttribute("data-to");
  if (address.startsWith("#")) {
    const target = place.ownerDocument.getElementById(decodeURIComponent(address.slice(1)));
    target?.scrollIntoView();
  } else {
    const path = new URL(address, "bundle:///derived/").pathname.replace(/^\/+/, "");
    openFile(decodeURIComponent(path));
  }
}

const differs = (made) => made.same_version
  ? "The report that the signer put into this bundle is not the one that its documents give."
  : "The report that the signer put into this bundle is not the one that this version makes. Another version made the bundle.";

// Always the report that follows from the documents. The signer's own is never shown as a page.
async function showReport() {
  const place = byId("report");
  if (place.childElementCount > 0) return;
  place.replaceChildren(make("p", { class: "quiet" }, "Making the report …"));
  try {
    const { answer, bytes } = await ask({ ask: "report", download: false });
    const frame = make("iframe", { title: "Report of the bundle", sandbox: "allow-same-origin", srcdoc: decode(bytes) });
    frame.addEventListener("load", () => {
      for (const kind of ["click", "keydown"]) frame.contentDocument?.addEventListener(kind, follow);
    });
    const download = (question, name) => async () => {
      try {
        const { bytes: page } = await ask(question);
        save(page, name, "text/html");
      } catch (error) {
        place.prepend(failure(error));
      }
    };
    const button = (text, click) => make("button", { type: "button", click }, text);
    const actions = make("p", { class: "actions" }, button("Download report", download({ ask: "report", download: true }, "report.html")));
    if (answer.signed !== "absent") {
      actions.append(
        button("Download as signed", download({ ask: "as_signed" }, "report-as-signed.html")),
        button("As signed, as text", () => openFile("derived/report.html")),
      );
    }
    place.replaceChildren(
      ...(answer.signed === "different" ? [make("p", { class: "card notice", role: "note" }, make("strong", {}, "As signed it differs. "), `${differs(answer)} The documents count, and the report below follows from them.`)] : []),
      actions,
      frame,
    );
  } catch (error) {
    place.replaceChildren(failure(error));
  }
}

/* Tabs */

const tabs = [...byId("tabs").children];

function selectTab(id) {
  for (const tab of tabs) {
    const isChosen = tab.id === id;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !isChosen;
  }
  if (id === "tab-report") showReport();
}

byId("tabs").addEventListener("click", ({ target }) => target.role === "tab" && selectTab(target.id));
byId("tabs").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
  selectTab(next.id);
  next.focus();
});

/* Events */

byId("terms").addEventListener("submit", verify);
byId("terms").addEventListener("input", ({ target }) => target.id === "bundle" || forget());
byId("unfold").addEventListener("click", () => {
  fold(null);
  byId("bundle").focus();
});
byId("bundle").addEventListener("change", ({ target }) => choose([...target.files]));
byId("stop").addEventListener("click", () => verifier.end(verifier.waiting.shift(), "stopped"));
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    byId("drop").classList.add("over");
  });
}
for (const kind of ["dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    byId("drop").classList.remove("over");
  });
}
// Recognizes keys by their names; anything else is a bundle.
document.addEventListener("drop", ({ dataTransfer }) => {
  const dropped = [...dataTransfer.files];
  // Dragged text or a link: not a file.
  if (dropped.length === 0) return;
  const isKey = (file) => /\.(pem|pub)$/i.test(file.name);
  const isList = (file) => /^allowed_signers/i.test(file.name);
  const isRevoked = (file) => /^revoked/i.test(file.name);
  const put = (id, files) => {
    if (files.length === 0) return;
    const list = new DataTransfer();
    for (const file of files) list.items.add(file);
    byId(id).files = list.files;
  };
  const lists = dropped.filter(isList);
  const bundles = dropped.filter((file) => !isKey(file) && !isList(file) && !isRevoked(file));
  put("key", dropped.filter(isKey));
  put("signers", lists.slice(0, 1));
  put("revoked", dropped.filter(isRevoked).slice(0, 1));
  put("bundle", bundles);
  if (bundles.length > 0) choose(bundles);
  else forget();
  if (lists.length > 1) showVerdict(failure(new Error(`choose one list of signers: ${lists.length} were dropped`)));
});
showOwnHash();
