"""Leads valid requests to the project that exists, so that they get further than its refusals."""

import sys
from pathlib import Path

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation import GenerationMode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from burgee_process import PROJECT_API_KEY  # noqa: E402


def _is_valid(case, location):
    component = case.meta.components.get(location) if case.meta else None
    return component is not None and component.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context, case, kwargs):
    """Damaged requests are left as they are: they have to be refused for what is damaged."""
    path = case.path_parameters
    if path and _is_valid(case, ParameterLocation.PATH):
        if "project_id" in path:
            path["project_id"] = "1"
        if "token" in path:
            path["token"] = PROJECT_API_KEY
    if case.query and "token" in case.query and _is_valid(case, ParameterLocation.QUERY):
        case.query["token"] = PROJECT_API_KEY
    if case.operation.path.startswith("/api/") or not isinstance(case.body, dict):
        return
    if _is_valid(case, ParameterLocation.BODY):
        case.body.pop("token", None)
        case.body["api_key"] = PROJECT_API_KEY
