//! Turns the list of forms of forbidden data into a table of the program: starting it reads and parses nothing, and a
//! mistake in the list fails the build.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

const LIST: &str = "src/screen/patterns.toml";

/// What a match must not touch: in JSON and URLs the end of an escape ends a word, as in `\nAKIA...`.
const START: &str = r"(?:\A|[^0-9A-Za-z]|\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})";
const END: &str = r"(?:[^0-9A-Za-z]|\z)";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    description: String,
    page: String,
    regex: String,
    keywords: Vec<String>,
    #[serde(default)]
    boundary: Boundary,
    context: Option<Context>,
    #[serde(default)]
    value: Value,
    #[serde(default = "usual_entropy")]
    entropy: f32,
    #[serde(default)]
    mixed_case: bool,
    #[serde(default = "yes")]
    may_be_cut: bool,
    #[serde(default)]
    confidence: Confidence,
    #[serde(default)]
    overlaps: Vec<String>,
    examples: Vec<String>,
    lookalikes: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Boundary {
    None,
    #[default]
    Start,
    Both,
}

// The names of these are those of the program's own types.

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Context {
    Anywhere,
    WordStart,
    Hex,
    SignBeforeHex,
    AfterHex,
    DottedToken,
    NamedValue,
    UrlAuthority,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Value {
    #[default]
    Random,
    Any,
    Opaque,
    Password,
    Basic,
    Key,
    EncodedKey,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Confidence {
    Low,
    #[default]
    High,
}

fn usual_entropy() -> f32 {
    3.0
}

fn yes() -> bool {
    true
}

impl Rule {
    fn pattern(&self) -> String {
        let (flags, regex) = match self.regex.strip_prefix("(?i)") {
            Some(regex) => ("(?i)", regex),
            None => ("", self.regex.as_str()),
        };
        match self.boundary {
            Boundary::None => self.regex.clone(),
            Boundary::Start => format!("{flags}{START}(?<span>{regex})"),
            Boundary::Both => format!("{flags}{START}(?<span>{regex}){END}"),
        }
    }

    fn context(&self) -> Context {
        let usual = if self.boundary == Boundary::None { Context::Anywhere } else { Context::WordStart };
        self.context.unwrap_or(usual)
    }

    fn write(&self, table: &mut String) -> Result<(), Box<dyn Error>> {
        let Rule { id, description, page, keywords, entropy, mixed_case, may_be_cut, .. } = self;
        let (pattern, context, value, confidence) =
            (self.pattern(), self.context(), self.value, self.confidence);
        let (overlaps, examples, lookalikes) = (&self.overlaps, &self.examples, &self.lookalikes);
        writeln!(
            table,
            "Rule {{ id: {id:?}, description: {description:?}, page: {page:?}, keywords: &{keywords:?}, \
             context: Context::{context:?}, pattern: {pattern:?}, value: Value::{value:?}, \
             minimum_entropy: {entropy:?}, mixed_case: {mixed_case}, may_be_cut: {may_be_cut}, \
             confidence: Confidence::{confidence:?}, overlaps: &{overlaps:?}, examples: &{examples:?}, \
             lookalikes: &{lookalikes:?} }},"
        )?;
        Ok(())
    }
}

#[allow(clippy::print_stdout, reason = "how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIST}");
    let list: List =
        toml::from_str(&fs::read_to_string(LIST)?).map_err(|error| format!("{LIST}: {error}"))?;
    let mut table = String::from("&[\n");
    for rule in &list.rules {
        rule.write(&mut table)?;
    }
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("patterns.rs"), table)?;
    Ok(())
}
