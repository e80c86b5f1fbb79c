//! `derived/README.txt`: what the bundle is and how to check it, for whoever opens it without us.

use std::io::{self, Write};

use askama::Template;
use evidence_view::sanitized;

use crate::documents::{Documents, head};

/// ASCII, at most 80 columns: a file that every system shows as it is.
#[derive(Template)]
#[template(path = "README.txt", escape = "none")]
struct Readme {
    organization: String,
    bundle_id: String,
    created_at: String,
    tool_version: String,
    key_id: String,
    complete: bool,
}

pub(crate) fn write(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let manifest = head(documents)?;
    let readme = Readme {
        organization: ascii(&manifest.organization),
        bundle_id: ascii(&manifest.bundle_id),
        created_at: ascii(&manifest.created_at),
        tool_version: ascii(&manifest.tool_version),
        key_id: ascii(&manifest.signer.key_id),
        complete: manifest.complete,
    };
    readme.write_into(&mut io::BufWriter::new(out))
}

fn ascii(text: &str) -> String {
    let one = |character: char| {
        if character.is_ascii() { character.to_string() } else { character.escape_unicode().to_string() }
    };
    sanitized(text).chars().map(one).collect()
}
