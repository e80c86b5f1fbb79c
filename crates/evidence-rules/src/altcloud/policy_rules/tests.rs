use serde_json::{Value, json};

use super::*;
use crate::altcloud::policies::{OrgUnit, PolicyGroup};
use crate::altcloud::record::{Extent, UserListing};
use crate::altcloud::two_step::TWO_STEP_NOT_ENFORCED;
use crate::altcloud::{OF_POLICIES, session_length, workspace_password};
use crate::rule::Status;

const AT: &str = "2026-11-21T09:05:13Z";

fn unit(path: &str) -> Value {
    json!({"orgUnitId": format!("id:u{}", path.replace('/', "-")), "orgUnitPath": path})
}

/// A policy of this setting for a unit or a group, with its order.
fn policy(setting: &str, value: &Value, place: &str, order: impl Into<Value>) -> Value {
    let (unit, group) = match place.strip_prefix('#') {
        Some(group) => ("/", Some(format!("groups/{group}"))),
        None => (place, None),
    };
    let mut query = json!({"query": "entity.org_units", "orgUnit": format!("orgUnits/u{}", unit.replace('/', "-")),
        "sortOrder": order.into()});
    if let Some(group) = group {
        query["group"] = group.into();
    }
    json!({"name": "policies/1", "policyQuery": query, "type": "ADMIN",
        "setting": {"type": format!("settings/{setting}"), "value": value}})
}

fn users(path: &str, groups: &[&str], users: u64) -> PolicyUsers {
    PolicyUsers {
        org_unit_path: Field::Value(path.to_string()),
        group_ids: groups.iter().map(|group| (*group).to_string()).collect(),
        is_admin: Field::Value(true),
        certain: true,
        users,
    }
}

fn record(policies: &[Value], users: Vec<PolicyUsers>) -> Policies {
    let units = ["/", "/Sales", "/Sales/North", "/SalesX"].iter().map(|path| unit(path));
    Policies {
        policies_read: Extent::Complete,
        org_units_read: Extent::Complete,
        user_listings: vec![UserListing { customer: None, domain: None, read: Extent::Complete, users: 1 }],
        policies: serde_json::from_value(json!(policies)).unwrap(),
        org_units: units.map(|unit| serde_json::from_value::<OrgUnit>(unit).unwrap()).collect(),
        groups: vec![PolicyGroup {
            group_id: "g".to_string(),
            members_read: Extent::Complete,
            only_users: true,
        }],
        users,
    }
}

fn facts(record: Policies) -> PolicyFacts {
    PolicyFacts { record: Some(record), at: AT.parse().unwrap(), gap: None }
}

fn verdict(rule: &str, facts: &PolicyFacts, settings: &Settings) -> Verdict {
    let judge = OF_POLICIES.iter().find(|judge| judge.rule.code == rule).unwrap();
    let verdict = (judge.judge)(facts, settings).unwrap();
    // Whatever a rule answers is declared: by it, by the source, or by the rule that answers the same.
    let shared = [&reason::OK, &reason::NO_EVIDENCE, &reason::NOTHING_IN_SCOPE, &reason::PERMISSION_DENIED];
    let others = [&SUSPENDED_NOT_VISIBLE, &TWO_STEP_NOT_ENFORCED];
    let all = judge.rule.reasons.iter().chain(super::super::reason::ALL).chain(&shared).chain(&others);
    let known = all.copied().any(|known| *known == *verdict.reason);
    assert!(known, "{rule}: {}", verdict.reason.code);
    verdict
}

#[track_caller]
fn is(rule: &str, policies: &[Value], people: Vec<PolicyUsers>, expected: &str) -> String {
    let verdict = verdict(rule, &facts(record(policies, people)), &Settings::default());
    assert_eq!(format!("{:?} {}", verdict.status, verdict.reason.code), expected, "{:?}", verdict.actual);
    verdict.actual.unwrap()
}

/// A rule, its setting, and what it says of each value.
type Values<'a> = (&'a str, &'a str, &'a [(Value, &'a str)]);

/// Every form of every field that a rule judges.
#[test]
fn every_value() {
    let table: &[Values<'_>] = &[
        (
            "two-step-policy",
            "security.two_step_verification_enforcement",
            &[
                (json!({}), "Fail two_step_not_enforced"),
                (json!({"enforcedFrom": null}), "NotVerifiable enforced_from_not_visible"),
                (json!({"enforcedFrom": "soon"}), "NotVerifiable enforced_from_not_visible"),
                (json!({"enforcedFrom": "1970-01-01T00:00:00Z"}), "Fail two_step_not_enforced"),
                (json!({"enforcedFrom": "2024-03-01T00:00:00Z"}), "Pass ok"),
                (json!({"enforcedFrom": AT}), "Pass ok"),
                (json!({"enforcedFrom": "2026-11-21T09:05:14Z"}), "Fail two_step_not_enforced"),
            ],
        ),
        (
            "two-step-strength",
            "security.two_step_verification_enforcement_factor",
            &[
                (json!({}), "Fail two_step_any_factor"),
                (
                    json!({"allowedSignInFactorSet": null}),
                    "NotVerifiable allowed_sign_in_factor_set_not_visible",
                ),
                (
                    json!({"allowedSignInFactorSet": "NEW"}),
                    "NotVerifiable allowed_sign_in_factor_set_not_visible",
                ),
                (json!({"allowedSignInFactorSet": "ALL"}), "Fail two_step_any_factor"),
                (json!({"allowedSignInFactorSet": "NO_TELEPHONY"}), "Pass ok"),
                (json!({"allowedSignInFactorSet": "PASSKEY_ONLY"}), "Pass ok"),
                (json!({"allowedSignInFactorSet": "PASSKEY_PLUS_SECURITY_CODE"}), "Pass ok"),
                (json!({"allowedSignInFactorSet": "PASSKEY_PLUS_IP_BOUND_SECURITY_CODE"}), "Pass ok"),
            ],
        ),
        (
            "session-length",
            "security.session_controls",
            &[
                (json!({}), "Fail default_value"),
                (json!({"webSessionDuration": null}), "NotVerifiable web_session_duration_not_visible"),
                (json!({"webSessionDuration": "long"}), "NotVerifiable web_session_duration_not_visible"),
                (json!({"webSessionDuration": "0s"}), "NotVerifiable web_session_duration_not_visible"),
                (json!({"webSessionDuration": "43200s"}), "Pass ok"),
                (json!({"webSessionDuration": "86400s"}), "Pass ok"),
                (json!({"webSessionDuration": "86401s"}), "Fail session_too_long"),
                (json!({"webSessionDuration": "1209600s"}), "Fail session_too_long"),
            ],
        ),
        (
            "recovery-off",
            "security.super_admin_account_recovery",
            &[
                (json!({}), "NotVerifiable default_value"),
                (json!({"enableAccountRecovery": null}), "NotVerifiable enable_account_recovery_not_visible"),
                (json!({"enableAccountRecovery": true}), "Fail recovery_allowed"),
                (json!({"enableAccountRecovery": false}), "Pass ok"),
            ],
        ),
    ];
    for (rule, setting, values) in table {
        for (value, expected) in *values {
            is(rule, &[policy(setting, value, "/", 1)], vec![users("/", &[], 3)], expected);
        }
        // Nothing set is as a policy without the field; a value that is null is not known.
        let (_, unset) = &values[0];
        is(rule, &[], vec![users("/", &[], 3)], unset);
        is(
            rule,
            &[policy(setting, &Value::Null, "/", 1)],
            vec![users("/", &[], 3)],
            "NotVerifiable value_not_visible",
        );
        // A policy of another setting says nothing.
        is(rule, &[policy("security.other", &json!({}), "/", 1)], vec![users("/", &[], 3)], unset);
    }
}

/// Every form of the three fields of a password policy: 5 * 4 * 4 cases.
#[test]
fn every_password_policy() {
    let forms = |field: &str, values: &[Value]| {
        let mut forms: Vec<Value> = values.iter().map(|value| json!({ field: value })).collect();
        forms.push(json!({}));
        forms
    };
    let lengths = forms("minimumLength", &[json!(null), json!(8), json!(11.5), json!(12)]);
    let strengths = forms("allowedStrength", &[json!(null), json!("WEAK"), json!("STRONG")]);
    let reuses = forms("allowReuse", &[json!(null), json!(true), json!(false)]);
    let mut count = 0;
    for length in &lengths {
        for strength in &strengths {
            for reuse in &reuses {
                let mut value = length.clone();
                for part in [strength, reuse] {
                    value.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
                }
                let is_set = |field: &str, wanted: &Value| value.get(field) == Some(wanted);
                let weak = is_set("minimumLength", &json!(8))
                    || is_set("minimumLength", &json!(11.5))
                    || is_set("allowedStrength", &json!("WEAK"))
                    || is_set("allowReuse", &json!(true));
                let fields = ["minimumLength", "allowedStrength", "allowReuse"];
                let reasons = ["minimum_length", "allowed_strength", "allow_reuse"];
                let hidden = fields.iter().position(|field| is_set(field, &Value::Null));
                let expected = if weak {
                    "Fail password_policy_weak".to_string()
                } else if fields.iter().any(|field| value.get(field).is_none()) {
                    "Fail default_value".to_string()
                } else if let Some(place) = hidden {
                    format!("NotVerifiable {}_not_visible", reasons[place])
                } else {
                    "Pass ok".to_string()
                };
                let policies = [policy("security.password", &value, "/", 1)];
                is("workspace-password-policy", &policies, vec![users("/", &[], 3)], &expected);
                count += 1;
            }
        }
    }
    assert_eq!(count, 5 * 4 * 4);
    let actual = is("workspace-password-policy", &[], vec![users("/", &[], 3)], "Fail default_value");
    assert_eq!(
        actual,
        "the password policy is weak for 3 of 3 active users: the provider's default: 8 characters by default, strength not \
         demanded by default, reuse not prevented by default (3 users)"
    );
    // The default is long enough if no more is demanded, but not strong.
    let mut settings = Settings::default();
    settings.set(&workspace_password::MINIMUM_LENGTH, 8);
    let strong = json!({"allowedStrength": "STRONG", "allowReuse": false});
    let found = facts(record(&[policy("security.password", &strong, "/", 1)], vec![users("/", &[], 1)]));
    assert_eq!(verdict("workspace-password-policy", &found, &settings).status, Status::Pass);
    settings.set(&session_length::MAXIMUM_HOURS, 12);
    let day = json!({"webSessionDuration": "86400s"});
    let found = facts(record(&[policy("security.session_controls", &day, "/", 1)], vec![users("/", &[], 1)]));
    assert_eq!(verdict("session-length", &found, &settings).status, Status::Fail);
}

const TWO_STEP: &str = "security.two_step_verification_enforcement";

fn on() -> Value {
    json!({"enforcedFrom": "2024-03-01T00:00:00Z"})
}

fn off() -> Value {
    json!({"enforcedFrom": "1970-01-01T00:00:00Z"})
}

/// A policy for two-step verification.
fn two_step(value: &Value, place: &str, order: impl Into<Value>) -> Value {
    policy(TWO_STEP, value, place, order)
}

/// Which policy counts. What three other tools answer wrongly is here: a root that is off although every user is under an
/// override that enforces (prowler#12692), the value of one unit taken for all (prowler PR#10683), and overrides that nobody
/// looks at (ScubaGoggles#196, #197).
#[test]
fn which_policy_counts() {
    let everyone = || vec![users("/", &[], 5), users("/Sales", &[], 3), users("/Sales/North", &["g"], 2)];
    let (fail, over, pass) = ("Fail two_step_not_enforced", "Fail two_step_override", "Pass ok");
    let is = |policies: &[Value], people, expected| is("two-step-policy", policies, people, expected);
    assert_eq!(
        is(&[two_step(&on(), "/", 1)], everyone(), pass),
        "two-step verification is enforced for 10 active users"
    );
    // An override for a unit with users, also of a unit below.
    assert_eq!(
        is(&[two_step(&on(), "/", 1), two_step(&off(), "/Sales", 2)], everyone(), over),
        "two-step verification is not enforced for 5 of 10 active users: /Sales: off (5 users)"
    );
    is(&[two_step(&on(), "/", 1), two_step(&off(), "/Sales/North", 2)], everyone(), over);
    // Of a unit without users, and of one whose name only begins alike.
    is(&[two_step(&on(), "/", 1), two_step(&off(), "/SalesX", 2)], everyone(), pass);
    is(&[two_step(&on(), "/", 1), two_step(&off(), "/SalesX", 2)], vec![users("/Sales", &[], 1)], pass);
    // A group beats its members' units by its order, not by being a group.
    assert_eq!(
        is(&[two_step(&on(), "/", 1), two_step(&off(), "#g", 2)], everyone(), over),
        "two-step verification is not enforced for 2 of 10 active users: group g: off (2 users)"
    );
    is(&[two_step(&on(), "/", 2), two_step(&off(), "#g", 1)], everyone(), pass);
    // prowler#12692: off at the root, and everyone under an override that enforces.
    let under = || vec![users("/Sales", &[], 3), users("/Sales/North", &["g"], 2)];
    is(&[two_step(&off(), "/", 1), two_step(&on(), "/Sales", 2)], under(), pass);
    is(&[two_step(&on(), "/Sales", 2)], under(), pass);
    is(&[two_step(&off(), "/", 1), two_step(&on(), "/Sales", 2)], everyone(), fail);
    is(&[two_step(&on(), "/Sales", 2)], everyone(), fail);
    // prowler PR#10683: the value of a unit is not that of everyone.
    is(&[two_step(&off(), "/", 1), two_step(&on(), "/Sales/North", 2)], everyone(), fail);
    // ScubaGoggles#196, #197: a unit below takes away what the unit above gives, and a group what both give.
    let deep = [two_step(&on(), "/", 1), two_step(&on(), "/Sales", 2), two_step(&off(), "/Sales/North", 3)];
    is(&deep, everyone(), over);
    // The order may have decimals. Without one, or with the same, nobody can tell which counts.
    is(&[two_step(&on(), "/", 1.5), two_step(&off(), "/Sales", 1.25)], everyone(), pass);
    for order in [json!(null), json!(1)] {
        let policies = [two_step(&on(), "/", order.clone()), two_step(&off(), "/Sales", order)];
        is(&policies, everyone(), "NotVerifiable policy_reach_unknown");
    }
    // If they agree, it does not matter.
    is(&[two_step(&on(), "/", 1), two_step(&on(), "/Sales", 1)], everyone(), pass);
}

/// Where it is not known whether a policy applies, what both would say counts.
#[test]
fn who_is_reached() {
    let unknown = "NotVerifiable policy_reach_unknown";
    let is = |facts: &PolicyFacts, expected: &str| {
        let verdict = verdict("two-step-policy", facts, &Settings::default());
        assert_eq!(format!("{:?} {}", verdict.status, verdict.reason.code), expected, "{:?}", verdict.actual);
    };
    let one = || vec![users("/Sales", &[], 3)];
    let override_of =
        |place: &str, value: &Value| record(&[two_step(&on(), "/", 1), two_step(value, place, 2)], one());
    // A group that was not read to its end, one that holds a group, and one that was not read.
    for change in [
        |group: &mut PolicyGroup| group.members_read = Extent::Partial,
        |group: &mut PolicyGroup| group.members_read = Extent::NotRead,
        |group: &mut PolicyGroup| group.only_users = false,
        |group: &mut PolicyGroup| group.group_id = "other".to_string(),
    ] {
        let mut found = override_of("#g", &off());
        change(&mut found.groups[0]);
        is(&facts(found), unknown);
        let mut same = override_of("#g", &on());
        change(&mut same.groups[0]);
        is(&facts(same), "Pass ok");
    }
    is(&facts(override_of("#g", &off())), "Pass ok");
    // A unit that was not read, or a user whose unit the list does not show.
    is(&facts(override_of("/Gone", &off())), unknown);
    let mut hidden = override_of("/Sales", &off());
    hidden.users[0].org_unit_path = Field::Absent;
    is(&facts(hidden), unknown);
    // A policy for some licences.
    let mut licence = override_of("/Sales", &off());
    if let Field::Value(query) = &mut licence.policies[1].policy_query {
        query.query = Field::Value("entity.licenses.exists(license, true)".to_string());
    }
    is(&facts(licence), unknown);
    // Policies, units or users that were not read, with why.
    let gap = || Some((&reason::PERMISSION_DENIED, "policies: no".to_string()));
    let denied = "NotVerifiable permission_denied";
    is(&PolicyFacts { record: None, gap: gap(), ..facts(override_of("/Sales", &on())) }, denied);
    is(&PolicyFacts { record: None, ..facts(override_of("/Sales", &on())) }, "NotVerifiable no_evidence");
    for extent in [Extent::Partial, Extent::NotRead] {
        let mut found = override_of("/Sales", &off());
        found.policies_read = extent;
        is(&PolicyFacts { gap: gap(), ..facts(found) }, denied);
        // Users that were read can fail; that others pass proves nothing.
        for (value, expected) in [(on(), denied), (off(), "Fail two_step_override")] {
            let mut found = override_of("/Sales", &value);
            found.user_listings[0].read = extent;
            is(&PolicyFacts { gap: gap(), ..facts(found) }, expected);
        }
    }
    let mut no_units = override_of("/Sales", &off());
    (no_units.org_units, no_units.org_units_read) = (Vec::new(), Extent::NotRead);
    is(&PolicyFacts { gap: gap(), ..facts(no_units) }, denied);
    // Without any policy, the default is certain.
    let mut none = record(&[], one());
    none.org_units.clear();
    is(&PolicyFacts { gap: gap(), ..facts(none) }, "Fail two_step_not_enforced");
    // Accounts that may not be active, and none at all.
    let mut unsure = override_of("/Sales", &off());
    unsure.users[0].certain = false;
    is(&facts(unsure), "NotVerifiable suspended_not_visible");
    is(&facts(record(&[], Vec::new())), "NotApplicable nothing_in_scope");
}

/// Only super administrators count for their recovery; whether somebody is one must be known.
#[test]
fn recovery_is_about_super_administrators() {
    let setting = "security.super_admin_account_recovery";
    let (rule, allowed) = ("recovery-off", json!({"enableAccountRecovery": true}));
    let policies = [
        policy(setting, &json!({"enableAccountRecovery": false}), "/", 1),
        policy(setting, &allowed, "/Sales", 2),
    ];
    let seller = |is_admin: Field<bool>| PolicyUsers { is_admin, ..users("/Sales", &[], 2) };
    let boss = || users("/", &[], 1);
    is(rule, &policies, vec![boss(), seller(Field::Value(false))], "Pass ok");
    is(rule, &policies, vec![boss(), seller(Field::Value(true))], "Fail recovery_allowed");
    is(rule, &policies, vec![boss(), seller(Field::Absent)], "NotVerifiable suspended_not_visible");
    // Every workspace has a super administrator: none means that they were not shown.
    is(rule, &policies, vec![seller(Field::Value(false))], "NotVerifiable no_evidence");
}

/// The provider's own policies count after those of administrators, and are defaults.
#[test]
fn policies_of_the_provider() {
    let system = |value: &Value, order: u32| {
        let mut policy = policy("security.session_controls", value, "/", order);
        policy["type"] = json!("SYSTEM");
        policy
    };
    let (long, short) = (json!({"webSessionDuration": "1209600s"}), json!({"webSessionDuration": "3600s"}));
    let one = || vec![users("/", &[], 3)];
    is("session-length", &[system(&long, 1)], one(), "Fail default_value");
    is("session-length", &[system(&short, 1)], one(), "Pass ok");
    let own = policy("security.session_controls", &short, "/", 1);
    is("session-length", &[system(&long, 9), own], one(), "Pass ok");
}

/// prowler#12715: a policy has no roles, so administrators count by their unit and groups as others do.
#[test]
fn the_strength_is_not_by_role() {
    let setting = "security.two_step_verification_enforcement_factor";
    let policies = [
        policy(setting, &json!({"allowedSignInFactorSet": "ALL"}), "/", 1),
        policy(setting, &json!({"allowedSignInFactorSet": "PASSKEY_ONLY"}), "#g", 2),
    ];
    is("two-step-strength", &policies, vec![users("/", &["g"], 2)], "Pass ok");
    let mixed =
        vec![users("/", &["g"], 2), PolicyUsers { is_admin: Field::Value(false), ..users("/", &[], 5) }];
    let actual = is("two-step-strength", &policies, mixed, "Fail two_step_any_factor");
    assert_eq!(actual, "any second step is allowed for 5 of 7 active users: /: any (5 users)");
}

#[test]
fn only_the_first_places_are_named() {
    let paths: Vec<String> = (0..7).map(|number| format!("/Unit{number}")).collect();
    let policies: Vec<Value> =
        paths.iter().zip(1_u32..).map(|(path, order)| two_step(&off(), path, order)).collect();
    let mut found = record(&policies, paths.iter().map(|path| users(path, &[], 1)).collect());
    found.org_units = paths.iter().map(|path| serde_json::from_value(unit(path)).unwrap()).collect();
    let verdict = verdict("two-step-policy", &facts(found), &Settings::default());
    let actual = verdict.actual.unwrap();
    assert!(actual.starts_with(
        "two-step verification is not enforced for 7 of 7 active users: /Unit0: off (1 user), "
    ));
    assert!(actual.ends_with("/Unit4: off (1 user) and 2 more"), "{actual}");
}
