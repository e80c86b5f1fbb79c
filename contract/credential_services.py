"""The services from which a container and an instance get temporary credentials, in the documented form."""

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROLE = "evidence-reader"
PREFIX = "/latest/meta-data/iam/security-credentials/"


class CredentialServices:
    """Both services on one port: each answers only with the token that it wants."""

    def __init__(self, key):
        self.key, self.token, self.session = key, secrets.token_hex(16), secrets.token_hex(16)
        services = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):
                lives = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
                good = self.path == "/latest/api/token" and lives.isdigit() and 1 <= int(lives) <= 21600
                self.answer(200 if good else 400, services.session if good else "")

            def do_GET(self):
                if self.path == "/credentials":
                    good = self.headers.get("Authorization") == services.token
                    return self.answer(200 if good else 401, json.dumps(services.credentials("Token")) if good else "")
                if self.headers.get("X-aws-ec2-metadata-token") != services.session:
                    return self.answer(401, "")
                answers = {PREFIX: ROLE, PREFIX + ROLE: json.dumps({"Code": "Success"} | services.credentials("Token"))}
                return self.answer(200 if self.path in answers else 404, answers.get(self.path, ""))

            def answer(self, status, text):
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def credentials(self, token):
        """The credentials, with this name for the session token."""
        return {
            "AccessKeyId": self.key["AccessKeyId"],
            "SecretAccessKey": self.key["SecretAccessKey"],
            token: self.key["SessionToken"],
            "Expiration": self.key["Expiration"].strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def printed(self, work):
        """A file with what a program of the contract `credential_process` prints."""
        file = work / "credentials.json"
        file.write_text(json.dumps({"Version": 1} | self.credentials("SessionToken")))
        file.chmod(0o600)
        return file

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
