//! A person in the directory's JSON, with all the members of a real account.

use super::Workspace;
use super::person::Person;
use super::shape::{etag, number_of_21_digits};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

/// The members that an account can have, for the check of `fields`.
pub(super) const MEMBERS: &[&str] = &[
    "addresses",
    "agreedToTerms",
    "aliases",
    "archivalTime",
    "archived",
    "changePasswordAtNextLogin",
    "creationTime",
    "customSchemas",
    "customerId",
    "deletionTime",
    "emails",
    "etag",
    "externalIds",
    "gender",
    "guestAccountInfo",
    "hashFunction",
    "id",
    "ims",
    "includeInGlobalAddressList",
    "ipWhitelisted",
    "isAdmin",
    "isDelegatedAdmin",
    "isEnforcedIn2Sv",
    "isEnrolledIn2Sv",
    "isGuestUser",
    "isMailboxSetup",
    "keywords",
    "kind",
    "languages",
    "lastLoginTime",
    "locations",
    "name",
    "nonEditableAliases",
    "notes",
    "orgUnitPath",
    "organizations",
    "password",
    "phones",
    "posixAccounts",
    "primaryEmail",
    "recoveryEmail",
    "recoveryPhone",
    "relations",
    "sshPublicKeys",
    "suspended",
    "suspensionReason",
    "suspensionTime",
    "thumbnailPhotoEtag",
    "thumbnailPhotoUrl",
    "websites",
];

/// `2026-11-21T15:30:00.000Z`, this many days before the server's start.
fn days_before(start: Timestamp, days: u32) -> String {
    let before = SignedDuration::from_secs(i64::from(days) * 86_400 + 5_211);
    start.checked_sub(before).unwrap_or(start).strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

/// The account. `full` adds the members of the full projection.
pub(super) fn body(workspace: &Workspace, person: &Person, start: Timestamp, full: bool) -> Value {
    let created = days_before(start, person.created);
    if let Some(days) = person.deleted {
        // A deleted account has few members.
        return json!({
            "kind": "admin#directory#user",
            "id": person.id(),
            "etag": etag(&format!("{person:?}")),
            "primaryEmail": person.email,
            "isAdmin": false,
            "isDelegatedAdmin": false,
            "creationTime": created,
            "lastLoginTime": last_login(person, start),
            "deletionTime": days_before(start, days),
            "customerId": workspace.customer,
        });
    }
    let mut body = json!({
        "kind": "admin#directory#user",
        "id": person.id(),
        "etag": etag(&format!("{person:?}")),
        "primaryEmail": person.email,
        "name": {
            "givenName": person.given,
            "familyName": person.family,
            "fullName": format!("{} {}", person.given, person.family),
        },
        "isAdmin": person.super_admin,
        "isDelegatedAdmin": !person.roles.is_empty(),
        "lastLoginTime": last_login(person, start),
        "creationTime": created,
        "agreedToTerms": person.last_login.is_some(),
        "suspended": person.suspended,
        "archived": person.archived,
        "changePasswordAtNextLogin": person.last_login.is_none(),
        "ipWhitelisted": false,
        "customerId": workspace.customer,
        "orgUnitPath": person.unit,
        "isMailboxSetup": true,
        "isEnrolledIn2Sv": person.enrolled,
        "isEnforcedIn2Sv": person.enforced,
        "isGuestUser": person.guest,
        "includeInGlobalAddressList": true,
    });
    if let Some(members) = body.as_object_mut() {
        if person.suspended {
            members.insert("suspensionReason".to_owned(), "ADMIN".into());
        }
        personal(members, workspace, person);
        if full {
            let schema = json!({ "Payroll": { "costCentre": "4711", "grade": "7" } });
            members.insert("customSchemas".to_owned(), schema);
        }
    }
    body
}

/// Members that evidence does not need, but a real directory has.
fn personal(members: &mut Map<String, Value>, workspace: &Workspace, person: &Person) {
    let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
    let local = person.email.split('@').next().unwrap_or_default();
    let number = number_of_21_digits(&person.given);
    let four = number.get(number.len().saturating_sub(4)..).unwrap_or_default();
    let alias = format!("{local}@{}.test-google-a.com", person.domain());
    put(
        "emails",
        json!([
            { "address": person.email, "primary": true },
            { "address": alias },
            { "address": format!("{local}{four}@home.example"), "type": "home" },
        ]),
    );
    put("nonEditableAliases", json!([alias]));
    put(
        "addresses",
        json!([{ "type": "home", "formatted": format!("{four} Canyon Road\nFlagstaff, AZ 86001") }]),
    );
    put("phones", json!([{ "value": format!("+1 928 555 {four}"), "type": "mobile" }]));
    put("recoveryEmail", format!("{local}{four}@home.example").into());
    put("recoveryPhone", format!("+1928555{four}").into());
    put("gender", json!({ "type": "unknown" }));
    put("languages", json!([{ "languageCode": "en", "preference": "preferred" }]));
    put("externalIds", json!([{ "value": format!("E{four}"), "type": "organization" }]));
    put("relations", json!([{ "value": format!("wile.coyote@{}", workspace.domain()), "type": "manager" }]));
    let unit = person.unit.rsplit('/').next().unwrap_or_default();
    let work = json!([{ "title": "Specialist", "primary": true, "customType": "", "department": unit }]);
    put("organizations", work);
    put("thumbnailPhotoUrl", format!("https://lh3.googleusercontent.com/a-/ALV-{number}=s96-c").into());
    put("thumbnailPhotoEtag", etag(&number).into());
}

fn last_login(person: &Person, start: Timestamp) -> String {
    person.last_login.map_or_else(|| "1970-01-01T00:00:00.000Z".to_owned(), |days| days_before(start, days))
}
