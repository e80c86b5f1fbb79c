"""A proxy between the tool and a cloud provider. It records requests, and can refuse them like the provider.

It changes nothing: the `Host` header is signed, so it is passed on unchanged.
"""

import http.client
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import botocore.session
import botocore.validate

# The protocol of a refusal depends on the service in the signature.
QUERY = {"iam", "sts", "ec2"}


class Recorder:
    """Forwards from a port of its own to `port`."""

    def __init__(self, port):
        self.calls = []
        self.answers = []
        self.throttle = set()  # actions that are refused once
        self.throttle_after = {}  # action: after how many answers it is refused for good
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                call = Call(self.command, self.path, self.headers, body)
                with recorder.lock:
                    recorder.calls.append(call)
                    refused = call.action in recorder.throttle or recorder.exhausted(call.action)
                    recorder.throttle.discard(call.action)
                status, headers, answer = throttled(call) if refused else forward(port, self, body)
                recorder.answers.append(answer)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do

            def log_message(self, *_):
                pass

        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def exhausted(self, action):
        answered = self.throttle_after.get(action)
        return answered is not None and self.actions().count(action) > answered

    def actions(self):
        """`service:Action` of every call, in order."""
        return [call.action for call in self.calls]


class Call:
    """The call, such as `iam:GetAccountPasswordPolicy`, its region and its parameters."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        scope = headers.get("Authorization", "").partition("Credential=")[2].partition(",")[0].split("/")
        self.access_key, self.region, self.service = (scope + [""] * 5)[0], (scope + [""] * 5)[2], (scope + [""] * 5)[3]
        target = headers.get("X-Amz-Target")
        if target:
            action = target.rpartition(".")[2]
        else:
            query = urllib.parse.parse_qs(body.decode("utf-8", "replace") or urllib.parse.urlsplit(path).query)
            action = query.get("Action", ["?"])[0]
        self.name = action
        self.action = f"{self.service}:{action}"

    def faults(self):
        """The violations of the service's description in the provider's own client library by this call."""
        model = botocore.session.get_session().get_service_model(self.service)
        operation, metadata = model.operation_model(self.name), model.metadata
        found = [] if (self.method, self.path) == ("POST", "/") else [f"{self.method} {self.path}"]
        if self.service in QUERY:
            kind = "application/x-www-form-urlencoded"
            given = dict(urllib.parse.parse_qsl(self.body.decode(), keep_blank_values=True))
            if (given.pop("Action", None), given.pop("Version", None)) != (self.name, metadata["apiVersion"]):
                found.append("another action or version")
            given = {name: int(value) if name == "DurationSeconds" else value for name, value in given.items()}
        else:
            kind = f"application/x-amz-json-{metadata['jsonVersion']}"
            given = json.loads(self.body)
            if self.headers["X-Amz-Target"] != f"{metadata['targetPrefix']}.{self.name}":
                found.append(f"target {self.headers['X-Amz-Target']}")
        if self.headers.get("Content-Type", "").partition(";")[0] != kind:
            found.append(f"content type {self.headers.get('Content-Type')}")
        shape = operation.input_shape
        found += [f"no parameter {name}" for name in given if name not in (shape.members if shape else {})]
        report = botocore.validate.ParamValidator().validate(given, shape) if shape else None
        if report and report.has_errors():
            found.append(report.generate_report())
        # Its one address for all regions accepts signatures for one region only; the providers here accept any.
        if self.service == "iam" and self.region != "us-east-1":
            found.append(f"signed for {self.region}")
        return [f"{self.action}: {fault}" for fault in found]


def forward(port, handler, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(handler.command, handler.path, skip_host=True, skip_accept_encoding=True)
    for name, value in handler.headers.items():
        if name.lower() not in ("connection", "transfer-encoding"):
            connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    contents = answer.read()
    headers = [
        (name, value)
        for name, value in answer.getheaders()
        if name.lower() not in ("connection", "content-length", "transfer-encoding", "keep-alive")
    ]
    connection.close()
    return answer.status, headers, contents


def throttled(call):
    """The provider's own throttling error; 400 in both protocols."""
    if call.service in QUERY:
        return (
            400,
            [("Content-Type", "text/xml"), ("x-amzn-RequestId", "00000000-0000-4000-8000-000000000001")],
            (
                b"<ErrorResponse>"
                b"<Error><Type>Sender</Type><Code>Throttling</Code><Message>Rate exceeded</Message></Error>"
                b"<RequestId>00000000-0000-4000-8000-000000000001</RequestId></ErrorResponse>"
            ),
        )
    return (
        400,
        [("Content-Type", "application/x-amz-json-1.1"), ("x-amzn-RequestId", "00000000-0000-4000-8000-000000000002")],
        (b'{"__type":"ThrottlingException","message":"Rate exceeded"}'),
    )
