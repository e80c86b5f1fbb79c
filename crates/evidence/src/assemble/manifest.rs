//! The last documents of a bundle: the files for people, and the manifest, which lists all the others.

use std::io;

use evidence_bundle::BUNDLE_VERSION;
use evidence_bundle::document::{
    EachRow, FileRecord, Manifest, Previous, Rows, RowsOf, SignerRecord, SourceRecord, write_json_with,
};
use evidence_bundle::key::SigningKey;
use evidence_bundle::path;
use evidence_bundle::write::Listed as _;
use evidence_report::{CHANGES_CSV, CRITERIA_CSV, Documents, PEOPLE_CSV, VIEWS, Views, is_view};
use evidence_rules::codehost::artifact::{CHANGES, PEOPLE};
use evidence_rules::inspection::ArtifactKind;
use evidence_rules::{altcloud, cloud};
use sha2::{Digest as _, Sha256};

use super::{NO_ROWS, add, controls, wanted};
use crate::collection::Collection;
use crate::config::Config;
use crate::spool::{Item, Items, Reader, Spool};

/// What the manifest says beside what was collected.
pub struct ManifestContext<'a> {
    /// The organization that the evidence is about.
    pub organization: &'a str,
    /// The key that signs.
    pub key: &'a SigningKey,
    /// The bundle before this one, if there is one.
    pub previous: Option<&'a Previous>,
}

/// Writes the last files for this creation time: the files for people, and the manifest, which lists all the others.
///
/// # Errors
///
/// Fails if the disk does.
pub fn last(
    spool: &mut Spool,
    config: &Config,
    collection: &Collection,
    context: &ManifestContext<'_>,
    created_at: i64,
) -> io::Result<()> {
    let names_criteria = !config.framework.without_evidence(&wanted(config)).is_empty();
    let reads = |kind: &ArtifactKind| config.sources.iter().any(|source| source.collects(kind));
    let lists = [&PEOPLE, &cloud::artifact::PEOPLE, &altcloud::artifact::PEOPLE];
    let (changes, people) = (reads(&CHANGES), lists.into_iter().any(reads));
    let views = || {
        let some = [(names_criteria, CRITERIA_CSV), (changes, CHANGES_CSV), (people, PEOPLE_CSV)];
        VIEWS.into_iter().chain(some.into_iter().filter_map(|(has, view)| has.then_some(view)))
    };
    views().for_each(|view| spool.forget(view));
    let write_manifest =
        |spool: &mut Spool, is_whole| manifest(spool, config, collection, context, created_at, is_whole);
    // The report and the tables are generated from documents alone. The manifest is one of these and still incomplete:
    // its list of files, which none of them shows, will include them too.
    write_manifest(spool, false)?;
    // The table of observations comes first: it finds the requests that other tables name.
    let mut order: Vec<&str> = views().collect();
    order.sort_by_key(|view| *view != path::OBSERVATIONS_CSV);
    let mut views = Views::default();
    for view in order {
        add(spool, view, |out, reader| views.write(view, reader, out))?;
    }
    drop(views);
    write_manifest(spool, true)
}

/// The documents that are in the spool.
impl Documents for Reader<'_> {
    fn open(&self, path: &str, read: &mut dyn FnMut(&mut dyn io::Read) -> io::Result<()>) -> io::Result<()> {
        let document = self.items().find(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        read(&mut self.content(document))
    }
}

fn manifest(
    spool: &mut Spool,
    config: &Config,
    collection: &Collection,
    context: &ManifestContext<'_>,
    created_at: i64,
    is_whole: bool,
) -> io::Result<()> {
    spool.forget(path::MANIFEST);
    let created = evidence_bundle::time::format(created_at).unwrap_or_default();
    add(spool, path::MANIFEST, |out, reader| {
        let sorted = in_archive_order(reader.items());
        let listed = if is_whole { sorted.as_slice() } else { &[] };
        let files = listed.iter().map(|item| FileRecord {
            path: item.path().to_string(),
            sha256: item.checksum(),
            size: item.size(),
        });
        let rows: EachRow<'_> =
            &mut |add| sorted.iter().filter_map(|item| reader.row(*item)).try_for_each(|row| add(&row?));
        let document = Manifest {
            bundle_version: BUNDLE_VERSION.to_string(),
            tool_version: env!("CARGO_PKG_VERSION").to_string(),
            created_at: created,
            framework: config.framework.id.to_string(),
            controls: controls(config).iter().map(|control| control.id.to_string()).collect(),
            sources: collection.sources.iter().map(|source| source_record(&source.name)).collect(),
            artifacts: NO_ROWS,
            signer: SignerRecord::of(&context.key.public_key()),
            bundle_id: bundle_id(&sorted, created_at),
            organization: context.organization.to_string(),
            complete: collection.is_complete(),
            files: Rows::new(files),
            warnings: &collection.warnings,
            excluded: &collection.excluded,
            errors: &collection.errors,
            previous: context.previous.cloned(),
        };
        write_json_with(out, &document, &mut [RowsOf { list: "artifacts", rows }])
    })
}

/// A source in the manifest. There is one of each kind, so that the name of its kind is its id.
fn source_record(name: &str) -> SourceRecord {
    SourceRecord { id: name.to_string(), kind: name.to_string() }
}

fn in_archive_order(items: &Items) -> Vec<Item<'_>> {
    let mut sorted: Vec<Item<'_>> = items.iter().collect();
    sorted.sort_by(|a, b| path::archive_order(a.path(), b.path()));
    sorted
}

/// A version-8 UUID (RFC 9562) derived from the contents, so that the same input gives the same bytes.
fn bundle_id(sorted: &[Item<'_>], created_at: i64) -> String {
    let mut hash = Sha256::new();
    hash.update(created_at.to_be_bytes());
    // The report contains the id, so the id cannot depend on the report.
    for item in sorted.iter().filter(|item| !is_view(item.path())) {
        hash.update(item.sha256());
        hash.update(item.path().as_bytes());
        hash.update(b"\n");
    }
    let digest = hash.finalize();
    let mut id = [0_u8; 16];
    id.iter_mut().zip(digest).for_each(|(byte, from)| *byte = from);
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut id;
    *version = (*version & 0x0f) | 0x80;
    *variant = (*variant & 0x3f) | 0x80;
    let hex = hex::encode(id);
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}
