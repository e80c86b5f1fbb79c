//! The endpoints that an app asks about itself: its installation, and a token of it.

use super::access::Who;
use super::app::{App, Installation, Whose};
use super::organization_body::simple_account;
use super::paging::Page;
use super::reply::{Reply, docs};
use super::world::World;
use super::{Organization, Selection, Token};
use crate::json::{self, Object};
use crate::server::Call;
use crate::workspace;
use hyper::header;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// `GET /orgs/{org}/installation`, `GET /app/installations/{installation}`.
pub(super) fn installation(world: &World, who: &Who, whose: &Whose) -> Result<Reply, Reply> {
    let (app, installation) = find(world, who, whose, docs::INSTALLATION)?;
    let account =
        world.organization(&installation.account).ok_or_else(|| Reply::not_found(docs::INSTALLATION))?;
    Ok(Reply::json(json::object(|o| body(o, world, &app, &installation, account))))
}

/// `GET /app/installations`, by page.
pub(super) fn installations(world: &World, who: &Who, call: &Call) -> Result<Reply, Reply> {
    let Who::App(app) = who else {
        return Err(Reply::error(401, "A JSON web token could not be decoded", docs::INSTALLATION));
    };
    let page = Page::of(call, world.host.page_size);
    let range = page.range(app.installations.len(), call.shift);
    let reply = Reply::json(json::array(|a| {
        for installation in app.installations.get(range).unwrap_or_default() {
            if let Some(account) = world.organization(&installation.account) {
                a.object(|o| body(o, world, app, installation, account));
            }
        }
    }));
    let base = format!("{}/app/installations", world.own_url);
    Ok(match page.link(&base, &call.query, app.installations.len()) {
        Some(link) => reply.header(header::LINK, link),
        None => reply,
    })
}

fn body(o: &mut Object<'_>, world: &World, app: &App, installation: &Installation, account: &Organization) {
    let (url, number) = (world.url.as_str(), installation.id.to_string());
    o.id("id", installation.id);
    o.str("client_id", &app.client_id);
    o.object("account", |o| simple_account(o, url, &account.login, account.number(), true));
    o.str("repository_selection", selected(&installation.selection));
    o.text("access_tokens_url", &[url, "/app/installations/", &number, "/access_tokens"]);
    o.text("repositories_url", &[url, "/installation/repositories"]);
    o.text(
        "html_url",
        &["https://codehost.example/organizations/", &account.login, "/settings/installations/", &number],
    );
    o.id("app_id", app.id);
    o.str("app_slug", &app.slug);
    o.id("target_id", account.number());
    o.str("target_type", "Organization");
    o.object("permissions", |o| installation.permissions.iter().for_each(|(name, level)| o.str(name, level)));
    o.array("events", |_| {});
    o.str("created_at", "2026-03-02T11:20:31.000Z");
    o.str("updated_at", "2026-03-02T11:20:31.000Z");
    o.null("single_file_name");
    o.bool("has_multiple_single_files", false);
    o.array("single_file_paths", |_| {});
    match &installation.suspended {
        None => o.null("suspended_by"),
        Some(_) => o.object("suspended_by", |o| simple_account(o, url, "octo-owner", 583_231, false)),
    }
    o.str_or_null("suspended_at", installation.suspended.as_deref());
}

/// `POST /app/installations/{installation}/access_tokens`.
pub(super) fn issue(world: &World, who: &Who, number: &str, call: &Call) -> Result<Reply, Reply> {
    const DOCUMENTATION: &str = docs::ACCESS_TOKENS;
    let (app, installation) = find(world, who, &Whose::Number(number.to_owned()), DOCUMENTATION)?;
    if installation.suspended.is_some() {
        return Err(Reply::error(403, "This installation has been suspended", DOCUMENTATION));
    }
    let asked = asked(&call.body).map_err(|message| Reply::error(400, message, DOCUMENTATION))?;
    let mut granted = match asked {
        None => installation.permissions.clone(),
        Some(asked) => {
            let is_granted = |(name, level): (&String, &String)| {
                installation.permissions.get(name).is_some_and(|given| rank(given) >= rank(level))
            };
            if !asked.iter().all(is_granted) {
                let message = "The permissions requested are not granted to this installation.";
                return Err(Reply::error(422, message, DOCUMENTATION));
            }
            asked
        }
    };
    // Every token has it.
    granted.entry("metadata".to_owned()).or_insert_with(|| "read".to_owned());
    granted.extend(installation.granted_anyway.iter().cloned());
    let issued = &world.issued;
    let turn = issued.next();
    let seed = format!("{} {turn} {:?}", app.id, std::time::Instant::now());
    let secret = format!("ghs_{}_{}", app.id, workspace::opaque(&seed, 500));
    let token = Token::app(secret.clone())
        .of_installation()
        .permissions(granted.iter().map(|(name, level)| format!("{name}:{level}")))
        .resource_owner(installation.account.clone())
        .repositories(installation.selection.clone())
        .login(format!("{}[bot]", app.slug))
        .repository_admin(true)
        .sso_authorized(true);
    let ends = call.now.as_second().saturating_add(app.token_seconds);
    issued.put(&secret, token, ends);
    let ends = Timestamp::from_second(ends).map(|ends| ends.to_string()).unwrap_or_default();
    let body = json::object(|o| {
        o.str("token", &secret);
        o.str("expires_at", &ends);
        o.object("permissions", |o| granted.iter().for_each(|(name, level)| o.str(name, level)));
        o.str("repository_selection", selected(&installation.selection));
    });
    Ok(Reply { status: 201, ..Reply::json(body) })
}

fn find(world: &World, who: &Who, whose: &Whose, documentation: &str) -> Result<(App, Installation), Reply> {
    // Any other credential is no proof of an app.
    let Who::App(app) = who else {
        return Err(Reply::error(401, "A JSON web token could not be decoded", documentation));
    };
    let found = app.installations.iter().find(|installation| match whose {
        Whose::Organization(login) => installation.account.eq_ignore_ascii_case(login),
        Whose::Number(number) => installation.id.to_string() == *number,
    });
    let found = found.ok_or_else(|| Reply::not_found(documentation))?;
    world.organization(&found.account).ok_or_else(|| Reply::not_found(documentation))?;
    Ok(((**app).clone(), found.clone()))
}

/// The permissions in the body of a request; `None` without any.
fn asked(body: &[u8]) -> Result<Option<BTreeMap<String, String>>, &'static str> {
    if body.is_empty() {
        return Ok(None);
    }
    let body: Value = serde_json::from_slice(body).map_err(|_| "Problems parsing JSON")?;
    let Some(permissions) = body.get("permissions").and_then(Value::as_object) else { return Ok(None) };
    let level = |(name, level): (&String, &Value)| Some((name.clone(), level.as_str()?.to_owned()));
    permissions.iter().map(level).collect::<Option<_>>().map(Some).ok_or("Problems parsing JSON")
}

fn rank(level: &str) -> u8 {
    match level {
        "read" => 1,
        "write" => 2,
        _ => 3,
    }
}

fn selected(selection: &Selection) -> &'static str {
    match selection {
        Selection::All => "all",
        Selection::Selected(_) => "selected",
    }
}
