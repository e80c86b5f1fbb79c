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

async function terms() {
  const keys = await Promise.all([...byId("key").files].map(keyFile));
  const pasted = byId("key-text").value;
  if (pasted.trim() !== "") keys.push({ name: "the pasted key", text: pasted });
  const [signers] = byId("signers").files;
  const [revoked] = byId("revoked").files;
  return {
    ask: "verify",
    public_keys: keys,
    allowed_signers: signers ? await keyFile(signers) : null,
    fingerprints: byId("fingerprint").value,
    revoked_keys: revoked ? await keyFile(revoked) : null,
    organization: byId("organization").value,
    max_age: byId("age").value,
    now: Math.floor(Date.now() / 1000),
  };
}

let chosen = null;

function choose(file) {
  chosen = file ?? null;
  byId("bundle-help").textContent = chosen ? `${counted(chosen.size, "byte")}. Nothing is checked yet.` : "Choose the .tar.gz file, or drop it here.";
  byId("drop").classList.toggle("chosen", chosen !== null);
  forget();
}

// The display concerns the verified bundle and key, never the current selection.
function forget() {
  byId("verdict").hidden = true;
  byId("verdict").replaceChildren();
  delete byId("verdict").dataset.report;
  byId("contents").hidden = true;
  byId("report").replaceChildren();
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
  if (chosen === null) {
    showVerdict(failure(new Error("choose a bundle first")));
    byId("bundle").focus();
    return;
  }
  work(true);
  const began = performance.now();
  try {
    const { answer } = await ask(await terms(), chosen);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    showVerdict(...verdict(answer, chosen.name, seconds));
    byId("verdict").dataset.report = JSON.stringify(answer.report);
    byId("bundle-help").textContent = `${counted(chosen.size, "byte")}.`;
    if (answer.contents) showContents(answer.contents, answer.report);
  } catch (error) {
    showVerdict(failure(error));
  } finally {
    work(false);
    byId("verdict").focus({ preventScroll: true });
    byId("verdict").scrollIntoView({ block: "nearest" });
  }
}

function showVerdict(...parts) {
  const place = byId("verdict");
  place.replaceChildren(...parts);
  place.className = "card verdict";
  place.hidden = false;
}

const signs = { good: "✓", caution: "!", bad: "✕" };

function verdict({ verdict, report }, name, seconds) {
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

function showContents(contents, report) {
  byId("contents").hidden = false;
  const missing = "This page does not know the format of this bundle's results.";
  const controls = contents.controls
    ? table("Results by control", ["Control", "Criteria", "Title", "Status", "Checks"], contents.controls.map((control) => [
        make("strong", {}, control.id), control.criteria, control.title, pill(control.status), control.counts,
      ]))
    : make("p", {}, missing);
  byId("results").replaceChildren(
    make("h2", {}, "Results by control"),
    make("p", { class: "quiet" }, `${report.organization}, ${report.framework}, collected ${report.created_at} according to the signer, with evidence ${contents.tool_version}. Bundle ${contents.bundle_id}.`),
    controls,
    ...noted("Warnings", report.warnings, (warning) => `${warning.subject ? `${warning.subject}: ` : ""}${warning.message}`),
    ...noted("Left out: forbidden data", report.excluded, (excluded) => `${excluded.filename} (rule ${excluded.rule})`),
    ...noted("Errors during collection", report.errors, (error) => `${error.subject}: ${error.message}`),
  );
  for (const panel of [byId("checks"), byId("population")]) {
    panel.querySelector("form").reset();
    fill(panel.querySelector("[name=source]"), contents.sources);
  }
  fill(byId("checks").querySelector("[name=control]"), (contents.controls ?? []).map((control) => control.id));
  fill(byId("checks").querySelector("[name=rule]"), contents.rules);
  fill(byId("population").querySelector("[name=kind]"), contents.kinds);
  byId("files").querySelector("form").reset();
  byId("file").replaceChildren();
  for (const show of Object.values(lists)) show(0);
  showReport(contents.has_report);
  selectTab("tab-results");
}

// A name can contain deceptive characters, which are shown as numbers.
const deceptive = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/gu;
const plain = (text) => text.replace(deceptive, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

function noted(title, rows, words) {
  if (rows.length === 0) return [];
  const list = make("ul", {}, ...rows.map((row) => make("li", {}, plain(words(row)))));
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
    ({ status, control, rule, source, subject }, sample) => ({
      ask: "checks", filter: { status: status || null, control, rule, source, subject }, sample, table: false,
    }),
    "check",
    ["Status", "Control", "Subject", "Result", "Found", "Evidence"],
    (check) => [
      pill(check.status),
      [make("strong", {}, check.control), make("br"), make("span", { class: "quiet" }, check.criteria)],
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
        save(bytes, path.split("/").at(-1), "application/octet-stream");
      } catch (error) {
        place.prepend(failure(error));
      }
    };
    place.replaceChildren(
      make("h2", { class: "path" }, answer.path),
      make("p", { class: "quiet" }, `${counted(answer.size, "byte")}, SHA-256 `, make("code", {}, answer.sha256)),
      make("p", { class: "actions" }, make("button", { type: "button", click: download }, "Download"), make("button", { type: "button", click: () => place.replaceChildren() }, "Close")),
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

// Links of the report lead inside it or to files of the bundle. Its frame runs no script, so this page follows them.
function follow(event) {
  const link = event.target.closest?.("a[href]");
  if (!link) return;
  event.preventDefault();
  const address = link.getAttribute("href");
  if (address.startsWith("#")) {
    link.ownerDocument.getElementById(decodeURIComponent(address.slice(1)))?.scrollIntoView();
  } else {
    const path = new URL(address, "bundle:///derived/").pathname.replace(/^\/+/, "");
    openFile(decodeURIComponent(path));
  }
}

async function showReport(hasReport) {
  const place = byId("report");
  if (!hasReport) {
    place.replaceChildren(make("p", { class: "card" }, "This bundle has no report."));
    return;
  }
  try {
    const { bytes } = await ask({ ask: "report" });
    const frame = make("iframe", { title: "Report of the bundle", sandbox: "allow-same-origin", srcdoc: decode(bytes) });
    frame.addEventListener("load", () => frame.contentDocument?.addEventListener("click", follow));
    const download = () => save(bytes, "report.html", "text/html");
    place.replaceChildren(make("p", { class: "actions" }, make("button", { type: "button", click: download }, "Download report")), frame);
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
byId("bundle").addEventListener("change", ({ target }) => choose(target.files[0]));
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
  const isKey = (file) => /\.(pem|pub)$/i.test(file.name);
  const isList = (file) => /^allowed_signers/i.test(file.name);
  const put = (id, files) => {
    if (files.length === 0) return;
    const list = new DataTransfer();
    for (const file of files) list.items.add(file);
    byId(id).files = list.files;
  };
  const bundle = dropped.find((file) => !isKey(file) && !isList(file));
  put("key", dropped.filter(isKey));
  put("signers", dropped.filter(isList));
  put("bundle", bundle ? [bundle] : []);
  if (bundle) choose(bundle);
  else forget();
});
showOwnHash();
