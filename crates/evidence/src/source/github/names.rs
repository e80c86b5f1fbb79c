//! Names on the code host: organizations, repositories, branches. A valid name cannot escape its segment of a request
//! path.

use crate::observation::SourceName;
use evidence_settings::declare::CustomFormat;
use evidence_settings::problem::Complaint;
use evidence_settings::secret::quote;

/// The name of this source.
pub const NAME: SourceName = SourceName::new("codehost");

/// The kind of a repository in the population.
pub(super) const MEMBER: &str = "repository";

/// Where a template for `evidence fleet` takes the name of an organization.
pub const ORGANIZATION_PLACE: &str = "{org}";

/// The maximum length of an organization's or a repository's name, in characters.
const MAX_NAME: usize = 100;

/// The maximum length of a branch name, in bytes.
const MAX_BRANCH: usize = 255;

/// Whether this is the name of an organization.
pub(crate) fn is_organization(text: &str) -> bool {
    organization(text).is_ok()
}

/// Whether the name of a repository can be part of a path and a file name without changing its meaning.
pub(super) fn is_repository(name: &str) -> bool {
    (1..=100).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        && name != "."
        && name != ".."
}

/// Whether this is the name of a branch, as opposed to [`DEFAULT_BRANCH`].
pub(super) fn is_branch(text: &str) -> bool {
    text != DEFAULT_BRANCH && !text.is_empty() && branch(text).is_ok()
}

/// The name of an organization.
pub(super) static ORGANIZATION: CustomFormat = CustomFormat {
    noun: "the name of an organization",
    shown: "text",
    hint: None,
    ignores_case: true,
    check: organization,
    pattern: "^[A-Za-z0-9._-]+$",
    max_length: Some(MAX_NAME),
};

/// The login of an account, or `name[bot]` for an app.
pub(super) static LOGIN: CustomFormat = CustomFormat {
    noun: "a login",
    shown: "text",
    hint: None,
    ignores_case: true,
    check: |text| {
        let name = text.strip_suffix("[bot]").unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !name.is_empty() && name.bytes().all(plain) {
            return Ok(());
        }
        Err(Complaint::new(format!("{} is not a login", quote(text)))
            .help("write a login, or `name[bot]` for an app"))
    },
    pattern: r"^[A-Za-z0-9._-]+(\[bot\])?$",
    max_length: Some(MAX_NAME),
};

/// `org/repo`
pub(super) static REPOSITORY: CustomFormat = CustomFormat {
    noun: "`org/repo`",
    shown: "`org/repo`",
    hint: Some("write `org/repo`"),
    ignores_case: true,
    check: |text| repository(text).map(|_| ()),
    pattern: "^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$",
    max_length: None,
};

/// `org/repo`, with `*` for any characters of the repository.
pub(super) static EXCLUSION: CustomFormat = CustomFormat {
    noun: "`org/repo`, in which the repository may hold `*`",
    shown: "`org/repo`",
    hint: Some("write `org/repo`, or a pattern such as `org/archive-*`"),
    ignores_case: true,
    check: exclusion,
    pattern: "^[A-Za-z0-9._-]+/[A-Za-z0-9._*-]+$",
    max_length: None,
};

/// Each repository's default branch, as the host calls it in rulesets. No branch can have this name.
pub(super) const DEFAULT_BRANCH: &str = "~DEFAULT_BRANCH";

/// The name of a branch, or [`DEFAULT_BRANCH`].
pub(super) static BRANCH: CustomFormat = CustomFormat {
    noun: "the name of a branch",
    shown: "text",
    hint: None,
    ignores_case: false,
    check: branch,
    pattern: "^(~DEFAULT_BRANCH|[^\\s~^:?*\\[\\\\/]([^\\s~^:?*\\[\\\\]*[^\\s~^:?*\\[\\\\/.])?)$",
    max_length: Some(MAX_BRANCH),
};

/// The name of a custom property.
pub(super) static PROPERTY: CustomFormat = CustomFormat {
    noun: "the name of a custom property",
    shown: "text",
    hint: None,
    ignores_case: true,
    check: |text| {
        let is_good = (1..=75).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$#".contains(&byte));
        if is_good {
            return Ok(());
        }
        Err(Complaint::new(format!("{} is not the name of a custom property", quote(text))).help(
            "write the name as the organization's settings show it: letters, digits, `_`, `-`, `$` and `#`",
        ))
    },
    pattern: "^[A-Za-z0-9_$#-]+$",
    max_length: Some(75),
};

/// All other repositories, where a pattern is expected.
pub(super) const EVERY_OTHER: &str = "*";

/// A pattern of repositories, or [`EVERY_OTHER`].
pub(super) static BRANCH_PATTERN: CustomFormat = CustomFormat {
    noun: "`org/repo`, in which the repository may hold `*`, or `\"*\"`",
    shown: "`org/repo` or `\"*\"`",
    hint: Some("write `org/repo`, a pattern such as `org/service-*`, or `\"*\"` for all others"),
    ignores_case: true,
    check: |text| if text == EVERY_OTHER { Ok(()) } else { exclusion(text) },
    pattern: "^(\\*|[A-Za-z0-9._-]+/[A-Za-z0-9._*-]+)$",
    max_length: None,
};

/// What `evidence init` writes if it is not given an organization.
pub const EXAMPLE_ORGANIZATION: &str = "your-organization";

/// Checks the name of an organization.
///
/// # Errors
/// Returns a description of what is wrong.
pub fn organization(text: &str) -> Result<(), Complaint> {
    if text.contains(ORGANIZATION_PLACE) {
        return Err(Complaint::new(format!("{} is the place of a name in a template", quote(text)))
            .help("run `evidence fleet`, which fills it, or write the name of your organization"));
    }
    if text.eq_ignore_ascii_case(EXAMPLE_ORGANIZATION) {
        return Err(Complaint::new(format!("{} is a placeholder", quote(text)))
            .help("write the name of your organization, as in the address of its page"));
    }
    if text.starts_with(['$', '<']) {
        return Err(Complaint::new(format!(
            "{} is not a name: nothing in the file is replaced",
            quote(text)
        ))
        .help("write the name of your organization, as in the address of its page"));
    }
    name("organization", text).map_err(|complaint| match organization_in(text) {
        Some(found) => complaint.help(format!("write `org: {found}`")),
        None => complaint,
    })
}

/// The organization in the address of a page, or in the name of a repository.
pub fn organization_in(text: &str) -> Option<&str> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let is_address = rest.len() < text.len();
    let mut parts = rest.trim_start_matches('@').split('/').filter(|part| !part.is_empty());
    let first = parts.next()?;
    let is_host = is_address || (first.contains('.') && rest.contains('/'));
    let found = if is_host { parts.next()? } else { first };
    // The page of an organization's settings.
    let found = if is_host && matches!(found, "orgs" | "organizations") { parts.next()? } else { found };
    (found != text && name("organization", found).is_ok()).then_some(found)
}

/// Checks a name on the code host. This also keeps `..` and `/` out of request paths.
fn name(what: &str, text: &str) -> Result<(), Complaint> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    if text.is_empty() {
        return Err(Complaint::new(format!("the name of the {what} is empty")));
    }
    if text.chars().count() > MAX_NAME {
        return Err(Complaint::new(format!("the name of the {what} has more than {MAX_NAME} characters")));
    }
    if text == "." || text == ".." || !text.chars().all(allowed) {
        return Err(Complaint::new(format!("{} is not a valid name for the {what}", quote(text)))
            .help("use only letters, digits, `-`, `_` and `.`"));
    }
    Ok(())
}

/// Splits `org/repo` into its two names.
pub(super) fn repository(text: &str) -> Result<(&str, &str), Complaint> {
    if text == "*" {
        return Err(Complaint::new("`*` cannot be an entry in a list")
            .help("write `repos: \"*\"`, without a list, for all repositories"));
    }
    if text.contains("://") {
        return Err(Complaint::new(format!("{} is a URL, not `org/repo`", quote(text)))
            .help("write only the organization and the repository: `org/repo`"));
    }
    let Some((organization, repository)) = text.split_once('/') else {
        name("repository", text)?;
        return Err(Complaint::new(format!("{} lacks the organization", quote(text)))
            .help(format!("write `org/{text}`, with the name of the organization for `org`")));
    };
    if repository.contains('/') {
        return Err(Complaint::new(format!("{} has more than one `/`", quote(text))).help("write `org/repo`"));
    }
    if repository.contains('*') {
        return Err(Complaint::new(format!("{}: patterns are not supported", quote(text)))
            .help("list the repositories, or write `repos: \"*\"` for all of them"));
    }
    name("organization", organization)?;
    name("repository", repository)?;
    Ok((organization, repository))
}

fn exclusion(text: &str) -> Result<(), Complaint> {
    match text.split_once('/') {
        Some((organization, pattern)) if pattern.contains('*') && !pattern.contains('/') => {
            name("organization", organization)?;
            // Whatever the `*` matches, the rest must be part of a valid name.
            name("repository", &pattern.replace('*', "x"))
        }
        None if text.contains('*') => Err(Complaint::new(format!("{} lacks the organization", quote(text)))
            .help(format!("write `org/{text}`, with the name of the organization for `org`"))),
        Some(_) | None => repository(text).map(|_| ()),
    }
}

fn branch(text: &str) -> Result<(), Complaint> {
    if text == DEFAULT_BRANCH {
        return Ok(());
    }
    if text.starts_with('~') {
        return Err(Complaint::new(format!("{} is not a valid branch name", quote(text)))
            .help(format!("write {} for each repository's default branch", quote(DEFAULT_BRANCH))));
    }
    let refuse = |why: &str| {
        Complaint::new(format!("{} is not a valid branch name: {why}", quote(text)))
            .help("write the branch name exactly as `git branch` shows it")
    };
    if text.len() > MAX_BRANCH {
        return Err(Complaint::new(format!("the name of the branch has more than {MAX_BRANCH} bytes")));
    }
    if let Some(bad) =
        text.chars().find(|character| character.is_whitespace() || "~^:?*[\\".contains(*character))
    {
        return Err(refuse(&format!(
            "a name cannot hold {}",
            if bad.is_whitespace() { "a space".to_owned() } else { quote(&bad.to_string()) }
        )));
    }
    for bad in ["..", "//", "@{"] {
        if text.contains(bad) {
            return Err(refuse(&format!("a name cannot hold `{bad}`")));
        }
    }
    if text == "@" {
        return Err(refuse("that means the current commit"));
    }
    if text.starts_with('/') || text.ends_with('/') {
        return Err(refuse("a name cannot begin or end with `/`"));
    }
    if text.ends_with('.') || text.ends_with(".lock") {
        return Err(refuse("a name cannot end with `.` or `.lock`"));
    }
    if let Some(short) = text.strip_prefix("refs/heads/") {
        return Err(Complaint::new("the branch is named without `refs/heads/`")
            .help(format!("write {}", quote(short))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_organization_in_an_address() {
        for (text, found) in [
            ("https://github.com/acme", Some("acme")),
            ("https://github.com/acme/", Some("acme")),
            ("https://github.com/acme/web", Some("acme")),
            ("https://github.com/orgs/acme/repositories", Some("acme")),
            ("https://github.com/organizations/acme/settings/security", Some("acme")),
            ("github.com/acme", Some("acme")),
            ("acme/web", Some("acme")),
            ("acme/", Some("acme")),
            ("@acme", Some("acme")),
            ("https://acme.ghe.com", None),
            ("https://github.com", None),
            ("two words", None),
            ("acme", None),
        ] {
            assert_eq!(organization_in(text), found, "{text}");
        }
    }
}
