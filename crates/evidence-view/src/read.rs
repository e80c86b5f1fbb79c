//! The one way into a bundle: verify it to its last byte, and read on the way.

use std::io::{self, Read};

use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, UntrustedBundle, VerifiedBundle};

/// Takes what it needs from the files of a bundle.
pub trait FileReader {
    /// The next file, in the order of the archive. It need not be read to its end.
    ///
    /// # Errors
    /// Those of reading the file.
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()>;
}

/// Verifies a bundle while `reader` reads it, and returns what was read only if every byte is what a trusted key signed.
///
/// # Errors
/// [`Failure`], in its three kinds.
pub fn read<T: FileReader>(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    mut reader: T,
) -> Result<(VerifiedBundle, T), Failure> {
    let mut visitor = |path: &str, contents: &mut dyn Read| reader.file(path, contents);
    let verified = UntrustedBundle::new(bundle).verify_with(trust, expectations, limits, &mut visitor)?;
    Ok((verified, reader))
}
