//! The only way into a bundle: verify it completely, judge its checks again, and read it meanwhile.

use std::io::{self, Read};

use evidence_bundle::{Expectations, Failure, Limits, TrustRoot, VerifiedBundle};

/// Reads the files of a bundle.
pub trait FileReader {
    /// The next file, in the order of the archive. It need not be read to its end.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()>;
}

/// Verifies a bundle while `reader` reads it. Returns the reader only if a trusted key signed every byte, and if its checks
/// follow from its facts.
///
/// # Errors
/// Returns a [`Failure`].
pub fn read<T: FileReader>(
    bundle: impl Read,
    trust: &TrustRoot,
    expectations: &Expectations,
    limits: &Limits,
    mut reader: T,
) -> Result<(VerifiedBundle, T), Failure> {
    let mut visitor = |path: &str, contents: &mut dyn Read| reader.file(path, contents);
    let verified = evidence_rules::repeat::read(bundle, trust, expectations, limits, &mut visitor)?;
    Ok((verified, reader))
}
