//! The forms in which a text can contain a secret.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;

use crate::kinds::{Kind, Secret};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Unchanged.
    Plain,
    /// Split within its secret part, across lines of a comment.
    Lines,
    /// Every byte as `%XX`, in a URL.
    Percent,
    /// Every character as `\u00XX`.
    Json,
    /// Inside base64, after this many other bytes.
    Base64(usize),
    /// Inside URL-safe base64, split into lines.
    Base64Lines,
}

pub(crate) const FORMS: &[Form] = &[
    Form::Plain,
    Form::Lines,
    Form::Percent,
    Form::Json,
    Form::Base64(0),
    Form::Base64(1),
    Form::Base64(2),
    Form::Base64Lines,
];

impl Form {
    /// Whether a secret of this kind is still recognisable in this form.
    pub(crate) fn suits(self, kind: &Kind) -> bool {
        self != Form::Lines || kind.may_be_cut
    }

    pub(crate) fn write(self, secret: &Secret, random: &mut Rng) -> String {
        let text = &secret.text;
        match self {
            Form::Plain => text.clone(),
            Form::Lines => {
                let start = text.find(&secret.core).unwrap();
                let at = start + random.usize(1..secret.core.len());
                format!("{}\n# {}", &text[..at], &text[at..])
            }
            Form::Percent => {
                let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
                format!("https://host.example/?q={encoded}")
            }
            Form::Json => text.chars().map(|character| format!("\\u{:04x}", character as u32)).collect(),
            Form::Base64(before) => STANDARD.encode(format!("{}{text}\n", &"x: "[3 - before..])),
            Form::Base64Lines => {
                let encoded = URL_SAFE_NO_PAD.encode(format!("value {text}"));
                let lines: Vec<&str> =
                    encoded.as_bytes().chunks(60).map(|line| std::str::from_utf8(line).unwrap()).collect();
                lines.join("\n# ")
            }
        }
    }
}
