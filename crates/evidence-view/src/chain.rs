//! Checks a row of bundles, in which each names the one before it.

use std::collections::{BTreeMap, HashMap};

use evidence_bundle::VerifiedBundle;
use evidence_bundle::document::Previous;
use serde::Serialize;

use crate::history::{Gap, gap};

/// A verified bundle as a link of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The id of the bundle.
    pub bundle_id: String,
    /// When it was made, as its signer claims.
    pub created_at: Option<String>,
    /// The SHA-256 of its list of checksums.
    pub checksums_sha256: String,
    /// The id of its key.
    pub key_id: String,
    /// Whether everything that was asked for was collected.
    pub complete: bool,
    /// The bundle before it, as it says.
    pub previous: Option<Previous>,
    #[serde(skip)]
    seconds: i64,
    #[serde(skip)]
    organization: String,
    #[serde(skip)]
    framework: String,
}

impl Link {
    /// The link of this bundle.
    pub fn of(bundle: &VerifiedBundle) -> Link {
        Link {
            bundle_id: bundle.bundle_id.clone(),
            created_at: evidence_bundle::time::format(bundle.created_at),
            checksums_sha256: hex::encode(bundle.checksums_sha256),
            key_id: bundle.key_id.to_string(),
            complete: bundle.complete,
            previous: bundle.previous.clone(),
            seconds: bundle.created_at,
            organization: bundle.organization.clone(),
            framework: bundle.framework.clone(),
        }
    }
}

/// The bundles of one organization and framework.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The organization.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// Whether every bundle follows the one that it names.
    pub unbroken: bool,
    /// The bundles, the oldest first.
    pub bundles: Vec<Link>,
    /// What a reader should know.
    pub findings: Vec<Finding>,
    /// The longest time between two bundles; `None` for one bundle.
    pub longest_gap: Option<Gap>,
}

/// Something about a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// Whether it breaks the row.
    pub breaks: bool,
    /// The bundle.
    pub bundle_id: String,
    /// What it means, in a sentence.
    pub meaning: &'static str,
}

/// What can be found about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The row begins with a bundle that follows another one.
    PredecessorUnknown,
    /// A bundle in the middle follows one that is not there.
    LinkMissing,
    /// A bundle follows a newer one.
    OrderWrong,
    /// Two bundles follow the same one.
    Fork,
    /// A bundle after the first follows none.
    RowBegins,
    /// The same bundle is there twice.
    Twice,
}

impl Code {
    fn finding(self, link: &Link) -> Finding {
        let (breaks, meaning) = match self {
            Code::PredecessorUnknown => (false, "the row begins here: the bundle before it is not available"),
            Code::LinkMissing => (true, "the bundle before it is missing"),
            Code::OrderWrong => (true, "the bundle that it follows is newer than itself"),
            Code::Fork => (false, "a fork: another bundle follows the same one"),
            Code::RowBegins => (false, "another row begins here: it follows no bundle"),
            Code::Twice => (false, "the same bundle is there more than once"),
        };
        Finding { code: self, breaks, bundle_id: link.bundle_id.clone(), meaning }
    }
}

/// The rows of these bundles, by organization and framework.
pub fn rows(links: Vec<Link>) -> Vec<Row> {
    let mut rows: BTreeMap<(String, String), Vec<Link>> = BTreeMap::new();
    for link in links {
        let key = (link.organization.to_ascii_lowercase(), link.framework.clone());
        rows.entry(key).or_default().push(link);
    }
    rows.into_values().filter_map(row).collect()
}

fn row(mut bundles: Vec<Link>) -> Option<Row> {
    bundles.sort_by(|a, b| {
        let key = |link: &Link| (link.seconds, link.bundle_id.clone(), link.checksums_sha256.clone());
        key(a).cmp(&key(b))
    });
    let mut findings = Vec::new();
    bundles.dedup_by(|later, kept| {
        let is_same = later.checksums_sha256 == kept.checksums_sha256;
        if is_same {
            findings.push(Code::Twice.finding(kept));
        }
        is_same
    });
    let times: HashMap<&str, i64> =
        bundles.iter().map(|link| (link.checksums_sha256.as_str(), link.seconds)).collect();
    let mut followers: HashMap<&str, usize> = HashMap::new();
    for (index, link) in bundles.iter().enumerate() {
        let Some(previous) = &link.previous else {
            if index > 0 {
                findings.push(Code::RowBegins.finding(link));
            }
            continue;
        };
        let digest = previous.checksums_sha256.as_str();
        match times.get(digest) {
            Some(time) if *time > link.seconds => findings.push(Code::OrderWrong.finding(link)),
            Some(_) => {}
            None if index == 0 => findings.push(Code::PredecessorUnknown.finding(link)),
            None => findings.push(Code::LinkMissing.finding(link)),
        }
        let count = followers.entry(digest).or_default();
        *count = count.saturating_add(1);
        if *count == 2 {
            findings.push(Code::Fork.finding(link));
        }
    }
    let first = bundles.first()?;
    Some(Row {
        organization: first.organization.clone(),
        framework: first.framework.clone(),
        unbroken: findings.iter().all(|finding| !finding.breaks),
        longest_gap: gap(bundles.iter().map(|link| link.seconds)),
        findings,
        bundles,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bundle of this hour that follows that of another hour.
    fn link(hour: i64, previous: Option<i64>) -> Link {
        let digest = |hour: i64| format!("{hour:064}");
        let of = |hour| Previous { bundle_id: format!("b{hour}"), checksums_sha256: digest(hour) };
        Link {
            bundle_id: format!("b{hour}"),
            created_at: None,
            checksums_sha256: digest(hour),
            key_id: String::new(),
            complete: true,
            previous: previous.map(of),
            seconds: hour * 3_600,
            organization: "acme".to_owned(),
            framework: "soc2_type1".to_owned(),
        }
    }

    fn codes(links: Vec<Link>) -> Vec<(Code, String)> {
        let [row] = rows(links).try_into().unwrap();
        assert_eq!(row.unbroken, !row.findings.iter().any(|finding| finding.breaks));
        row.findings.into_iter().map(|finding| (finding.code, finding.bundle_id)).collect()
    }

    #[test]
    fn each_follows_the_one_before() {
        let whole = || vec![link(3, Some(2)), link(1, None), link(2, Some(1))];
        assert_eq!(codes(whole()), []);
        let row = &rows(whole())[0];
        assert_eq!(row.bundles.iter().map(|link| &*link.bundle_id).collect::<Vec<_>>(), ["b1", "b2", "b3"]);
        assert_eq!(row.longest_gap.as_ref().unwrap().seconds, 3_600);
        let found = |code: Code, hour: i64| vec![(code, format!("b{hour}"))];
        assert_eq!(codes(vec![link(2, Some(1)), link(3, Some(2))]), found(Code::PredecessorUnknown, 2));
        assert_eq!(codes(vec![link(1, None), link(3, Some(2))]), found(Code::LinkMissing, 3));
        assert_eq!(codes(vec![link(1, Some(2)), link(2, None)])[0], (Code::OrderWrong, "b1".to_owned()));
        assert_eq!(codes(vec![link(1, None), link(2, Some(1)), link(3, Some(1))]), found(Code::Fork, 3));
        assert_eq!(codes(vec![link(1, None), link(2, None)]), found(Code::RowBegins, 2));
        assert_eq!(codes(vec![link(1, None), link(1, None)]), found(Code::Twice, 1));
    }

    #[test]
    fn organizations_have_rows_of_their_own() {
        let other = Link { organization: "other".to_owned(), ..link(2, None) };
        let same = Link { organization: "ACME".to_owned(), ..link(3, Some(1)) };
        let rows = rows(vec![link(1, None), other, same]);
        assert_eq!(rows.iter().map(|row| row.bundles.len()).collect::<Vec<_>>(), [2, 1]);
        assert!(rows.iter().all(|row| row.unbroken && row.findings.is_empty()));
    }
}
