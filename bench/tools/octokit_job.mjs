// The job with Octokit: sequential requests, or with `all` as the second argument, all at once.
//
// Usage: octokit_job.mjs <output directory> serial|all, with BENCH_URL, BENCH_ORG, BENCH_TOKEN and BENCH_KEY.
// The harness copies it beside the packages, where Node looks for them.

import { execFileSync } from "node:child_process";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Octokit } from "@octokit/rest";

const [output, how] = process.argv.slice(2);
const files = join(output, "files");
mkdirSync(files, { recursive: true });
const silent = () => {};
const octokit = new Octokit({
  auth: process.env.BENCH_TOKEN,
  baseUrl: process.env.BENCH_URL,
  // Otherwise it prints every 404.
  log: { debug: silent, info: silent, warn: silent, error: silent },
});
const org = process.env.BENCH_ORG;
const write = (name, data) => writeFileSync(join(files, name), JSON.stringify(data, null, 2));

async function unlessMissing(answer) {
  try {
    return (await answer).data;
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

async function protection(owner, repo, name) {
  const found = await unlessMissing(octokit.rest.repos.getBranchProtection({ owner, repo, branch: "main" }));
  if (found) write(`${name}_branch_protection.json`, found);
}

async function codeowners(owner, repo, name) {
  for (const path of ["CODEOWNERS", ".github/CODEOWNERS"]) {
    const found = await unlessMissing(octokit.rest.repos.getContent({ owner, repo, path }));
    if (found) return write(`${name}_codeowners.json`, found);
  }
}

write("org_settings.json", (await octokit.rest.orgs.get({ org })).data);
const repositories = await octokit.paginate(octokit.rest.repos.listForOrg, {
  org,
  per_page: 100,
  sort: "full_name",
  direction: "asc",
});
const under_way = [];
for (const repository of repositories) {
  const [owner, repo] = repository.full_name.split("/");
  const name = `repo_${owner}_${repo}`;
  for (const look of [protection, codeowners]) {
    const done = look(owner, repo, name);
    if (how === "all") under_way.push(done);
    else await done;
  }
}
await Promise.all(under_way);

const names = readdirSync(files).sort();
const lines = names.map((name) => {
  const digest = createHash("sha256").update(readFileSync(join(files, name))).digest("hex");
  return `${digest}  ${name}\n`;
});
const checksums = Buffer.from(lines.join(""));
writeFileSync(join(files, "checksums.sha256"), checksums);
writeFileSync(join(files, "signature.sig"), sign(null, checksums, createPrivateKey(readFileSync(process.env.BENCH_KEY))));
// Node has no built-in tar.
execFileSync("tar", ["-czf", join(output, "bundle.tar.gz"), "-C", files, "."]);
