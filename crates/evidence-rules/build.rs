//! Turns each framework, a file in `frameworks/`, into a table of the program. A mistake in one fails the build: an
//! unknown rule has no static of its name.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

const FOLDER: &str = "frameworks";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Framework {
    id: String,
    name: String,
    /// What each criterion is about. Without it, the controls are the criteria.
    #[serde(default)]
    criteria: BTreeMap<String, String>,
    controls: Vec<Control>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Control {
    id: String,
    title: String,
    /// The question that it answers.
    #[serde(default)]
    about: String,
    #[serde(default)]
    rules: Vec<Mapping>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapping {
    rule: String,
    criteria: Vec<String>,
    /// Why its evidence is filed there.
    why: String,
    /// Where others file it too.
    #[serde(default)]
    also: String,
    /// Whether it runs only if the configuration includes it.
    #[serde(default)]
    opt_in: bool,
}

impl Framework {
    /// The framework as a value of the program's own type.
    fn written(&self) -> Result<String, std::fmt::Error> {
        let Framework { id, name, criteria, controls } = self;
        let criteria: Vec<_> = match criteria.is_empty() {
            true => controls.iter().map(|control| (&control.id, &control.title)).collect(),
            false => criteria.iter().collect(),
        };
        let mut text =
            format!("&Framework {{ id: {id:?}, name: {name:?}, criteria: &{criteria:?}, controls: &[");
        for Control { id, title, about, rules } in controls {
            write!(text, "Control {{ id: {id:?}, title: {title:?}, about: {about:?}, rules: &[")?;
            for Mapping { rule, criteria, why, also, opt_in } in rules {
                // The static of a rule has the name of its code.
                let name = rule.replace('-', "_").to_uppercase();
                write!(
                    text,
                    "Mapping {{ rule: &named::{name}, criteria: &{criteria:?}, why: {why:?}, also: {also:?}, opt_in: {opt_in} }},"
                )?;
            }
            text.push_str("] },");
        }
        text.push_str("] }");
        Ok(text)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut files: Vec<_> =
        fs::read_dir(FOLDER)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.sort();
    let (mut tables, mut ids) = (String::new(), String::new());
    for file in files {
        let problem = |error: &dyn Error| format!("{}: {error}", file.display());
        let framework: Framework =
            toml::from_str(&fs::read_to_string(&file)?).map_err(|error| problem(&error))?;
        if file.file_stem().and_then(|stem| stem.to_str()) != Some(framework.id.as_str()) {
            return Err(format!("{}: the file does not have the name of its `id`", file.display()).into());
        }
        write!(tables, "{},", framework.written()?)?;
        write!(ids, "{:?},", framework.id)?;
    }
    let code = format!(
        "/// Every framework, in the order of messages.\npub static ALL: &[&Framework] = &[{tables}];\n\
         /// Their names.\npub static IDS: &[&str] = &[{ids}];\n"
    );
    fs::write(Path::new(&env::var("OUT_DIR")?).join("frameworks.rs"), code)?;
    Ok(())
}
