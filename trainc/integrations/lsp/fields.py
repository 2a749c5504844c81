"""The field of a kind that a path of a document leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.apiserver import shipped
from trainc.authoring.explain.fields import root_of

if TYPE_CHECKING:
    from trainc.authoring.explain.fields import Field
    from trainc.model.tree import Path


def field_at(kind: str, api_version: str, path: Path) -> Field | None:
    """The field, or the kind itself for an empty path; None where the schemas have none of that name."""
    known = [one for one in shipped.listed() if one.kind == kind]
    exact = [one for one in known if f"{one.group}/{one.version}" == api_version]
    if not known:
        return None
    field = root_of((exact or known)[0])
    for step in path:
        below = _below(field, step)
        if below is None:
            return None
        field = below
    return field


def _below(field: Field, step: str | int) -> Field | None:
    """The field one step below; items of lists and values of maps that people name are no fields of their own."""
    if type(step) is int or _is_map(field):
        return field.element()
    return dict(field.children()).get(str(step))


def _is_map(field: Field) -> bool:
    """Whether people choose the keys of a field."""
    schema = field.schema["anyOf"][0] if "anyOf" in field.schema else field.schema
    return "properties" not in schema and isinstance(schema.get("additionalProperties"), dict)
