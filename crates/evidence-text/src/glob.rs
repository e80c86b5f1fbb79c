//! Matches names against patterns.

/// Whether `text` matches `glob`: `*` matches any characters, including `/`, and `?` matches one. Ignores case, as
/// hosts do in names.
pub fn matches(glob: &str, text: &str) -> bool {
    let (glob, text): (Vec<char>, Vec<char>) = (glob.chars().collect(), text.chars().collect());
    let (mut at, mut place) = (0, 0);
    // The position of the last star, and of the text after its match.
    let mut star: Option<(usize, usize)> = None;
    while let Some(character) = text.get(place) {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || wanted.eq_ignore_ascii_case(character) => {
                at += 1;
                place += 1;
            }
            Some(_) | None => match &mut star {
                Some((star_at, behind)) => {
                    *behind += 1;
                    (at, place) = (*star_at + 1, *behind);
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, text, expected) in [
            ("acme/web", "acme/web", true),
            ("acme/web", "ACME/Web", true),
            ("acme/web", "acme/web2", false),
            ("acme/*", "acme/web", true),
            ("*web*", "acme/web/main", true),
            ("*b", "acme/web", true),
            ("*x", "acme/web", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("acme/w?b", "acme/wéb", true),
            ("?", "", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("**", "x", true),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
        // Without exponential backtracking.
        assert!(!matches(&"*a".repeat(50), &"a".repeat(10_000).replace("aaaa", "aaab")));
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("web", "web", true),
            ("web", "WEB", true),
            ("Web", "web", true),
            ("web", "web-old", false),
            ("web", "old-web", false),
            ("*", "anything", true),
            ("web*", "web", true),
            ("web*", "web-old", true),
            ("*web", "old-WEB", true),
            ("*web", "web-old", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a**c", "abc", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("archive.*", "archive-x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
