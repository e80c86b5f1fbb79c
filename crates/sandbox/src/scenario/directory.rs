//! The workspace directory of most tests, and one with many people.

use crate::workspace::{
    Activity, AdminRole, Assignment, MORE_SCOPES, Person, SCOPES, SUBJECT, ServiceAccount, Workspace,
};

/// The customer.
pub const DEMO_WORKSPACE_CUSTOMER: &str = "C0acme42";
/// The super administrator that the service account impersonates.
pub const DEMO_WORKSPACE_ADMIN: &str = "olivia.owner@acme.example";
/// A person without administrator roles.
pub const DEMO_WORKSPACE_MEMBER: &str = "max.member@acme.example";
/// The service account.
pub const DEMO_WORKSPACE_SERVICE_ACCOUNT: &str = "evidence@acme-audit.iam.gserviceaccount.com";
/// The service account attached to the machine that collects, for which the provider signs.
pub const DEMO_WORKSPACE_COLLECTOR: &str = "collector@acme-audit.iam.gserviceaccount.com";

fn directory() -> Workspace {
    Workspace::new(DEMO_WORKSPACE_CUSTOMER, ["acme.example", "acme-labs.example"])
        .service_account(
            ServiceAccount::new(DEMO_WORKSPACE_SERVICE_ACCOUNT)
                .delegated(SCOPES.into_iter().chain(MORE_SCOPES))
                .token_creator(DEMO_WORKSPACE_COLLECTOR)
                .token_creator(SUBJECT),
        )
        .attached(DEMO_WORKSPACE_COLLECTOR, ["https://www.googleapis.com/auth/cloud-platform"])
        .federated(SUBJECT)
        .person(person("Olivia", "Owner").super_admin(true).unit("/IT"))
        .person(person("Max", "Member").unit("/Sales"))
        .good_policies()
}

/// A person of the primary domain.
fn person(given: &str, family: &str) -> Person {
    let address = format!("{}.{}@acme.example", given.to_lowercase(), family.to_lowercase());
    Person::new(address, given, family)
}

/// The customer `C0acme42`: two dozen people in two domains, three of them super administrators. One active person is
/// enrolled in two-step verification voluntarily, and one suspended person still has an administrator role.
pub fn demo_workspace() -> Workspace {
    let others = [
        ("Ada", "Anvil", "/Engineering"),
        ("Ben", "Boulder", "/Engineering"),
        ("Cleo", "Cactus", "/Engineering"),
        ("Dara", "Dynamite", "/Engineering"),
        ("Emil", "Elastic", "/Engineering/Platform"),
        ("Fay", "Feather", "/Engineering/Platform"),
        ("Gus", "Gasket", "/Support"),
        ("Hana", "Hammer", "/Support"),
        ("Igor", "Iron", "/Finance"),
        ("Jo", "Jetpack", "/Finance"),
        ("Kim", "Kite", "/Sales"),
        ("Lou", "Lever", "/Sales"),
    ];
    let directory = others
        .into_iter()
        .zip(1u32..)
        .fold(directory(), |directory, ((given, family, unit), days)| {
            directory.person(person(given, family).unit(unit).last_login_days_ago(Some(days)))
        })
        .person(person("Piet", "Platform").super_admin(true).unit("/IT"))
        .person(person("Quinn", "Quick").super_admin(true).unit("/IT").last_login_days_ago(Some(3)))
        // Has set up a second step, but is not required to keep it.
        .person(person("Nora", "Newcomer").enforced(false).unit("/Sales").created_days_ago(9))
        // A help desk administrator; another one has been suspended since last month and still has the role.
        .person(person("Rita", "Rocket").admin_role("_HELP_DESK_ADMIN_ROLE").unit("/Support"))
        .person(
            person("Sid", "Spring")
                .admin_role("_HELP_DESK_ADMIN_ROLE")
                .suspended(true)
                .unit("/Support")
                .last_login_days_ago(Some(40)),
        )
        .person(person("Tess", "Tunnel").admin_role("Directory auditor").unit("/Finance"))
        .person(
            person("Uma", "Umbrella")
                .archived(true)
                .enrolled(false)
                .enforced(false)
                .unit("/Former")
                .last_login_days_ago(Some(200)),
        )
        .person(Person::new("vic@acme-labs.example", "Vic", "Volt").unit("/Labs"))
        .person(Person::new("wanda@acme-labs.example", "Wanda", "Wheel").unit("/Labs").created_days_ago(60))
        .person(person("Yan", "Yoyo").unit("/Support").created_days_ago(20))
        .person(person("Zoe", "Zipline").deleted_days_ago(12))
        .role(
            AdminRole::new("Directory auditor", "Reads people and reports")
                .privilege("USERS_RETRIEVE")
                .privilege("REPORTS_ACCESS"),
        )
        .assignment(Assignment::group("_GROUPS_ADMIN_ROLE", "03x8tuzt3hqdv5v").within("/Support"));
    lifecycle(directory)
}

/// Account events of the last months, and one that is past the log's retention.
fn lifecycle(directory: Workspace) -> Workspace {
    let (olivia, piet) = (DEMO_WORKSPACE_ADMIN, "piet.platform@acme.example");
    [
        (9, olivia, "CREATE_USER", "nora.newcomer@acme.example"),
        (12, olivia, "DELETE_USER", "zoe.zipline@acme.example"),
        (13, piet, "SUSPEND_USER", "zoe.zipline@acme.example"),
        (20, olivia, "CREATE_USER", "yan.yoyo@acme.example"),
        (31, piet, "SUSPEND_USER", "sid.spring@acme.example"),
        (60, piet, "CREATE_USER", "wanda@acme-labs.example"),
        (75, olivia, "SUSPEND_USER", "gus.gasket@acme.example"),
        (76, olivia, "UNSUSPEND_USER", "gus.gasket@acme.example"),
        (110, olivia, "GRANT_ADMIN_PRIVILEGE", "quinn.quick@acme.example"),
        (140, piet, "ARCHIVE_USER", "uma.umbrella@acme.example"),
        (400, piet, "CREATE_USER", "tess.tunnel@acme.example"),
    ]
    .into_iter()
    .fold(directory, |directory, (days, actor, event, subject)| {
        directory.activity(Activity::new(days, actor, event, subject))
    })
    .activity(
        Activity::new(32, piet, "GRANT_DELEGATED_ADMIN_PRIVILEGES", "rita.rocket@acme.example").and(
            "ASSIGN_ROLE",
            [("ROLE_NAME", "_HELP_DESK_ADMIN_ROLE"), ("USER_EMAIL", "rita.rocket@acme.example")],
        ),
    )
}

/// The same customer with this many people (two at least): two super administrators, verification enforced for all
/// except every fiftieth, every twentieth suspended, and one log entry for each of the newest thousand.
pub fn large_workspace(users: u32) -> Workspace {
    let directory = directory().person(person("Piet", "Platform").super_admin(true));
    (3..users.max(3)).fold(directory, |mut directory, number| {
        let address = format!("user{number:06}@acme.example");
        let days = number % 170;
        let person = Person::new(&address, format!("User{number}"), "Acme")
            .enforced(!number.is_multiple_of(50))
            .suspended(number.is_multiple_of(20))
            .created_days_ago(days + 200)
            .last_login_days_ago(Some(days));
        // Not `put_person`, which would search for the address first.
        directory.people.push(person);
        match number {
            3..1003 => directory.activity(Activity::new(days, DEMO_WORKSPACE_ADMIN, "CREATE_USER", &address)),
            _ => directory,
        }
    })
}
