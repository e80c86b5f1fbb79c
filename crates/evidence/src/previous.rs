//! The previous bundle in the output directory: the new one names it, and `collect` says what changed since.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bundle_file;
use evidence_bundle::document::Previous;
use evidence_bundle::read::{Expectations, Limits, ManifestHead, UntrustedBundle, VerifiedBundle};
use evidence_bundle::trust::TrustRoot;
use evidence_view::difference::{Snapshot, difference};
use evidence_view::{Row, Since, Sink, read};

/// What the name of a bundle ends with.
pub(crate) const SUFFIX: &str = ".tar.gz";

/// Which bundles can come before a new one.
pub(crate) struct Series<'a> {
    /// The directory of all of them.
    pub(crate) directory: &'a Path,
    /// The organization that they are about.
    pub(crate) organization: &'a str,
    /// The compliance framework.
    pub(crate) framework: &'a str,
    /// The keys that may have signed them.
    pub(crate) trust: &'a TrustRoot,
    /// When the new one is made, if its time is fixed and not read from a clock: later bundles do not come before it, and
    /// a repeated run must not find itself.
    pub(crate) fixed_time: Option<i64>,
}

/// The bundle before a new one.
pub(crate) struct PreviousBundle {
    path: PathBuf,
    /// What the manifest of the new one says of it.
    pub(crate) record: Previous,
}

impl Series<'_> {
    /// The newest bundle of the series: by the time in its manifest, then by its id. Anything that cannot be read or does
    /// not verify is skipped.
    ///
    /// By a clock that was set back, the newest can be newer than the bundle that names it. That is how a reader notices.
    pub(crate) fn newest(&self) -> Option<PreviousBundle> {
        let (path, bundle) = self.newest_bundle()?;
        let checksums_sha256 = hex::encode(bundle.checksums_sha256);
        let record = Previous { bundle_id: bundle.manifest.bundle_id, checksums_sha256 };
        Some(PreviousBundle { path, record })
    }

    /// The same bundle, with what was verified.
    pub(crate) fn newest_bundle(&self) -> Option<(PathBuf, VerifiedBundle)> {
        let before = |head: &ManifestHead| self.fixed_time.is_none_or(|time| head.created_at < time);
        let mut others = self.candidates()?.into_iter().filter(|(head, _)| before(head));
        // What a head says is signed only if the rest of the bundle verifies too.
        others.find_map(|(_, path)| Some((self.verified(&path)?, path))).map(|(bundle, path)| (path, bundle))
    }

    /// Every bundle of the series that verifies, the newest first.
    pub(crate) fn all(&self) -> Vec<(PathBuf, VerifiedBundle)> {
        let candidates = self.candidates().into_iter().flatten();
        candidates.filter_map(|(_, path)| Some((self.verified(&path)?, path))).map(|(a, b)| (b, a)).collect()
    }

    /// What may be a bundle of the series, the newest first.
    fn candidates(&self) -> Option<Vec<(ManifestHead, PathBuf)>> {
        let mut others: Vec<(ManifestHead, PathBuf)> = fs::read_dir(self.directory)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().ends_with(SUFFIX))
            .filter_map(|path| Some((head(&path, self.trust)?, path)))
            .filter(|(head, _)| head.organization == self.organization && head.framework == self.framework)
            .collect();
        others.sort_by_cached_key(|(head, _)| Reverse((head.created_at, head.bundle_id.clone())));
        Some(others)
    }

    fn verified(&self, path: &Path) -> Option<VerifiedBundle> {
        let bundle = UntrustedBundle::new(bundle_file::open(path).ok()?);
        bundle.verify(self.trust, &Expectations::default(), &Limits::default()).ok()
    }
}

/// What changed from the previous bundle to `bundle`, and the name of the previous one.
pub(crate) fn since(previous: &PreviousBundle, bundle: &Path, trust: &TrustRoot) -> Option<(String, Since)> {
    let (before, after) = (snapshot(&previous.path, trust)?, snapshot(bundle, trust)?);
    let name = previous.path.file_name()?.to_string_lossy().into_owned();
    Some((name, Since::of(&difference(&before, &after))))
}

/// Reads the manifest, the first file of a bundle, and stops there.
struct Heading(Option<ManifestHead>);

impl Sink for &mut Heading {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        let Row::Manifest(head) = row else { return Ok(()) };
        self.0 = Some(head.clone());
        Err(io::Error::other("the manifest is enough"))
    }
}

fn head(bundle: &Path, trust: &TrustRoot) -> Option<ManifestHead> {
    let mut heading = Heading(None);
    // Fails at the first file, after the list of checksums was verified.
    let _ = read(
        bundle_file::open(bundle).ok()?,
        trust,
        &Expectations::default(),
        &Limits::default(),
        &mut heading,
    );
    heading.0
}

fn snapshot(bundle: &Path, trust: &TrustRoot) -> Option<Snapshot> {
    let (limits, snapshot) = (Limits::default(), Snapshot::default());
    let read = read(bundle_file::open(bundle).ok()?, trust, &Expectations::default(), &limits, snapshot);
    read.ok().map(|(_, snapshot)| snapshot)
}
