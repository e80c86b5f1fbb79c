//! Records refused keys and failed sign-ins.

use std::net::IpAddr;

use serde_json::json;

use super::attempts::{Attempt, Counted};
use super::platform::{RequestId, Service};
use crate::id::OrganizationId;
use crate::secret::ApiKey;
use crate::store::{NewAudit, Outcome};

impl Service {
    /// Records or counts a refused key. Keeps only the prefix of `tried`, and only if it has the form of a key.
    pub async fn refused(&self, attempt: Attempt, request: &RequestId, client: IpAddr, tried: &str) {
        if !self.inner.attempts.count(attempt, client) {
            return;
        }
        let prefix = ApiKey::parse(tried).map(|key| key.prefix().to_owned()).unwrap_or_default();
        let (service, request) = (self.clone(), request.clone());
        let counted = Counted { attempt, address: Some(client.to_string()), attempts: 1 };
        // In a separate task, so that a client cannot avoid the record by closing the connection.
        let record = tokio::spawn(async move { service.write(&counted, &prefix, &request.0).await });
        let _ = record.await;
    }

    /// Records the counts since the last call. Call it every minute and before the program ends.
    pub async fn end_minute(&self) {
        for counted in self.inner.attempts.end() {
            self.write(&counted, "", "").await;
        }
    }

    async fn write(&self, counted: &Counted, target: &str, request_id: &str) {
        let record = NewAudit {
            organization: &OrganizationId::platform(),
            at: self.inner.clock.now(),
            actor: format!("address:{}", counted.address.as_deref().unwrap_or("other")),
            action: counted.attempt.action(),
            target,
            outcome: Outcome::Refused,
            detail: json!({ "attempts": counted.attempts }),
            request_id,
        };
        if let Err(error) = self.note(record).await {
            self.inner.attempts.unwritten(counted);
            let cause = error.causes();
            tracing::warn!(cause, "failed to record refused keys; they stay in the count");
        }
    }
}
