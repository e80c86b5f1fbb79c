"""Compares the real program's results at independent cloud providers with those of the provider's client library.

Usage: cloud.py <evidence binary> [sandbox binary]. Run by cloud.sh, which installs what it imports.
"""

import base64
import collections
import contextlib
import datetime
import functools
import json
import re
import secrets
import sys
import tempfile

import botocore.exceptions
from bundle import Scenarios, Tool, expect, expect_in, refused, sandbox
from cloud_provider import AWAY, EXTERNAL_ID, GOOD_POLICY, HOME, READING, TRAIL, Account, Provider
from cloud_resources import detectors, resources
from credential_services import CredentialServices
from recorder import Recorder

CONTROLS = ["CC6.1", "CC7.2"]


class Check:
    """The tool at one provider, with all traffic between them recorded."""

    def __init__(self, tool, provider):
        self.tool, self.provider = tool, provider

    @contextlib.contextmanager
    def collected(self, controls=CONTROLS, key=None, throttle=(), throttle_after=(), variables=None, **configuration):
        """Collects, and then makes the checks that apply to every run."""
        recorder = Recorder(self.provider.port)
        recorder.throttle, recorder.throttle_after = set(throttle), dict(throttle_after)
        key = self.provider.reader | (key or {})
        source = {"mode": "env", "region": HOME, "endpoint_url": recorder.url} | configuration
        if variables is None:
            variables = {
                "CLOUD_ACCESS_KEY_ID": key["AccessKeyId"],
                "CLOUD_SECRET_ACCESS_KEY": key["SecretAccessKey"],
                "CLOUD_SESSION_TOKEN": key.get("SessionToken", ""),
            }
        run = self.tool.collect(controls, {"cloud": source}, variables)
        run.calls, run.actions = recorder.calls, collections.Counter(recorder.actions())
        recorder.stop()
        yield run
        strange = set(run.actions) - {*READING, "sts:GetCallerIdentity", "sts:AssumeRole"}
        expect("actions that are not wanted", sorted(strange), [])
        expect("calls that are not as described", [fault for call in run.calls for fault in call.faults()], [])
        run.expect_nowhere(secrets_of(key, recorder))


def secrets_of(key, recorder):
    found = {"the secret access key": key["SecretAccessKey"]}
    if key.get("SessionToken"):
        found["the session token"] = key["SessionToken"]
    for answer in recorder.answers:
        for name in ("SecretAccessKey", "SessionToken"):
            for value in re.findall(f"<{name}>([^<]+)</{name}>".encode(), answer):
                found[f"the temporary {name}"] = value.decode()
    for number, call in enumerate(recorder.calls):
        signature = call.headers.get("Authorization", "").partition("Signature=")[2]
        if signature:
            found[f"the signature of call {number}"] = signature
    return found


def as_read_by_the_client(provider, regions):
    """The same four objects, read by the provider's own client library, in the form of the artifacts."""
    groups, trails = {}, {}
    for region in regions:
        pages = provider.client("logs", region).get_paginator("describe_log_groups").paginate()
        groups[region] = [group for page in pages for group in page["logGroups"]]
        for trail in provider.client("cloudtrail", region).describe_trails()["trailList"]:
            trails[trail["TrailARN"]] = trail
    return {
        "provider": provider.name,
        "policy": provider.client("iam").get_account_password_policy()["PasswordPolicy"],
        "trails": [trails[arn] for arn in sorted(trails)],
        "groups": groups,
        "status": {
            trail["Name"]: provider.client("cloudtrail", trail["HomeRegion"]).get_trail_status(Name=trail["TrailARN"])
            for trail in trails.values()
        },
    }


def artifacts_at_home(bundle):
    """The names of the artifacts, without a trail's status in the regions that are not its own: servers differ there."""
    return [name for name in bundle.artifacts("cloud") if not re.search(r"_status_[a-z]+-[a-z]+-\d\.json$", name)]


def expect_same_artifacts(bundle, read):
    """Every artifact has the same members and values as the client read."""
    expect(
        "names of artifacts",
        artifacts_at_home(bundle),
        sorted(
            [
                "account_summary.json",
                "password_policy.json",
                "audit_trails.json",
                "log_groups.json",
                *(f"trail_{name}_status.json" for name in read["status"]),
            ]
        ),
    )
    policy = bundle.json("sources/cloud/password_policy.json")["PasswordPolicy"]
    expect("password policy", policy, only(policy, read["policy"], "MinimumPasswordLength", "RequireSymbols"))
    trails = bundle.json("sources/cloud/audit_trails.json")["trailList"]
    expect("number of trails", len(trails), len(read["trails"]))
    for trail, other in zip(sorted(trails, key=lambda trail: trail["TrailARN"]), read["trails"]):
        expect("trail", trail, only(trail, other, "Name", "TrailARN", "HomeRegion", "IsMultiRegionTrail"))
    for name, other in read["status"].items():
        status = bundle.json(f"sources/cloud/trail_{name}_status.json")
        # moto reports a delivery at the time of each request.
        if read["provider"] == "moto":
            status.pop("LatestDeliveryTime")
        expect(f"status of {name}", status, only(status, other, "IsLogging"))
    regions = bundle.json("sources/cloud/log_groups.json")["regions_read"]
    expect("regions", sorted(region["region"] for region in regions), sorted(read["groups"]))
    for region in regions:
        others = read["groups"][region["region"]]
        expect(
            "log groups",
            region["logGroups"],
            [
                {
                    name: other[name]
                    for name in ("logGroupName", "arn", "retentionInDays", "logGroupClass")
                    if name in other
                }
                for other in others
            ],
        )


def only(found, other, *needed):
    """What the client read under the names of the artifact, and in any case under `needed`; times as they are sent."""
    chosen = {name: other.get(name) for name in {*found, *needed}}
    return {
        name: value.timestamp() if isinstance(value, datetime.datetime) else value for name, value in chosen.items()
    }


SELECTORS = "cloudtrail:GetEventSelectors"


def delivered(provider):
    """The outcome of CC7.2 without faults: in ministack a trail has just started and never delivers."""
    return "not_verifiable" if provider.name == "ministack" else "pass"


def allowed(check):
    with check.collected(regions=[HOME, AWAY]) as run:
        bundle = run.expect_bundle(0)
    read = as_read_by_the_client(check.provider, [HOME, AWAY])
    expect("log groups at the provider", [len(groups) for groups in read["groups"].values()], [120, 7])
    expect_same_artifacts(bundle, read)
    expect("CC6.1", bundle.control("CC6.1")["status"], "pass")
    expect("CC7.2", bundle.control("CC7.2")["status"], delivered(check.provider))
    # The trail is visible in both regions, but is one trail, whose status is asked in both if it would pass. The pages
    # have 50 log groups each.
    status = run.actions["cloudtrail:GetTrailStatus"]
    expect("status asked", status in (1, 2), True)
    expect(
        "actions",
        dict(run.actions),
        {
            "sts:GetCallerIdentity": 1,
            "organizations:ListAccounts": 1,
            "ec2:DescribeRegions": 1,
            "iam:GetAccountPasswordPolicy": 1,
            "iam:GetAccountSummary": 1,
            "cloudtrail:DescribeTrails": 2,
            "cloudtrail:GetTrailStatus": status,
            "logs:DescribeLogGroups": 4,
        },
    )


def one_region_away_from_home(check):
    """A region other than the trail's own only shows its shadow."""
    with check.collected(region=AWAY) as run:
        bundle = run.expect_bundle(0)
    expect_same_artifacts(bundle, as_read_by_the_client(check.provider, [AWAY]))
    expect("CC7.2", bundle.control("CC7.2")["status"], delivered(check.provider))


def only_some_log_groups(check):
    with check.collected(log_groups=["/acme/service-00*", "/acme/service-119"]) as run:
        bundle = run.expect_bundle(0)
    (region,) = bundle.json("sources/cloud/log_groups.json")["regions_read"]
    expect(
        "log groups",
        [group["logGroupName"] for group in region["logGroups"]],
        [*(f"/acme/service-00{number}" for number in range(10)), "/acme/service-119"],
    )


def denied(check, action):
    """Without one action in the policy, its artifact is missing, the others exist, and no check fails."""
    left = [one for one in READING if one != action]
    # A policy that was read decides without the number of users.
    # Nor without the enabled regions and the organization's accounts, which only the scope is compared with.
    decided = action in ("iam:GetAccountSummary", "ec2:DescribeRegions", "organizations:ListAccounts")
    with check.provider.permitted(left), check.collected(regions=[HOME, AWAY]) as run:
        bundle = run.expect_bundle(0 if decided else 3, complete=decided)
    status = f"trail_{TRAIL}_status.json"
    artifacts = {
        "ec2:DescribeRegions": [],
        "organizations:ListAccounts": [],
        "iam:GetAccountPasswordPolicy": ["password_policy.json"],
        "iam:GetAccountSummary": ["account_summary.json"],
        # Without the list there is no trail to ask about.
        "cloudtrail:DescribeTrails": ["audit_trails.json", status],
        "cloudtrail:GetTrailStatus": [status],
        "logs:DescribeLogGroups": ["log_groups.json"],
    }
    missing = artifacts[action]
    every = {name for names in artifacts.values() for name in names}
    expect("artifacts", set(artifacts_at_home(bundle)), every - set(missing))
    if decided:
        expect("CC6.1", bundle.control("CC6.1")["status"], "pass")
        return
    control, other = ("CC6.1", "CC7.2") if action.startswith("iam:") else ("CC7.2", "CC6.1")
    expect(control, bundle.control(control)["status"], "not_verifiable")
    expect(other, bundle.control(other)["status"], delivered(check.provider) if other == "CC7.2" else "pass")
    good = {("pass", "ok"), ("not_verifiable", "delivery_unconfirmed")}
    refused = set().union(*bundle.checks(control).values()) - good
    expect(f"checks of {control}", sorted(refused), [("not_verifiable", "permission_denied")])


def wrong_secret(check):
    with check.collected(key={"SecretAccessKey": "bPxRfiCYwJalrXUtnFEMIK7MDENGkVq3tZp9sLmN"}) as run:
        run.expect_refused(2, "signature", "CLOUD_SECRET_ACCESS_KEY")
    expect("actions", dict(run.actions), {"sts:GetCallerIdentity": 1})


def unknown_key(check):
    with check.collected(key={"AccessKeyId": "AKIAZZZZZZZZZZZZZZZZ"}) as run:
        run.expect_refused(2, "CLOUD_ACCESS_KEY_ID")
    expect("actions", dict(run.actions), {"sts:GetCallerIdentity": 1})


def no_password_policy(check):
    with check.provider.password_policy(None), check.collected() as run:
        bundle = run.expect_bundle(0)
    expect("CC6.1", bundle.control("CC6.1")["status"], "fail")
    expect("checks", bundle.checks("CC6.1"), {"password-policy": {("fail", "password_policy_missing")}})
    expect("CC7.2", bundle.control("CC7.2")["status"], delivered(check.provider))


def weak_password_policy(check):
    for change, reason in [
        ({"MinimumPasswordLength": 7}, "password_too_short"),
        ({"RequireSymbols": False}, "password_characters_not_required"),
        ({"RequireUppercaseCharacters": False}, "password_characters_not_required"),
    ]:
        with check.provider.password_policy(GOOD_POLICY | change), check.collected(["CC6.1"]) as run:
            bundle = run.expect_bundle(0)
        expect(f"CC6.1 with {change}", bundle.checks("CC6.1"), {"password-policy": {("fail", reason)}})
    # The least that passes; 14 is recommended.
    with check.provider.password_policy(GOOD_POLICY | {"MinimumPasswordLength": 8}), check.collected(["CC6.1"]) as run:
        expect("CC6.1 with 8 characters", run.expect_bundle(0).control("CC6.1")["status"], "pass")
    needed = ("sts:GetCallerIdentity", "organizations:ListAccounts", "iam:GetAccountPasswordPolicy", "iam:GetAccountSummary")
    expect("only what CC6.1 needs", dict(run.actions), dict.fromkeys(needed, 1))


def trail_not_logging(check):
    with check.provider.not_logging(), check.collected(["CC7.2"]) as run:
        bundle = run.expect_bundle(0)
    expect("status", bundle.json(f"sources/cloud/trail_{TRAIL}_status.json")["IsLogging"], False)
    expect("checks", bundle.checks("CC7.2")["audit-trail"], {("fail", "audit_trail_not_logging")})
    expect("CC7.2", bundle.control("CC7.2")["status"], "fail")


def trails_of_one_region(check):
    """Logging single-region trails do not make up for a multi-region trail that does not log."""
    with check.provider.trail("acme-home"), check.provider.trail("acme-away", AWAY), check.provider.not_logging():
        with check.collected(["CC7.2"], regions=[HOME, AWAY]) as run:
            bundle = run.expect_bundle(0)
        read = as_read_by_the_client(check.provider, [HOME, AWAY])
    expect("trails", sorted(read["status"]), ["acme-all", "acme-away", "acme-home"])
    expect(
        "trails in the bundle",
        [name for name in bundle.artifacts("cloud") if name.startswith("trail_")],
        [f"trail_{name}_status.json" for name in sorted(read["status"])],
    )
    expect("checks", bundle.checks("CC7.2")["audit-trail"], {("fail", "audit_trail_not_multi_region")})
    expect("CC7.2", bundle.control("CC7.2")["status"], "fail")


def short_retention(check):
    """One of 127 log groups has too short a retention, on the last page of the second region."""
    with (
        check.provider.short_retention("/acme/edge-6", 60, AWAY),
        check.collected(["CC7.2"], regions=[HOME, AWAY]) as run,
    ):
        bundle = run.expect_bundle(0)
    expect("CC7.2", bundle.control("CC7.2")["status"], "fail")
    failed = [one for one in bundle.control("CC7.2")["checks"] if one["status"] == "fail"]
    expect(
        "failed checks",
        [(one["rule"], one["reason"]) for one in failed],
        [("log-retention", "log_retention_too_short")],
    )
    expect_in("what was found", "/acme/edge-6", failed[0]["actual"])


def assumed_role(check):
    role = {"mode": "assume_role", "role_arn": check.provider.role, "session_duration": 900}
    with check.provider.permitted(["sts:AssumeRole"]):
        with check.collected(external_id=EXTERNAL_ID, **role) as run:
            bundle = run.expect_bundle(0)
        expect("assumed once", run.actions["sts:AssumeRole"], 1)
        expect("controls", [bundle.control(one)["status"] for one in CONTROLS], ["pass", delivered(check.provider)])
        expect_same_artifacts(bundle, as_read_by_the_client(check.provider, [HOME]))
        # All later requests use the temporary key.
        after = [call.access_key for call in run.calls if call.service not in ("sts",)]
        expect("keys of the calls behind it", check.provider.reader["AccessKeyId"] in after, False)
        with check.collected(external_id="acme-43", **role) as run:
            run.expect_refused(2, "external")
        # moto accepts a missing external id, unlike the real provider.
        if check.provider.name != "moto":
            with check.collected(**role) as run:
                run.expect_refused(2, "external")


def temporary_credentials(check):
    """A session token from elsewhere is sent and signed; without it the key is unknown."""
    role = check.provider.role
    with check.provider.permitted(["sts:AssumeRole"]):
        sts = check.provider.client("sts", key=check.provider.reader)
        key = sts.assume_role(RoleArn=role, RoleSessionName="nightly", ExternalId=EXTERNAL_ID)["Credentials"]
    with check.collected(key=key) as run:
        bundle = run.expect_bundle(0)
    expect("controls", [bundle.control(one)["status"] for one in CONTROLS], ["pass", delivered(check.provider)])
    with check.collected(key=key | {"SessionToken": ""}) as run:
        run.expect_refused(2, "CLOUD_SESSION_TOKEN")


def without_a_stored_key(check):
    """Temporary credentials from a program, a container's and an instance's service, and the usual variables: the provider
    accepts what the tool signs with them."""
    with check.provider.permitted(["sts:AssumeRole"]):
        sts = check.provider.client("sts", key=check.provider.reader)
        key = sts.assume_role(RoleArn=check.provider.role, RoleSessionName="nightly", ExternalId=EXTERNAL_ID)["Credentials"]
    with CredentialServices(key) as services:
        program = ["/bin/cat", str(services.printed(check.tool.work))]
        usual = {
            "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
            "AWS_SESSION_TOKEN": key["SessionToken"],
        }
        container = {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{services.url}/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": services.token,
        }
        instance = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": services.url}
        for mode, variables, more in [
            ("command", {}, {"credentials_command": program}),
            ("container", container, {}),
            ("instance", instance, {}),
            ("default", usual, {}),
            ("default", container, {}),
            ("default", instance, {}),
        ]:
            with check.collected(key=key, variables=variables, mode=mode, **more) as run:
                bundle = run.expect_bundle(0)
            expect(f"controls by {mode}", [bundle.control(one)["status"] for one in CONTROLS], ["pass", delivered(check.provider)])
            expect_same_artifacts(bundle, as_read_by_the_client(check.provider, [HOME]))
            expect(f"keys by {mode}", {call.access_key for call in run.calls}, {key["AccessKeyId"]})


def web_identity(check):
    """A cluster's token for a role. moto refuses every request without a signature once it checks them."""
    if check.provider.name == "moto":
        return
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    claims = {"iss": "https://oidc.example", "aud": "sts.amazonaws.com", "sub": "pod", "iat": 1700000000, "exp": 4000000000}
    token = f"{part({'alg': 'RS256', 'typ': 'JWT'})}.{part(claims)}.{secrets.token_urlsafe(32)}"
    file = check.tool.work / "web-identity-token"
    file.write_text(token)
    file.chmod(0o600)
    recorder = Recorder(check.provider.port)
    run = check.tool.collect(
        CONTROLS,
        {"cloud": {"mode": "web_identity", "region": HOME, "endpoint_url": recorder.url}},
        {
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(file),
            "AWS_ROLE_ARN": check.provider.role_of_pods(),
            "AWS_ROLE_SESSION_NAME": "nightly",
        },
    )
    recorder.stop()
    bundle = run.expect_bundle(0)
    expect("controls", [bundle.control(one)["status"] for one in CONTROLS], ["pass", delivered(check.provider)])
    expect_same_artifacts(bundle, as_read_by_the_client(check.provider, [HOME]))
    expect("the first call", recorder.actions()[0], ":AssumeRoleWithWebIdentity")
    expect("calls without a signature", sum(1 for call in recorder.calls if not call.access_key), 1)
    run.expect_nowhere(secrets_of({"SecretAccessKey": token}, recorder))


def throttled(check):
    """Each call is throttled once, in the form of its protocol, and repeated."""
    with check.collected(throttle=READING, regions=[HOME, AWAY]) as run:
        bundle = run.expect_bundle(0)
    # Once more in the region that is not the trail's own, if it would pass.
    status = run.actions["cloudtrail:GetTrailStatus"]
    expect("status asked again", status in (2, 3), True)
    expect(
        "actions",
        dict(run.actions),
        {
            "sts:GetCallerIdentity": 1,
            "organizations:ListAccounts": 2,
            "ec2:DescribeRegions": 2,
            "iam:GetAccountPasswordPolicy": 2,
            "iam:GetAccountSummary": 2,
            "cloudtrail:DescribeTrails": 3,
            "cloudtrail:GetTrailStatus": status,
            "logs:DescribeLogGroups": 5,
        },
    )
    expect_same_artifacts(bundle, as_read_by_the_client(check.provider, [HOME, AWAY]))


def a_page_that_never_comes(check):
    """Two of three pages of log groups were read, and all groups on them are good: not a pass."""
    with check.collected(throttle_after={"logs:DescribeLogGroups": 2}) as run:
        bundle = run.expect_bundle(3, complete=False)
    expect("log retention", bundle.checks("CC7.2")["log-retention"], {("not_verifiable", "host_error")})
    reason = "delivery_unconfirmed" if delivered(check.provider) == "not_verifiable" else "ok"
    expect("audit trail", bundle.checks("CC7.2")["audit-trail"], {(delivered(check.provider), reason)})
    expect("CC6.1", bundle.control("CC6.1")["status"], "pass")
    expect("five attempts", run.actions["logs:DescribeLogGroups"], 2 + 5)


def the_sandbox(binary, work, tool):
    """The provider's own client understands our sandbox: every call, all pages, and the refusals."""
    with sandbox(binary, work, "--host", "cloud", "--scenario", "large", "--size", "120") as printed:
        url, number = re.search(r"at (http\S+): .* (\d{12})\.", printed).groups()
        key = {
            "AccessKeyId": re.search(r"ACCESS_KEY_ID=(\S+)", printed)[1],
            "SecretAccessKey": re.search(r"SECRET_ACCESS_KEY=(\S+)", printed)[1],
        }
        home = re.search(r"CLOUD_REGION=(\S+)", printed)[1]
        role, external_id = re.search(r"role: (\S+), external id (\S+)", printed).groups()
        account = Account("sandbox", url, key)
        expect("account", account.client("sts").get_caller_identity()["Account"], number)
        regions = [home, HOME]
        read = as_read_by_the_client(account, regions)
        expect("log groups", [len(read["groups"][region]) for region in regions], [120, 0])
        names = [group["logGroupName"] for group in read["groups"][home]]
        expect("log groups that come twice", len(names) - len(set(names)), 0)
        prefixed = account.client("logs", home).describe_log_groups(logGroupNamePrefix=names[-1])["logGroups"]
        expect("by prefix", [group["logGroupName"] for group in prefixed], names[-1:])
        assumed = account.client("sts").assume_role(RoleArn=role, RoleSessionName="check", ExternalId=external_id)
        again = as_read_by_the_client(Account("sandbox", url, assumed["Credentials"]), [home])
        expect("log groups as the role", again["groups"][home], read["groups"][home])
        wrong = key | {"SecretAccessKey": key["SecretAccessKey"][::-1]}
        unknown = key | {"AccessKeyId": "AKIAZZZZZZZZZZZZZZZZ"}
        for service, call, with_wrong, with_unknown in [
            ("sts", "get_caller_identity", "SignatureDoesNotMatch", "InvalidClientTokenId"),
            ("iam", "get_account_password_policy", "SignatureDoesNotMatch", "InvalidClientTokenId"),
            ("cloudtrail", "describe_trails", "InvalidSignatureException", "UnrecognizedClientException"),
            ("logs", "describe_log_groups", "InvalidSignatureException", "UnrecognizedClientException"),
        ]:
            for other, code in ((wrong, with_wrong), (unknown, with_unknown)):
                with refused(botocore.exceptions.ClientError, f"({code})"):
                    getattr(account.client(service, key=other), call)()
        for more in ({}, {"ExternalId": "another"}):
            with refused(botocore.exceptions.ClientError, "(AccessDenied)"):
                account.client("sts").assume_role(RoleArn=role, RoleSessionName="check", **more)
        source = {"mode": "env", "region": home, "regions": regions, "endpoint_url": url}
        run = tool.collect(
            CONTROLS,
            {"cloud": source},
            {
                "CLOUD_ACCESS_KEY_ID": key["AccessKeyId"],
                "CLOUD_SECRET_ACCESS_KEY": key["SecretAccessKey"],
            },
        )
        expect_same_artifacts(run.expect_bundle(0), read)


SCENARIOS = [
    ("everything allowed, two regions, 127 log groups", allowed),
    ("a region in which the trail has only its shadow", one_region_away_from_home),
    ("log groups by name and by prefix", only_some_log_groups),
    *((f"{action} denied", functools.partial(denied, action=action)) for action in READING if action != SELECTORS),
    ("wrong secret", wrong_secret),
    ("unknown access key", unknown_key),
    ("no password policy", no_password_policy),
    ("weak password policies", weak_password_policy),
    ("the trail does not log", trail_not_logging),
    ("only trails of one region log", trails_of_one_region),
    ("a log group keeps too short", short_retention),
    ("assumed role, with the right and a wrong external id", assumed_role),
    ("temporary credentials", temporary_credentials),
    ("without a stored key: a program, a container, an instance, the usual variables", without_a_stored_key),
    ("a cluster's token", web_identity),
    ("throttled", throttled),
    ("a page that never comes", a_page_that_never_comes),
    ("security groups, buckets, databases", resources),
    ("detectors", detectors),
]


def main(evidence, sandbox_binary=None):
    scenarios = Scenarios()
    with tempfile.TemporaryDirectory() as work:
        tool = Tool(evidence, work)
        for name in ("moto", "ministack"):
            provider = Provider(name, work)
            try:
                for title, scenario in SCENARIOS:
                    scenarios.run(f"{name}: {title}", scenario, Check(tool, provider))
            finally:
                provider.stop()
        if sandbox_binary:
            scenarios.run("the sandbox, read by the provider's own client", the_sandbox, sandbox_binary, work, tool)
    scenarios.finish()


main(*sys.argv[1:])
