// Runs action.yml like GitHub's runner, and checks the results. GitHub's own library evaluates the expressions; caches
// and artifacts are files. ci/action.sh starts this script in its working directory.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as https from "node:https";
import * as path from "node:path";
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import { parse } from "yaml";

const work = process.cwd();
const { TOKEN, CLASSIC_TOKEN, CODEHOST_API_URL, ARCHIVE, VERSION, RUNNER_OS, RUNNER_ARCH } = process.env;
const action = parse(fs.readFileSync("action/action.yml", "utf8"));
const signingKey = fs.readFileSync("key.pem", "utf8");

// The release's files, unchanged or changed by a test.
let replaced = {};
const serve = (request, response) => {
  if (request.url.startsWith("/redirect/")) return response.writeHead(302, { location: request.url.replace("/redirect", plainUrl) }).end();
  const prefix = `/OWNER/evidence/releases/download/`;
  const [, name] = request.url.slice(prefix.length).split("/");
  const file = replaced[name] ?? (fs.existsSync(`release/${name}`) ? fs.readFileSync(`release/${name}`) : undefined);
  response.writeHead(request.url.startsWith(prefix) && file !== undefined ? 200 : 404).end(file);
};
const server = https.createServer({ key: fs.readFileSync("tls.key"), cert: fs.readFileSync("tls.pem") }, serve);
const plain = http.createServer(serve);
for (const one of [server, plain]) await new Promise((ready) => one.listen(0, "127.0.0.1", ready));
const serverUrl = `https://localhost:${server.address().port}`;
const plainUrl = `http://127.0.0.1:${plain.address().port}`;

const toData = (value) =>
  value === undefined || value === null ? new data.Null()
  : typeof value === "object" ? new data.Dictionary(...Object.entries(value).map(([key, inner]) => ({ key, value: toData(inner) })))
  : new data.StringData(String(value));
function evaluate(expression, contexts) {
  const tokens = new Lexer(expression).lex().tokens;
  const tree = new Parser(tokens, Object.keys(contexts), []).parse();
  return new Evaluator(tree, toData(contexts)).evaluate();
}
const fill = (text, contexts) => String(text).replace(/\$\{\{(.*?)\}\}/g, (_, expression) => evaluate(expression.trim(), contexts).coerceString());
const fillAll = (map, contexts) => Object.fromEntries(Object.entries(map ?? {}).map(([key, value]) => [key, fill(value, contexts)]));

// The behaviour of the used actions, as far as this action needs it. Any other input of theirs is an error
// here.
const caches = new Map();
const used = {
  "actions/cache/restore"({ path: directory, key, "restore-keys": prefix, ...rest }) {
    assert.deepEqual(rest, {});
    const newest = [...caches.keys()].filter((name) => name === key || name.startsWith(prefix)).pop();
    if (newest) assert.equal(spawnSync("tar", ["-xzPf", caches.get(newest)]).status, 0);
    return { "cache-matched-key": newest ?? "" };
  },
  "actions/cache/save"({ path: directory, key, ...rest }) {
    assert.deepEqual(rest, {});
    if (!fs.existsSync(directory)) return {};
    assert(!caches.has(key), "a cache entry never changes");
    const file = `${work}/cache-${caches.size}.tgz`;
    assert.equal(spawnSync("tar", ["-czPf", file, directory]).status, 0);
    caches.set(key, file);
    return {};
  },
  "actions/upload-artifact"({ name, path: files, "if-no-files-found": missing, "retention-days": days, ...rest }, run) {
    assert.deepEqual(rest, {});
    assert.equal(missing, "error");
    run.artifact = { name, days, files: files.split("\n") };
    for (const file of run.artifact.files) assert(path.isAbsolute(file) && fs.existsSync(file), `no file ${file}`);
    return { "artifact-url": `${serverUrl}/artifacts/1` };
  },
};

let runs = 0;
/** One use of the action in a job of its own, with `with` and `env` as a workflow gives them. */
async function use({ inputs = {}, env = {}, visibility = "private", repository = "OWNER/evidence", config = "", workflow = {}, cutOff = null }) {
  const id = ++runs;
  const [workspace, temp] = [`${work}/run-${id}`, `${work}/temp`];
  fs.rmSync(temp, { recursive: true, force: true });
  for (const directory of [workspace, temp]) fs.mkdirSync(directory);
  fs.writeFileSync(`${workspace}/evidence.yaml`, config || configuration());
  fs.copyFileSync("key.pub.pem", `${workspace}/key.pub.pem`);
  fs.copyFileSync("other.pub.pem", `${workspace}/other.pub.pem`);
  for (const name of Object.keys(inputs)) assert(action.inputs[name], `no input ${name}`);

  const run = { log: "", outputs: {}, summary: "", failed: null, artifact: null, workspace };
  const contexts = {
    inputs: Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, inputs[name] ?? input.default])),
    github: { action_repository: repository, run_id: id, run_attempt: 1, event: { repository: { visibility } } },
    runner: { os: RUNNER_OS, temp },
    steps: Object.fromEntries(action.runs.steps.filter((step) => step.id).map((step) => [step.id, { outputs: {}, outcome: "skipped" }])),
  };
  let searched = process.env.PATH;
  for (const step of action.runs.steps) {
    // Like the runner: `always()` runs a step after a failed one, and any other condition includes success().
    if (run.failed && !step.if?.includes("always()")) continue;
    if (step.if && !evaluate(step.if.replace("always()", "true"), contexts).coerceString().match(/^true$/)) continue;
    let outputs = {};
    if (step.uses) {
      assert.match(step.uses, /^[a-z/-]+@[0-9a-f]{40}$/);
      outputs = used[step.uses.split("@")[0]](fillAll(step.with, contexts), run);
    } else {
      const files = Object.fromEntries(["GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"].map((name) => [name, `${temp}/${name}`]));
      for (const file of Object.values(files)) fs.writeFileSync(file, "");
      assert(!step.run.includes("${{"), "an input becomes script text");
      fs.writeFileSync(`${temp}/step.sh`, step.run);
      const status = await execute("bash", ["--noprofile", "--norc", "-eo", "pipefail", `${temp}/step.sh`], run, {
        cwd: workspace,
        env: {
          PATH: searched, HOME: workspace, RUNNER_OS, RUNNER_ARCH, RUNNER_TEMP: temp, CURL_CA_BUNDLE: `${work}/tls.pem`,
          GITHUB_SERVER_URL: serverUrl, GITHUB_ACTION_PATH: `${work}/action`, ...workflow,
          CODEHOST_API_URL, CODEHOST_TOKEN: TOKEN, EVIDENCE_SIGNING_KEY: signingKey,
          ...env, ...fillAll(step.env, contexts), ...files,
        },
      }, step.id === "collect" ? cutOff : null);
      outputs = readOutputs(fs.readFileSync(files.GITHUB_OUTPUT, "utf8"));
      for (const added of fs.readFileSync(files.GITHUB_PATH, "utf8").split("\n").filter(Boolean)) searched = `${added}:${searched}`;
      run.summary += fs.readFileSync(files.GITHUB_STEP_SUMMARY, "utf8");
      if (status !== 0) run.failed ??= { step: step.name, status };
    }
    if (step.id) contexts.steps[step.id] = { outputs, outcome: run.failed?.step === step.name ? "failure" : "success" };
  }
  run.outputs = Object.fromEntries(Object.entries(action.outputs).map(([name, output]) => [name, fill(output.value, contexts)]));
  for (const secret of [TOKEN, CLASSIC_TOKEN, signingKey]) {
    assert(!(run.log + run.summary + JSON.stringify(run.outputs)).includes(secret), "a secret is shown");
  }
  assert(!fs.existsSync(`${workspace}/pwned`), "an input was executed");
  return run;
}

/** Runs a program. The end of `cutOff`, a promise, ends it as the runner ends a job that is out of time. */
function execute(program, args, run, options, cutOff = null) {
  return new Promise((done) => {
    const child = spawn(program, args, options);
    cutOff?.().then(() => child.kill("SIGINT"));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (run.log += chunk));
    child.on("close", (status, signal) => done(status ?? signal));
  });
}

/** The file of outputs, in the form with a delimiter; the other form is not used. */
function readOutputs(text) {
  const outputs = {};
  const lines = text.split("\n");
  while (lines.length > 1) {
    const [name, end] = lines.shift().split("<<");
    const value = lines.splice(0, lines.indexOf(end));
    lines.shift();
    outputs[name] = value.join("\n");
  }
  return outputs;
}

const configuration = ({ controls = "[CC6.1, CC6.6, CC7.2]", codehost = "", bundle = "" } = {}) =>
  `framework: soc2_type1\ncontrols: ${controls}\nsources:\n  codehost:\n    mode: token\n    org: acme\n    repos: "*"\n` +
  `    branch: ~DEFAULT_BRANCH\n${codehost}bundle:\n${bundle}  signing:\n    private_key_env: EVIDENCE_SIGNING_KEY\n`;
const read = (bundle, file) => {
  const { stdout, status } = spawnSync("tar", ["-xzOf", bundle, file], { maxBuffer: 1 << 28 });
  assert.equal(status, 0);
  return JSON.parse(stdout);
};

const tests = {
  async "an incomplete bundle is a warning; it is verified, kept and summarized"() {
    const run = await use({});
    assert.equal(run.failed, null, run.log);
    assert.match(run.log, /signature and checksum verified/);
    assert.match(run.log, /^::warning title=Evidence::exit code 3: something could not be collected/m);
    assert.equal(run.outputs["exit-code"], "3");
    assert.equal(run.outputs.complete, "false");
    assert.equal(run.outputs["bundle-id"], read(run.outputs.bundle, "manifest.json").bundle_id);
    assert.match(run.outputs["artifact-url"], /artifacts/);
    assert.deepEqual(run.artifact, { name: "evidence-bundle", days: "", files: [run.outputs.bundle] });
    assert.match(run.summary, /## What to do\n\n\| Severity/);
    assert.match(run.summary, /Complete: no[^]*\| CC7\.2 \| CC8\.1 \| fail \| acme\/prototype/);
    assert.doesNotMatch(run.summary, /\| pass \| acme\//);
    // Output that quotes a host cannot act as a command of the runner.
    assert.match(run.log, /::stop-commands::([0-9a-f]{32})\n[^]*::\1::\n/);
  },
  async "a complete bundle: no annotation, and everything else as asked for"() {
    const run = await use({
      config: configuration({ controls: "[CC6.1]", bundle: "  detached_signature: true\n" }),
      inputs: {
        "public-key": "key.pub.pem", output: "a b/c", "artifact-name": "night", "retention-days": "400", summary: "false",
        args: "\n--reproducible\n", "fail-on": "",
      },
      env: { SOURCE_DATE_EPOCH: "1700000000" },
    });
    assert.equal(run.failed, null, run.log);
    assert.equal(run.outputs["exit-code"], "0");
    assert.equal(run.outputs.complete, "true");
    assert(run.outputs.bundle.startsWith(`${run.workspace}/a b/c/evidence-bundle-20231114-`));
    assert.deepEqual(run.artifact, { name: "night", days: "400", files: [run.outputs.bundle, `${run.outputs.bundle}.sig`] });
    assert.equal(run.summary, "");
    assert.doesNotMatch(run.log, /::(warning|error)/);
  },
  async "fail-on: the job fails with the exit code, and the bundle is kept all the same"() {
    const run = await use({ inputs: { "fail-on": "1,3" } });
    assert.deepEqual(run.failed, { step: "Judge the exit code", status: 3 });
    assert.deepEqual(run.artifact.files, [run.outputs.bundle]);
  },
  async "a source that refuses the token: exit code 2 and no bundle, whatever fail-on says"() {
    for (const failOn of ["1,2,5,6", ""]) {
      const run = await use({ env: { CODEHOST_TOKEN: "github_pat_wrong" }, inputs: { "fail-on": failOn } });
      assert.deepEqual(run.failed, { step: "Judge the exit code", status: 2 });
      assert.deepEqual([run.outputs.bundle, run.outputs["exit-code"], run.artifact], ["", "2", null]);
      assert.match(run.log, /there is no bundle/);
    }
  },
  async "no configuration: exit code 1"() {
    const run = await use({ inputs: { config: "none.yaml" } });
    assert.deepEqual(run.failed, { step: "Judge the exit code", status: 1 });
  },
  async "a dry run brings no bundle, which is a failure"() {
    const run = await use({ inputs: { args: "--dry-run" } });
    assert.deepEqual(run.failed, { step: "Judge the exit code", status: 1 });
    assert.match(run.log, /::error title=Evidence::the collection succeeded but left no bundle/);
  },
  async "a bundle by another key than the expected is not kept"() {
    const run = await use({ inputs: { "public-key": "other.pub.pem" } });
    assert.equal(run.failed.step, "Collect and verify");
    assert.equal(run.artifact, null);
    assert.match(run.log, /does not verify/);
  },
  async "a run that is cut off fails, though there is a bundle and fail-on is empty"() {
    const step = action.runs.steps.at(-1);
    const run = { log: "" };
    const env = { PATH: process.env.PATH, INPUT_FAIL_ON: "", EXIT_CODE: "137", BUNDLE: "x", GITHUB_ACTION_PATH: `${work}/action`, RUNNER_TEMP: work };
    assert.equal(await execute("bash", ["-c", step.run], run, { env }), 137);
  },
  async "an archive that is not the signed one is refused before anything of it runs"() {
    const tampered = Buffer.from(fs.readFileSync(`release/${ARCHIVE}`));
    tampered[tampered.length - 9] ^= 1;
    const sums = fs.readFileSync("release/SHA256SUMS", "utf8");
    const digest = spawnSync("openssl", ["dgst", "-sha256", "-r"], { input: tampered }).stdout.toString().slice(0, 64);
    const matching = sums.replace(new RegExp(`^.{64}(?=.*${ARCHIVE})`, "m"), digest);
    assert.notEqual(matching, sums);
    spawnSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", "stranger.pem"]);
    fs.writeFileSync("matching", matching);
    spawnSync("openssl", ["pkeyutl", "-sign", "-inkey", "stranger.pem", "-rawin", "-in", "matching", "-out", "strange.sig"]);
    for (const [files, message] of [
      [{ [ARCHIVE]: tampered }, /has the SHA-256 .{64}, and the release says/],
      [{ [ARCHIVE]: tampered, SHA256SUMS: matching }, /SHA256SUMS is not signed/],
      [{ [ARCHIVE]: tampered, SHA256SUMS: matching, "SHA256SUMS.sig": fs.readFileSync("strange.sig") }, /SHA256SUMS is not signed/],
      [{ SHA256SUMS: "" }, /SHA256SUMS is not signed/],
    ]) {
      replaced = files;
      const run = await use({});
      replaced = {};
      assert.equal(run.failed?.step, "Install evidence", run.log);
      assert.match(run.log, message);
      assert(!fs.existsSync(`${work}/temp/evidence-${VERSION}/${ARCHIVE.replace(".tar.gz", "")}`), "it was unpacked");
    }
  },
  async "a version that does not exist, another one inside, another system, no HTTPS, no release key"() {
    const refused = async (message, options) => {
      const run = await use(options);
      assert.equal(run.failed?.step, "Install evidence", run.log);
      assert.match(run.log, message);
    };
    await refused(/the release has no evidence-9\.9\.9-/, { inputs: { version: "v9.9.9" } });
    await refused(/contains another version: evidence /, { inputs: { version: "99.0.0" } });
    await refused(/the release has no evidence-.*-x86_64-macos\.tar\.gz/, { workflow: { RUNNER_OS: "macOS", RUNNER_ARCH: "X64" } });
    await refused(/no release for Linux on RISCV/, { workflow: { RUNNER_ARCH: "RISCV" } });
    for (const address of [plainUrl, `${serverUrl}/redirect`]) {
      await refused(/cannot download http/, { inputs: { "download-url": `${address}/OWNER/evidence/releases/download/any` } });
    }
    await refused(/cannot download .*\/other\/SHA256SUMS/, { inputs: { "download-url": `${serverUrl}/other/` } });
    fs.renameSync("action/dist/release.pub.pem", "kept.pem");
    await refused(/has no release key/, {});
    fs.renameSync("kept.pem", "action/dist/release.pub.pem");
  },
  async "a mirror, and the action of the workflow's own checkout"() {
    for (const place of [
      { inputs: { "download-url": `${serverUrl}/OWNER/evidence/releases/download/any/` } },
      { repository: "", workflow: { GITHUB_REPOSITORY: "OWNER/evidence" } },
    ]) {
      const run = await use(place);
      assert.equal(run.failed, null, run.log);
    }
  },
  async "a zip archive"() {
    if (!fs.existsSync(`release/evidence-${VERSION}-x86_64-windows.zip`)) return;
    const run = await use({ workflow: { RUNNER_OS: "Windows", RUNNER_ARCH: "ARM64" } });
    assert.equal(run.failed, null, run.log);
    assert.match(run.log, /x86_64-windows\.zip: signature and checksum verified/);
  },
  async "the second run uses the records of the first, through the cache"() {
    const config = configuration({ codehost: "    revalidate: true\n" });
    const counts = [];
    for (const cache of ["true", "true", "false"]) {
      const run = await use({ config, inputs: { cache } });
      assert.equal(run.failed, null, run.log);
      counts.push(read(run.outputs.bundle, "run.json").sources[0].revalidated);
    }
    assert.equal(counts[0], 0);
    assert(counts[1] > 10, `revalidated: ${counts}`);
    assert.equal(counts[2], 0);
    assert.equal(caches.size, 2);
    assert(await use({ config, inputs: { cache: "true", "artifact-name": "evidence" } }).then((run) => run.failed === null));
  },
  async "a run that is cut off keeps its records, and the next one resumes"() {
    const config = configuration({ codehost: "    revalidate: true\n    requests_per_minute: 30\n" });
    const inputs = { cache: "true", "artifact-name": "cut-off" };
    const before = caches.size;
    const cutOff = () => new Promise((done) => setTimeout(done, 12000));
    const first = await use({ config, inputs, cutOff });
    assert(first.failed, first.log);
    assert.match(first.log, /interrupted: no bundle was written/);
    assert.equal(first.artifact, null);
    assert.equal(caches.size, before + 1, "the records of the run that was cut off are not saved");
    const second = await use({ config: configuration({ codehost: "    revalidate: true\n" }), inputs });
    assert.equal(second.failed, null, second.log);
    const codes = read(second.outputs.bundle, "manifest.json").warnings.map((warning) => warning.code);
    assert(codes.includes("resumed"), `not resumed: ${codes}`);
    // With records but without an interrupted run, nothing is resumed.
    const third = await use({ config: configuration({ codehost: "    revalidate: true\n" }), inputs });
    assert(!read(third.outputs.bundle, "manifest.json").warnings.some((warning) => warning.code === "resumed"));
    // The setting that the cache needs is named.
    const without = await use({ inputs });
    assert.deepEqual(without.failed, { step: "Judge the exit code", status: 1 });
    assert.match(without.log, /revalidate: true/);
    assert(await use({ config, inputs: { ...inputs, args: "--resume" }, cutOff }).then((run) => /interrupted/.test(run.log)), "--resume twice");
  },
  async "each cause is an annotation and in the summary"() {
    const run = await use({});
    const causes = [...run.log.matchAll(/^::warning title=Evidence::(incomplete: .*)$/gm)].map(([, text]) => text);
    assert(causes.length > 0 && causes.length < 10, run.log);
    for (const cause of causes) assert(run.summary.includes(`\n    ${cause.replaceAll("%25", "%")}\n`), run.summary);
    assert.match(run.summary, /^## Evidence: exit code 3\n/);
    const refused = await use({ env: { CODEHOST_TOKEN: "github_pat_wrong" } });
    assert.match(refused.log, /^::error title=Evidence::error: connection test failed: codehost: /m);
    assert.match(refused.summary, /^## Evidence: exit code 2\n[^]*\n {4}error: connection test failed/);
    assert.equal((await use({ inputs: { summary: "false" } })).summary, "");
    // A host's text cannot end the annotation, or begin a command.
    fs.mkdirSync(`${work}/temp-of-causes`);
    fs.writeFileSync(`${work}/temp-of-causes/evidence-causes`, "incomplete: 5 %0A::error::x\n::error::y\nerror: a\r::add-mask::z\n");
    const step = action.runs.steps.at(-1);
    const env = { PATH: process.env.PATH, INPUT_FAIL_ON: "", EXIT_CODE: "3", BUNDLE: "x", GITHUB_ACTION_PATH: `${work}/action`, RUNNER_TEMP: `${work}/temp-of-causes` };
    const hostile = { log: "" };
    assert.equal(await execute("bash", ["-c", step.run], hostile, { env }), 0);
    assert.deepEqual(hostile.log.split("\n").filter((line) => line.startsWith("::")).slice(0, -1), [
      "::warning title=Evidence::incomplete: 5 %250A::error::x", "::warning title=Evidence::error: a%0D::add-mask::z",
    ]);
  },
  async "a repository that is not known to be private or internal is refused, unless nothing of the evidence gets there"() {
    const nothing = { "upload-artifact": "false", summary: "false" };
    const refusals = { public: /this repository is public/, "": /does not report that the repository is private/, "private,": /does not report/ };
    for (const [visibility, text] of Object.entries(refusals)) {
      for (const inputs of [{}, { ...nothing, cache: "true" }, { ...nothing, summary: "true" }]) {
        const run = await use({ visibility, inputs });
        assert.equal(run.failed?.step, "Install evidence");
        assert.match(run.log, text);
      }
      const run = await use({ visibility, inputs: nothing });
      assert.equal(run.failed, null, run.log);
      assert.deepEqual([run.artifact, run.summary], [null, ""]);
    }
    // An event without the field: older servers send such a one for a schedule.
    assert.equal((await use({ visibility: null })).failed?.step, "Install evidence");
    assert.equal((await use({ visibility: "internal" })).failed, null);
  },
  async "inputs are refused or are data, and never script"() {
    for (const inputs of [{ cache: "yes" }, { "fail-on": "1;touch pwned" }, { version: "1.0.0/../.." }]) {
      assert.equal((await use({ inputs })).failed?.step, "Install evidence");
    }
    const script = '"; touch pwned; $(touch pwned) `touch pwned`';
    for (const name of ["config", "output", "args", "public-key", "working-directory", "download-url"]) {
      const run = await use({ inputs: { [name]: script } });
      assert(run.failed !== null || name === "output", name);
    }
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}
for (const one of [server, plain]) one.close();
console.log(`the action: ${runs} runs, ${Object.keys(tests).length - failures} of ${Object.keys(tests).length} tests passed`);
process.exit(failures === 0 ? 0 : 1);
