use super::*;
use crate::altcloud::record::{Assignment, AssignmentRecord, Role, UserListing};
use crate::rule::Status;

fn text(text: &str) -> Field<String> {
    Field::Value(text.to_string())
}

fn user(id: &str, suspended: Field<bool>) -> Administrator {
    Administrator {
        id: text(id),
        primary_email: text(&format!("{id}@acme.example")),
        suspended,
        archived: Field::Value(false),
        is_admin: Field::Value(true),
        is_delegated_admin: Field::Value(false),
    }
}

fn active(id: &str) -> Administrator {
    user(id, Field::Value(false))
}

fn assigned(id: &str, kind: &str, user: Option<Administrator>) -> AssignmentRecord {
    let assignment = Assignment {
        role_id: text("1"),
        assigned_to: text(id),
        assignee_type: text(kind),
        ..Assignment::default()
    };
    AssignmentRecord { assignment, assignee_from_users_list: user }
}

/// A customer with these direct super administrators, and these groups with the role.
fn record(
    direct: Vec<Administrator>,
    with_role: &[&str],
    groups: Vec<GroupRecord>,
) -> EffectiveAdministrators {
    let of_users = direct.iter().map(|user| assigned(user.id.value().unwrap(), "user", Some(user.clone())));
    let of_groups = with_role.iter().map(|group| assigned(group, "group", None));
    let role = Role { role_id: text("1"), is_super_admin_role: Field::Value(true), ..Role::default() };
    let listing = UserListing {
        customer: Some("my_customer".to_string()),
        domain: None,
        read: Extent::Complete,
        users: 9,
    };
    let direct = AdminRoles {
        roles_read: Extent::Complete,
        role_assignments_read: Extent::Complete,
        user_listings: vec![listing],
        roles: vec![role],
        role_assignments: of_users.chain(of_groups).collect(),
        administrators_from_users_list: direct,
    };
    EffectiveAdministrators { direct, groups }
}

fn group(id: &str, members: Vec<MemberRecord>) -> GroupRecord {
    GroupRecord { group_id: id.to_string(), members_read: Extent::Complete, members }
}

fn member(id: &str, kind: &str, status: &str, user: Option<Administrator>) -> MemberRecord {
    let status = if status.is_empty() { Field::Absent } else { text(status) };
    MemberRecord { member: Member { id: text(id), kind: text(kind), status }, member_from_users_list: user }
}

fn people(ids: &[&str]) -> Vec<MemberRecord> {
    ids.iter().map(|id| member(id, "USER", "ACTIVE", Some(active(id)))).collect()
}

fn judged(record: &EffectiveAdministrators) -> (Status, &'static str) {
    with_gap(record, None)
}

fn with_gap(
    record: &EffectiveAdministrators,
    gap: Option<(&'static Reason, String)>,
) -> (Status, &'static str) {
    let verdict = judge(&EffectiveFacts { record: Some(record.clone()), gap });
    (verdict.status, verdict.reason.code)
}

const FEW: (Status, &str) = (Status::Fail, "super_administrators_too_few");
const MANY: (Status, &str) = (Status::Fail, "super_administrators_too_many");
const PASS: (Status, &str) = (Status::Pass, "ok");

/// Prowler counts direct users only.
#[test]
fn members_of_groups_count() {
    for direct in 0..6 {
        for through in 0..6 {
            let ids: Vec<String> = (0..direct).map(|number| format!("d{number}")).collect();
            let others: Vec<String> = (0..through).map(|number| format!("g{number}")).collect();
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let users = ids.iter().map(|id| active(id)).collect();
            let expected = match direct + through {
                0 => (Status::NotVerifiable, "no_evidence"),
                1 => FEW,
                2..=4 => PASS,
                _ => MANY,
            };
            let found = judged(&record(users, &["g"], vec![group("g", people(&others))]));
            assert_eq!(found, expected, "{direct} {through}");
        }
    }
    // The same person by both ways is one, and a suspended one is none.
    let twice = record(vec![active("a"), active("b")], &["g"], vec![group("g", people(&["a", "b"]))]);
    assert_eq!(judged(&twice), PASS);
    let gone = record(vec![active("a"), user("b", Field::Value(true))], &[], Vec::new());
    assert_eq!(judged(&gone), FEW);
}

#[test]
fn groups_in_groups() {
    let inner = |id: &str| member(id, "GROUP", "", None);
    let nested = |leaf: Vec<MemberRecord>| {
        record(vec![active("a")], &["g"], vec![group("g", vec![inner("h")]), group("h", leaf)])
    };
    assert_eq!(judged(&nested(people(&["b"]))), PASS);
    assert_eq!(judged(&nested(people(&["b", "c", "d", "e"]))), MANY);
    // In a circle.
    assert_eq!(judged(&nested(vec![inner("g")])), FEW);
    let record = record(vec![active("a"), active("b")], &["g"], vec![group("g", vec![inner("lost")])]);
    assert_eq!(judged(&record), (Status::NotVerifiable, "group_not_expanded"));
}

#[test]
fn what_cannot_be_expanded_is_open() {
    let two = || vec![active("a"), active("b")];
    let open = (Status::NotVerifiable, "group_not_expanded");
    assert_eq!(judged(&record(two(), &["g"], Vec::new())), open);
    for extent in [Extent::Partial, Extent::NotRead] {
        let partial = GroupRecord { members_read: extent, ..group("g", people(&["c"])) };
        assert_eq!(judged(&record(two(), &["g"], vec![partial])), open);
        // Five are too many, whatever else is in the group.
        let many = GroupRecord { members_read: extent, ..group("g", people(&["c", "d", "e"])) };
        assert_eq!(judged(&record(two(), &["g"], vec![many])), MANY);
    }
    for kind in ["CUSTOMER", "EXTERNAL", ""] {
        let everyone = group("g", vec![member("C01", kind, "", None)]);
        assert_eq!(judged(&record(two(), &["g"], vec![everyone])), open, "{kind}");
    }
}

/// Of a member outside the users that were read, the group says whether the account is active.
#[test]
fn accounts_that_the_users_do_not_have() {
    let with = |direct: &[&str], status: &str| {
        let stranger = group("g", vec![member("x", "USER", status, None)]);
        judged(&record(direct.iter().map(|id| active(id)).collect(), &["g"], vec![stranger]))
    };
    assert_eq!(with(&["a"], "ACTIVE"), PASS);
    assert_eq!(with(&["a"], "SUSPENDED"), FEW);
    let open = (Status::NotVerifiable, "super_administrator_not_read");
    assert_eq!(with(&["a"], ""), open);
    assert_eq!(with(&["a", "b"], ""), PASS);
    assert_eq!(with(&["a", "b", "c", "d"], ""), open);
    assert_eq!(with(&["a", "b", "c", "d"], "ACTIVE"), MANY);
    let hidden = record(vec![active("a"), user("b", Field::Absent)], &[], Vec::new());
    assert_eq!(judged(&hidden), open);
}

#[test]
fn listings_that_were_not_read_have_their_reason() {
    let gap = || Some((&reason::PERMISSION_DENIED, "roles: no".to_string()));
    let open = (Status::NotVerifiable, "permission_denied");
    let mut some = record(vec![active("a"), active("b")], &[], Vec::new());
    some.direct.role_assignments_read = Extent::Partial;
    assert_eq!(with_gap(&some, gap()), open);
    let mut few = record(vec![active("a")], &[], Vec::new());
    few.direct.roles_read = Extent::NotRead;
    assert_eq!(with_gap(&few, gap()), open);
    let mut users = record(vec![active("a"), active("b")], &[], Vec::new());
    users.direct.user_listings[0].read = Extent::Partial;
    assert_eq!(with_gap(&users, gap()), open);
    // Five are too many, whatever was not read.
    let mut many = record(["a", "b", "c", "d", "e"].map(active).to_vec(), &[], Vec::new());
    many.direct.role_assignments_read = Extent::Partial;
    assert_eq!(with_gap(&many, gap()), MANY);
    let nothing = judge(&EffectiveFacts { record: None, gap: gap() });
    assert_eq!((nothing.status, nothing.reason.code), open);
}
