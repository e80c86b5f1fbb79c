"""Runs the real program against a workspace provider that is simulated from its own discovery documents.

Usage: workspace.py <evidence binary> [sandbox binary]. Run by workspace.sh, which installs what it imports.
"""

import functools
import json
import re
import sys
import tempfile
from pathlib import Path

import google.auth.exceptions
import google.oauth2.service_account
import googleapiclient.discovery
import googleapiclient.errors
import workspace_keyless
from bundle import Differs, Scenarios, Tool, expect, expect_in, refused, sandbox
from discovery import Discovery
from workspace_directory import Directory
from workspace_host import DOCUMENTS, Host, ServiceAccount

SCOPES = {
    "https://www.googleapis.com/auth/admin.directory.user.readonly",
    "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
    "https://www.googleapis.com/auth/admin.reports.audit.readonly",
}
CONTROLS = ["CC6.1", "CC6.6"]
CALLS = {"directory.users.list", "directory.roles.list", "directory.roleAssignments.list", "reports.activities.list"}


def second_client(url, file, administrator, scopes=SCOPES):
    """The provider's own client library: the two services it needs, signed in with the service account."""
    credentials = google.oauth2.service_account.Credentials.from_service_account_info(
        file, scopes=sorted(scopes), subject=administrator
    )
    return [
        googleapiclient.discovery.build(
            *name, credentials=credentials, client_options={"api_endpoint": url}, cache_discovery=False
        )
        for name in (("admin", "directory_v1"), ("admin", "reports_v1"))
    ]


def read_all(collection, member, **parameters):
    """All members of a list with several pages, and the original pages."""
    request, members, pages = collection.list(**parameters), [], []
    while request is not None:
        page = request.execute()
        pages.append(page)
        members += page.get(member, [])
        request = collection.list_next(request, page)
    return members, pages


def read_everything(url, file, administrator, customer):
    directory, reports = second_client(url, file, administrator)
    return {
        "directory.users.list": read_all(directory.users(), "users", customer=customer),
        "directory.roles.list": read_all(directory.roles(), "items", customer=customer),
        "directory.roleAssignments.list": read_all(directory.roleAssignments(), "items", customer=customer),
        "reports.activities.list": read_all(reports.activities(), "items", userKey="all", applicationName="admin"),
    }


def the_host_itself():
    """The provider's own client understands the simulation, and all of its requests are accepted."""
    directory = Directory()
    with Host(directory) as host:
        # That client uses the public token endpoint, whatever the file says.
        host.audience = google.oauth2.service_account._GOOGLE_OAUTH2_TOKEN_ENDPOINT
        found = read_everything(host.url, host.account.file, host.administrator, "my_customer")
    expect("users", found["directory.users.list"][0], directory.users)
    expect("roles", found["directory.roles.list"][0], directory.roles)
    expect("assignments", found["directory.roleAssignments.list"][0], directory.assignments)
    expect("activities", found["reports.activities.list"][0], directory.activities)


def the_host_asks_for_scopes():
    """A token is valid only for its scopes, and a scope that is not delegated gets none."""
    users, reports = sorted(scope for scope in SCOPES if "role" not in scope)
    with Host(Directory()) as host:
        host.audience = google.oauth2.service_account._GOOGLE_OAUTH2_TOKEN_ENDPOINT
        directory, _ = second_client(host.url, host.account.file, host.administrator, [reports])
        with refused(googleapiclient.errors.HttpError, "insufficient authentication scopes"):
            directory.users().list(customer="my_customer").execute()
        host.not_delegated = {reports}
        directory, _ = second_client(host.url, host.account.file, host.administrator, [users, reports])
        with refused(google.auth.exceptions.RefreshError, "unauthorized_client"):
            directory.users().list(customer="my_customer").execute()
        expect("answered", host.called, [])


def the_host_refuses():
    """A request that the documents do not describe is refused and recorded, which the checks below rely on."""
    discovery = Discovery(*DOCUMENTS)
    users = "/admin/directory/v1/users"
    activities = "/admin/reports/v1/activity/users/all/applications"
    for http, path, query in [
        ("PUT", users, {}),
        ("GET", users + "/", {}),
        ("GET", users, {"maxResults": "501"}),
        ("GET", users, {"maxresults": "5"}),
        ("GET", users, {"projection": "all"}),
        ("GET", users, {"fields": "users(id,isEnrolledIn2SV)"}),
        ("GET", users, {"fields": "users(id"}),
        ("GET", f"{activities}/admins", {}),
        ("GET", f"{activities}/admin", {"startTime": "2026-01-01"}),
        ("GET", f"{activities}/admin", {"customerId": "42"}),
    ]:
        found = discovery.find(http, path)
        if found and not found[0].path_faults(found[1]) + found[0].faults(list(query.items())):
            raise Differs(f"{http} {path} {query} is let through")
    method, _ = discovery.find("GET", users)
    expect(
        "a good request",
        method.faults([("customer", "my_customer"), ("fields", "nextPageToken,users(id,name/fullName)")]),
        [],
    )


class Check:
    """The tool and a provider."""

    def __init__(self, tool):
        self.tool = tool

    def collect(self, host, controls=CONTROLS, account=None, variables=None, **configuration):
        """Collects, and makes the checks that apply to every run."""
        account = account or host.account
        file = Path(self.tool.work) / "service-account.json"
        file.touch(0o600)
        file.write_text(json.dumps(account.file))
        source = {
            "mode": "service_account",
            "customer_id": Directory.CUSTOMER,
            "admin_email": host.administrator,
            "api_url": host.url,
        } | configuration
        variables = variables or {"ALTCLOUD_APPLICATION_CREDENTIALS": str(file)}
        run = self.tool.collect(controls, {"altcloud": source}, variables)
        expect("scopes that are not wanted", sorted(set().union(*host.asked) - SCOPES), [])
        expect("calls that are not wanted", sorted(set(host.called) - CALLS), [])
        run.expect_nowhere(secrets_of(account, host) | host.directory.planted())
        return run


def secrets_of(account, host):
    lines = account.private_key.splitlines()[1:-1]
    found = {f"line {number} of the private key": line for number, line in enumerate(lines, 1) if len(line) > 20}
    found |= {f"access token {number}": token for number, token in enumerate(host.tokens, 1)}
    return found | {f"assertion {number}": assertion for number, assertion in enumerate(host.assertions, 1)}


def statuses(bundle, control):
    return [
        (check["rule"], check["subject"], check["status"], check["reason"])
        for check in bundle.control(control)["checks"]
    ]


def all_good(check, ignore_masks=False):
    directory = Directory()
    with Host(directory) as host:
        # Fields that were not requested must not get into the bundle if they arrive nevertheless.
        host.ignore_masks = ignore_masks
        bundle = check.collect(host).expect_bundle(0)
        expect("calls", set(host.called), CALLS)
        expect("scopes", set().union(*host.asked), SCOPES)
    expect("CC6.1", bundle.control("CC6.1")["status"], "pass")
    expect("CC6.6", bundle.control("CC6.6")["status"], "pass")
    expect(
        "artifacts",
        bundle.artifacts("altcloud"),
        ["admin_roles.json", "two_step_verification.json", "user_lifecycle.json"],
    )
    expect_same_users(bundle, directory.users)
    roles = bundle.json("sources/altcloud/admin_roles.json")
    expect(
        "roles",
        by(roles["roles"], "roleId"),
        picked(directory.roles, roles["roles"], "roleId", "isSuperAdminRole", "isSystemRole"),
    )
    added = "assigneeFromUsersList"
    found = [{name: value for name, value in one.items() if name != added} for one in roles["roleAssignments"]]
    expect(
        "assignments",
        by(found, "roleAssignmentId"),
        picked(directory.assignments, found, "roleAssignmentId", "assignedTo"),
    )
    for one in roles["roleAssignments"]:
        user = next(user for user in directory.users if user["id"] == one["assignedTo"])
        expect(f"assignee {user['id']}", one[added], {name: user[name] for name in one[added]})
    events = bundle.json("sources/altcloud/user_lifecycle.json")["events"]
    expect(
        "events",
        sorted(
            (event["time"], event["name"], event["actor"]["email"], event["parameters"]["USER_EMAIL"])
            for event in events
        ),
        sorted(
            (
                one["id"]["time"],
                one["events"][0]["name"],
                one["actor"]["email"],
                one["events"][0]["parameters"][0]["value"],
            )
            for one in directory.activities
        ),
    )


def by(items, name):
    return sorted(items, key=lambda item: item[name])


def picked(all_of_them, found, *needed):
    """The members with the fields that the artifact has, and in any case `needed`."""
    names = set(needed).union(*found)
    return by([{name: one[name] for name in names if name in one} for one in all_of_them], needed[0])


def expect_same_users(bundle, users):
    found = bundle.json("sources/altcloud/two_step_verification.json")["users"]
    needed = ("primaryEmail", "suspended", "archived", "isEnrolledIn2Sv", "isEnforcedIn2Sv")
    expect("users", by(found, "primaryEmail"), picked(users, found, *needed))


def enrolled_not_enforced(check):
    directory = Directory()
    directory.user_at("user29")["isEnforcedIn2Sv"] = False
    with Host(directory) as host:
        bundle = check.collect(host).expect_bundle(0)
    expect(
        "CC6.1", statuses(bundle, "CC6.1"), [("two-step-verification", "C0acme042", "fail", "two_step_not_enforced")]
    )
    expect_in("what was found", "user29@acme.test", bundle.control("CC6.1")["checks"][0]["actual"])
    expect("CC6.6", bundle.control("CC6.6")["status"], "pass")


def inactive_administrator(check):
    for account in ("user07", "user11"):
        directory = Directory()
        directory.assign(account, Directory.USERS)
        with Host(directory) as host:
            bundle = check.collect(host).expect_bundle(0)
        expect(f"{account}: CC6.6", bundle.control("CC6.6")["status"], "fail")
        expect(f"{account}: reasons", bundle.checks("CC6.6")["administrators"], {("fail", "inactive_administrator")})
        expect(f"{account}: CC6.1", bundle.control("CC6.1")["status"], "pass")


def number_of_super_administrators(check):
    table = {
        1: ("fail", "too_few_super_administrators"),
        2: ("pass", "ok"),
        4: ("pass", "ok"),
        5: ("fail", "too_many_super_administrators"),
    }
    for number, expected in table.items():
        directory = Directory()
        for account in range(5):
            directory.unassign(f"user{account:02}")
        for account in range(number):
            directory.assign(f"user{account:02}", Directory.SUPER)
        with Host(directory) as host:
            bundle = check.collect(host).expect_bundle(0)
        expect(f"{number} super administrators", bundle.checks("CC6.6")["administrators"], {expected})


def roles_that_say_false(check):
    """The provider may later include members that it omits today."""
    directory = Directory()
    directory.roles = [{"isSystemRole": False, "isSuperAdminRole": False} | role for role in directory.roles]
    with Host(directory) as host:
        bundle = check.collect(host).expect_bundle(0)
    expect("administrators", bundle.checks("CC6.6")["administrators"], {("pass", "ok")})


def not_delegated(check, scope):
    """Without one scope, the checks that need it are not verifiable, and the rest is judged."""
    rules = {
        # The users show whether an administrator is suspended.
        "admin.directory.user.readonly": {"two-step-verification", "administrators"},
        "admin.directory.rolemanagement.readonly": {"administrators"},
        "admin.reports.audit.readonly": {"user-lifecycle-log"},
    }
    with Host(Directory()) as host:
        host.not_delegated = {f"https://www.googleapis.com/auth/{scope}"}
        bundle = check.collect(host).expect_bundle(3, complete=False)
    found = bundle.checks("CC6.1") | bundle.checks("CC6.6")
    for rule in ("two-step-verification", "administrators", "user-lifecycle-log"):
        good = ("not_applicable", "information") if rule == "user-lifecycle-log" else ("pass", "ok")
        expected = ("not_verifiable", "permission_denied") if rule in rules[scope] else good
        expect(rule, found[rule], {expected})
    expect("advice", [scope] if scope in bundle.files["derived/hints.json"].decode() else [], [scope])


def throttled(check):
    with Host(Directory()) as host:
        host.throttle = set(CALLS)
        bundle = check.collect(host).expect_bundle(0)
        expect("not asked again", host.throttle, set())
    expect("controls", [bundle.control(one)["status"] for one in CONTROLS], ["pass", "pass"])
    expect_same_users(bundle, Directory().users)


def a_page_that_never_comes(check):
    """The last pages of users are missing: without a failure on the others, the result is still not a pass."""
    with Host(Directory()) as host:
        host.broken = {"directory.users.list": 14}
        bundle = check.collect(host).expect_bundle(3, complete=False)
    expect("two-step verification", bundle.checks("CC6.1")["two-step-verification"], {("not_verifiable", "host_error")})
    expect("administrators", {status for status, _ in bundle.checks("CC6.6")["administrators"]}, {"not_verifiable"})
    expect("the log", bundle.checks("CC6.6")["user-lifecycle-log"], {("not_applicable", "information")})
    expect("sources of the errors", {error["source"] for error in bundle.manifest["errors"]}, {"altcloud"})


def wrong_key(check):
    with Host(Directory()) as host:
        other = ServiceAccount(host.url)
        other.file["private_key_id"] = host.account.key_id
        check.collect(host, account=other).expect_refused(2, "invalid jwt signature")
        expect("calls", host.called, [])


def nothing_delegated(check):
    with Host(Directory()) as host:
        host.not_delegated = set(SCOPES)
        check.collect(host).expect_refused(2, "admin.directory.user.readonly")
        expect("calls", host.called, [])


def two_domains(check):
    directory = Directory()
    directory.user_at("user29")["isEnforcedIn2Sv"] = False
    with Host(directory) as host:
        bundle = check.collect(host, domains=["acme.example", "acme.test"]).expect_bundle(0)
        asked = {query.get("domain") for call, query in host.queries if call == "directory.users.list"}
    expect("domains", asked - {None}, {"acme.example", "acme.test"})
    expect_same_users(bundle, directory.users)
    expect(
        "CC6.1",
        {status[1:] for status in statuses(bundle, "CC6.1")},
        {("acme.example", "pass", "ok"), ("acme.test", "fail", "two_step_not_enforced")},
    )
    # All people with a role are in one of the two domains.
    expect("CC6.6", bundle.control("CC6.6")["status"], "pass")


def one_domain(check):
    """A person with a role in a domain that is not read is unknown, so the result is not a pass."""
    directory = Directory()
    directory.assign("user25", Directory.USERS)
    with Host(directory) as host:
        bundle = check.collect(host, domains=["acme.example"]).expect_bundle(0)
    expect_same_users(bundle, [user for user in directory.users if user["primaryEmail"].endswith("@acme.example")])
    expect("CC6.1", {status[1:] for status in statuses(bundle, "CC6.1")}, {("acme.example", "pass", "ok")})
    expect("CC6.6", bundle.checks("CC6.6")["administrators"], {("not_verifiable", "assignee_not_read")})


def only_what_the_control_needs(check):
    with Host(Directory()) as host:
        check.collect(host, controls=["CC6.1"]).expect_bundle(0)
        expect("calls", set(host.called), {"directory.users.list"})
        expect("scopes", set().union(*host.asked), {"https://www.googleapis.com/auth/admin.directory.user.readonly"})


def the_sandbox(binary, work):
    """The provider's own client understands our sandbox, whose answers match the documents."""
    file = Path(work) / "sandbox-account.json"
    methods = Discovery(*DOCUMENTS).methods
    for arguments, users in ((["--scenario", "demo"], None), (["--scenario", "large", "--size", "1230"], 1230)):
        federation = Path(work) / "sandbox-federation.json"
        files = ("--credentials-file", file, "--federation-file", federation)
        with sandbox(binary, work, "--host", "workspace", *files, *arguments) as printed:
            url, customer = re.search(r"at (http\S+?), customer (\w+)", printed).groups()
            administrator = re.search(r"Administrator: (\S+)", printed)[1]
            account = json.loads(file.read_text())
            keyless = json.loads(federation.read_text())
            workspace_keyless.the_sandbox(url, keyless, account["client_email"], administrator, SCOPES)
            found = read_everything(url, account, administrator, customer)
            for call, (members, pages) in found.items():
                for page in pages:
                    methods[call].check_answer(page)
                names = [json.dumps(member, sort_keys=True) for member in members]
                expect(f"{call}: members that come twice", len(names) - len(set(names)), 0)
            expect("calls without an answer", [call for call, (members, _) in found.items() if not members], [])
            if users:
                expect("users", len(found["directory.users.list"][0]), users)
                expect("pages of users", len(found["directory.users.list"][1]), 13)
            assigned = {one["roleId"] for one in found["directory.roleAssignments.list"][0]}
            known = {one["roleId"] for one in found["directory.roles.list"][0]}
            expect("assigned roles that there are not", sorted(assigned - known), [])
            directory, _ = second_client(url, account, administrator, [scope for scope in SCOPES if "reports" in scope])
            with refused(googleapiclient.errors.HttpError, "insufficient authentication scopes"):
                directory.users().list(customer=customer).execute()
            directory, _ = second_client(url, account | {"private_key": ServiceAccount(url).private_key}, administrator)
            with refused(google.auth.exceptions.RefreshError, "invalid_grant: Invalid JWT Signature."):
                directory.users().list(customer=customer).execute()


SCENARIOS = [
    ("all good", all_good),
    ("all good, and more fields than were asked for", functools.partial(all_good, ignore_masks=True)),
    ("one user enrolled but not enforced", enrolled_not_enforced),
    ("a suspended or archived administrator", inactive_administrator),
    ("1, 2, 4 and 5 super administrators", number_of_super_administrators),
    ("roles that say what they are not", roles_that_say_false),
    *(
        (f"{scope.rpartition('/')[2]} not delegated", functools.partial(not_delegated, scope=scope.rpartition("/")[2]))
        for scope in sorted(SCOPES)
    ),
    ("nothing delegated", nothing_delegated),
    ("throttled", throttled),
    ("a page that never comes", a_page_that_never_comes),
    ("wrong key", wrong_key),
    ("two domains", two_domains),
    ("one of two domains", one_domain),
    ("only CC6.1", only_what_the_control_needs),
    *workspace_keyless.SCENARIOS,
]


def main(evidence, sandbox_binary=None):
    scenarios = Scenarios()
    scenarios.run("what is played, read by the provider's own client", the_host_itself)
    scenarios.run("what is not described, refused", the_host_refuses)
    scenarios.run("what is not delegated, refused", the_host_asks_for_scopes)
    with tempfile.TemporaryDirectory() as work:
        check = Check(Tool(evidence, work))
        for title, scenario in SCENARIOS:
            scenarios.run(title, scenario, check)
        if sandbox_binary:
            scenarios.run("the sandbox, read by the provider's own client", the_sandbox, sandbox_binary, work)
    scenarios.finish()


main(*sys.argv[1:])
