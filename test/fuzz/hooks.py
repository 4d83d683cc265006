"""What no schema can say of a request that is to be accepted, and what the coverage phase does not read of the schema: it
makes each field by itself, and this makes them agree.

Only requests that are valid by the document are touched; what is made to be refused goes out as it is."""

import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode

# Of each pair a value has one, as the schemas say with `not`.
EXCLUSIVE = [("value", "valueFrom"), ("inline", "configMapRef"), ("token", "caller"), ("http", "mcp")]

# Addresses are those of the web here; the format of a selector is that of Kubernetes.
schemathesis.openapi.format("uri", st.sampled_from(["https://api.example.com/v1", "http://127.0.0.1:8080", "https://[::1]/"]))
schemathesis.openapi.format("label-selector", st.sampled_from(["team=search,env!=test", "tier in (a, b)", "!gone", "size>5"]))


def settle(value):
    """Of what excludes each other keeps the first, everywhere in a body; a skill has a name or a config map."""
    if isinstance(value, list):
        return [settle(each) for each in value]
    if not isinstance(value, dict):
        return value
    dropped = {second for first, second in EXCLUSIVE if first in value and second in value}
    settled = {name: settle(each) for name, each in value.items() if name not in dropped}
    for skill in settled.get("skills") if isinstance(settled.get("skills"), list) else []:
        if isinstance(skill, dict) and ("name" in skill) == ("configMapRef" in skill):
            skill.pop("configMapRef", None)
            skill["name"] = "counting"
    if settled.get("role") == "owner":
        # An owner acts in all namespaces.
        settled.pop("namespace", None)
    if str(settled.get("type")) not in ("azure-llmo", "azure-openai"):
        settled.pop("azure", None)
    elif "spec" not in settled:
        settled.setdefault("azure", {"deploymentName": "large-model"})
        settled.setdefault("baseURL", "https://api.example.com/v1")
    if isinstance(settled.get("files"), dict):
        # Paths, and as keys of a map they have no schema.
        settled["files"] = {f"part-{index}": text for index, text in enumerate(settled["files"].values())}
    if isinstance(settled.get("scope"), dict) and "agent" in settled["scope"]:
        settled["scope"].setdefault("namespace", "team-a")
    if isinstance(settled.get("expires"), str) and settled["expires"].startswith(("0", "1")) and "-" in settled["expires"]:
        # A time that is over is refused.
        settled["expires"] = "9" + settled["expires"][1:]
    return settled


def name_once(case, body, path, query):
    """The name and the namespace stand in the path, the query, the body and its metadata: everywhere the same."""
    metadata = body.get("metadata") if isinstance(body.get("metadata"), dict) else {}
    for field, given in (("name", path.get("name") or path.get("id")), ("namespace", query.get("namespace"))):
        places = [place for place in (body, metadata) if place.get(field) is not None]
        said = given if given is not None else next((place[field] for place in places), None)
        for place in places:
            place[field] = said
    if case.method == "POST" and case.path in NAMED and body.get("name") is None and metadata.get("name") is None:
        body["name"] = "my-name"


# What a body of these makes has a name.
NAMED = [f"/api/v1/{kind}" for kind in ("agents", "configmaps", "providers", "skills", "tools")]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    query = case.query or {}
    # A cursor is a text, but only one that this very list has given.
    query.pop("continue", None)
    query.pop("cursor", None)
    if len(str(query.get("label", ""))) > 63:
        # A key of a label has its length before and after the slash.
        query["label"] = "team"
    if "namespace" in query or "namespaces" in query:
        query.pop("allNamespaces", None)
    if "query" in query:
        # Two names of one parameter, and two texts of it are refused.
        query.pop("q", None)
    if case.path == "/api/v1/watch" and query.get("kinds") != "Task":
        # Filters of tasks, which other kinds do not have.
        for name in ("phase", "type", "agent"):
            query.pop(name, None)
    if case.method in ("POST", "PUT") and isinstance(case.body, dict):
        case.body = settle(case.body)
        name_once(case, case.body, case.path_parameters or {}, query)
