"""Lets schemathesis speak of bundles and keys: some of what it sends is replaced by what the platform has or accepts,
so that routes are seen to succeed and not only to refuse. ci/schemathesis.sh sets up what it needs:

BUNDLE       a file: a bundle that the organization accepts, to be looked at, held and kept longer
LOOSE        a file: another one, to be looked at and deleted
TRUSTED_KEY  a file: a public key that may be added to the trusted ones and removed again
PROTECTED    names of keys, separated by commas, that are not to be revoked or removed on the way
SIGNER       the id of a trusted key whose validity may be changed to one that holds for years
OTHER        the id of a trusted key that may be revoked
"""

import base64
import hashlib
import os
import random
import urllib.parse

import schemathesis

BUNDLE, LOOSE = (open(os.environ[name], "rb").read() for name in ("BUNDLE", "LOOSE"))
TRUSTED_KEY = open(os.environ["TRUSTED_KEY"]).read()
PROTECTED = set(os.environ["PROTECTED"].split(","))
# Its own, as the tester seeds the common one for every case.
chance = random.Random(1)
# Apart, so that keys change nothing about bundles.
of_keys = random.Random(2)
# What the two are called once they are stored.
ids = {}
# The keys that were made for the group.
made_for_group = []


@schemathesis.serializer("application/gzip")
def gzip(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


def holds_loose(case):
    return case.method == "PUT" and case.path_parameters["bundle_id"] == ids.get(LOOSE)


@schemathesis.hook
def before_call(context, case, kwargs):
    names = case.path_parameters or {}
    if (case.method, case.path) == ("POST", "/api/v1/bundles") and chance.random() < 0.9:
        if chance.random() < 0.7:
            case.body = chance.choice([BUNDLE, LOOSE])
        body = case.body if isinstance(case.body, bytes) else str(case.body).encode()
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        case.headers = {**(case.headers or {}), "Content-Digest": f"sha-256=:{digest}:"}
    elif (case.method, case.path) == ("POST", "/api/v1/trusted-keys") and chance.random() < 0.5:
        case.body = {"public_key": TRUSTED_KEY, "name": "added"}
    elif case.path == "/api/v1/holds" and of_keys.random() < 0.5:
        if case.method == "PUT":
            case.body = {"tag": "case=42", "reason": "litigation"}
        elif case.method == "DELETE":
            case.query = {"tag": "case=42"}
    elif case.path.startswith("/api/v1/group/keys/") and made_for_group and of_keys.random() < 0.5:
        case.path_parameters = {**names, "key_id": of_keys.choice(made_for_group)}
    elif "bundle_id" in names and (chance.random() < 0.5 or holds_loose(case)):
        known = {"DELETE": [LOOSE], "PUT": [BUNDLE]}.get(case.method, [BUNDLE, LOOSE])
        case.path_parameters = {**names, "bundle_id": ids.get(chance.choice(known), "none")}
        if case.path.endswith("/retention") and chance.random() < 0.5:
            case.body = {"retention_until": f"{chance.randrange(2030, 2100)}-01-01T00:00:00Z"}
    elif case.path.endswith("/validity") and of_keys.random() < 0.5:
        case.path_parameters = {**names, "key_id": os.environ["SIGNER"]}
        case.body = {"valid_until": f"{of_keys.randrange(2090, 2100)}-01-01T00:00:00Z"}
    elif case.path.endswith("/revocation") and of_keys.random() < 0.5:
        case.path_parameters = {**names, "key_id": os.environ["OTHER"]}
        case.body = {"since": "2026-01-01T00:00:00Z", "reason": "lost"}
    elif case.method == "DELETE" and urllib.parse.unquote(str(names.get("key_id"))) in PROTECTED:
        case.path_parameters = {**names, "key_id": "protected"}


@schemathesis.hook
def after_call(context, case, response):
    if (case.method, case.path) == ("POST", "/api/v1/bundles") and response.status_code in (200, 201):
        ids[case.body] = response.json()["bundle_id"]
    if (case.method, case.path) == ("POST", "/api/v1/group/keys") and response.status_code == 201:
        made_for_group.append(response.json()["key"]["key_id"])
