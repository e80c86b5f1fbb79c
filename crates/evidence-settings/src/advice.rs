//! Advice about a key that a section does not have.

use super::declare::{Format, Key, Section, Shape, sections};
use super::{secret, suggest};

/// The complaint about a key that the section does not have, and the key that was probably meant, if any.
pub(crate) fn unknown(
    root: &'static Section,
    section: &'static Section,
    name: &str,
) -> (String, Option<&'static Key>) {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    let named = |synonyms: &[&str]| synonyms.contains(&lower.as_str());
    if let Some(key) = section.keys.iter().find(|key| named(key.synonyms)) {
        return (meant(key), Some(key));
    }
    // The exact name of a key of another section is misplaced rather than misspelt.
    let all = sections(root);
    if let Some(home) = all.iter().find(|home| home.key(name).is_some()) {
        let home = match home.path {
            "" => "the top level of the file".to_owned(),
            path => format!("`{path}`"),
        };
        return (format!("`{name}` belongs in {home}; check the indentation"), None);
    }
    let near =
        suggest::nearest(name, section.keys.iter().map(|key| key.name)).and_then(|near| section.key(near));
    if let Some(near) = near {
        return (meant(near), Some(near));
    }
    let mut advice = section.keys_in_words();
    if secret::names_secret(name) {
        advice.push_str("; never write a secret in the file, only the name of the variable that holds it");
    }
    (advice, None)
}

fn meant(key: &Key) -> String {
    match key.shape {
        Shape::Text(Format::Variable) => format!(
            "did you mean `{}`? it names the environment variable; the file never contains the secret itself",
            key.name
        ),
        _ => format!("did you mean `{}`?", key.name),
    }
}
