//! Recreates one of the auditor's files of an extracted bundle on standard output, to check a changed template:
//! `cargo run -p evidence-report --example report -- DIRECTORY [derived/report.html]`.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use evidence_report::Documents;

/// The files of an extracted bundle.
struct Extracted(PathBuf);

impl Documents for Extracted {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        read(&mut io::BufReader::new(File::open(self.0.join(path))?))
    }
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let directory =
        arguments.next().ok_or_else(|| io::Error::other("name the directory of an extracted bundle"))?;
    let path = arguments
        .next()
        .map_or_else(|| "derived/report.html".into(), |path| path.to_string_lossy().into_owned());
    evidence_report::write(&path, &Extracted(directory.into()), &mut io::stdout().lock())
}
