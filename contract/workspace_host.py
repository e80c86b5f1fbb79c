"""A workspace provider, simulated from its own discovery documents: token endpoint and Admin SDK on loopback.

It refuses what the documents do not describe, and writes it down in `violations`; a check that ends with one has found
something, whatever the tool made of the refusal.
"""

import copy
import datetime
import hashlib
import json
import secrets
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import google.auth.jwt
from bundle import Differs
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from discovery import Discovery, apply_mask, parse_mask
from workspace_directory import Refusal, api_error

DOCUMENTS = ("admin.directory_v1", "admin.reports_v1")
BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
# Smaller pages than requested, which the provider may return at any time.
PAGE = 7


class ServiceAccount:
    """A key pair with its certificate, and the credentials file for the tool."""

    def __init__(self, url):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "evidence-reader")])
        now = datetime.datetime.now(datetime.timezone.utc)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .sign(key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM)
        self.private_key = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()
        self.key_id = hashlib.sha1(self.certificate).hexdigest()
        self.file = {
            "type": "service_account",
            "project_id": "acme-evidence",
            "private_key_id": self.key_id,
            "private_key": self.private_key,
            "client_email": "evidence-reader@acme-evidence.example",
            "client_id": "104200000000000000042",
            "token_uri": f"{url}/token",
        }


class Host:
    """The provider. `directory` is its data; the other members change its behaviour."""

    def __init__(self, directory):
        self.discovery = Discovery(*DOCUMENTS)
        self.directory = directory
        self.lock = threading.RLock()
        self.violations = []
        self.called = []  # ids of the answered calls, in order
        self.assertions = []  # every assertion received
        self.asked = []  # sets of scopes that tokens were requested for
        self.queries = []  # (id, query) of every call
        self.tokens = {}  # token: its scopes
        self.pages = {}  # page token: (the query it continues, where)
        self.not_delegated = set()  # scopes that the administrator did not grant
        self.throttle = set()  # ids of calls that are refused once
        self.broken = {}  # id of a call: the member from which on it is never answered
        self.ignore_masks = False  # answer with every field, whatever was requested
        self.administrator = "auditor@acme.example"
        host = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with host.lock:
                    try:
                        status, answer = 200, host.answer(self.command, self.path, self.headers, body)
                    except Refusal as refusal:
                        status, answer = refusal.status, refusal.answer
                    except Exception as error:
                        host.violations.append(f"{self.command} {self.path}: {error!r}")
                        status, answer = 501, {"error": {"code": 501, "message": "not played here", "errors": []}}
                text = isinstance(answer, str)
                contents = (answer if text else json.dumps(answer)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "text/plain" if text else "application/json; charset=UTF-8")
                for name, value in host.headers_of(self.path).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(contents)))
                self.end_headers()
                self.wfile.write(contents)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.account = ServiceAccount(self.url)
        self.audience = self.account.file["token_uri"]

    def headers_of(self, target):
        """Further headers of an answer."""
        return {}

    def violation(self, text):
        self.violations.append(text)
        return api_error(400, "badRequest", f"refused by the discovery document: {text}")

    def answer(self, http, target, headers, body):
        parts = urllib.parse.urlsplit(target)
        query = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        if parts.path == "/token":
            return self.token(http, headers, query, body)
        found = self.discovery.find(http, urllib.parse.unquote(parts.path))
        if not found:
            raise self.violation(f"no call {http} {parts.path}")
        method, values = found
        faults = method.path_faults(values) + method.faults(query)
        if body:
            faults.append("it has a body")
        if any(name in ("access_token", "oauth_token", "key") for name, _ in query):
            faults.append("a credential stands in the address")
        if faults:
            raise self.violation(f"{method.id}: {'; '.join(faults)}")
        self.queries.append((method.id, dict(query) | values))
        self.authorize(method, headers)
        if method.id in self.throttle:
            self.throttle.discard(method.id)
            # An older form of "too many requests" that is still in use: a 403 that only its reason
            # distinguishes from a refusal.
            raise Refusal(
                403,
                {
                    "error": {
                        "code": 403,
                        "message": "User Rate Limit Exceeded",
                        "errors": [
                            {
                                "message": "User Rate Limit Exceeded",
                                "domain": "usageLimits",
                                "reason": "userRateLimitExceeded",
                            }
                        ],
                    }
                },
            )
        answer = self.page(method, values, dict(query))
        method.check_answer(answer)
        self.called.append(method.id)
        mask = dict(query).get("fields")
        return answer if mask is None or self.ignore_masks else apply_mask(parse_mask(mask), answer)

    def token(self, http, headers, query, body):
        """RFC 7523: exchanges an assertion for an access token."""
        if http != "POST" or query:
            raise self.violation(f"token endpoint: {http} with query {query}")
        if headers.get("Content-Type", "").partition(";")[0] != "application/x-www-form-urlencoded":
            raise self.violation(f"token endpoint: content type {headers.get('Content-Type')}")
        form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
        if set(form) != {"grant_type", "assertion"} or form["grant_type"] != [BEARER]:
            raise self.violation(f"token endpoint: form {sorted(form)}, {form.get('grant_type')}")
        assertion = form["assertion"][0]
        self.assertions.append(assertion)
        try:
            claims = google.auth.jwt.decode(assertion, certs=self.account.certificate, audience=self.audience)
        except Exception:
            # The provider's answer to an assertion signed with another key.
            raise Refusal(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}) from None
        header = google.auth.jwt.decode_header(assertion)
        scopes = set(claims.get("scope", "").split(" "))
        known = set().union(*(method.scopes for method in self.discovery.methods.values()))
        for name, found, expected in [
            ("alg", header.get("alg"), "RS256"),
            ("typ", header.get("typ"), "JWT"),
            ("kid", header.get("kid"), self.account.key_id),
            ("iss", claims.get("iss"), self.account.file["client_email"]),
            ("sub", claims.get("sub"), self.administrator),
            ("aud", claims.get("aud"), self.audience),
            ("exp - iat", claims["exp"] - claims["iat"], 3600),
            ("iat", abs(time.time() - claims["iat"]) < 60, True),
            ("unknown scopes", sorted(scopes - known), []),
        ]:
            if found != expected:
                raise self.violation(f"assertion: {name} is {found!r}, not {expected!r}")
        self.asked.append(frozenset(scopes))
        if scopes & self.not_delegated:
            raise Refusal(
                401,
                {
                    "error": "unauthorized_client",
                    "error_description": "Client is unauthorized to retrieve access tokens using this method, "
                    "or client not authorized for any of the scopes requested.",
                },
            )
        token = "ya29." + secrets.token_urlsafe(80)
        self.tokens[token] = scopes
        return {"access_token": token, "expires_in": 3599, "token_type": "Bearer"}

    def authorize(self, method, headers):
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in self.tokens:
            raise api_error(401, "authError", "Request had invalid authentication credentials.", "UNAUTHENTICATED")
        if not self.tokens[token] & method.scopes:
            raise api_error(
                403, "insufficientPermissions", "Request had insufficient authentication scopes.", "PERMISSION_DENIED"
            )

    def page(self, method, values, query):
        """One page of a list, with the token of the next."""
        # The page size and the fields may change between pages; the listing may not.
        same = {
            name: value for name, value in (query | values).items() if name not in ("pageToken", "maxResults", "fields")
        }
        start = 0
        if "pageToken" in query:
            continued, start = self.pages.get(query["pageToken"], (None, 0))
            if continued != (method.id, same):
                raise api_error(400, "invalid", "Invalid Value")
        if start >= self.broken.get(method.id, start + 1):
            raise api_error(503, "backendError", "The service is currently unavailable.", "UNAVAILABLE")
        kind, name, items = self.directory.list(method.id, values, query)
        size = min(PAGE, int(query.get("maxResults", 100)))
        answer = {"kind": kind, "etag": '"' + secrets.token_urlsafe(8) + '"'}
        # A list without members is absent.
        if items[start : start + size]:
            answer[name] = copy.deepcopy(items[start : start + size])
        if start + size < len(items):
            token = secrets.token_urlsafe(24)
            self.pages[token] = ((method.id, same), start + size)
            answer["nextPageToken"] = token
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        # Report this instead of its consequences.
        if self.violations:
            raise Differs("\n".join(["the provider was asked what it does not describe:", *self.violations]))
