//! The customer's organizational units and policies: the second is another interface of the provider, with its own forms.

use super::Workspace;
use super::directory::{Query, listing, reduce};
use super::paging::Page;
use super::policy::{Policy, unit_id};
use super::refusal::Refusal;
use super::shape::etag;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The part of a filter that this provider's documents name: one clause about the customer and one about the setting.
struct Filter {
    customer: Option<String>,
    prefix: Option<String>,
}

impl Filter {
    fn parse(text: &str) -> Option<Self> {
        let mut filter = Self { customer: None, prefix: None };
        for clause in text.split("&&").map(str::trim).filter(|clause| !clause.is_empty()) {
            if let Some(rest) = clause.strip_prefix("customer == \"customers/") {
                filter.customer = Some(rest.strip_suffix('"')?.to_owned());
            } else {
                let pattern = clause.strip_prefix("setting.type.matches('^")?.strip_suffix("..*$')")?;
                // In a text of this language, one backslash is two.
                filter.prefix = Some(pattern.strip_suffix("\\\\")?.to_owned() + ".");
            }
        }
        Some(filter)
    }
}

/// `policies.list`.
pub(super) fn policies(workspace: &Workspace, query: &Query) -> Result<Value, Refusal> {
    let text = query.get("filter").map_or("", String::as_str);
    let filter = Filter::parse(text).ok_or_else(|| Refusal::argument("Invalid filter expression."))?;
    if filter.customer.is_some_and(|customer| !workspace.is_customer(&customer)) {
        return Err(Refusal::caller());
    }
    let all: Vec<Value> = workspace
        .policies
        .iter()
        .filter(|policy| {
            filter
                .prefix
                .as_ref()
                .is_none_or(|prefix| format!("settings/{}", policy.setting).starts_with(prefix))
        })
        .map(|policy| policy.body(&workspace.customer))
        .collect();
    let mut paging = query.clone();
    let rows = query.get("pageSize").and_then(|rows| rows.parse::<usize>().ok()).filter(|rows| *rows > 0);
    paging.insert("maxResults".to_owned(), rows.unwrap_or(50).min(100).to_string());
    let page = Page::of(&paging, format!("policies {text}"), (50, 100), workspace.page_size)?;
    let (rows, next) = page.cut(&all);
    let mut body = Map::new();
    if !rows.is_empty() {
        body.insert("policies".to_owned(), rows.into());
    }
    if let Some(next) = next {
        body.insert("nextPageToken".to_owned(), next.into());
    }
    const ROW: &[&str] = &["customer", "name", "policyQuery", "setting", "type"];
    reduce(query, &[&["nextPageToken", "policies"], ROW], Value::Object(body))
}

/// `orgunits.list`.
pub(super) fn units(workspace: &Workspace, customer: &str, query: &Query) -> Result<Value, Refusal> {
    workspace.check_customer(customer)?;
    let with_root = query.get("type").map(String::as_str) == Some("allIncludingParent");
    let mut paths: BTreeSet<&str> = workspace.units.iter().map(String::as_str).collect();
    paths.extend(workspace.people.iter().map(|person| person.unit.as_str()));
    paths.extend(workspace.policies.iter().map(|policy| policy.unit.as_str()));
    let above = |path: &&'_ str| path.rmatch_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
    for path in paths.clone() {
        paths.extend(above(&path).into_iter().filter(|at| *at > 0).filter_map(|at| path.get(..at)));
    }
    paths.insert("/");
    let row = |path: &&str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        json!({
            "kind": "admin#directory#orgUnit",
            "etag": etag(path),
            "name": name,
            "description": "planted-7f3c",
            "orgUnitPath": path,
            "orgUnitId": format!("id:{}", unit_id(path)),
        })
    };
    let rows = paths.iter().filter(|path| with_root || **path != "/").map(row).collect();
    const TOP: &[&str] = &["etag", "kind", "organizationUnits"];
    const ROW: &[&str] = &[
        "blockInheritance",
        "description",
        "etag",
        "kind",
        "name",
        "orgUnitId",
        "orgUnitPath",
        "parentOrgUnitId",
        "parentOrgUnitPath",
    ];
    reduce(query, &[TOP, ROW], listing("admin#directory#orgUnits", ("organizationUnits", rows), None))
}

impl Workspace {
    /// Adds a policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policies.push(policy);
        self
    }

    /// Adds an organizational unit by its path. Those of people exist anyway.
    pub fn org_unit(mut self, path: impl Into<String>) -> Self {
        self.units.push(path.into());
        self
    }

    /// Policies that pass every rule over them.
    pub fn good_policies(self) -> Self {
        self.policy(Policy::new(
            "security.two_step_verification_enforcement",
            json!({ "enforcedFrom": "2024-03-01T00:00:00Z" }),
        ))
        .policy(Policy::new(
            "security.two_step_verification_enforcement_factor",
            json!({ "allowedSignInFactorSet": "PASSKEY_ONLY" }),
        ))
        .policy(Policy::new(
            "security.password",
            json!({
                "allowedStrength": "STRONG", "minimumLength": 14, "maximumLength": 100, "allowReuse": false,
                "enforceRequirementsAtLogin": true, "expirationDuration": "0s",
            }),
        ))
        .policy(Policy::new("security.session_controls", json!({ "webSessionDuration": "43200s" })))
        .policy(Policy::new(
            "security.super_admin_account_recovery",
            json!({ "enableAccountRecovery": false }),
        ))
        .policy(Policy::new("security.login_challenges", json!({ "enableEmployeeIdChallenge": true })))
    }
}
