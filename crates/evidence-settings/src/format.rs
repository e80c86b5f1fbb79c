//! The rules for texts, one function for each format.
//!
//! Pure: nothing here knows the place of a text in the file. Messages never repeat a possible secret.

use url::{Host, Url};

use super::declare::{Format, Vocabulary};
use super::problem::Complaint;
use super::secret::{self, quote};
use super::suggest;

/// The longest text any key may hold, in bytes.
const MAX_TEXT_BYTES: usize = 4096;

/// The longest name of a tag, in bytes.
pub const MAX_TAG_NAME: usize = 64;

/// The longest value of a tag, in bytes.
pub const MAX_TAG_VALUE: usize = 256;

/// Checks a text against its format.
///
/// # Errors
/// Returns a description of what is wrong.
pub fn check(format: Format, text: &str) -> Result<(), Complaint> {
    check_in(format, text, "")
}

/// Checks a text of a file with this context.
pub(crate) fn check_in(format: Format, text: &str, context: &str) -> Result<(), Complaint> {
    if let Format::Variable = format {
        return variable(text);
    }
    if secret::contains_secret(text) {
        return Err(Complaint::new("this looks like a secret, which the configuration must not contain")
            .help("remove it from the file and revoke it: others may have read it")
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
        Format::Word(vocabulary) => word(vocabulary, text, context),
        Format::Url => url(text).map(|_| ()),
        Format::Custom(custom) => (custom.check)(text),
        Format::Variable | Format::Path | Format::Line => Ok(()),
    }
}

/// The noun for a text of this format, for "expected ...".
pub fn noun(format: Format) -> String {
    match format {
        Format::Choice(choices) => suggest::alternatives(choices),
        Format::Word(vocabulary) => format!("a {}", vocabulary.noun),
        Format::Variable => "the name of an environment variable".to_owned(),
        Format::Path => "a path".to_owned(),
        Format::Url => "a URL".to_owned(),
        Format::Custom(custom) => custom.noun.to_owned(),
        Format::Line => "text".to_owned(),
    }
}

/// How to write a text of this format, if adding quotes is not enough.
pub fn hint(format: Format) -> Option<String> {
    match format {
        Format::Choice(choices) => Some(format!("supported: {}", suggest::alternatives(choices))),
        Format::Word(vocabulary) if (vocabulary.taken)("").len() > LISTED => {
            Some(format!("write the name of the {} as text", vocabulary.noun))
        }
        Format::Word(vocabulary) => {
            Some(format!("the {}s are {}", vocabulary.noun, suggest::list(&(vocabulary.taken)(""))))
        }
        Format::Custom(custom) => custom.hint.map(str::to_owned),
        Format::Url => Some("write it in full, for example `https://host.example/api`".to_owned()),
        Format::Variable => Some("write the name of the variable".to_owned()),
        Format::Path | Format::Line => None,
    }
}

/// Whether a text of this format ignores case.
pub(crate) fn ignores_case(format: Format) -> bool {
    matches!(format, Format::Custom(custom) if custom.ignores_case)
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
        Some(near) => complaint.help(format!("did you mean `{near}`? it is the only supported value")),
        None => complaint.help(format!("supported: {listed}")),
    })
}

/// The most words that help lists beside the one that was probably meant.
const LISTED: usize = 12;

fn word(vocabulary: &Vocabulary, text: &str, context: &str) -> Result<(), Complaint> {
    let Vocabulary { noun, known, taken, refusal, offer, elsewhere } = vocabulary;
    let taken = taken(context);
    if taken.contains(&text) {
        return Ok(());
    }
    let listed = suggest::list(&taken);
    if known(context).contains(&text) {
        return Err(Complaint::new(format!("{refusal} {}", quote(text))).help(format!("{offer} {listed}")));
    }
    let complaint = Complaint::new(format!("there is no {noun} {}", quote(text)));
    if let Some(help) = elsewhere(context, text) {
        return Err(complaint.help(help));
    }
    Err(match suggest::nearest(text, taken.iter().copied()) {
        Some(near) if taken.len() > LISTED => complaint.help(format!("did you mean `{near}`?")),
        Some(near) => complaint.help(format!("did you mean `{near}`? the {noun}s are {listed}")),
        None => complaint.help(format!("the {noun}s are {listed}")),
    })
}

fn variable(text: &str) -> Result<(), Complaint> {
    let begins_well = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let name = begins_well && text.chars().all(|other| other.is_ascii_alphanumeric() || other == '_');
    if secret::may_be_secret(text) {
        return Err(Complaint::new(
            "this looks like the secret itself; the file must only name the variable that holds it",
        )
        .help("write the name of an environment variable, and revoke the secret: others may have read it")
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
        return Err(Complaint::new("variables are not expanded")
            .help(format!("write the name without the dollar sign: `{inner}`")));
    }
    if !name {
        // Not a variable's name, and possibly a password, so do not repeat it.
        return Err(Complaint::new("this is not the name of an environment variable (the value is not shown: it may \
                                   be a secret)")
            .help("use letters, digits and `_`, not starting with a digit; the file never contains the secret itself")
            .secret());
    }
    Ok(())
}

/// The rules for the name of a tag.
///
/// # Errors
/// Returns a description of what is wrong.
pub fn tag_name(name: &str) -> Result<(), Complaint> {
    if name.is_empty() || name.len() > MAX_TAG_NAME {
        return Err(Complaint::new(format!("the name of a tag has 1 to {MAX_TAG_NAME} bytes")));
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte)) {
        return Err(Complaint::new(format!("{} is not a valid tag name", quote(name)))
            .help("use only letters, digits and `._-/`"));
    }
    Ok(())
}

/// The rule for the value of a tag, besides those for any text.
///
/// # Errors
/// Returns a description of what is wrong.
pub fn tag_value(value: &str) -> Result<(), Complaint> {
    if value.len() > MAX_TAG_VALUE {
        return Err(Complaint::new(format!("the value of a tag has at most {MAX_TAG_VALUE} bytes")));
    }
    Ok(())
}

/// Parses a URL: https, or http on loopback; no user, query or fragment; no trailing slash in its path.
///
/// The library accepts more than people mean by a URL (`https:host`, backslashes, addresses as one number).
/// Refuses unusual forms, so that the checked URL is the one the user sees.
///
/// # Errors
/// Returns a description of what is wrong.
pub fn url(text: &str) -> Result<Url, Complaint> {
    const IN_FULL: &str = "write it in full, for example `https://host.example/api`";
    let lower = text.to_ascii_lowercase();
    if text.contains('@') {
        return Err(Complaint::new(
            "the URL contains a user name or password, which the configuration must not",
        )
        .help("remove everything up to the `@`; set credentials in environment variables")
        .secret());
    }
    if text.contains(['?', '#']) {
        return Err(Complaint::new("the URL has a query or a fragment")
            .help("write only the base address: remove the `?` or `#` and everything after it")
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
    let is_plain = !matches!(url.host(), Some(Host::Ipv4(_))) || lower.starts_with("http://127.");
    match url.scheme() {
        "https" if url.host().is_some() => {}
        "http" if is_loopback(&url) && is_plain => {}
        "http" => {
            return Err(Complaint::new("plain http would send the credentials unencrypted")
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

/// Whether the address is on this machine: `localhost`, or an address of the loopback network.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
