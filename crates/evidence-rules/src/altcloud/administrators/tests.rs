use super::*;
use crate::altcloud::record::{Assignment, Extent, Role, UserListing};
use crate::rule::{Reason, Status};

const SUPER: &str = "1";
const OTHER: &str = "2";

fn value(text: &str) -> Field<String> {
    Field::Value(text.to_string())
}

/// The result of a judgement; `None` if a missing part has its own observation.
type Outcome = Option<(Status, &'static Reason)>;

/// A user with this id, active or inactive.
fn user(id: &str, inactive: bool) -> Administrator {
    Administrator {
        id: value(id),
        primary_email: value(&format!("u{id}@acme.example")),
        suspended: Field::Value(inactive),
        archived: Field::Value(false),
        is_admin: Field::Value(false),
        is_delegated_admin: Field::Value(true),
    }
}

fn assigned(role: &str, to: &str, kind: &str, user: Option<Administrator>) -> AssignmentRecord {
    let assignment = Assignment {
        role_id: value(role),
        assigned_to: value(to),
        assignee_type: value(kind),
        ..Assignment::default()
    };
    AssignmentRecord { assignment, assignee_from_users_list: user }
}

fn role(id: &str, is_super: Field<bool>) -> Role {
    Role { role_id: value(id), is_super_admin_role: is_super, ..Role::default() }
}

/// A completely read workspace with this many super administrators.
fn workspace(supers: usize) -> AdminRoles {
    let assignment = |number: usize| {
        let id = format!("10{number}");
        assigned(SUPER, &id, "user", Some(user(&id, false)))
    };
    AdminRoles {
        roles_read: Extent::Complete,
        role_assignments_read: Extent::Complete,
        user_listings: vec![listing(true, Extent::Complete)],
        roles: vec![role(SUPER, Field::Value(true)), role(OTHER, Field::Value(false))],
        role_assignments: (0..supers).map(assignment).collect(),
        administrators_from_users_list: Vec::new(),
    }
}

fn listing(whole: bool, read: Extent) -> UserListing {
    UserListing {
        customer: whole.then(|| "my_customer".to_string()),
        domain: (!whole).then(|| "acme.example".to_string()),
        read,
        users: 10,
    }
}

fn outcome(record: &AdminRoles) -> Outcome {
    judge(record).map(|verdict| (verdict.status, verdict.reason))
}

const PASS: Outcome = Some((Status::Pass, &reason::OK));

fn fail(reason: &'static Reason) -> Outcome {
    Some((Status::Fail, reason))
}

fn unknown(reason: &'static Reason) -> Outcome {
    Some((Status::NotVerifiable, reason))
}

/// A single change to a good workspace.
type Change = fn(&mut AdminRoles);

#[test]
fn one_difference_at_a_time() {
    let table: Vec<(&str, Change, Outcome)> = vec![
        ("nothing", |_| {}, PASS),
        (
            "another role",
            |w| w.role_assignments.push(assigned(OTHER, "7", "user", Some(user("7", false)))),
            PASS,
        ),
        (
            "a suspended user has another role",
            |w| w.role_assignments.push(assigned(OTHER, "7", "user", Some(user("7", true)))),
            fail(&INACTIVE_ADMINISTRATOR),
        ),
        (
            "an archived one",
            |w| {
                let archived = Administrator { archived: Field::Value(true), ..user("7", false) };
                w.role_assignments.push(assigned(OTHER, "7", "user", Some(archived)));
            },
            fail(&INACTIVE_ADMINISTRATOR),
        ),
        (
            "a suspended one of whom only users.list says that it is an administrator",
            |w| w.administrators_from_users_list.push(user("7", true)),
            fail(&INACTIVE_ADMINISTRATOR),
        ),
        (
            "a suspended one whose number is said to be a group's",
            |w| w.role_assignments.push(assigned(OTHER, "7", "group", Some(user("7", true)))),
            fail(&INACTIVE_ADMINISTRATOR),
        ),
        (
            "a group has a role",
            |w| w.role_assignments.push(assigned(OTHER, "g", "group", None)),
            unknown(&GROUP_MEMBERS_NOT_READ),
        ),
        (
            "a GROUP has a role",
            |w| w.role_assignments.push(assigned(OTHER, "g", "GROUP", None)),
            unknown(&GROUP_MEMBERS_NOT_READ),
        ),
        (
            "a stranger to the whole customer",
            |w| w.role_assignments.push(assigned(OTHER, "s", "user", None)),
            PASS,
        ),
        (
            "a stranger to one domain",
            |w| {
                w.user_listings = vec![listing(false, Extent::Complete)];
                w.role_assignments.push(assigned(OTHER, "s", "user", None));
            },
            unknown(&ASSIGNEE_NOT_READ),
        ),
        ("one domain, everybody known", |w| w.user_listings = vec![listing(false, Extent::Complete)], PASS),
        (
            "an unknown role",
            |w| w.role_assignments.push(assigned("9", "7", "user", Some(user("7", false)))),
            unknown(&reason::NO_EVIDENCE),
        ),
        (
            "a role of which it is left out whether it is super, as the provider does where it is not",
            |w| {
                w.roles.push(role("9", Field::Absent));
                w.role_assignments.push(assigned("9", "7", "user", Some(user("7", false))));
            },
            PASS,
        ),
        (
            "a role of which it is null",
            |w| {
                w.roles.push(role("9", Field::Null));
                w.role_assignments.push(assigned("9", "7", "user", Some(user("7", false))));
            },
            unknown(&reason::NO_EVIDENCE),
        ),
        (
            "it is left out for all roles",
            |w| w.roles = vec![role(SUPER, Field::Absent), role(OTHER, Field::Absent)],
            unknown(&reason::NO_EVIDENCE),
        ),
        (
            "an assignment to nobody",
            |w| {
                w.role_assignments.push(AssignmentRecord {
                    assignment: Assignment::default(),
                    assignee_from_users_list: None,
                })
            },
            unknown(&reason::NO_EVIDENCE),
        ),
        (
            "whether an administrator is suspended is not told",
            |w| {
                let untold = Administrator { suspended: Field::Null, ..user("7", false) };
                w.role_assignments.push(assigned(OTHER, "7", "user", Some(untold)));
            },
            unknown(&reason::NO_EVIDENCE),
        ),
        ("roles in part", |w| w.roles_read = Extent::Partial, None),
        ("assignments in part", |w| w.role_assignments_read = Extent::Partial, None),
        ("assignments not at all", |w| w.role_assignments_read = Extent::NotRead, None),
        ("users in part", |w| w.user_listings = vec![listing(true, Extent::Partial)], None),
        (
            "one of two domains not at all",
            |w| w.user_listings = vec![listing(false, Extent::Complete), listing(false, Extent::NotRead)],
            None,
        ),
        (
            "users in part, and one suspended among them",
            |w| {
                w.user_listings = vec![listing(true, Extent::Partial)];
                w.role_assignments.push(assigned(OTHER, "7", "user", Some(user("7", true))));
            },
            fail(&INACTIVE_ADMINISTRATOR),
        ),
    ];
    for (what, change, expected) in table {
        let mut record = workspace(2);
        change(&mut record);
        assert_eq!(outcome(&record), expected, "{what}");
    }
}

/// Every number of super administrators, with everything read, and with each part incomplete.
#[test]
fn the_number_of_super_administrators() {
    for supers in 0..=7 {
        let few = fail(&TOO_FEW_SUPER_ADMINISTRATORS);
        let many = fail(&TOO_MANY_SUPER_ADMINISTRATORS);
        let everything = match supers {
            0 => unknown(&reason::NO_EVIDENCE),
            1 => few,
            2..=4 => PASS,
            _ => many,
        };
        assert_eq!(outcome(&workspace(supers)), everything, "{supers}");

        // There may be more than were read, never fewer.
        let part = if supers > 4 { many } else { None };
        for change in
            [(|w| w.roles_read = Extent::Partial) as Change, |w| w.role_assignments_read = Extent::Partial]
        {
            let mut record = workspace(supers);
            change(&mut record);
            assert_eq!(outcome(&record), part, "{supers}, in part");
        }

        // Counting them does not require knowing who they are.
        let mut record = workspace(supers);
        record.user_listings = vec![listing(true, Extent::Partial)];
        let part = match supers {
            1 => few,
            5.. => many,
            _ => None,
        };
        assert_eq!(outcome(&record), part, "{supers}, users in part");

        let mut record = workspace(supers);
        record.role_assignments.push(assigned(SUPER, "g", "group", None));
        let group = if supers > 4 { many } else { unknown(&GROUP_MEMBERS_NOT_READ) };
        assert_eq!(outcome(&record), group, "{supers}, and a group");
    }
}

#[test]
fn a_person_counts_once_however_often_and_wherever_the_role_is_listed() {
    let mut record = workspace(2);
    record.role_assignments.extend(workspace(2).role_assignments);
    record.role_assignments.push(assigned(OTHER, "100", "user", Some(user("100", false))));
    let flagged = Administrator { is_admin: Field::Value(true), ..user("100", false) };
    record.administrators_from_users_list.push(flagged);
    assert_eq!(outcome(&record), PASS);
    assert!(
        judge(&record)
            .unwrap()
            .actual
            .unwrap()
            .starts_with("2 super administrators (u100@acme.example, u101@")
    );

    // An administrator that only users.list reports counts as a further administrator.
    for number in 0..3 {
        let id = format!("20{number}");
        let flagged = Administrator { is_admin: Field::Value(true), ..user(&id, false) };
        record.administrators_from_users_list.push(flagged);
    }
    assert_eq!(outcome(&record), fail(&TOO_MANY_SUPER_ADMINISTRATORS));
}

#[test]
fn a_stranger_is_no_second_super_administrator() {
    let mut record = workspace(1);
    record.role_assignments.push(assigned(SUPER, "s", "user", None));
    assert_eq!(outcome(&record), unknown(&ASSIGNEE_NOT_READ));
    let mut record = workspace(4);
    record.role_assignments.push(assigned(SUPER, "s", "user", None));
    assert_eq!(outcome(&record), fail(&TOO_MANY_SUPER_ADMINISTRATORS), "but one too many");
}

/// Users without a reported id are not added to those counted by id.
#[test]
fn a_user_without_a_number_makes_the_count_uncertain_and_is_no_second_one() {
    let yes = || Field::Value(true);
    let unnumbered = |email: &str, is_admin: Field<bool>| Administrator {
        id: Field::Absent,
        primary_email: value(email),
        is_admin,
        ..user("", false)
    };
    for ids in [Field::Absent, Field::Null, value("")] {
        // By id in the assignments and by address in the list: the same people, but the list omits their ids.
        for supers in 1..=7 {
            let mut record = workspace(supers);
            for assignment in &mut record.role_assignments {
                let user = assignment.assignee_from_users_list.take().unwrap();
                let user = Administrator { id: ids.clone(), is_admin: yes(), ..user };
                record.administrators_from_users_list.push(user);
            }
            let expected = match supers {
                1..=4 => unknown(&reason::NO_EVIDENCE),
                _ => fail(&TOO_MANY_SUPER_ADMINISTRATORS),
            };
            assert_eq!(outcome(&record), expected, "{supers} {ids:?}");
            let actual = judge(&record).unwrap().actual.unwrap();
            assert!(actual.starts_with(&format!("{supers} super administrator")), "{actual}");
        }
    }
    // Users known only by address are never too many.
    let mut record = workspace(0);
    for number in 0..9 {
        record.administrators_from_users_list.push(unnumbered(&format!("a{number}@acme.example"), yes()));
    }
    assert_eq!(outcome(&record), unknown(&reason::NO_EVIDENCE));

    let suspended = |is_admin| Administrator { suspended: yes(), ..unnumbered("a@acme.example", is_admin) };
    let untold =
        |is_admin| Administrator { suspended: Field::Null, ..unnumbered("a@acme.example", is_admin) };
    let no = || Field::Value(false);
    for (supers, user, expected) in [
        (2, unnumbered("a@acme.example", yes()), unknown(&reason::NO_EVIDENCE)),
        (1, unnumbered("a@acme.example", yes()), unknown(&reason::NO_EVIDENCE)),
        (4, unnumbered("a@acme.example", yes()), unknown(&reason::NO_EVIDENCE)),
        (5, unnumbered("a@acme.example", yes()), fail(&TOO_MANY_SUPER_ADMINISTRATORS)),
        (2, unnumbered("a@acme.example", Field::Absent), unknown(&reason::NO_EVIDENCE)),
        (2, unnumbered("a@acme.example", Field::Null), unknown(&reason::NO_EVIDENCE)),
        (2, unnumbered("a@acme.example", no()), PASS),
        (1, unnumbered("a@acme.example", no()), fail(&TOO_FEW_SUPER_ADMINISTRATORS)),
        (2, untold(no()), unknown(&reason::NO_EVIDENCE)),
        (2, suspended(no()), fail(&INACTIVE_ADMINISTRATOR)),
        (2, suspended(yes()), fail(&INACTIVE_ADMINISTRATOR)),
    ] {
        let mut record = workspace(supers);
        record.administrators_from_users_list.push(user.clone());
        assert_eq!(outcome(&record), expected, "{supers} {user:?}");
    }
    let mut record = workspace(2);
    let numbered = Administrator { primary_email: value("a@acme.example"), ..user("7", true) };
    record.administrators_from_users_list.extend([numbered, suspended(no())]);
    let actual = judge(&record).unwrap().actual.unwrap();
    assert!(actual.starts_with("1 suspended or archived: a@acme.example; "), "told once: {actual}");
    assert!(actual.ends_with("; 1 administrator without an id, not counted"), "{actual}");
}

/// The text mentions what was found, and omits everything else.
#[test]
fn only_what_was_found_is_reported() {
    let said = |change: Change| {
        let mut record = workspace(2);
        change(&mut record);
        judge(&record).unwrap().actual.unwrap()
    };
    let supers = "2 super administrators (u100@acme.example, u101@acme.example)";
    assert_eq!(said(|_| {}), format!("{supers}, 2 administrators in all"));
    assert_eq!(
        said(|w| w.role_assignments.push(assigned(OTHER, "g", "group", None))),
        format!("{supers}, 2 administrators in all; 1 group with a role")
    );
    assert_eq!(
        said(|w| w.role_assignments.push(assigned(OTHER, "s", "user", None))),
        format!("{supers}, 3 administrators in all; 1 missing from the list of users")
    );
    let none = judge(&workspace(0)).unwrap().actual.unwrap();
    assert_eq!(none, "0 super administrators, 0 administrators in all");
}
