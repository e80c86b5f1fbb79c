"""What the second framework reads of an account, compared with what the provider's own client library reads.

Differences of the two providers from the real one, as far as they were seen:
- moto asks for `s3:GetPublicAccessBlock` and `s3:ListBucket` instead of the real permissions of a block; once it checks
  signatures, it refuses those of a GET to GuardDuty, also of the provider's own client library, so detectors are read
  before it does;
- ministack has no block of public access of an account, no detectors of threats, no encryption of disks by default, and
  answers the question about a policy's status with the objects of the bucket: the run says that these were not read.
"""

import contextlib
import json
import socket
import subprocess
import sys
from pathlib import Path

import botocore.exceptions
from bundle import expect, refused, wait_for
from cloud_provider import HOME, READING, Account

CRITERIA = (
    "iam:GenerateCredentialReport",
    "iam:GetCredentialReport",
    "ec2:GetEbsEncryptionByDefault",
    "ec2:DescribeSecurityGroups",
    "s3:GetAccountPublicAccessBlock",
    "s3:ListAllMyBuckets",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetBucketPolicyStatus",
    "s3:GetBucketAcl",
    "rds:DescribeDBInstances",
    "rds:DescribeDBClusters",
    "guardduty:ListDetectors",
    "guardduty:GetDetector",
)


def furnish(provider):
    """Adds a security group that opens SSH, a public and a closed bucket, and two databases."""
    ec2, s3, rds = (provider.client(service) for service in ("ec2", "s3", "rds"))
    group = ec2.create_security_group(GroupName="acme-ssh", Description="for the check")["GroupId"]
    rule = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}
    networks = {"IpRanges": [{"CidrIp": "0.0.0.0/0"}], "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule | networks])
    for bucket in ("acme-open", "acme-closed"):
        s3.create_bucket(Bucket=bucket)
    # ministack blocks public access to new buckets, as the real provider does.
    s3.delete_public_access_block(Bucket="acme-open")
    anyone = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::acme-open/*"}
    s3.put_bucket_policy(Bucket="acme-open", Policy=json.dumps({"Version": "2012-10-17", "Statement": [anyone]}))
    block = dict.fromkeys(("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True)
    s3.put_public_access_block(Bucket="acme-closed", PublicAccessBlockConfiguration=block)
    common = {"Engine": "postgres", "DBInstanceClass": "db.t3.micro", "AllocatedStorage": 20}
    login = {"MasterUsername": "acme", "MasterUserPassword": "not-a-real-secret"}
    rds.create_db_instance(
        DBInstanceIdentifier="acme-orders",
        StorageEncrypted=True,
        PubliclyAccessible=False,
        BackupRetentionPeriod=14,
        **common,
        **login,
    )
    rds.create_db_instance(
        DBInstanceIdentifier="acme-open",
        StorageEncrypted=False,
        PubliclyAccessible=True,
        BackupRetentionPeriod=1,
        **common,
        **login,
    )
    return group


def detectors(check):
    """An enabled, a disabled and no detector, at a moto that does not check signatures yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [Path(sys.executable).parent / "moto_server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        account = Account("moto", f"http://127.0.0.1:{port}", {"AccessKeyId": "test", "SecretAccessKey": "test"})
        wait_for("moto", lambda: answers(port), 60)
        source = {"mode": "env", "region": HOME, "endpoint_url": account.url}
        variables = {"CLOUD_ACCESS_KEY_ID": "test", "CLOUD_SECRET_ACCESS_KEY": "test"}
        client = account.client("guardduty")
        for enabled, expected in ((None, "fail"), (True, "pass"), (False, "fail")):
            if enabled is True:
                detector = client.create_detector(Enable=True)["DetectorId"]
            if enabled is False:
                client.update_detector(DetectorId=detector, Enable=False)
            run = check.tool.collect(["CC7.2"], {"cloud": source}, variables, framework="tsc_2017")
            bundle = run.expect_bundle(0)
            (found,) = [one for one in bundle.control("CC7.2")["checks"] if one["rule"] == "threat-detection"]
            expect("threat-detection", found["status"], expected)
            read = bundle.json(f"sources/cloud/detectors_{HOME}.json")["Detectors"]
            others = [client.get_detector(DetectorId=one)["Status"] for one in client.list_detectors()["DetectorIds"]]
            expect("detectors", [one["Status"] for one in read], others)
    finally:
        process.terminate()
        process.wait(30)


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def resources(check):
    provider = check.provider
    group = furnish(provider)
    with provider.permitted([*READING, *CRITERIA, "s3:GetPublicAccessBlock", "s3:ListBucket"]):
        key = provider.reader
        variables = {"CLOUD_ACCESS_KEY_ID": key["AccessKeyId"], "CLOUD_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
        source = {"mode": "env", "region": HOME, "endpoint_url": provider.url}
        run = check.tool.collect("*", {"cloud": source}, variables, framework="tsc_2017")
    # Neither shows its detectors.
    bundle = run.expect_bundle(3, complete=False)
    run.expect_nowhere({"the password of a database": "not-a-real-secret", "a description": "for the check"})
    found = {}
    for control in bundle.normalized["controls"]:
        for one in control["checks"]:
            found[one["rule"]] = (one["status"], one["reason"])
    groups = provider.client("ec2").describe_security_groups()["SecurityGroups"]
    ports = bundle.json(f"sources/cloud/open_ports_{HOME}.json")
    expect("number of security groups", ports["groups_read"], len(groups))
    (open_group,) = [one for one in ports["SecurityGroups"] if one["GroupId"] == group]
    (read,) = [one for one in groups if one["GroupId"] == group]
    rules, others = ([only(one) for one in of["IpPermissions"]] for of in (open_group, read))
    expect("rules of the group", rules, others)
    expect("admin-ports-closed", found["admin-ports-closed"], ("fail", "admin_ports_open"))
    databases = bundle.json(f"sources/cloud/databases_{HOME}.json")["DBInstances"]
    names = ("DBInstanceIdentifier", "Engine", "StorageEncrypted", "PubliclyAccessible", "BackupRetentionPeriod")
    others = provider.client("rds").describe_db_instances()["DBInstances"]
    expect(
        "databases",
        fields(databases, names),
        fields(others, names),
    )
    expect("database-encrypted", found["database-encrypted"], ("fail", "database_unencrypted"))
    expect("database-not-public", found["database-not-public"], ("fail", "database_public"))
    expect("database-backup", found["database-backup"], ("fail", "database_without_backup"))
    buckets = {one["Name"]: one for one in bundle.json("sources/cloud/public_access.json")["Buckets"]}
    names = [one["Name"] for one in provider.client("s3").list_buckets()["Buckets"]]
    expect("names of buckets", sorted(buckets), sorted(names))
    expect("the closed bucket", "PolicyStatus" in buckets["acme-closed"], False)
    if provider.name == "moto":
        expect("the public policy", buckets["acme-open"]["PolicyStatus"], {"IsPublic": True})
        expect("storage-not-public", found["storage-not-public"], ("fail", "storage_public"))
        with refused(botocore.exceptions.ClientError, "SignatureDoesNotMatch"):
            provider.client("guardduty").list_detectors()
    else:
        expect("storage-not-public", found["storage-not-public"], ("not_verifiable", "host_error"))
    expect("threat-detection", found["threat-detection"], ("not_verifiable", "host_error"))


def only(rule):
    """A rule of a group, without what the artifact has no field for."""
    networks = [one["CidrIp"] for one in rule.get("IpRanges", [])]
    networks += [one["CidrIpv6"] for one in rule.get("Ipv6Ranges", [])]
    return {name: rule.get(name) for name in ("IpProtocol", "FromPort", "ToPort")} | {"networks": networks}


def fields(databases, names):
    return sorted(([one.get(name) for name in names] for one in databases), key=str)
