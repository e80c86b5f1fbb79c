//! "Did you mean": finds the name that the user probably meant.

/// The candidate that the text probably means.
pub(super) fn nearest<'names>(
    text: &str,
    candidates: impl Iterator<Item = &'names str>,
) -> Option<&'names str> {
    let wanted = fold(text);
    // Up to a third of the letters may differ.
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Ignores case and separators; bounds the length because comparing costs length times length.
fn fold(text: &str) -> String {
    const COMPARED: usize = 64;
    text.chars()
        .take(COMPARED)
        .filter(|character| !matches!(character, '_' | '-' | '.' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// `` `a`, `b` and `c` ``
pub(super) fn list(names: &[&str]) -> String {
    joined(names, "and")
}

/// `` `a`, `b` or `c` ``
pub(super) fn alternatives(names: &[&str]) -> String {
    joined(names, "or")
}

fn joined(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [only] => format!("`{only}`"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} {word} `{last}`", first.join(", "))
        }
    }
}
