"""Conditions: what a controller says about an object."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, MaxLen, MinLen
from pydantic import StringConstraints

from trainc.apiserver.models.node import ApiObject, Int64, Time

_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(ApiObject):
    """One thing that is true or false of the object at present."""

    type: Annotated[str, MaxLen(316), StringConstraints(pattern=_TYPE)]
    """What the condition is about; unique in the list."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, MinLen(1), MaxLen(1024), StringConstraints(pattern=_REASON)]
    """Why, as one word for machines."""
    message: Annotated[str, MaxLen(32768)]
    """Why, as a sentence for people."""
    last_transition_time: Time
    """When the status changed last."""
    observed_generation: Annotated[Int64, Ge(0)] | None = None
    """Generation of the object that the condition speaks of."""
