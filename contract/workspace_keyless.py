"""Signing in at the workspace provider without a key file: what the tool sends, judged by a provider that is written from
the documentation alone, and what the sandbox answers, used by the provider's own library.
"""

import json
import secrets
import tempfile
import urllib.parse
from pathlib import Path

import google.auth.compute_engine._metadata
import google.auth.compute_engine.credentials
import google.auth.crypt
import google.auth.exceptions
import google.auth.iam
import google.auth.identity_pool
import google.auth.impersonated_credentials
import google.auth.jwt
import google.auth.transport.requests
from bundle import expect, refused
from workspace_directory import Directory, Refusal
from workspace_host import Host

METADATA = "/computeMetadata/v1/instance/service-accounts/default/"
COLLECTOR = "collector@acme-evidence.example"
AUDIENCE = "//iam.googleapis.com/projects/104200000042/locations/global/workloadIdentityPools/ci/providers/jobs"
# What a federated identity needs to have something signed, and what an attached one usually has.
IAM = "https://www.googleapis.com/auth/iam"
EXCHANGE = {
    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
    "requested_token_type": "urn:ietf:params:oauth:token-type:access_token",
    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
    "audience": AUDIENCE,
    "scope": IAM,
}


class KeylessHost(Host):
    """The provider with a metadata service, a security token service and a service that signs."""

    def __init__(self, directory):
        super().__init__(directory)
        self.identities = set()  # tokens of identities that may have something signed
        self.subject_token = ".".join(secrets.token_urlsafe(24) for _ in range(3))
        self.signed = 0
        self.may_sign = True

    def answer(self, http, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        if parts.path.startswith("/computeMetadata/"):
            return self.metadata(http, parts, headers)
        if parts.path == "/v1/token":
            return self.exchange(http, parts, headers, body)
        if parts.path.startswith("/v1/projects/"):
            return self.sign(http, parts, headers, body)
        return super().answer(http, target, headers, body)

    def headers_of(self, target):
        return {"Metadata-Flavor": "Google"} if target.startswith("/computeMetadata/") else {}

    def identity(self):
        token = "ya29.c." + secrets.token_urlsafe(80)
        self.identities.add(token)
        self.tokens[token] = {IAM}
        return token

    def metadata(self, http, parts, headers):
        if http != "GET" or headers.get("Metadata-Flavor") != "Google" or headers.get("Authorization"):
            raise self.violation(f"metadata: {http} {parts.path}, flavor {headers.get('Metadata-Flavor')}")
        if parts.path == f"{METADATA}email":
            return COLLECTOR
        if parts.path == f"{METADATA}token":
            return {"access_token": self.identity(), "expires_in": 1967, "token_type": "Bearer"}
        raise self.violation(f"metadata: no {parts.path}")

    def exchange(self, http, parts, headers, body):
        """RFC 8693, as AIP-4117 asks for it."""
        if http != "POST" or parts.query or headers.get("Authorization"):
            raise self.violation(f"exchange: {http} with query {parts.query}, or with credentials")
        if headers.get("Content-Type", "").partition(";")[0] != "application/x-www-form-urlencoded":
            raise self.violation(f"exchange: content type {headers.get('Content-Type')}")
        form = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
        token = form.pop("subject_token", None)
        if form != EXCHANGE:
            raise self.violation(f"exchange: {form}")
        if token != self.subject_token:
            raise Refusal(400, {"error": "invalid_grant", "error_description": "The ID Token is stale to sign-in."})
        return {
            "access_token": self.identity(),
            "issued_token_type": EXCHANGE["requested_token_type"],
            "token_type": "Bearer",
            "expires_in": 3599,
        }

    def sign(self, http, parts, headers, body):
        account = self.account.file
        expected = f"/v1/projects/-/serviceAccounts/{account['client_email']}:signJwt"
        if http != "POST" or parts.query or urllib.parse.unquote(parts.path) != expected:
            raise self.violation(f"signJwt: {http} {parts.path} {parts.query}")
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.identities:
            raise self.violation("signJwt: without a token of an identity")
        question = json.loads(body)
        if set(question) - {"payload", "delegates"} or not isinstance(question.get("payload"), str):
            raise self.violation(f"signJwt: members {sorted(question)}")
        if not self.may_sign:
            message = "Permission 'iam.serviceAccounts.signJwt' denied on resource (or it may not exist)."
            raise Refusal(403, {"error": {"code": 403, "message": message, "status": "PERMISSION_DENIED"}})
        self.signed += 1
        signer = google.auth.crypt.RSASigner.from_string(account["private_key"], self.account.key_id)
        signed = google.auth.jwt.encode(signer, json.loads(question["payload"])).decode()
        return {"keyId": self.account.key_id, "signedJwt": signed}


def configuration(host):
    return {
        "mode": "sign_jwt",
        "service_account": host.account.file["client_email"],
        "iam_url": host.url,
        "token_uri": host.account.file["token_uri"],
    }


def federation(host, work):
    """The file of the provider's own command line, with the other identity provider's token in a file."""
    token = Path(tempfile.mkdtemp(dir=work)) / "token"
    token.write_text(host.subject_token + "\n")
    return {
        "universe_domain": "googleapis.com",
        "type": "external_account",
        "audience": AUDIENCE,
        "subject_token_type": EXCHANGE["subject_token_type"],
        "token_url": f"{host.url}/v1/token",
        "credential_source": {"file": str(token), "format": {"type": "text"}},
    }


def collect(check, host, federated):
    """A run that signs in without a key file."""
    variables = {"GCE_METADATA_HOST": urllib.parse.urlsplit(host.url).netloc}
    own = configuration(host)
    if federated:
        file = Path(tempfile.mkdtemp(dir=check.tool.work)) / "federation.json"
        file.write_text(json.dumps(federation(host, check.tool.work)))
        variables = {"ALTCLOUD_FEDERATION": str(file)}
        own["credentials_env"] = "ALTCLOUD_FEDERATION"
    run = check.collect(host, variables=variables, **own)
    run.expect_nowhere({"the other identity provider's token": host.subject_token})
    return run


def all_good(check):
    for federated in (False, True):
        with KeylessHost(Directory()) as host:
            bundle = collect(check, host, federated).expect_bundle(0)
            expect("signatures", host.signed, 1)
            expect("assertions", len(host.assertions), 1)
        expect("controls", [bundle.control(one)["status"] for one in ("CC6.1", "CC6.6")], ["pass", "pass"])


def nobody_may_sign(check):
    for federated in (False, True):
        with KeylessHost(Directory()) as host:
            host.may_sign = False
            collect(check, host, federated).expect_refused(2, "service account token creator")
            expect("assertions", host.assertions, [])


def a_stale_token(check):
    with KeylessHost(Directory()) as host:
        good, host.subject_token = host.subject_token, "stale"
        file = federation(host, check.tool.work)
        host.subject_token = good
        path = Path(tempfile.mkdtemp(dir=check.tool.work)) / "federation.json"
        path.write_text(json.dumps(file))
        own = configuration(host) | {"credentials_env": "ALTCLOUD_FEDERATION"}
        run = check.collect(host, variables={"ALTCLOUD_FEDERATION": str(path)}, **own)
        run.expect_refused(2, "stale to sign-in")
        expect("signatures", host.signed, 0)


SCENARIOS = [
    ("without a key file", all_good),
    ("without a key file: nobody may sign", nobody_may_sign),
    ("without a key file: a stale token", a_stale_token),
]


def the_sandbox(url, file, account, administrator, scopes):
    """The provider's own library signs in at our sandbox without a key, both ways."""
    request = google.auth.transport.requests.Request()
    google.auth.iam._IAM_SIGNJWT_ENDPOINT = f"{url}/v1/projects/-/serviceAccounts/{{}}:signJwt"
    google.auth.impersonated_credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT = f"{url}/token"
    google.auth.compute_engine._metadata._GCE_METADATA_HOST = urllib.parse.urlsplit(url).netloc
    attached = google.auth.compute_engine.credentials.Credentials()
    federated = google.auth.identity_pool.Credentials.from_info(file, scopes=[IAM])
    for source in (attached, federated):
        delegated = google.auth.impersonated_credentials.Credentials(
            source, account, sorted(scopes), subject=administrator
        )
        delegated.refresh(request)
        expect("a token for the administrator", delegated.valid, True)
        other = google.auth.impersonated_credentials.Credentials(
            source, "stranger@acme-audit.iam.gserviceaccount.com", sorted(scopes), subject=administrator
        )
        with refused(google.auth.exceptions.RefreshError, "iam.serviceAccounts.signJwt"):
            other.refresh(request)
    wrong = json.loads(json.dumps(file))
    wrong["audience"] += "-of-others"
    with refused(google.auth.exceptions.OAuthError, "invalid_request"):
        google.auth.identity_pool.Credentials.from_info(wrong, scopes=[IAM]).refresh(request)
