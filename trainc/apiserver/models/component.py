"""RuntimeComponent: a piece of a runtime that runtimes, clusters and jobs switch on (trainc.dev/v1alpha1)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import MaxLen, MinLen
from pydantic import Field

from trainc.apiserver.models.core import JobTemplateSpec
from trainc.apiserver.models.inherited import PARTIAL, PartialRuntimeSpec, Scalar, Text
from trainc.apiserver.models.node import SET, ApiObject, Name, Names, Resource, list_map


class Choice(ApiObject):
    """One value that a parameter may take."""

    value: Scalar
    """The value."""
    with_: dict[str, Scalar] | None = Field(default=None, alias="with")
    """What this choice gives other parameters of the component that are not given a value themselves."""


class Parameter(ApiObject):
    """A value that whoever switches the component on may choose."""

    name: Annotated[Name, MaxLen(63)]
    """Name under `with`."""
    type: Literal["quantity", "integer", "string"]
    """What a value must look like."""
    description: str | None = None
    """What it is for."""
    default: Scalar | None = None
    """The value where none is given; without it, what the component itself holds at these places, or nothing."""
    required: bool | None = None
    """Whether a value must be given."""
    choices: list[Choice] | None = None
    """The only values that it may take."""
    sets: Annotated[list[Text], MinLen(1)] | None = None
    """The places below the component's `spec` that get the value: `job.spec.template.spec.volumes[shm].emptyDir.sizeLimit`."""


class RuntimeComponentSpec(ApiObject):
    """What the component adds to a runtime, and what it gets along with."""

    description: str | None = None
    """What it is for, in a sentence or two."""
    roles: Annotated[list[Name], MinLen(1), SET] | None = None
    """The replicated jobs that get `job`, by name or by their step of the training; `[trainer]` when absent."""
    parameters: Annotated[list[Parameter], list_map("name")] | None = None
    """Values that may be chosen."""
    requires: Annotated[list[Name], SET] | None = None
    """Components that must be switched on as well."""
    conflicts_with: Annotated[list[Name], SET] | None = None
    """Components that must not be switched on beside this one."""
    after: Annotated[list[Name], SET] | None = None
    """Components that this one is applied after, and whose values it may replace."""
    runtime: PartialRuntimeSpec | None = None
    """Merged into the runtime's spec."""
    job: Annotated[JobTemplateSpec, PARTIAL] | None = None
    """Merged into the Job template of each of the roles."""


class RuntimeComponent(Resource):
    """A piece of a runtime, written once and switched on by name."""

    NAMES: ClassVar[Names] = Names("trainc.dev", "v1alpha1", "RuntimeComponent", "runtimecomponents", namespaced=False)

    spec: RuntimeComponentSpec | None = None
    """What it adds and what it gets along with."""
