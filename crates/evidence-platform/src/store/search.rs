//! Rows of `bundle_terms`: an index of what bundles are found by. Every term of a bundle is a row, so any combination of
//! filters is answered from one index, in the order of time.

use evidence_bundle::Status;
use sqlx::any::AnyRow;

use super::bundles::{BundleRow, COLUMNS, Position, read};
use super::columns::{integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::time::Time;

/// How many bundles to index in one transaction.
const BATCH: i64 = 500;
/// The longest control that is found by: PostgreSQL limits rows of an index.
const CONTROL_BYTES: usize = 200;

/// Which bundles to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleFilter {
    /// Tags that it has, name and value.
    pub tags: Vec<(String, String)>,
    /// The status of its worst control, or that of `control`.
    pub status: Option<Status>,
    /// A control that it has.
    pub control: Option<String>,
    /// Whether everything was read.
    pub complete: Option<bool>,
    /// The key that signed it: `sha256:` and the SHA-256 of its DER.
    pub signer: Option<String>,
    /// When it was collected: not before.
    pub from: Option<Time>,
    /// When it was collected: not after.
    pub to: Option<Time>,
}

impl BundleFilter {
    fn terms(&self) -> Vec<String> {
        let mut terms: Vec<String> = self.tags.iter().map(|(name, value)| tag_term(name, value)).collect();
        match (&self.control, self.status) {
            (Some(control), status) => terms.push(control_term(control, status)),
            (None, Some(status)) => terms.push(format!("status={status}")),
            (None, None) => {}
        }
        terms.extend(self.complete.map(complete_term));
        terms.extend(self.signer.as_deref().map(signer_term));
        terms
    }
}

fn tag_term(name: &str, value: &str) -> String {
    format!("tag={name}={value}")
}

fn control_term(control: &str, status: Option<Status>) -> String {
    match status {
        Some(status) => format!("control={control}={status}"),
        None => format!("control={control}"),
    }
}

fn complete_term(complete: bool) -> String {
    format!("complete={complete}")
}

fn signer_term(key_id: &str) -> String {
    format!("signer={key_id}")
}

/// The worst status of these: what fails, then what is not known, then what passes.
fn worst(statuses: impl Iterator<Item = Status>) -> Option<Status> {
    const ORDER: [Status; 4] = [Status::Fail, Status::NotVerifiable, Status::Pass, Status::NotApplicable];
    statuses.min_by_key(|status| ORDER.iter().position(|known| known == status))
}

/// Every term of a bundle.
fn terms(bundle: &BundleRow) -> Vec<String> {
    let overview = &bundle.overview;
    let mut terms = vec![String::new(), complete_term(overview.complete), signer_term(&overview.key_id)];
    terms.extend(bundle.tags.iter().map(|(name, value)| tag_term(name, value)));
    let controls = overview.judgement.iter().flat_map(|judgement| &judgement.controls);
    let controls: Vec<_> = controls.filter(|control| control.id.len() <= CONTROL_BYTES).collect();
    terms.extend(
        worst(controls.iter().map(|control| control.status)).map(|status| format!("status={status}")),
    );
    for control in controls {
        terms.extend([None, Some(control.status)].map(|status| control_term(&control.id, status)));
    }
    terms.sort_unstable();
    terms.dedup();
    terms
}

impl Transaction {
    /// Makes a bundle findable.
    pub(super) async fn add_terms(
        &mut self,
        organization: &OrganizationId,
        bundle: &BundleRow,
    ) -> Result<(), Error> {
        for term in terms(bundle) {
            sqlx::query(
                "INSERT INTO bundle_terms (organization_id, term, collected_at, bundle_id) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT DO NOTHING",
            )
            .bind(organization.as_str())
            .bind(term)
            .bind(bundle.collected_at.0)
            .bind(&bundle.id)
            .execute(self.connection())
            .await?;
        }
        Ok(())
    }

    /// Makes a deleted bundle unfindable.
    pub(super) async fn remove_terms(
        &mut self,
        organization: &OrganizationId,
        id: &str,
    ) -> Result<(), Error> {
        sqlx::query("DELETE FROM bundle_terms WHERE organization_id = $1 AND bundle_id = $2")
            .bind(organization.as_str())
            .bind(id)
            .execute(self.connection())
            .await?;
        Ok(())
    }
}

impl Store {
    /// Bundles of an organization that match, after this position, the latest collected first.
    pub(crate) async fn find_bundles(
        &self,
        organization: &OrganizationId,
        filter: &BundleFilter,
        after: &Position,
        limit: i64,
    ) -> Result<Vec<BundleRow>, Error> {
        let mut terms = filter.terms().into_iter();
        // The first term leads through the index in the order of time; the others are looked up for each bundle.
        let first = terms.next().unwrap_or_default();
        let others: Vec<String> = terms.collect();
        let columns: Vec<String> = COLUMNS.split(", ").map(|column| format!("b.{column}")).collect();
        let mut sql = format!(
            "SELECT {} FROM bundle_terms t JOIN bundles b ON b.organization_id = t.organization_id AND \
             b.id = t.bundle_id WHERE t.organization_id = $1 AND t.term = $2 AND \
             (t.collected_at, t.bundle_id) < ($3, $4) AND t.collected_at >= $5 AND t.collected_at <= $6",
            columns.join(", ")
        );
        for index in 0..others.len() {
            sql.push_str(&format!(
                " AND EXISTS (SELECT 1 FROM bundle_terms o WHERE o.organization_id = t.organization_id AND \
                 o.term = ${} AND o.collected_at = t.collected_at AND o.bundle_id = t.bundle_id)",
                index.saturating_add(8)
            ));
        }
        sql.push_str(" ORDER BY t.collected_at DESC, t.bundle_id DESC LIMIT $7");
        let mut query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(first)
            .bind(after.time.0)
            .bind(&after.id)
            .bind(filter.from.map_or(i64::MIN, |time| time.0))
            .bind(filter.to.map_or(i64::MAX, |time| time.0))
            .bind(limit);
        for term in others {
            query = query.bind(term);
        }
        query.fetch_all(&self.pool).await?.iter().map(read).collect()
    }

    /// The controls that bundles of an organization have, for a list to choose from.
    pub(crate) async fn known_controls(&self, organization: &OrganizationId) -> Result<Vec<String>, Error> {
        // The newest bundle has those that matter.
        let newest = self.bundles(organization, &Position::start(), 1).await?;
        let judgement = newest.into_iter().find_map(|bundle| bundle.overview.judgement);
        let controls = judgement.map(|judgement| judgement.controls).unwrap_or_default();
        Ok(controls.into_iter().map(|control| control.id).collect())
    }

    /// Indexes the bundles of an older platform.
    pub(super) async fn index_pending(&self) -> Result<(), Error> {
        let row = sqlx::query("SELECT pending FROM search_state").fetch_one(&self.pool).await?;
        if integer(&row, "pending")? == 0 {
            return Ok(());
        }
        let mut after = (String::new(), String::new());
        loop {
            let sql = format!(
                "SELECT organization_id, {COLUMNS} FROM bundles WHERE (organization_id, id) > ($1, $2) \
                 ORDER BY organization_id, id LIMIT $3"
            );
            let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&after.0).bind(&after.1).bind(BATCH);
            let rows = query.fetch_all(&self.pool).await?;
            let Some(last) = rows.last() else { break };
            after = (text(last, "organization_id")?, text(last, "id")?);
            let mut transaction = self.begin().await?;
            for row in &rows {
                index(&mut transaction, row).await?;
            }
            transaction.commit().await?;
        }
        sqlx::query("UPDATE search_state SET pending = 0").execute(&self.pool).await?;
        Ok(())
    }
}

/// Indexes a stored bundle. One whose overview cannot be read is not found by it, and must not keep the platform down.
async fn index(transaction: &mut Transaction, row: &AnyRow) -> Result<(), Error> {
    let organization = OrganizationId::stored(text(row, "organization_id")?);
    match read(row) {
        Ok(bundle) => transaction.add_terms(&organization, &bundle).await,
        Err(error) => {
            let bundle = text(row, "id")?;
            tracing::warn!(bundle, cause = error.causes(), "a bundle is not indexed");
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_status_leads() {
        use Status::{Fail, NotApplicable, NotVerifiable, Pass};
        assert_eq!(worst([Pass, NotVerifiable, Fail].into_iter()), Some(Fail));
        assert_eq!(worst([Pass, NotVerifiable].into_iter()), Some(NotVerifiable));
        assert_eq!(worst([NotApplicable, Pass].into_iter()), Some(Pass));
        assert_eq!(worst([NotApplicable].into_iter()), Some(NotApplicable));
        assert_eq!(worst([].into_iter()), None);
    }

    #[test]
    fn a_status_belongs_to_the_control_if_one_is_named() {
        let filter = |control: Option<&str>| BundleFilter {
            control: control.map(str::to_owned),
            status: Some(Status::Fail),
            tags: vec![("env".into(), "a=b".into())],
            ..BundleFilter::default()
        };
        assert_eq!(filter(None).terms(), ["tag=env=a=b", "status=fail"]);
        assert_eq!(filter(Some("CC6.1")).terms(), ["tag=env=a=b", "control=CC6.1=fail"]);
    }
}
