"""Leads valid requests to things that exist, so that they get further than refusals."""

import os
import sys
from pathlib import Path

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from burgee_process import PROJECT_API_KEY  # noqa: E402

FIRST_PROJECT = "1"
NOBODYS_KEY_ID = "00000000-0000-4000-8000-000000000000"

# The project API key of each project that is known: a link that leads into one is followed.
tokens = {FIRST_PROJECT: PROJECT_API_KEY}


def _is_valid(case, location):
    component = case.meta.components.get(location) if case.meta else None
    return component is not None and component.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context, case, kwargs):
    """Damaged requests are left as they are: they have to be refused for what is damaged."""
    project = _lead_path(case)
    if case.query and "token" in case.query and _is_valid(case, ParameterLocation.QUERY):
        # It goes before the path, so another project's would lead away from what a link names.
        if project is not None or case.query["token"] not in tokens.values():
            case.query["token"] = tokens[project or FIRST_PROJECT]
    if case.operation.path.startswith("/api/") or not isinstance(case.body, dict):
        return
    if _is_valid(case, ParameterLocation.BODY) and case.body.get("token") not in tokens.values():
        case.body.pop("token", None)
        case.body["api_key"] = PROJECT_API_KEY


def _lead_path(case):
    """The project that the path of the request names now, None if it names none that is known."""
    path = case.path_parameters
    if not path:
        return None
    if _is_valid(case, ParameterLocation.PATH):
        if "project_id" in path and str(path["project_id"]) not in tokens:
            path["project_id"] = FIRST_PROJECT
        if "token" in path and path["token"] not in tokens.values():
            path["token"] = PROJECT_API_KEY
        # A caller that revokes its own key is a stranger from then on, and nothing more is learnt.
        is_own_key = path.get("key_id") == os.environ["SCHEMATHESIS_OWN_KEY_ID"]
        if is_own_key and case.operation.method.upper() == "DELETE":
            path["key_id"] = NOBODYS_KEY_ID
    project = str(path.get("project_id"))
    return project if project in tokens else None


@schemathesis.hook
def after_call(context, case, response):
    """Remembers the projects that were made."""
    operation_id = case.operation.definition.raw.get("operationId")
    if operation_id == "createProject" and response.status_code == 201:
        project = response.json()
        tokens[str(project["id"])] = project["api_token"]
