"""Runtime: a TrainingRuntime that inherits from another one and switches on components (trainc.dev/v1alpha1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import MinLen
from pydantic import BeforeValidator, Field

from trainc.apiserver.component_uses import names_in
from trainc.apiserver.models.node import ApiObject, Keywords, Name, Names, Resource, list_map
from trainc.apiserver.models.runtime import JobSetTemplate, MLPolicy, PodGroupPolicy

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.config import JsonDict
    from pydantic_core import CoreSchema

PARTIAL = Keywords({"x-partial": True})
"""Below this field nothing is required, nothing is defaulted, null removes and `$patch` is understood."""


class Piece:
    """Stands for a piece of a model: a plain dict, written as in YAML, with the model's schema made partial."""

    __slots__ = ("model",)

    def __init__(self, model: type[ApiObject]) -> None:
        self.model = model

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """The schema of the model, marked as partial."""
        return {**handler(self.model.__pydantic_core_schema__), **PARTIAL.keywords}


Scalar = Annotated[
    int | str,
    Keywords({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}),
]
Text = Annotated[str, MinLen(1)]


class ComponentUse(ApiObject):
    """One component that is switched on."""

    name: Name
    """Name of the RuntimeComponent."""
    with_: dict[str, Scalar] | None = Field(default=None, alias="with")
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
    reason: Text
    """Why it must stay; whoever tries to change it reads this."""


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

    NAMES: ClassVar[Names] = Names("trainc.dev", "v1alpha1", "Runtime", "runtimes", namespaced=False)

    spec: RuntimeSpec | None = None
    """What the jobs have in common."""
