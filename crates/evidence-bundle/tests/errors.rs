//! The messages of this crate's errors, and the parts left to their sources.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::io;

use evidence_bundle::checksums::{LineError, ListError};
use evidence_bundle::key::KeyError;
use evidence_bundle::path::PathError;
use evidence_bundle::trust::{SignerLineError, TrustError};
use evidence_bundle::write::WriteError;
use evidence_bundle::{Failure, TrustRoot};

/// Including the cause in the text would repeat it wherever the chain is shown.
#[test]
fn error_display_chain_doesnt_repeat() {
    let io = || io::Error::other("no room");
    let label = || "signers".to_owned();
    let list = ListError::Line { line: 3, source: LineError::Digest };
    let errors: [Box<dyn Error>; 9] = [
        Box::new(ListError::Path { line: 3, source: PathError::Traversal }),
        Box::new(WriteError::List(list.clone())),
        Box::new(list),
        Box::new(WriteError::Read { path: "sources/codehost/a".to_owned(), source: io() }),
        Box::new(WriteError::Write(io())),
        Box::new(TrustError::Key { label: label(), source: KeyError::Empty }),
        Box::new(TrustError::Line { label: label(), line: 3, source: SignerLineError::Quote }),
        Box::new(TrustError::Line { label: label(), line: 3, source: SignerLineError::Key(KeyError::Weak) }),
        Box::new(Failure::CannotJudge(io())),
    ];
    for error in &errors {
        let mut wrapper: &dyn Error = error.as_ref();
        assert!(wrapper.source().is_some(), "{wrapper} keeps its cause");
        while let Some(cause) = wrapper.source() {
            assert!(!wrapper.to_string().contains(&cause.to_string()), "{wrapper:?} repeats {cause}");
            wrapper = cause;
        }
    }
    let refused = TrustRoot::new().add_public_keys("key.pub", b"").unwrap_err();
    assert_eq!(evidence_bundle::text::Chain(&refused).to_string(), "key.pub: the key is empty");
}
