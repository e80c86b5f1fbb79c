//! The patterns in a ruleset's conditions: `fnmatch` by path, as the host documents it.

/// Whether the pattern matches the whole text. `*` and `?` stay within a path's component; `**/` spans any number.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', b'*', b'/', rest @ ..] => {
            let next = text.iter().position(|byte| *byte == b'/').and_then(|at| text.get(at + 1..));
            matches(rest, text) || next.is_some_and(|below| matches(pattern, below))
        }
        [b'*', rest @ ..] => matches(rest, text) || within(text).is_some_and(|more| matches(pattern, more)),
        [b'?', rest @ ..] => within(text).is_some_and(|more| matches(rest, more)),
        [b'[', rest @ ..] => match (set(rest), text) {
            (Some((members, rest)), [byte, more @ ..]) if *byte != b'/' => {
                is_member(members, *byte) && matches(rest, more)
            }
            _ => false,
        },
        [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
            text.split_first().is_some_and(|(first, more)| first == byte && matches(rest, more))
        }
    }
}

/// The text without its first byte, unless that begins another component.
fn within(text: &[u8]) -> Option<&[u8]> {
    text.split_first().filter(|(first, _)| **first != b'/').map(|(_, more)| more)
}

/// The members of `[…]`, whose first byte may be `]` itself, and what comes after them.
fn set(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let negated = usize::from(matches!(rest.first(), Some(b'!' | b'^')));
    let end = rest.iter().skip(negated + 1).position(|byte| *byte == b']')? + negated + 1;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

fn is_member(members: &[u8], byte: u8) -> bool {
    let (negated, mut members) = match members {
        [b'!' | b'^', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let mut found = false;
    while let Some((first, rest)) = members.split_first() {
        members = match rest {
            [b'-', last, after @ ..] => {
                found |= (*first..=*last).contains(&byte);
                after
            }
            _ => {
                found |= *first == byte;
                rest
            }
        };
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("refs/heads/main", "refs/heads/main", true),
            ("refs/heads/main", "refs/heads/Main", false),
            ("refs/heads/*", "refs/heads/main", true),
            ("refs/heads/*", "refs/heads/release/v2", false),
            ("refs/heads/**/*", "refs/heads/main", true),
            ("refs/heads/**/*", "refs/heads/release/v2/hotfix", true),
            ("refs/heads/release/**/*", "refs/heads/main", false),
            ("refs/heads/release/v?", "refs/heads/release/v2", true),
            ("refs/heads/release?v2", "refs/heads/release/v2", false),
            ("refs/heads/[a-m]*", "refs/heads/main", true),
            ("refs/heads/[!m]*", "refs/heads/main", false),
            ("refs/heads/[]x]", "refs/heads/]", true),
            ("refs/heads/[m", "refs/heads/m", false),
            ("refs/heads/a\\*", "refs/heads/a*", true),
            ("refs/heads/a\\*", "refs/heads/ab", false),
            ("*", "web", true),
            ("web-*", "web", false),
            ("", "web", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text}");
        }
    }
}
