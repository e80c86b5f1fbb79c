//! The rules a text must keep, one function for each format.
//!
//! Pure: nothing here knows where in the file the text was. What may be a secret is never repeated.

use url::{Host, Url};

use super::declare::Format;
use super::problem::Complaint;
use super::secret::{self, quote};
use super::suggest;
use crate::control::Control;

/// The longest text any key may hold, in bytes.
const MAX_TEXT_BYTES: usize = 4096;

/// The longest name of an organization or a repository, in characters.
pub(crate) const MAX_NAME: usize = 100;

/// The longest branch name, in bytes.
pub(crate) const MAX_BRANCH: usize = 255;

/// Checks a text against its format.
pub(crate) fn check(format: Format, text: &str) -> Result<(), Complaint> {
    if let Format::Variable = format {
        return variable(text);
    }
    if secret::contains_secret(text) {
        return Err(Complaint::new("this looks like a secret, and the configuration must not hold one")
            .help("take it out of the file and revoke it: it has been where others can read it")
            .secret());
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(Complaint::new(format!("the text is longer than {MAX_TEXT_BYTES} bytes")));
    }
    if text.is_empty() {
        return Err(Complaint::new("the text is empty").help(format!("write {}", noun(format))));
    }
    if text.chars().any(char::is_control) {
        return Err(Complaint::new("the text has a line break or another control character")
            .help("write it on one line"));
    }
    match format {
        Format::Choice(choices) => choice(choices, text),
        Format::Control(served) => control(served, text).map(|_| ()),
        Format::Url => url(text).map(|_| ()),
        Format::Organization => organization(text),
        Format::Repository => repository(text).map(|_| ()),
        Format::Branch => branch(text),
        Format::Variable | Format::Path | Format::Line => Ok(()),
    }
}

/// What a text of this format is, for "expected ...".
pub(crate) fn noun(format: Format) -> String {
    match format {
        Format::Choice(choices) => suggest::alternatives(choices),
        Format::Control(_) => "a control".to_owned(),
        Format::Variable => "the name of an environment variable".to_owned(),
        Format::Path => "a path".to_owned(),
        Format::Url => "a URL".to_owned(),
        Format::Organization => "the name of an organization".to_owned(),
        Format::Repository => "`org/repo`".to_owned(),
        Format::Branch => "the name of a branch".to_owned(),
        Format::Line => "text".to_owned(),
    }
}

/// How to write a text of this format, where quotes around something else would not do.
pub(crate) fn hint(format: Format) -> Option<String> {
    match format {
        Format::Choice(choices) => Some(format!("supported: {}", suggest::alternatives(choices))),
        Format::Control(served) => {
            let names: Vec<&str> = served.iter().map(|control| control.id()).collect();
            Some(format!("the controls are {}", suggest::list(&names)))
        }
        Format::Repository => Some("write `org/repo`".to_owned()),
        Format::Url => Some("write it in full, for example `https://host.example/api`".to_owned()),
        Format::Variable => Some("write the name of the variable".to_owned()),
        Format::Path | Format::Organization | Format::Branch | Format::Line => None,
    }
}

/// Whether two texts of this format mean the same; case does not count for names on the code host.
pub(crate) fn same(format: Format, one: &str, other: &str) -> bool {
    match format {
        Format::Repository | Format::Organization => one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}

fn choice(choices: &[&str], text: &str) -> Result<(), Complaint> {
    if choices.contains(&text) {
        return Ok(());
    }
    let listed = suggest::alternatives(choices);
    let complaint = Complaint::new(format!("{} is not supported", quote(text)));
    Err(match suggest::nearest(text, choices.iter().copied()) {
        Some(near) if choices.len() > 1 => {
            complaint.help(format!("did you mean `{near}`? supported: {listed}"))
        }
        Some(near) => complaint.help(format!("did you mean `{near}`? nothing else is supported")),
        None => complaint.help(format!("supported: {listed}")),
    })
}

/// The control of this name, if it is one of those served here.
pub(crate) fn control(served: &[Control], text: &str) -> Result<Control, Complaint> {
    let names: Vec<&str> = served.iter().map(|control| control.id()).collect();
    let listed = suggest::list(&names);
    match Control::from_id(text) {
        Some(control) if served.contains(&control) => Ok(control),
        Some(_) => Err(Complaint::new(format!("this source cannot serve {}", quote(text)))
            .help(format!("it can serve {listed}"))),
        None => {
            let complaint = Complaint::new(format!("there is no control {}", quote(text)));
            Err(match suggest::nearest(text, names.iter().copied()) {
                Some(near) => complaint.help(format!("did you mean `{near}`? the controls are {listed}")),
                None => complaint.help(format!("the controls are {listed}")),
            })
        }
    }
}

fn variable(text: &str) -> Result<(), Complaint> {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let name = begins_well && text.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if secret::may_be_secret(text) {
        return Err(Complaint::new(
            "this looks like the secret itself; the file must only name the variable that holds it",
        )
        .help("write the name of an environment variable, and revoke the secret: it has been in a file")
        .secret());
    }
    if text.is_empty() {
        return Err(Complaint::new("the name of the environment variable is empty")
            .help("write the name of the variable"));
    }
    if let Some(inner) = text.strip_prefix('$')
        && variable(inner.trim_start_matches('{').trim_end_matches('}')).is_ok()
    {
        let inner = inner.trim_start_matches('{').trim_end_matches('}');
        return Err(Complaint::new("variables are named, not expanded")
            .help(format!("write the name without the dollar sign: `{inner}`")));
    }
    if !name {
        // Whatever it is, it is not a name; it may well be a password, so it is not repeated.
        return Err(Complaint::new("this is not the name of an environment variable (the value is not shown: it may be a secret)")
            .help("a name has letters, digits and `_`, and does not begin with a digit; the file never holds the secret itself")
            .secret());
    }
    Ok(())
}

fn organization(text: &str) -> Result<(), Complaint> {
    name("organization", text).map_err(|complaint| match text.strip_prefix("https://") {
        Some(_) => complaint.help("write the name alone, without the address of the host"),
        None => complaint,
    })
}

/// A name on the code host; also what keeps `..` and `/` out of request paths.
fn name(what: &str, text: &str) -> Result<(), Complaint> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    if text.is_empty() {
        return Err(Complaint::new(format!("the name of the {what} is empty")));
    }
    if text.chars().count() > MAX_NAME {
        return Err(Complaint::new(format!("the name of the {what} has more than {MAX_NAME} characters")));
    }
    if text == "." || text == ".." || !text.chars().all(allowed) {
        return Err(Complaint::new(format!("{} cannot be the name of the {what}", quote(text)))
            .help("names have letters, digits, `-`, `_` and `.`"));
    }
    Ok(())
}

/// The two names in `org/repo`.
pub(crate) fn repository(text: &str) -> Result<(&str, &str), Complaint> {
    if text == "*" {
        return Err(Complaint::new("`*` cannot be one entry among others")
            .help("for every repository of the organization write `repos: \"*\"`, without a list"));
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
            .help("list the repositories, or write `repos: \"*\"` for every one of the organization"));
    }
    name("organization", organization)?;
    name("repository", repository)?;
    Ok((organization, repository))
}

fn branch(text: &str) -> Result<(), Complaint> {
    let refuse = |why: &str| {
        Complaint::new(format!("{} cannot be a branch: {why}", quote(text)))
            .help("write the branch as `git branch` shows it")
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

/// The URL: https, or http on the loopback; no user, query or fragment; no trailing slash in its path.
///
/// The library reads more than people mean by a URL (`https:host`, back slashes, addresses as one number); what is
/// written in unusual ways is refused, so that what is checked is what is read.
pub(crate) fn url(text: &str) -> Result<Url, Complaint> {
    const IN_FULL: &str = "write it in full, for example `https://host.example/api`";
    let lower = text.to_ascii_lowercase();
    if text.contains('@') {
        return Err(Complaint::new("the URL holds a user name or password, and the configuration must not")
            .help("remove everything up to the `@`; credentials are read from environment variables")
            .secret());
    }
    if text.contains(['?', '#']) {
        return Err(Complaint::new("the URL has a query or a fragment")
            .help("write the base address only: remove everything from the `?` or `#` on")
            .secret());
    }
    let Some((scheme, _)) = text.split_once("://") else {
        return Err(Complaint::new(format!("{} is not a URL", quote(text))).help(IN_FULL));
    };
    if text.contains(|character: char| character.is_whitespace() || character == '\\') {
        return Err(Complaint::new(format!("{} is not a URL", quote(text))).help(IN_FULL));
    }
    let mut url = Url::parse(text)
        .map_err(|error| Complaint::new(format!("this is not a URL: {error}")).help(IN_FULL))?;
    let loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback() && lower.starts_with("http://127."),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" if url.host().is_some() => {}
        "http" if loopback => {}
        "http" => {
            return Err(Complaint::new("plain http would send the credential unencrypted")
                .help("use `https://`; only loopback addresses (localhost, 127.0.0.0/8, ::1) may use http"));
        }
        _ => {
            return Err(Complaint::new(format!("the scheme {} is not supported", quote(scheme)))
                .help("write it in full, beginning with `https://`"));
        }
    }
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_that_the_source_cannot_serve_names_those_it_can() {
        let complaint = control(&[Control::Cc6_1, Control::Cc6_6], "CC7.2").unwrap_err();
        assert_eq!(complaint.message, "this source cannot serve `CC7.2`");
        assert_eq!(complaint.help.as_deref(), Some("it can serve `CC6.1` and `CC6.6`"));
        assert_eq!(control(&[Control::Cc6_1], "CC6.1"), Ok(Control::Cc6_1));
    }
}
