"""A provider's discovery documents, which describe requests and the form of their answers.

The documents come with the package `google-api-python-client`; nothing here knows a call or a field by itself.
"""

import json
import re
from pathlib import Path

import googleapiclient.discovery_cache
import jsonschema

DOCUMENTS = Path(googleapiclient.discovery_cache.__file__).parent / "documents"


class Method:
    """One call, such as `directory.users.list`."""

    def __init__(self, document, description):
        self.document = document
        self.id = description["id"]
        self.http = description["httpMethod"]
        self.template = document.get("servicePath", "") + description["path"]
        self.scopes = set(description.get("scopes", []))
        self.response = description.get("response", {}).get("$ref")
        self.parameters = description.get("parameters", {})
        pattern = re.escape("/" + self.template)
        self.pattern = re.compile(re.sub(r"\\\{\+?(\w+)\\\}", r"(?P<\1>[^/]+)", pattern))

    def faults(self, query):
        """The violations of the description by the query, given as `[(name, value), ...]`."""
        known = self.document["parameters"] | {
            name: value for name, value in self.parameters.items() if value["location"] == "query"
        }
        found = []
        names = [name for name, _ in query]
        for name, value in query:
            if name not in known:
                found.append(f"no query parameter {name!r}")
                continue
            found += [f"{name}={value}: {fault}" for fault in value_faults(known[name], value)]
            if names.count(name) > 1 and not known[name].get("repeated"):
                found.append(f"{name} is given more than once")
            if name == "fields":
                found += [f"fields: {fault}" for fault in mask_faults(self, value)]
        found += [f"{name} is required" for name, rule in known.items() if rule.get("required") and name not in names]
        return found

    def path_faults(self, values):
        return [
            f"{name}={value}: {fault}"
            for name, value in values.items()
            for fault in value_faults(self.parameters[name], value)
        ]

    def schema(self):
        """The JSON Schema of the answer. Members that the description does not name are not allowed."""
        definitions = {name: json_schema(value) for name, value in self.document["schemas"].items()}
        return {"$ref": f"#/$defs/{self.response}", "$defs": definitions}

    def check_answer(self, answer):
        jsonschema.Draft202012Validator(self.schema()).validate(answer)


class Discovery:
    """The calls of some documents."""

    def __init__(self, *names):
        self.documents = {name: json.loads((DOCUMENTS / f"{name}.json").read_text()) for name in names}
        self.methods = {}
        for document in self.documents.values():
            self.read(document, document)

    def read(self, document, part):
        for description in part.get("methods", {}).values():
            method = Method(document, description)
            self.methods[method.id] = method
        for resource in part.get("resources", {}).values():
            self.read(document, resource)

    def find(self, http, path):
        """The call of a request, with the values in its path; `None` for an unknown one."""
        for method in self.methods.values():
            match = method.pattern.fullmatch(path)
            if method.http == http and match:
                return method, match.groupdict()
        return None


def value_faults(rule, value):
    """The violations of a parameter's rule by a value, which is text from an address."""
    if rule["type"] == "integer":
        if not re.fullmatch(r"-?\d+", value):
            return ["not a whole number"]
        if int(value) < int(rule.get("minimum", value)) or int(value) > int(rule.get("maximum", value)):
            return [f"not from {rule.get('minimum')} to {rule.get('maximum')}"]
    if rule["type"] == "boolean" and value not in ("true", "false"):
        return ["neither true nor false"]
    if "enum" in rule and value not in rule["enum"]:
        return [f"none of {rule['enum']}"]
    if "pattern" in rule and not re.fullmatch(rule["pattern"], value):
        return [f"not of the form {rule['pattern']}"]
    return []


def parse_mask(text):
    """`a,b(c,d/e)` as `{"a": {}, "b": {"c": {}, "d": {"e": {}}}}`."""
    tokens = re.findall(r"[^(),/]+|[(),/]", text)

    def fields():
        found = {}
        while tokens:
            name = tokens.pop(0)
            if not re.fullmatch(r"\w+|\*", name):
                raise ValueError(f"{name!r} is not a name")
            inner = found
            while tokens and tokens[0] == "/":
                tokens.pop(0)
                inner, name = inner.setdefault(name, {}), tokens.pop(0)
            inner[name] = {}
            if tokens and tokens[0] == "(":
                tokens.pop(0)
                inner[name] = fields()
                if not tokens or tokens.pop(0) != ")":
                    raise ValueError("a parenthesis is not closed")
            if not tokens or tokens[0] != ",":
                return found
            tokens.pop(0)
        raise ValueError("it ends too early")

    mask = fields()
    if tokens:
        raise ValueError(f"{''.join(tokens)!r} is left over")
    return mask


def mask_faults(method, text):
    try:
        mask = parse_mask(text)
    except (ValueError, IndexError) as error:
        return [f"not a selection of fields: {error}"]
    return walk_mask(method.document["schemas"], {"$ref": method.response}, mask)


def walk_mask(schemas, schema, mask):
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    if schema.get("type") == "array":
        return walk_mask(schemas, schema["items"], mask)
    if schema.get("type") == "any" or not mask:
        return []
    known = schema.get("properties", {})
    found = [f"there is no field {name!r}" for name in mask if name != "*" and name not in known]
    for name, inner in mask.items():
        if name in known:
            found += walk_mask(schemas, known[name], inner)
    return found


def apply_mask(mask, value):
    """The parts of an answer that a selection names."""
    if isinstance(value, list):
        return [apply_mask(mask, item) for item in value]
    if not isinstance(value, dict) or not mask:
        return value
    if "*" in mask:
        return {name: apply_mask(mask["*"], inner) for name, inner in value.items()}
    return {name: apply_mask(mask[name], inner) for name, inner in value.items() if name in mask}


def json_schema(description):
    """Converts a description's schema to JSON Schema; strict, to detect invented fields."""
    if "$ref" in description:
        return {"$ref": f"#/$defs/{description['$ref']}"}
    kind = description.get("type")
    if kind == "any":
        return {}
    if kind == "array":
        return {"type": "array", "items": json_schema(description["items"])}
    if kind == "object":
        found = {"type": "object"}
        if "properties" in description:
            found["properties"] = {name: json_schema(value) for name, value in description["properties"].items()}
        others = description.get("additionalProperties")
        found["additionalProperties"] = json_schema(others) if others else "properties" not in description
        return found
    found = {"type": kind}
    if "enum" in description:
        found["enum"] = description["enum"]
    if "pattern" in description:
        found["pattern"] = f"^(?:{description['pattern']})$"
    if description.get("format") in ("int64", "uint64"):
        # Long numbers are strings, since JavaScript cannot hold them.
        found["pattern"] = r"^-?\d+$"
    if description.get("format") == "date-time":
        found["pattern"] = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"
    return found
