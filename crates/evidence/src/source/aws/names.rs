//! Names: of this source, of the members of its population, and in the configuration those of trails, log groups and
//! roles, with their syntax and what they match.
//!
//! Pure. A malformed name is refused before any request.

use super::host::endpoint::Region;
use crate::observation::SourceName;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// The name of this source.
pub(super) const NAME: SourceName = SourceName::new("cloud");

/// The kinds of members of the population.
pub(super) const ACCOUNT: &str = "account";
pub(super) const REGION: &str = "region";
pub(super) const TRAIL: &str = "trail";
pub(super) const LOG_GROUP: &str = "log_group";

/// The code for a member that there is and that the configuration does not name.
pub(super) const NOT_CONFIGURED: &str = "not_configured";

/// The maximum length of a trail's name.
const MAXIMUM_TRAIL: usize = 128;
/// The maximum length of a log group's name.
const MAXIMUM_LOG_GROUP: usize = 512;

/// The parts of an ARN: `arn:partition:service:region:account:resource`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arn<'a> {
    pub(super) service: &'a str,
    pub(super) region: &'a str,
    pub(super) account: &'a str,
    pub(super) resource: &'a str,
}

impl Arn<'_> {
    /// Splits an ARN; `None` if it is malformed.
    pub(super) fn new(text: &str) -> Option<Arn<'_>> {
        let mut parts = text.splitn(6, ':');
        let (arn, partition) = (parts.next()?, parts.next()?);
        let (service, region, account, resource) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_partition = partition == "aws"
            || partition.strip_prefix("aws-").is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            });
        let good = arn == "arn" && is_partition && !service.is_empty() && !resource.is_empty();
        good.then_some(Arn { service, region, account, resource })
    }
}

pub(super) fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The account in a role's ARN.
pub(super) fn role_account(arn: &str) -> Option<&str> {
    Arn::new(arn).map(|arn| arn.account).filter(|account| is_account(account))
}

/// Checks the ARN of a role.
pub(crate) fn check_role(text: &str) -> Result<(), Complaint> {
    let is_name = |name: &str| {
        (1..=512 + 64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+=,.@/-".contains(&byte))
    };
    let good = Arn::new(text).is_some_and(|arn| {
        arn.service == "iam"
            && arn.region.is_empty()
            && is_account(arn.account)
            && arn.resource.strip_prefix("role/").is_some_and(is_name)
    });
    if good {
        return Ok(());
    }
    Err(Complaint::new(format!("{} is not the ARN of a role", quote(text)))
        .help("write it in full: `arn:aws:iam::ACCOUNT:role/NAME`, with the 12 digits of the account"))
}

fn is_trail_name(name: &str) -> bool {
    (3..=MAXIMUM_TRAIL).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// The name in a trail's ARN; `None` for any other ARN.
pub(super) fn trail_name(arn: Arn<'_>) -> Option<&str> {
    let name = arn.resource.strip_prefix("trail/")?;
    let good = arn.service == "cloudtrail"
        && Region::new(arn.region).is_some()
        && is_account(arn.account)
        && is_trail_name(name);
    good.then_some(name)
}

/// Checks the name or ARN of a trail.
pub(super) fn check_trail(text: &str) -> Result<(), Complaint> {
    if is_trail_name(text) || Arn::new(text).and_then(trail_name).is_some() {
        return Ok(());
    }
    let help = if text.contains('*') {
        "list the trails, or omit `trails` for all; patterns are not supported here"
    } else {
        "a name has 3 to 128 letters, digits, `.`, `_` and `-`; an ARN is written in full"
    };
    Err(Complaint::new(format!("{} is neither the name nor the ARN of a trail", quote(text))).help(help))
}

/// Checks the name of a log group, or a prefix with `*`.
pub(super) fn check_log_group(text: &str) -> Result<(), Complaint> {
    let name = text.strip_suffix('*').unwrap_or(text);
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._/#-".contains(&byte);
    if text == "*" {
        return Err(
            Complaint::new("`*` alone matches every log group").help("omit `log_groups` for all of them")
        );
    }
    if (1..=MAXIMUM_LOG_GROUP).contains(&name.len()) && name.bytes().all(good) {
        return Ok(());
    }
    let help = if Arn::new(text).is_some() {
        "write the name alone, without the ARN: the regions are set by `regions`"
    } else {
        "a name has letters, digits and `._/#-`; `*` is allowed at the end only"
    };
    Err(Complaint::new(format!("{} is not a valid log group name", quote(text))).help(help))
}

/// Whether an entry of `log_groups` matches this log group.
pub(super) fn means_log_group(entry: &str, name: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == entry,
    }
}

/// The common prefix of every log group in scope, which reduces the number of pages. `None` if there is no common
/// prefix, or if all are in scope.
pub(super) fn common_beginning(entries: &[String]) -> Option<&str> {
    let plain = |entry: &'_ String| entry.strip_suffix('*').map_or(entry.len(), str::len);
    let first = entries.first()?;
    let mut common = first.get(..plain(first))?;
    for entry in entries {
        let entry = entry.get(..plain(entry))?;
        let same = common.bytes().zip(entry.bytes()).take_while(|(one, other)| one == other).count();
        common = common.get(..same)?;
    }
    Some(common).filter(|common| !common.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_named_in_full() {
        for good in [
            "arn:aws:iam::123456789012:role/evidence",
            "arn:aws-cn:iam::123456789012:role/path/to/evidence",
            "arn:aws-us-gov:iam::123456789012:role/a+b=c,d.e@f-g_h",
        ] {
            assert_eq!(check_role(good), Ok(()), "{good}");
            assert_eq!(role_account(good), Some("123456789012"));
        }
        for bad in [
            "",
            "evidence",
            "role/evidence",
            "arn:aws:iam::123456789012:user/evidence",
            "arn:aws:iam::1234:role/evidence",
            "arn:aws:iam::123456789012:role/",
            "arn:aws:iam:us-east-1:123456789012:role/evidence",
            "arn:aws:sts::123456789012:assumed-role/evidence/x",
            "arn:azure:iam::123456789012:role/evidence",
            "arn:aws-:iam::123456789012:role/evidence",
            "arn:aws:iam::123456789012:role/a b",
            "ARN:aws:iam::123456789012:role/evidence",
            "arn:aws:iam::123456789012:role/a&Action=X",
        ] {
            let complaint = check_role(bad).unwrap_err();
            assert!(complaint.help.is_some(), "{bad}");
        }
    }

    #[test]
    fn trails_by_name_or_arn() {
        let arn = "arn:aws:cloudtrail:eu-central-1:123456789012:trail/main";
        for good in ["main", "a.b", "a-b_c", arn] {
            assert_eq!(check_trail(good), Ok(()), "{good}");
        }
        assert_eq!(trail_name(Arn::new(arn).unwrap()), Some("main"));
        let long = "x".repeat(129);
        for bad in [
            "",
            "ab",
            "main*",
            "*",
            "a/b",
            "..",
            "a b",
            "naïve",
            "arn:aws:cloudtrail:eu-central-1:123456789012:trail/",
            "arn:aws:cloudtrail:../..:123456789012:trail/main",
            "arn:aws:logs:eu-central-1:123456789012:trail/main",
            "arn:aws:cloudtrail:eu-central-1:1:trail/main",
            &long,
        ] {
            assert!(check_trail(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn log_groups_by_name_or_beginning() {
        for good in ["/production/*", "/aws/lambda/x", "a", "#", "x*"] {
            assert_eq!(check_log_group(good), Ok(()), "{good}");
        }
        let long = "x".repeat(513);
        for bad in [
            "",
            "*",
            "**",
            "*x",
            "a*b",
            "a b",
            "a:b",
            "arn:aws:logs:eu-central-1:123456789012:log-group:x",
            &long,
        ] {
            assert!(check_log_group(bad).is_err(), "{bad}");
        }
        // (entry, name, matches)
        let table = [
            ("/a", "/a", true),
            ("/a", "/a/b", false),
            ("/a*", "/a", true),
            ("/a*", "/a/b", true),
            ("/a/*", "/a", false),
            ("/a/*", "/b/a/x", false),
            ("/a", "/A", false),
        ];
        for (entry, name, expected) in table {
            assert_eq!(means_log_group(entry, name), expected, "{entry} {name}");
        }
    }

    /// Everything in scope begins with the common prefix, so requesting it loses nothing.
    #[test]
    fn the_common_beginning_leaves_nothing_out() {
        let table: [(&[&str], Option<&str>); 8] = [
            (&[], None),
            (&["/a/*"], Some("/a/")),
            (&["/a/b"], Some("/a/b")),
            (&["/a/b", "/a/c*"], Some("/a/")),
            (&["/a*", "/ab", "/abc*"], Some("/a")),
            (&["/a", "b"], None),
            (&["abc*", "ab"], Some("ab")),
            (&["ab", "abc*"], Some("ab")),
        ];
        for (entries, expected) in table {
            let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_string()).collect();
            assert_eq!(common_beginning(&entries), expected, "{entries:?}");
        }
    }
}
