"""An independent cloud provider on a loopback port, with a user, a role, trails, log groups and a policy.

There are two, and with this setup both check signatures and evaluate policies.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import boto3
from botocore.config import Config
from bundle import wait_for

HOME, AWAY = "us-east-1", "eu-west-1"
TRAIL = "acme-all"
EXTERNAL_ID = "acme-42"
# The permissions in docs/sources/cloud.md; `sts:GetCallerIdentity` needs none.
READING = (
    "organizations:ListAccounts",
    "ec2:DescribeRegions",
    "iam:GetAccountPasswordPolicy",
    "iam:GetAccountSummary",
    "cloudtrail:DescribeTrails",
    "cloudtrail:GetTrailStatus",
    "cloudtrail:GetEventSelectors",
    "logs:DescribeLogGroups",
)
GOOD_POLICY = {
    "MinimumPasswordLength": 14,
    "RequireSymbols": True,
    "RequireNumbers": True,
    "RequireUppercaseCharacters": True,
    "RequireLowercaseCharacters": True,
    "AllowUsersToChangePassword": True,
    "MaxPasswordAge": 90,
    "PasswordReusePrevention": 5,
}
# None: kept forever.
RETENTIONS = (90, None, 365, 180, 3653)


def allow(actions, **more):
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"} | more
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


class Account:
    """An account at an address, and one of its keys."""

    def __init__(self, name, url, key):
        self.name, self.url, self.key = name, url, key

    def client(self, service, region=HOME, key=None):
        key = key or self.key
        return boto3.client(
            service,
            region_name=region,
            endpoint_url=self.url,
            aws_access_key_id=key["AccessKeyId"],
            aws_secret_access_key=key["SecretAccessKey"],
            aws_session_token=key.get("SessionToken"),
            config=Config(retries={"total_max_attempts": 1}),
        )


class Provider(Account):
    """One running provider, and a user with all permissions."""

    def __init__(self, name, work):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        super().__init__(name, f"http://127.0.0.1:{self.port}", {"AccessKeyId": "test", "SecretAccessKey": "test"})
        scripts = Path(sys.executable).parent
        variables = {"PATH": os.environ["PATH"], "HOME": str(work)}
        if name == "moto":
            command = [scripts / "moto_server", "-H", "127.0.0.1", "-p", str(self.port)]
        else:
            command = [scripts / "ministack"]
            variables |= {
                "AUTH": "true",
                "BIND_HOST": "127.0.0.1",
                "GATEWAY_PORT": str(self.port),
                "IOT_MTLS_ENABLED": "0",
                "SFTP_ENABLED": "0",
            }
        self.log = open(Path(work) / f"{name}.log", "wb")
        self.process = subprocess.Popen(
            list(map(str, command)), cwd=work, env=variables, stdout=self.log, stderr=subprocess.STDOUT
        )
        wait_for(name, self.answers, 60)
        self.furnish()

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(Path(self.log.name).read_text())
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def role_of_pods(self):
        """A role that an identity provider's token is enough for."""
        iam = self.client("iam")
        provider = iam.create_open_id_connect_provider(
            Url="https://oidc.example", ClientIDList=["sts.amazonaws.com"], ThumbprintList=["0" * 40]
        )["OpenIDConnectProviderArn"]
        statement = {"Effect": "Allow", "Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": provider}}
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        role = iam.create_role(RoleName="evidence-pods", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        iam.put_role_policy(RoleName="evidence-pods", PolicyName="reading", PolicyDocument=allow(READING))
        return role

    def furnish(self):
        iam = self.client("iam")
        iam.create_user(UserName="admin")
        iam.put_user_policy(UserName="admin", PolicyName="everything", PolicyDocument=allow("*"))
        admin = iam.create_access_key(UserName="admin")["AccessKey"]
        reader = iam.create_user(UserName="evidence")["User"]
        self.reader = iam.create_access_key(UserName="evidence")["AccessKey"]
        trust = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": "sts:AssumeRole",
                    "Principal": {"AWS": reader["Arn"]},
                    "Condition": {"StringEquals": {"sts:ExternalId": EXTERNAL_ID}},
                }
            ],
        }
        self.role = iam.create_role(RoleName="evidence-reader", AssumeRolePolicyDocument=json.dumps(trust))["Role"][
            "Arn"
        ]
        iam.put_role_policy(RoleName="evidence-reader", PolicyName="reading", PolicyDocument=allow(READING))
        if self.name == "moto":
            # From here on it checks signatures and policies.
            urllib.request.urlopen(
                urllib.request.Request(
                    f"{self.url}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "application/octet-stream"}
                )
            ).read()
        self.key = admin
        self.account = self.client("sts").get_caller_identity()["Account"]
        self.permit(READING)
        self.client("iam").update_account_password_policy(**GOOD_POLICY)
        for number in range(120):
            self.log_group(f"/acme/service-{number:03}", RETENTIONS[number % len(RETENTIONS)])
        for number in range(7):
            self.log_group(f"/acme/edge-{number}", RETENTIONS[number % len(RETENTIONS)], AWAY)
        self.client("s3").create_bucket(Bucket="acme-trails")
        trails = self.client("cloudtrail")
        trails.create_trail(
            Name=TRAIL, S3BucketName="acme-trails", IsMultiRegionTrail=True, EnableLogFileValidation=True
        )
        trails.start_logging(Name=TRAIL)

    def permit(self, actions):
        """Allows the tool's user exactly `actions`."""
        self.client("iam").put_user_policy(UserName="evidence", PolicyName="reading", PolicyDocument=allow(actions))

    def log_group(self, name, days, region=HOME):
        logs = self.client("logs", region)
        logs.create_log_group(logGroupName=name)
        if days:
            logs.put_retention_policy(logGroupName=name, retentionInDays=days)

    @contextlib.contextmanager
    def permitted(self, actions):
        self.permit(actions)
        try:
            yield
        finally:
            self.permit(READING)

    @contextlib.contextmanager
    def password_policy(self, policy):
        """Temporarily sets another policy; `None` for none."""
        iam = self.client("iam")
        if policy is None:
            iam.delete_account_password_policy()
        else:
            iam.update_account_password_policy(**policy)
        try:
            yield
        finally:
            iam.update_account_password_policy(**GOOD_POLICY)

    @contextlib.contextmanager
    def not_logging(self):
        trails = self.client("cloudtrail")
        trails.stop_logging(Name=TRAIL)
        try:
            yield
        finally:
            trails.start_logging(Name=TRAIL)

    @contextlib.contextmanager
    def short_retention(self, name, days, region=HOME):
        logs = self.client("logs", region)
        before = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"][0].get("retentionInDays")
        logs.put_retention_policy(logGroupName=name, retentionInDays=days)
        try:
            yield
        finally:
            if before:
                logs.put_retention_policy(logGroupName=name, retentionInDays=before)
            else:
                logs.delete_retention_policy(logGroupName=name)

    @contextlib.contextmanager
    def trail(self, name, region=HOME, multi=False):
        """Temporarily adds a trail that is logging."""
        trails = self.client("cloudtrail", region)
        trails.create_trail(Name=name, S3BucketName="acme-trails", IsMultiRegionTrail=multi)
        trails.start_logging(Name=name)
        try:
            yield
        finally:
            trails.delete_trail(Name=name)
