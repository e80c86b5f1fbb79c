//! `bundle.keep`: removes older bundles of the own series after a run that left nothing out.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use evidence_bundle::VerifiedBundle;

use crate::config::Keep;
use crate::deliver::signature_path;
use crate::previous::Series;
use crate::report::{Event, Reporter};

/// The seconds of a day.
const DAY: i64 = 86_400;

/// Removes the bundles of the series that need not be kept, each with its detached signature, and reports each.
pub(crate) fn prune(series: &Series<'_>, keep: Keep, reporter: &dyn Reporter) {
    let all = series.all();
    let bundles: Vec<&VerifiedBundle> = all.iter().map(|(_, bundle)| bundle).collect();
    let kept = kept(&bundles, keep);
    for (path, bundle) in all.iter().rev() {
        if !kept.contains(&bundle.checksums_sha256) {
            let error = remove(path).err();
            reporter.event(Event::Removed { path, error: error.as_ref() });
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    match fs::remove_file(signature_path(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The bundles that stay, the newest of which comes first: those that the setting names, and the one that the oldest of
/// them follows, so that the row begins with a known predecessor.
fn kept(newest_first: &[&VerifiedBundle], keep: Keep) -> HashSet<[u8; 32]> {
    let newest = newest_first.first().map_or(0, |bundle| bundle.created_at);
    let named: Vec<&&VerifiedBundle> = match keep {
        Keep::Bundles(count) => newest_first.iter().take(count.max(1)).collect(),
        Keep::Days(days) => {
            let since = newest.saturating_sub(i64::from(days).saturating_mul(DAY));
            newest_first.iter().filter(|bundle| bundle.created_at >= since).collect()
        }
    };
    let followed = named.last().and_then(|oldest| oldest.previous.as_ref());
    let followed =
        followed.and_then(|previous| hex::decode(&previous.checksums_sha256).ok()?.try_into().ok());
    named.iter().map(|bundle| bundle.checksums_sha256).chain(followed).collect()
}
