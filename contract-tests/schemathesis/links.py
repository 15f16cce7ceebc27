"""Which of the contract's links a run of Schemathesis has followed."""

import json

import yaml

METHODS = ("get", "put", "post", "patch", "delete")


def declared_links(contract):
    """The links that the contract declares, named as Schemathesis names them."""
    document = yaml.safe_load(contract.read_text(encoding="utf8"))
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]
    labels = {operation["operationId"]: label for label, operation in operations}
    return {
        f"{label} -> [{status}] {name} -> {labels[_resolve(document, link)['operationId']]}"
        for label, operation in operations
        for status, response in operation["responses"].items()
        for name, link in _resolve(document, response).get("links", {}).items()
    }


def _resolve(document, value):
    """What a reference names, or the thing itself."""
    if "$ref" not in value:
        return value
    _, *steps = value["$ref"].split("/")
    for step in steps:
        document = document[step]
    return document


def followed_links(report):
    """
    The links of an NDJSON report that a request was made from, with values of the reply that the
    link was declared for. Links that Schemathesis guessed are not among them.
    """
    with report.open(encoding="utf8") as lines:
        events = [json.loads(line) for line in lines]
    recorders = [event["ScenarioFinished"]["recorder"] for event in events if "ScenarioFinished" in event]
    return {
        node["transition"]["id"]
        for recorder in recorders
        for case, node in recorder.get("cases", {}).items()
        if case in recorder.get("interactions", {})
        and node.get("is_transition_applied")
        and not node["transition"].get("is_inferred")
    }
