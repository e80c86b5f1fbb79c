//! `GET …/vulnerability-alerts`: whether they are enabled, as a status.

use super::super::part::{Asked, Part};
use super::super::permission::Endpoint;
use super::super::reply::Reply;

/// `GET …/vulnerability-alerts`
pub(super) static ALERTS: Part = Part {
    name: "vulnerability_alerts",
    path: &["vulnerability-alerts"],
    documentation: "https://docs.github.com/rest/repos/repos#check-if-vulnerability-alerts-are-enabled-for-a-repository",
    permissions: "administration=read",
    refused_as: Some(Endpoint::VulnerabilityAlerts),
    newer: false,
    answer: alerts,
};

/// 204 or 404: only administrators are told which of the two it is.
fn alerts(asked: &Asked<'_>) -> Result<Reply, Reply> {
    let Asked { organization, repository, who, .. } = *asked;
    who.permitted(repository, "administration", ALERTS.documentation)?;
    if !who.administers(organization, repository) {
        return Err(Reply::not_found(ALERTS.documentation));
    }
    match repository.vulnerability_alerts {
        true => Ok(Reply { status: 204, ..Reply::json("") }),
        false => Err(Reply::error(404, "Vulnerability alerts are disabled.", ALERTS.documentation)),
    }
}
