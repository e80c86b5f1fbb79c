//! `GET /orgs/{org}/members` and `…/outside_collaborators`: the people, as far as the caller may see them.

use hyper::header;

use super::super::Role;
use super::super::organization::Affiliation;
use super::super::organization_body::{account_id, simple_account};
use super::super::paging::Page;
use super::super::part::{AskedOfOrganization, OrganizationPart};
use super::super::reply::Reply;
use crate::json;

/// `GET /orgs/{org}/members`
pub(super) static MEMBERS: OrganizationPart = OrganizationPart {
    name: "members",
    path: &["members"],
    documentation: "https://docs.github.com/rest/orgs/members#list-organization-members",
    permissions: "members=read",
    answer: members,
};

/// `GET /orgs/{org}/outside_collaborators`
pub(super) static OUTSIDERS: OrganizationPart = OrganizationPart {
    name: "outside_collaborators",
    path: &["outside_collaborators"],
    documentation: "https://docs.github.com/rest/orgs/outside-collaborators#list-outside-collaborators-for-an-organization",
    permissions: "members=read",
    answer: outsiders,
};

/// Whoever is no member sees the public members, without a sign of that.
fn members(asked: &AskedOfOrganization<'_>) -> Result<Reply, Reply> {
    let view = view(asked, MEMBERS.documentation)?;
    let role = asked.call.parameter("role").unwrap_or("all");
    list(asked, &MEMBERS, |person, without| {
        let of_role = match person.affiliation {
            Affiliation::Owner => role != "member",
            Affiliation::Member => role != "admin",
            Affiliation::Outside => false,
        };
        of_role && (view != Role::Outsider || person.public) && !(without && person.two_factor)
    })
}

fn outsiders(asked: &AskedOfOrganization<'_>) -> Result<Reply, Reply> {
    if view(asked, OUTSIDERS.documentation)? == Role::Outsider {
        return Err(Reply::not_found(OUTSIDERS.documentation));
    }
    list(asked, &OUTSIDERS, |person, without| {
        person.affiliation == Affiliation::Outside && !(without && person.two_factor)
    })
}

/// How much the caller sees. A token without scopes needs the permission.
fn view(asked: &AskedOfOrganization<'_>, documentation: &str) -> Result<Role, Reply> {
    let Some(token) = asked.who.token() else { return Ok(Role::Outsider) };
    if !token.kind.has_scopes() && !token.has_permission("members") {
        let by = if token.of_installation { "integration" } else { "personal access token" };
        return Err(Reply::error(403, &format!("Resource not accessible by {by}"), documentation));
    }
    Ok(if token.of_installation { Role::Owner } else { asked.who.view(asked.organization) })
}

fn list(
    asked: &AskedOfOrganization<'_>,
    part: &OrganizationPart,
    listed: impl Fn(&super::super::organization::Person, bool) -> bool,
) -> Result<Reply, Reply> {
    let filter = asked.call.parameter("filter").unwrap_or("all");
    let without = match filter {
        "all" => false,
        // A classic token needs the writing scope for the filter, whoever its user is; but one that a scenario lets see
        // private repositories in spite of its scopes may filter too.
        "2fa_disabled" | "2fa_insecure" => {
            let allowed = asked.who.token().is_some_and(|token| {
                !token.kind.has_scopes() || token.has_scope("admin:org") || token.sees_private == Some(true)
            });
            if view(asked, part.documentation)? != Role::Owner || !allowed {
                return Err(Reply::error(422, "Only owners can use this filter.", part.documentation));
            }
            true
        }
        _ => return Err(Reply::error(422, "Validation Failed", part.documentation)),
    };
    let people: Vec<_> = asked.organization.people.iter().filter(|person| listed(person, without)).collect();
    let page = Page::of(asked.call, asked.world.host.page_size);
    let body = json::array(|a| {
        for person in people.get(page.range(people.len(), asked.call.shift)).unwrap_or_default() {
            a.object(|o| {
                simple_account(o, &asked.world.url, &person.login, account_id(&person.login), false)
            });
        }
    });
    let reply = Reply::json(body);
    let base = format!("{}/organizations/{}/{}", asked.world.own_url, asked.organization.number(), part.name);
    Ok(match page.link(&base, &asked.call.query, people.len()) {
        Some(link) => reply.header(header::LINK, link),
        None => reply,
    })
}
