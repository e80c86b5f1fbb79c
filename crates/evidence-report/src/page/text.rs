//! The form of times, codes and long names on the page.

use evidence_view::sanitized;

/// A readable time, as in `2026-11-23 01:37:42 UTC`; any other text unchanged.
pub(super) fn time(text: &str) -> String {
    match moment(text) {
        Some((day, time)) => format!("{day} {time} UTC"),
        None => sanitized(text),
    }
}

/// A period, with the day only once if both ends have the same.
pub(super) fn span(from: &str, to: &str) -> String {
    match (moment(from), moment(to)) {
        (Some((first, start)), Some((last, end))) if first == last => {
            format!("on {first}, {start} to {end} UTC")
        }
        _ => format!("from {} to {}", time(from), time(to)),
    }
}

/// The day and the time of an RFC 3339 time in UTC.
fn moment(text: &str) -> Option<(&str, &str)> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let plain = |part: &str, other: char| part.chars().all(|c| c.is_ascii_digit() || c == other || c == '.');
    (day.len() == 10 && time.len() >= 8 && plain(day, '-') && plain(time, ':')).then_some((day, time))
}

/// A code as words, as in `Log group` for `log_group`.
pub(super) fn words_of(code: &str) -> String {
    if code == "codeowners" {
        return "CODEOWNERS".to_owned();
    }
    let mut letters = code.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let rest = letters.map(|letter| if matches!(letter, '_' | '-') { ' ' } else { letter });
    sanitized(&first.into_iter().chain(rest).collect::<String>())
}

/// A text in parts, each marked if it was between backticks. An unpaired backtick stays.
pub(super) fn marked(text: &str) -> Vec<(bool, &str)> {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return vec![(false, text)];
    }
    let is_code = |index: usize| !index.is_multiple_of(2);
    parts.into_iter().enumerate().map(|(index, part)| (is_code(index), part)).collect()
}

/// The plural of a kind as a heading, as in `Repositories`.
pub(super) fn plural(kind: &str) -> String {
    let kind = words_of(kind);
    match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    }
}

/// A long name in pieces, with possible line breaks between them: after `/` and `_`.
pub(super) fn pieces(name: &str) -> Vec<&str> {
    name.split_inclusive(['/', '_', '&', '?']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable_and_exact() {
        assert_eq!(time("2026-11-23T01:37:42Z"), "2026-11-23 01:37:42 UTC");
        assert_eq!(time("2026-11-23T01:37:42.125Z"), "2026-11-23 01:37:42.125 UTC");
        for other in ["", "yesterday", "2026-11-23T01:37:42+02:00", "<b>T00:00:00Z", "2026-11-23TZ"] {
            assert_eq!(time(other), other);
        }
        let day = "2026-11-23T01:37:42Z";
        assert_eq!(span(day, "2026-11-23T01:37:47Z"), "on 2026-11-23, 01:37:42 to 01:37:47 UTC");
        assert_eq!(
            span(day, "2026-11-24T00:00:00Z"),
            "from 2026-11-23 01:37:42 UTC to 2026-11-24 00:00:00 UTC"
        );
    }

    #[test]
    fn codes_become_words() {
        assert_eq!(words_of("branch-protection"), "Branch protection");
        assert_eq!((plural("repository"), plural("log_group")), ("Repositories".into(), "Log groups".into()));
        assert_eq!(words_of(""), "");
        assert_eq!(marked("Set `a: b` now"), [(false, "Set "), (true, "a: b"), (false, " now")]);
        assert_eq!(marked("a ` b"), [(false, "a ` b")]);
        assert_eq!(pieces("sources/a_b.json"), ["sources/", "a_", "b.json"]);
    }
}
