//! `evidence verify fleet.json`: the signature of a fleet's list, and every bundle that it names.

use std::path::{Component, Path, PathBuf};

use evidence_bundle::read::{Failure, VerifiedBundle};
use evidence_os::input;
use evidence_text::{Safe, safe};
use serde::Serialize;

use super::{digest, tally};
use crate::commands::bundles::in_parallel;
use crate::commands::trust::VerifyOptions;
use crate::console;
use crate::error::Error;
use crate::exit::Exit;
use crate::fleet::{Fleet, Organization, Outcome, SIGNATURE_SUFFIX};
use crate::report::style::{self, Style};

const GREEN: Style = style::GREEN.bold();
const RED: Style = style::RED.bold();

/// Many times the largest list: a row takes less than 500 bytes.
const LIST_BYTES: u64 = 64 * 1024 * 1024;

/// What was found of a bundle that the list names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Row {
    organization: String,
    bundle: String,
    /// `verified`, `failed` or `absent`.
    status: &'static str,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// The result, for programs.
#[derive(Serialize)]
struct Verdict<'a> {
    verified: bool,
    trusted_by: &'a str,
    key_id: String,
    fleet: &'a Fleet,
    bundles: &'a [Row],
}

/// Checks the list and its bundles. `judge` verifies a bundle.
pub(in crate::commands) fn run(
    path: &Path,
    options: &VerifyOptions,
    (as_json, quiet): (bool, bool),
    judge: impl Fn(&Path) -> Result<VerifiedBundle, Failure> + Sync,
) -> Result<Exit, Error> {
    let shown = Safe::of(&path.to_string_lossy());
    let bytes = read(path)?;
    let mut signature = path.as_os_str().to_owned();
    signature.push(SIGNATURE_SUFFIX);
    let signature = read(Path::new(&signature))?;
    let refused = |why: &str| {
        let why = Safe::of(why);
        console::note(&safe!("{shown}: {RED}FAILED{RED:#}: {why}\n"; shown, RED, why));
        Err(Error::NotVerified)
    };
    let Ok(signature) = signature.as_slice().try_into() else {
        return refused("its signature does not have 64 bytes");
    };
    let fleet = match Fleet::parse(&bytes) {
        Ok(fleet) => fleet,
        Err(why) => return refused(&format!("it is not the list of a fleet: {why}")),
    };
    let at = evidence_bundle::time::parse(&fleet.created_at);
    let valid = |entry: &&evidence_bundle::trust::TrustedKey| at.is_some_and(|at| entry.is_valid_at(at));
    let signer =
        options.trust.keys().iter().filter(valid).find(|entry| entry.key.verifies(&bytes, &signature));
    let Some(signer) = signer else {
        return refused("no trusted key signed this list, or it was changed");
    };
    if let Some(revoked) = options.trust.revocation(&signer.key) {
        return refused(&format!("the key that signed this list is revoked: {}", revoked.why));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let has_bundle = |row: &&Organization| {
        row.bundle.is_some() || matches!(row.outcome, Outcome::Bundle | Outcome::Incomplete)
    };
    let named: Vec<&Organization> = fleet.organizations.iter().filter(has_bundle).collect();
    let paths: Vec<PathBuf> = (0..named.len()).map(|index| PathBuf::from(index.to_string())).collect();
    let rows = in_parallel(&paths, |index| {
        let index: usize = index.to_string_lossy().parse().unwrap_or_default();
        named.get(index).map(|row| checked(row, folder, &judge))
    });
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    let (verified, failed, absent) = (count("verified"), count("failed"), count("absent"));
    if as_json {
        let key_id = signer.key.key_id().to_string();
        let verdict = Verdict {
            verified: failed == 0 && absent == 0,
            trusted_by: &signer.label,
            key_id,
            fleet: &fleet,
            bundles: &rows,
        };
        // A closed pipe is ignored: the exit code has the result as well.
        let _ = crate::commands::print::json(std::io::stdout().lock(), &verdict);
    } else if !quiet {
        let (label, tally) = (Safe::of(&signer.label), tally(&fleet));
        let total = fleet.organizations.len();
        let mut text = safe!(
            "{shown}\n  signature      {GREEN}OK{GREEN:#}   {label}\n  organizations  {total}: {tally}\n  \
             bundles        {verified} verified, {failed} failed, {absent} not here\n";
            shown, GREEN, label, total, tally, verified, failed, absent
        );
        for row in rows.iter().filter(|row| row.status != "verified") {
            let (name, why) = (Safe::of(&row.organization), Safe::of(row.why.as_deref().unwrap_or_default()));
            text.push(&safe!("    {RED}{}{RED:#}  {name}: {why}\n", row.status; RED, name, why));
        }
        console::print(&text);
    }
    match (failed, absent) {
        (0, 0) => Ok(Exit::Success),
        (0, _) => Err(Error::Usage {
            message: format!("{absent} of {} bundles that the list names are not here", rows.len()),
            help: "the list itself is signed; put its bundles into the folders beside it".to_string(),
        }),
        _ => Err(Error::NotVerified),
    }
}

/// Whether the bundle of a row is the one that the list names.
fn checked(
    row: &Organization,
    folder: &Path,
    judge: impl Fn(&Path) -> Result<VerifiedBundle, Failure>,
) -> Row {
    let name = row.bundle.clone().unwrap_or_default();
    let (status, why) = match found(row, &name, folder, judge) {
        Ok(()) => ("verified", None),
        Err((status, why)) => (status, Some(why)),
    };
    Row { organization: row.organization.clone(), bundle: name, status, why }
}

fn found(
    row: &Organization,
    name: &str,
    folder: &Path,
    judge: impl Fn(&Path) -> Result<VerifiedBundle, Failure>,
) -> Result<(), (&'static str, String)> {
    if name.is_empty() {
        return Err(("failed", "the list says that there is a bundle, and names none".to_string()));
    }
    let relative = Path::new(name);
    // A signed list is still a stranger's: it must not lead out of its folder.
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(("failed", format!("the path {name:?} leads out of the folder")));
    }
    let path = folder.join(relative);
    if !path.is_file() {
        return Err(("absent", format!("no file {name}")));
    }
    let sha256 = digest(&path).map_err(|error| ("absent", error.to_string()))?;
    if row.sha256.as_deref() != Some(&sha256) {
        return Err(("failed", "it is not the file that the list names: another SHA-256".to_string()));
    }
    let bundle = judge(&path).map_err(|failure| ("failed", failure.to_string()))?;
    if !bundle.organization.eq_ignore_ascii_case(&row.organization) {
        return Err(("failed", format!("it is about {}", bundle.organization)));
    }
    if bundle.complete != (row.outcome == Outcome::Bundle) {
        let what = if bundle.complete { "complete" } else { "not complete" };
        return Err(("failed", format!("it is {what}, unlike the list says")));
    }
    if row.bundle_id.as_ref() != Some(&bundle.manifest.bundle_id) {
        return Err(("failed", "it has another id than the list says".to_string()));
    }
    Ok(())
}

fn read(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Error> {
    input::read(path, LIST_BYTES).map(|(bytes, _)| bytes).map_err(|error| Error::Usage {
        message: format!("cannot read {}: {error}", Safe::of(&path.to_string_lossy()).as_str()),
        help: format!(
            "the list of a fleet needs its signature beside it, with {SIGNATURE_SUFFIX} at the end"
        ),
    })
}
