//! Recognises a value that cannot be the expected credential, before it is sent: quotes, placeholders, assignments, and
//! credentials of other services. A message shows at most the public prefix of a value.

use std::fmt;

use evidence_os::secret::{Place, Secret};

/// The expected credential.
pub(crate) struct Expected {
    /// Its noun with an article, for "does not hold ...".
    pub(crate) noun: &'static str,
    /// The public prefixes of the kinds that belong here.
    pub(crate) own: &'static [&'static str],
    /// An example with a public prefix, for the line that works.
    pub(crate) example: &'static str,
}

/// Why a value cannot be the expected credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Quotes that a shell would have removed are part of the value.
    Quotes,
    /// The example of a guide.
    Placeholder,
    /// A reference that should have been replaced with its value.
    Reference,
    /// `NAME=value`
    Assignment,
    /// The name of an authentication scheme precedes the value.
    Scheme,
    /// The path of a file.
    Path,
    /// It belongs to another service, or is of a kind that this service does not accept.
    Foreign(&'static Kind),
}

/// A kind of credential.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// The beginning of every such credential, which is public.
    prefix: &'static str,
    /// The length of every such credential, if the prefix alone could be a coincidence.
    length: Option<usize>,
    /// Its name, with an article.
    name: &'static str,
}

const fn kind(prefix: &'static str, name: &'static str) -> Kind {
    Kind { prefix, length: None, name }
}

/// Credentials that people put into the wrong variable, by the prefixes that their providers document.
static KINDS: &[Kind] = &[
    kind("github_pat_", "a fine-grained token of GitHub"),
    kind("ghp_", "a classic token of GitHub"),
    kind("gho_", "a token of a GitHub OAuth app"),
    kind("ghu_", "a user's token of a GitHub App"),
    kind("ghs_", "an installation token of a GitHub App"),
    kind("ghr_", "a refresh token of a GitHub App, which reads nothing"),
    kind("glpat-", "a GitLab token"),
    kind("gldt-", "a GitLab deploy token"),
    kind("glcbt-", "a GitLab job token"),
    kind("ATATT", "an Atlassian API token"),
    kind("ATCTT", "a Bitbucket access token"),
    kind("ATBB", "a Bitbucket app password"),
    kind("xoxb-", "a Slack token"),
    kind("xoxp-", "a Slack token"),
    kind("npm_", "an npm token"),
    kind("pypi-", "a PyPI token"),
    kind("dckr_pat_", "a Docker Hub token"),
    kind("hvs.", "a Vault token"),
    kind("evp_", "an API key of the evidence platform"),
    kind("sk_live_", "a Stripe key"),
    kind("ya29.", "a Google access token"),
    kind("-----BEGIN", "a private key or a certificate"),
    kind("Z2hwX", "a token encoded with base64; decode it first"),
    kind("Z2l0aHViX3BhdF", "a token encoded with base64; decode it first"),
    Kind { prefix: "AKIA", length: Some(20), name: "an access key id of AWS" },
    Kind { prefix: "ASIA", length: Some(20), name: "a temporary access key id of AWS" },
    Kind { prefix: "AIza", length: Some(39), name: "a Google API key" },
];

/// The access key of AWS's documentation.
const DOCUMENTED: &[&str] = &["AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"];

/// Words of placeholders, in lower case.
const WORDS: &[&str] =
    &["your", "placeholder", "changeme", "replaceme", "insert", "example", "todo", "dummy"];

/// Values that are placeholders as a whole, in lower case.
const WHOLE: &[&str] =
    &["token", "secret", "password", "pat", "null", "none", "nil", "undefined", "redacted"];

/// The value without surrounding white space and byte order marks, which files from other systems have.
pub(crate) fn trimmed(value: &str) -> &str {
    value.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

/// The mistake in a value, if it cannot be a credential with one of the prefixes `own`.
fn mistake(value: &str, own: &[&str]) -> Option<Mistake> {
    let value = trimmed(value);
    if value.is_empty() {
        return None;
    }
    if value.starts_with(is_quote) || value.ends_with(is_quote) {
        return Some(Mistake::Quotes);
    }
    if is_reference(value) {
        return Some(Mistake::Reference);
    }
    if ["Bearer", "token", "Basic"].iter().any(|scheme| begins_with_word(value, scheme)) {
        return Some(Mistake::Scheme);
    }
    if is_assignment(value) {
        return Some(Mistake::Assignment);
    }
    if is_placeholder(value) {
        return Some(Mistake::Placeholder);
    }
    let kind = KINDS.iter().find(|kind| {
        value.starts_with(kind.prefix) && kind.length.is_none_or(|length| length == value.len())
    });
    if let Some(kind) = kind {
        return (!own.contains(&kind.prefix)).then_some(Mistake::Foreign(kind));
    }
    // A secret access key may begin with a slash.
    let is_path = !own.is_empty() && ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    is_path.then_some(Mistake::Path)
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`' | '\u{2018}'..='\u{201f}' | '\u{ab}' | '\u{bb}')
}

/// Whether a shell, a template or a secret store should have replaced the value.
fn is_reference(value: &str) -> bool {
    value.starts_with('$')
        || value.starts_with("op://")
        || (value.starts_with("{{") && value.ends_with("}}"))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'))
}

fn begins_with_word(value: &str, word: &str) -> bool {
    let (start, rest) = value.split_at_checked(word.len()).unwrap_or_default();
    start.eq_ignore_ascii_case(word) && rest.starts_with([' ', ':'])
}

/// Whether the value is `NAME=...` or `export NAME=...`, with the name in capitals, as in a file of variables.
fn is_assignment(value: &str) -> bool {
    let value = value.strip_prefix("export ").unwrap_or(value);
    value.split_once('=').is_some_and(|(name, rest)| {
        let is_name = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        name.contains('_') && name.bytes().all(is_name) && !rest.is_empty()
    })
}

fn is_placeholder(value: &str) -> bool {
    if DOCUMENTED.contains(&value) {
        return true;
    }
    let encloses = |start: char, end: char| value.starts_with(start) && value.ends_with(end);
    if encloses('<', '>') || encloses('[', ']') || encloses('{', '}') {
        return true;
    }
    let prefix = KINDS.iter().map(|kind| kind.prefix).find(|prefix| value.starts_with(prefix));
    let rest = prefix.and_then(|prefix| value.strip_prefix(prefix)).unwrap_or(value).to_ascii_lowercase();
    let is_filler = |word: &str| word.chars().all(|character| "x*._-0\u{2026}\u{2022}".contains(character));
    if is_filler(&rest) || WHOLE.contains(&rest.as_str()) {
        return true;
    }
    let names = ["token", "key", "pat", "secret", "github"];
    rest.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| {
        let is_yours = word.starts_with("your") || word.starts_with("my");
        WORDS.contains(&word)
            || (word.len() > 2 && word.bytes().all(|byte| byte == b'x'))
            || (is_yours && word.len() < 24 && names.iter().any(|name| word.ends_with(name)))
    })
}

/// Why the secret cannot be the expected credential, and what to do; `None` if nothing shows that.
pub(crate) fn refusal(secret: &Secret, expected: &Expected) -> Option<(String, Vec<String>)> {
    let mistake = mistake(secret.text(), expected.own)?;
    let (place, Expected { noun, example, .. }) = (secret.place(), expected);
    let message = format!("{place} does not hold {noun}: {mistake}");
    let right = match (place, mistake) {
        (Place::Variable(name), Mistake::Path) => {
            format!("write `export {name}_FILE=PATH` for a secret in a file")
        }
        (Place::Variable(name), _) => format!("write `export {name}={example}`, with the real value"),
        (Place::File { .. }, _) => format!("{place} must hold one line: `{example}`, with the real value"),
    };
    let why = match mistake {
        Mistake::Quotes => {
            Some("a shell removes quotes; Docker's --env-file and Kubernetes secrets keep them")
        }
        Mistake::Reference => Some("in a shell, single quotes prevent the replacement"),
        _ => None,
    };
    Some((message, std::iter::once(right).chain(why.map(str::to_string)).collect()))
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::Quotes => f.write_str("the value has quotes around it"),
            Mistake::Placeholder => f.write_str("the value is a placeholder"),
            Mistake::Reference => {
                f.write_str("the value is a reference, such as ${NAME}, that was not replaced")
            }
            Mistake::Assignment => {
                f.write_str("the value is an assignment, NAME=..., instead of the value alone")
            }
            Mistake::Scheme => f.write_str("the value begins with the name of an authentication scheme"),
            Mistake::Path => f.write_str("the value is a path"),
            Mistake::Foreign(kind) => write!(f, "the value is {} ({}...)", kind.name, kind.prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &[&str] = &["github_pat_", "ghp_", "gho_", "ghu_", "ghs_"];

    fn foreign(value: &str) -> Option<&'static str> {
        match mistake(value, OWN) {
            Some(Mistake::Foreign(kind)) => Some(kind.name),
            _ => None,
        }
    }

    #[test]
    fn values_that_may_be_tokens_are_accepted() {
        for value in [
            "ghp_CliTestsOwnerTokenIsNotARealSecret01",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a\r\n",
            "\u{feff} ghp_16C7e42F292c6912E7710c838347Ae178B4a ",
            "github_pat_11ABCDEFG0abcdefghijkl_59madeUpCharactersxxxx0000",
            "0123456789abcdef0123456789abcdef01234567",
            "not-a-real-token",
            "gateway:made-up",
            "xylophone",
            "mytokens-are-fine",
            "",
            " \n",
        ] {
            assert_eq!(mistake(value, OWN), None, "{value:?}");
        }
        assert_eq!(mistake("/K7MDENG+bPxRfiCYmadeUpMadeUpMadeUpMade1", &[]), None);
    }

    #[test]
    fn every_mistake_is_recognised() {
        for (value, expected) in [
            ("\"ghp_made\"", Mistake::Quotes),
            ("'ghp_made'\n", Mistake::Quotes),
            ("\u{201c}ghp_made\u{201d}", Mistake::Quotes),
            ("ghp_made'", Mistake::Quotes),
            ("${TOKEN}", Mistake::Reference),
            ("$TOKEN", Mistake::Reference),
            ("$(cat token)", Mistake::Reference),
            ("{{ secrets.TOKEN }}", Mistake::Reference),
            ("${{ secrets.TOKEN }}", Mistake::Reference),
            ("%TOKEN%", Mistake::Reference),
            ("op://vault/github/token", Mistake::Reference),
            ("Bearer ghp_made", Mistake::Scheme),
            ("token ghp_made", Mistake::Scheme),
            ("CODEHOST_TOKEN=ghp_made", Mistake::Assignment),
            ("export CODEHOST_TOKEN=ghp_made", Mistake::Assignment),
            ("/run/secrets/token", Mistake::Path),
            ("~/token", Mistake::Path),
            ("<token>", Mistake::Placeholder),
            ("<a read-only token>", Mistake::Placeholder),
            ("ghp_xxx", Mistake::Placeholder),
            ("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", Mistake::Placeholder),
            ("ghp_...", Mistake::Placeholder),
            ("github_pat_\u{2026}", Mistake::Placeholder),
            ("ghp_", Mistake::Placeholder),
            ("***", Mistake::Placeholder),
            ("your-token-here", Mistake::Placeholder),
            ("ghp_your_token", Mistake::Placeholder),
            ("YOUR_GITHUB_TOKEN", Mistake::Placeholder),
            ("yourToken", Mistake::Placeholder),
            ("mytoken", Mistake::Placeholder),
            ("changeme", Mistake::Placeholder),
            ("undefined", Mistake::Placeholder),
            ("AKIAIOSFODNN7EXAMPLE", Mistake::Placeholder),
        ] {
            assert_eq!(mistake(value, OWN), Some(expected), "{value:?}");
        }
        assert_eq!(foreign("glpat-made1made2made3made4"), Some("a GitLab token"));
        assert_eq!(foreign("AKIAMADE1MADE2MADE3A"), Some("an access key id of AWS"));
        assert_eq!(foreign("AKIAMADE1"), None);
        assert_eq!(foreign("ghr_made1made2"), Some("a refresh token of a GitHub App, which reads nothing"));
        assert_eq!(foreign("ghs_made1made2"), None);
    }

    #[test]
    fn a_message_shows_at_most_the_prefix() {
        let expected = Expected { noun: "an access token", own: OWN, example: "ghp_..." };
        for value in
            ["\"ghp_s3cretpart\"", "glpat-s3cretpart", "T_X=s3cretpart", "Bearer s3cretpart", "/s3cretpart"]
        {
            let secret = Secret::read("MADE_UP", |name| (name == "MADE_UP").then(|| value.into()));
            let (message, help) = refusal(&secret.unwrap().unwrap(), &expected).unwrap();
            assert!(!format!("{message} {help:?}").contains("s3cret"), "{message}");
            assert!(!help.is_empty());
        }
    }
}
