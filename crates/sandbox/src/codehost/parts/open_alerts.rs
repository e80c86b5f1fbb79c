//! `GET /orgs/{org}/dependabot/alerts`: the open alerts, for owners and security managers.

use hyper::header;
use jiff::Timestamp;

use super::super::Role;
use super::super::part::{AskedOfOrganization, OrganizationPart};
use super::super::reply::Reply;
use crate::json;

/// `GET /orgs/{org}/dependabot/alerts`
pub(super) static OPEN_ALERTS: OrganizationPart = OrganizationPart {
    name: "dependabot_alerts",
    path: &["dependabot", "alerts"],
    documentation: "https://docs.github.com/rest/dependabot/alerts#list-dependabot-alerts-for-an-organization",
    permissions: "vulnerability_alerts=read",
    answer: alerts,
};

/// The oldest first. The page after is found by a mark in the address.
fn alerts(asked: &AskedOfOrganization<'_>) -> Result<Reply, Reply> {
    let AskedOfOrganization { world, organization, who, call } = *asked;
    let refuse = |status, message: &str| Err(Reply::error(status, message, OPEN_ALERTS.documentation));
    let Some(token) = who.token() else { return refuse(404, "Not Found") };
    if !token.kind.has_scopes() && !token.has_permission("vulnerability_alerts") {
        return refuse(403, "Resource not accessible by personal access token");
    }
    match who.view(organization) {
        Role::Owner => {}
        Role::Member => return refuse(403, "Must be an organization owner or security manager"),
        Role::Outsider if token.of_installation => {}
        Role::Outsider => return refuse(404, "Not Found"),
    }
    let severities = call.parameter("severity").unwrap_or("").replace("%2C", ",");
    let mut found = Vec::new();
    let own = |owner: &str| owner.eq_ignore_ascii_case(&organization.login);
    for repository in world.host.repositories.iter().filter(|one| own(&one.owner) && one.vulnerability_alerts)
    {
        for alert in &repository.open_alerts {
            if severities.split(',').any(|severity| severity == alert.severity) {
                found.push((alert, format!("{}/{}", repository.owner, repository.name)));
            }
        }
    }
    found.sort_by_key(|(alert, _)| std::cmp::Reverse(alert.days));
    let start = call.parameter("after").and_then(|mark| mark.parse::<usize>().ok()).unwrap_or(0);
    let body = json::array(|a| {
        for (alert, full) in found.iter().skip(start).take(100) {
            let at = call.now.as_second() - alert.days * 24 * 60 * 60;
            a.object(|o| {
                o.id("number", alert.number);
                o.str("state", "open");
                o.object("dependency", |o| {
                    o.object("package", |o| o.str("name", "MARKER-PACKAGE"));
                    o.str("manifest_path", "MARKER-PATH");
                });
                o.object("security_advisory", |o| {
                    o.str("severity", &alert.severity);
                    o.str("description", "MARKER-ADVISORY");
                });
                o.object("security_vulnerability", |o| o.str("severity", &alert.severity));
                o.str("created_at", &Timestamp::from_second(at).unwrap_or_default().to_string());
                o.object("repository", |o| {
                    o.str("full_name", full);
                    o.str("description", "MARKER-DESCRIPTION");
                });
            });
        }
    });
    let reply = Reply::json(body);
    if found.len() <= start + 100 {
        return Ok(reply);
    }
    let query =
        call.query.split('&').filter(|pair| !pair.starts_with("after=")).collect::<Vec<_>>().join("&");
    let next = format!("<{}{}?{query}&after={}>; rel=\"next\"", world.own_url, call.path, start + 100);
    Ok(reply.header(header::LINK, next))
}
