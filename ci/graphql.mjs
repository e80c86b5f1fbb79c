// Checks stored queries against the published schema of the code host: every field exists, every variable is used, and
// each document is one query, so that none of them can change anything.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { buildSchema, parse, validate } = require("graphql");
const published = readFileSync(`${modules}/@octokit/graphql-schema/schema.graphql`, "utf8");

// The published text defines two fields twice.
const schema = buildSchema(published, { assumeValidSDL: true });
let problems = 0;
for (const file of files) {
  const document = parse(readFileSync(file, "utf8"));
  const found = validate(schema, document).map((error) => error.message);
  const operations = document.definitions.filter((definition) => definition.kind === "OperationDefinition");
  if (operations.length !== 1 || operations[0].operation !== "query") found.push("not exactly one query");
  for (const problem of found) console.error(`${file}: ${problem}`);
  problems += found.length;
}
// The check itself finds what is wrong.
const wrong = validate(schema, parse("query Q { organization(login: \"acme\") { nothing } }"));
if (wrong.length !== 1) {
  console.error("a wrong query passes");
  problems += 1;
}
console.log(`${files.length} stored queries, ${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
