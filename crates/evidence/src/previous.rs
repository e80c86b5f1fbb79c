//! The previous bundle in the output directory, and what changed since.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use evidence_bundle::VerifiedBundle;
use evidence_bundle::key::PublicKey;
use evidence_bundle::path::MANIFEST;
use evidence_bundle::read::{Expectations, Failure, Limits};
use evidence_bundle::trust::TrustRoot;
use evidence_os::input;
use evidence_view::difference::{Snapshot, difference};
use evidence_view::{FileReader, ManifestHead, Since, read};

/// What the name of a bundle ends with.
const SUFFIX: &str = ".tar.gz";

/// What changed from the previous bundle to `bundle`, which `key` has just signed, and the name of the previous one.
///
/// The previous bundle is the newest one beside it about the same organization, framework and sources that `key` signed.
/// Anything that cannot be read is skipped: without a previous bundle there is nothing to compare.
pub(crate) fn since(bundle: &Path, key: &PublicKey) -> Option<(String, Since)> {
    let mut trust = TrustRoot::new();
    trust.add_key("your own signing key", *key);
    let own = head(bundle, &trust)?;
    let directory = bundle.parent()?;
    let mut others: Vec<(Head, PathBuf)> = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(SUFFIX) && path.file_name() != bundle.file_name())
        .filter_map(|path| Some((head(&path, &trust)?, path)))
        .filter(|(head, _)| head.series == own.series)
        .collect();
    others.sort_by_cached_key(|(head, _)| Reverse((head.created_at.clone(), head.bundle_id.clone())));
    // What a head says is signed only if the rest of the bundle verifies too.
    let (path, before) = others.iter().find_map(|(_, path)| Some((path, snapshot(path, &trust)?)))?;
    let after = snapshot(bundle, &trust)?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some((name, Since::of(&difference(&before, &after))))
}

/// What decides which bundle is the previous one.
struct Head {
    /// The organization, the framework and the sources.
    series: (String, String, Vec<String>),
    created_at: String,
    bundle_id: String,
}

/// Reads the manifest, the first file of a bundle, and stops there.
struct Heading(Option<Head>);

impl FileReader for &mut Heading {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        if path == MANIFEST {
            let head = ManifestHead::read(contents);
            self.0 = head.map(
                |ManifestHead { organization, framework, mut sources, created_at, bundle_id, .. }| {
                    sources.sort();
                    Head { series: (organization, framework, sources), created_at, bundle_id }
                },
            );
        }
        Err(io::Error::other("the manifest is enough"))
    }
}

fn head(bundle: &Path, trust: &TrustRoot) -> Option<Head> {
    let mut heading = Heading(None);
    // Fails at the first file, after the list of checksums was verified.
    let _ = open(bundle, trust, &mut heading);
    heading.0
}

fn snapshot(bundle: &Path, trust: &TrustRoot) -> Option<Snapshot> {
    let (_, snapshot) = open(bundle, trust, Snapshot::default()).ok()?;
    snapshot.known.then_some(snapshot)
}

fn open<T: FileReader>(bundle: &Path, trust: &TrustRoot, reader: T) -> Result<(VerifiedBundle, T), Failure> {
    let file: File = input::open(bundle).map_err(Failure::CannotJudge)?;
    let bundle = BufReader::with_capacity(256 * 1024, file);
    read(bundle, trust, &Expectations::default(), &Limits::default(), reader)
}
