//! Every file of a bundle, kept while it is verified.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::read::Sink;

/// The files by their paths.
#[derive(Debug, Default)]
pub(crate) struct Files {
    pub(crate) by_path: BTreeMap<String, Vec<u8>>,
    current: String,
}

impl Sink for Files {
    fn file(&mut self, path: &str, _: u64) -> io::Result<bool> {
        self.current = path.to_owned();
        self.by_path.insert(self.current.clone(), Vec::new());
        Ok(true)
    }

    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.by_path.entry(self.current.clone()).or_default().extend_from_slice(bytes);
        Ok(())
    }
}
