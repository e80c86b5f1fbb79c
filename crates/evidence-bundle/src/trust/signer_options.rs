//! The options of a line of an allowed-signers file, read as OpenSSH reads them.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::error::SignerLineError;

/// The options of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) certificate_authority: bool,
    pub(super) namespaces: Option<String>,
    pub(super) valid_after: Option<i64>,
    pub(super) valid_before: Option<i64>,
}

/// Splits the options from what follows them, at the first white space outside quotation marks.
pub(super) fn split(text: &str) -> Result<(&str, &str), SignerLineError> {
    let mut quoted = false;
    let mut bytes = text.bytes().enumerate().peekable();
    while let Some((position, byte)) = bytes.next() {
        match byte {
            b'\\' if bytes.peek().is_some_and(|(_, next)| *next == b'"') => _ = bytes.next(),
            b'"' => quoted = !quoted,
            b' ' | b'\t' if !quoted => {
                return text.split_at_checked(position).ok_or(SignerLineError::Quote);
            }
            _ => {}
        }
    }
    if quoted { Err(SignerLineError::Quote) } else { Ok((text, "")) }
}

/// Reads the options: flags and `name="value"`, separated by commas. OpenSSH demands the quotation marks, ignores the
/// case of names and takes a comma too many, but none at the end.
pub(super) fn parse(text: &str) -> Result<Options, SignerLineError> {
    let mut options = Options::default();
    let mut rest = text;
    while !rest.is_empty() {
        let option = rest.split(',').next().unwrap_or_default();
        let repeated = |is_repeated| match is_repeated {
            true => Err(SignerLineError::BadOption(option.to_owned())),
            false => Ok(()),
        };
        if let Some(after) = after_name(rest, "cert-authority") {
            options.certificate_authority = true;
            rest = after;
        } else if let Some(after) = after_name(rest, "namespaces=") {
            repeated(options.namespaces.is_some())?;
            let (value, after) = quoted(after, option)?;
            options.namespaces = Some(value);
            rest = after;
        } else if let Some(after) = after_name(rest, "valid-after=") {
            repeated(options.valid_after.is_some())?;
            let (value, after) = quoted(after, option)?;
            options.valid_after = Some(parse_time(&value)?);
            rest = after;
        } else if let Some(after) = after_name(rest, "valid-before=") {
            repeated(options.valid_before.is_some())?;
            let (value, after) = quoted(after, option)?;
            options.valid_before = Some(parse_time(&value)?);
            rest = after;
        }
        rest = match rest.strip_prefix(',') {
            Some("") => return Err(SignerLineError::UnknownOption(String::new())),
            Some(next) => next,
            None if rest.is_empty() => rest,
            None => return Err(SignerLineError::UnknownOption(option.to_owned())),
        };
    }
    if let (Some(after), Some(before)) = (options.valid_after, options.valid_before)
        && before <= after
    {
        return Err(SignerLineError::EmptyWindow);
    }
    Ok(options)
}

fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

/// The text in quotation marks, and what follows them. A backslash before a quotation mark makes it part of the text.
fn quoted<'a>(text: &'a str, option: &str) -> Result<(String, &'a str), SignerLineError> {
    let bad = || SignerLineError::Unquoted(option.to_owned());
    let inner = text.strip_prefix('"').ok_or_else(bad)?;
    let mut value = String::new();
    let mut characters = inner.char_indices();
    while let Some((position, character)) = characters.next() {
        match character {
            '"' => return Ok((value, inner.get(position + 1..).unwrap_or_default())),
            '\\' if inner.get(position + 1..).is_some_and(|rest| rest.starts_with('"')) => {
                value.push('"');
                characters.next();
            }
            character => value.push(character),
        }
    }
    Err(bad())
}

/// `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`, with or without `Z` or `UTC`, in Unix seconds of UTC.
pub(super) fn parse_time(text: &str) -> Result<i64, SignerLineError> {
    let bad = || SignerLineError::BadTime(text.to_owned());
    let zone = ["Z", "UTC"].into_iter().find_map(|zone| {
        let (digits, end) = text.split_at_checked(text.len().checked_sub(zone.len())?)?;
        end.eq_ignore_ascii_case(zone).then_some(digits)
    });
    let digits = zone.unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || !matches!(digits.len(), 8 | 12 | 14) {
        return Err(bad());
    }
    let number =
        |from: usize, to: usize| digits.get(from..to).map_or(Some(0), |part| part.parse::<i8>().ok());
    let year = digits.get(..4).and_then(|part| part.parse().ok()).ok_or_else(bad)?;
    let time = (|| {
        DateTime::new(year, number(4, 6)?, number(6, 8)?, number(8, 10)?, number(10, 12)?, number(12, 14)?, 0)
            .ok()
    })();
    let instant = time.and_then(|time| TimeZone::UTC.to_timestamp(time).ok()).ok_or_else(bad)?;
    Ok(instant.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_time() {
        for (text, seconds) in [
            ("20260102", 1_767_312_000),
            ("20260102Z", 1_767_312_000),
            ("20260102z", 1_767_312_000),
            ("20260102UTC", 1_767_312_000),
            ("202601020304Z", 1_767_323_040),
            ("20260102030405Z", 1_767_323_045),
            ("20260102030405", 1_767_323_045),
        ] {
            assert_eq!(parse_time(text), Ok(seconds), "{text}");
        }
        for text in [
            "",
            "2026",
            "20261301Z",
            "20260230",
            "202601020370Z",
            "2026010203040",
            "+2026010",
            "20260102ZZ",
            "\"20260102Z\"",
            "Z",
            "UTC",
            "éZ",
            "20260102 ",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn options_end_at_white_space_outside_quotation_marks() {
        for (text, split_at) in [
            ("a b", Some("a")),
            ("a\tb", Some("a")),
            ("a=\"b c\",d e", Some("a=\"b c\",d")),
            ("a=\"b\\\" c\" d", Some("a=\"b\\\" c\"")),
            ("a", Some("a")),
            ("a=\"b c", None),
        ] {
            assert_eq!(split(text).ok().map(|(options, _)| options), split_at, "{text}");
        }
    }

    #[test]
    fn values_need_quotation_marks_and_names_are_not_repeated() {
        let namespaces = |text: &str| parse(text).map(|options| options.namespaces.unwrap_or_default());
        assert_eq!(namespaces("NameSpaces=\"a,b\"").as_deref(), Ok("a,b"));
        assert_eq!(namespaces("namespaces=\"a\\\",b\"").as_deref(), Ok("a\",b"));
        assert_eq!(namespaces(",namespaces=\"a\",,cert-authority").as_deref(), Ok("a"));
        for bad in [
            "namespaces=a",
            "namespaces=",
            "namespaces='a'",
            "namespaces=\"a",
            "valid-after=20260101",
            "valid-before=20260101Z",
        ] {
            assert!(matches!(parse(bad), Err(SignerLineError::Unquoted(_))), "{bad}");
        }
        for bad in
            ["namespaces", "namespaces=\"a\"b", "namespaces=\"a\",", "no-touch", "cert-authority-x", "valid"]
        {
            assert!(matches!(parse(bad), Err(SignerLineError::UnknownOption(_))), "{bad}");
        }
        for option in ["namespaces=\"a\"", "valid-after=\"20260101\"", "valid-before=\"20260101\""] {
            let twice = parse(&format!("{option},{option}"));
            assert!(matches!(twice, Err(SignerLineError::BadOption(_))), "{option}");
        }
    }
}
