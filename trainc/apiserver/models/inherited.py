"""Runtime, a TrainingRuntime that inherits from another one and switches on components, and RuntimeComponent (trainc.dev/v1alpha1)."""

from typing import Annotated, Literal

from annotated_types import MaxLen, MinLen
from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic.config import JsonDict
from pydantic_core import CoreSchema

from trainc.apiserver.component_uses import names_in
from trainc.apiserver.models.core import JobTemplateSpec
from trainc.apiserver.models.node import (
    INT_OR_STRING,
    SET,
    ApiObject,
    Keywords,
    Name,
    Names,
    Resource,
    list_map,
    optional,
)
from trainc.apiserver.models.runtime import JobSetTemplate, MLPolicy, PodGroupPolicy

PARTIAL = Keywords({"x-partial": True})
"""Below this field nothing is required, nothing is defaulted, null removes and `$patch` is understood."""
Scalar = Annotated[int | str, Keywords(INT_OR_STRING)]
Text = Annotated[str, MinLen(1)]


class Piece:
    """Stands for a piece of a model: a plain dict, written as in YAML, with the model's schema made partial."""

    def __init__(self, model: type[ApiObject]) -> None:
        self.model = model

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """The schema of the model, marked as partial."""
        return {**handler(self.model.__pydantic_core_schema__), **PARTIAL.keywords}


class ComponentUse(ApiObject):
    """One component that is switched on."""

    name: Name = Field(description="Name of the RuntimeComponent.")
    with_: dict[str, Scalar] | None = optional(alias="with")
    """Values of its parameters by name; a parameter that is not named keeps its default."""


def _spelled_out(value: object) -> object:
    """A text, a list of names and a map of components as a list of uses."""
    if isinstance(value, str):
        value = names_in(value)
    if isinstance(value, dict):
        return [{"name": name, "with": given} for name, given in value.items()]
    return [{"name": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


Components = Annotated[list[ComponentUse], BeforeValidator(_spelled_out)]


class Lock(ApiObject):
    """A field that nothing above this runtime may change."""

    path: Text
    """The field as `trainc why` prints it, below the runtime's `spec`: `mlPolicy.numNodes`."""
    reason: Text = Field(description="Why it must stay; shown to people who try to change it.")


class PartialRuntimeSpec(ApiObject):
    """A piece of a TrainingRuntime's spec: what is absent comes from elsewhere."""

    ml_policy: Annotated[dict[str, object], Piece(MLPolicy)] | None = None
    """How many nodes train and how their processes meet."""
    pod_group_policy: Annotated[dict[str, object], Piece(PodGroupPolicy)] | None = None
    """Who places the pods together."""
    template: Annotated[dict[str, object], Piece(JobSetTemplate)] | None = None
    """The JobSet that a job starts from."""


class RuntimeSpec(PartialRuntimeSpec):
    """A TrainingRuntime's spec, merged over that of its parent."""

    extends: Name | None = None
    """The parent: a Runtime, ClusterTrainingRuntime or TrainingRuntime of that name, or one that trainc ships."""
    components: Components | None = None
    """Components to switch on, applied in this order over the runtime's own fields: a list, text or map."""
    locks: Annotated[list[Lock], list_map("path")] | None = None
    """Fields that children, components of jobs, patches and jobs must leave as they are."""


class Runtime(Resource):
    """A blueprint for training jobs that may inherit from another blueprint; jobs name it in `runtimeRef`."""

    NAMES = Names("trainc.dev", "v1alpha1", "Runtime", "runtimes", namespaced=False)

    spec: RuntimeSpec | None = optional("What the jobs have in common.")


class Choice(ApiObject):
    """One value that a parameter may take."""

    value: Scalar = Field(description="The value.")
    with_: dict[str, Scalar] | None = optional(alias="with")
    """What this choice gives other parameters of the component that are not given a value themselves."""


class Parameter(ApiObject):
    """A value that whoever switches the component on may choose."""

    name: Annotated[Name, MaxLen(63)] = Field(description="Name under `with`.")
    type: Literal["quantity", "integer", "string"] = Field(description="What a value must look like.")
    description: str | None = optional("What it is for.")
    default: Scalar | None = None
    """The value where none is given; without it, what the component itself holds at these places, or nothing."""
    required: bool | None = optional("Whether a value must be given.")
    choices: list[Choice] | None = optional("The only values that it may take.")
    sets: Annotated[list[Text], MinLen(1)] | None = None
    """The places below the component's `spec` that get the value: `job.spec.template.spec.volumes[shm].emptyDir.sizeLimit`."""


class RuntimeComponentSpec(ApiObject):
    """What the component adds to a runtime, and what it gets along with."""

    description: str | None = optional("What it is for, in a sentence or two.")
    roles: Annotated[list[Name], MinLen(1), SET] | None = None
    """The replicated jobs that get `job`, by name or by their step of the training; `[trainer]` when absent."""
    parameters: Annotated[list[Parameter], list_map("name")] | None = optional("Values that may be chosen.")
    requires: Annotated[list[Name], SET] | None = optional("Components that must be enabled as well.")
    conflicts_with: Annotated[list[Name], SET] | None = None
    """Components that must not be switched on beside this one."""
    after: Annotated[list[Name], SET] | None = None
    """Components that this one is applied after, and whose values it may replace."""
    runtime: PartialRuntimeSpec | None = optional("Merged into the runtime's spec.")
    job: Annotated[JobTemplateSpec, PARTIAL] | None = optional("Merged into the Job template of each of the roles.")


class RuntimeComponent(Resource):
    """A piece of a runtime, written once and switched on by name."""

    NAMES = Names("trainc.dev", "v1alpha1", "RuntimeComponent", "runtimecomponents", namespaced=False)

    spec: RuntimeComponentSpec | None = optional("What it adds and what it gets along with.")
