//! The places where the host looks for CODEOWNERS, and the calls about each.

use super::contents::{self, Contents};
use super::listing::{self, Listing};
use crate::source::github::host::api::{JSON, MIB};
use evidence_http::{Call, Keeping};

/// A location of CODEOWNERS. Each is given up separately: a missing file in one says nothing about another.
pub(crate) struct CodeownersLocation {
    /// The path in the repository.
    pub(crate) path: &'static str,
    /// The file's record.
    pub(crate) record: Call<Contents>,
    /// The file's own bytes: for files of 1 to 3 MB, whose content the record omits.
    pub(crate) raw: Call<Vec<u8>>,
    /// The directory of the file. Its listing has an entity tag even if the file is missing.
    pub(crate) directory: Call<Listing>,
}

/// The locations of the file, in the host's own order: the first existing file takes effect.
pub(crate) static PLACES: [CodeownersLocation; 3] = [
    place(
        ".github/CODEOWNERS",
        "/repos/{owner}/{repo}/contents/.github/CODEOWNERS",
        "once per repository",
        "`codeowners-default-rule`; for `branch-protection`, whether a repository without the branch is empty",
        listing::call(
            "/repos/{owner}/{repo}/contents/.github",
            "once for a repository that has this directory and no CODEOWNERS in it, with `revalidate: true`",
        ),
    ),
    place(
        "CODEOWNERS",
        "/repos/{owner}/{repo}/contents/CODEOWNERS",
        "once for a repository that has no file in `.github/`",
        "`codeowners-default-rule`",
        listing::call(
            "/repos/{owner}/{repo}/contents/",
            "once for a repository that has no CODEOWNERS in `.github/`, with `revalidate: true`",
        ),
    ),
    place(
        "docs/CODEOWNERS",
        "/repos/{owner}/{repo}/contents/docs/CODEOWNERS",
        "once for a repository that has no file in `.github/` or the root",
        "`codeowners-default-rule`",
        listing::call(
            "/repos/{owner}/{repo}/contents/docs",
            "once for a repository that has this directory and no CODEOWNERS in `.github/` or the root, with \
                `revalidate: true`",
        ),
    ),
];

const fn place(
    path: &'static str,
    name: &'static str,
    times: &'static str,
    purpose: &'static str,
    directory: Call<Listing>,
) -> CodeownersLocation {
    let record = Call {
        name,
        purpose,
        times,
        kind: Some(path),
        media_type: JSON,
        // Up to 1 MB in base64; a directory of 1,000 files is about 1 MB.
        limit: 8 * MIB,
        parse: Contents::parse,
        subject: Some(contents::SUBJECT),
        keep: Some(Keeping {
            clear: Contents::decoded,
            // The time of the last commit that changed the file.
            dated: true,
            resumable: contents::is_whole_file,
            ..Keeping::new(4, contents::reduced)
        }),
    };
    let raw = Call {
        name,
        purpose: "the same, for the file's own bytes",
        times: "once for a file over 1 MB in this place",
        kind: Some("large CODEOWNERS files"),
        media_type: "application/vnd.github.raw+json",
        // The host does not load files of this size or larger.
        limit: 3 * MIB,
        parse: |bytes| Ok(bytes.to_vec()),
        subject: None,
        keep: Some(Keeping::new(5, Vec::clone)),
    };
    CodeownersLocation { path, record, raw, directory }
}
