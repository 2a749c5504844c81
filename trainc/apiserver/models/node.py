"""The parts that every model of a Kubernetes kind is made of."""

import inspect
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from annotated_types import Ge, MaxLen, MinLen
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict, JsonValue
from pydantic_core import CoreSchema

from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.spelling import meant
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""What a quantity written as a string looks like, in Kubernetes' own words."""
Name = Annotated[str, MinLen(1), MaxLen(253)]
_OR_NULL = WrapValidator(lambda value, check: value if value is None else check(value))
StringMap = dict[str, Annotated[str, _OR_NULL, PlainSerializer(lambda value: value)]]
INT_OR_STRING: JsonDict = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}


class Keywords:
    """Schema keywords that pydantic has no word for, put on a type with `Annotated`."""

    def __init__(self, keywords: JsonDict) -> None:
        self.keywords = keywords

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonDict:
        """The schema of the annotated type with these keywords added."""
        described = handler(schema)
        both = [*_rules(described), *_rules(self.keywords)]
        return {**described, **self.keywords, **({"x-kubernetes-validations": both} if both else {})}


class Core(WithJsonSchema):
    """Stands for a shape of Kubernetes itself; its schema is looked up at generation.

    `PodTemplateSpec` is enough in the groups core, batch and meta; others are named as OpenAPI does, such as
    `io.k8s.api.autoscaling.v2.MetricSpec`.
    """

    def __init__(self, name: str) -> None:
        super().__init__({"x-core": name})


def rule(expression: str, message: str) -> Keywords:
    """A CEL rule and what the API server answers when it is broken."""
    return rules((expression, message))


def rules(*pairs: tuple[str, str]) -> Keywords:
    """CEL rules, each with what the API server answers when it is broken."""
    return Keywords({"x-kubernetes-validations": [{"message": message, "rule": text} for text, message in pairs]})


def list_map(key: str) -> Keywords:
    """A list in which no two items may have the same value under `key`."""
    return Keywords({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]})


def optional(description: str | None = None, *, alias: str | None = None, default: str | int | None = None) -> Any:
    """A field that may be absent, and stays absent in the model; `default` is what the API server writes then.

    A description that does not fit on the field's line stands below it as a docstring.
    """
    extra: JsonDict | None = None if default is None else {"default": default}
    return Field(default=None, alias=alias, description=description, json_schema_extra=extra)


def minimum(value: int) -> Keywords:
    """A lower bound that the API server checks and the model does not."""
    return Keywords({"minimum": value})


def _rules(schema: JsonDict) -> list[JsonValue]:
    rules = schema.get("x-kubernetes-validations")
    return rules if isinstance(rules, list) else []


def _unknown(model: str, name: str, fields: Iterable[str], aliases: Iterable[str]) -> str:
    hint = meant(name, fields if name.islower() else aliases, f"its fields are {', '.join(fields)}")
    return f"{model} has no field `{name}`; {hint}"


ATOMIC = Keywords({"x-kubernetes-list-type": "atomic"})
SET = Keywords({"x-kubernetes-list-type": "set"})
FIELD_IMMUTABLE = rule("self == oldSelf", "field is immutable")
VALUE_IMMUTABLE = rule("self == oldSelf", "Value is immutable")
NOT_EMPTY = Keywords({"minProperties": 1})

Int32 = Annotated[int, Keywords({"format": "int32"})]
Int64 = Annotated[int, Keywords({"format": "int64"})]
Time = Annotated[str, Keywords({"format": "date-time"})]
Count = Annotated[Int32, Ge(0)]
"""Labels and the like; a null value, which the server drops, survives the way through a model."""
Quantity = Annotated[
    int | Annotated[str, StringConstraints(pattern=QUANTITY)], Keywords({**INT_OR_STRING, "pattern": QUANTITY})
]


class ApiObject(BaseModel):
    """An object inside a manifest: snake_case in Python, camelCase in YAML, closed, never coerced.

    What was not written stays absent, and what was written stays as it is, so that a manifest survives the way
    through a model unchanged.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", populate_by_name=True, strict=True, use_attribute_docstrings=True
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Show the names that people type in Python, where pydantic would show those of YAML."""
        empty, keyword = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
        defaults = {name: empty if field.is_required() else field.default for name, field in cls.model_fields.items()}
        fields = [inspect.Parameter(name, keyword, default=value) for name, value in defaults.items()]
        cls.__signature__ = inspect.Signature(fields)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        """Refuse names that no field has, with the one that was probably meant."""
        if isinstance(given, dict):
            aliases = [field.alias or name for name, field in cls.model_fields.items()]
            unknown = [name for name in given if isinstance(name, str) and name not in {*cls.model_fields, *aliases}]
            if unknown:
                raise ValueError("; ".join(_unknown(cls.__name__, name, cls.model_fields, aliases) for name in unknown))
        return given

    def to_dict(self) -> dict[str, object]:
        """The manifest as plain dicts, lists and scalars."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Column(NamedTuple):
    """One column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


class Names(NamedTuple):
    """How the API server knows a kind."""

    group: str
    version: str
    kind: str
    plural: str
    short: tuple[str, ...] = ()
    namespaced: bool = True
    status: bool = False
    columns: tuple[Column, ...] = ()
    served: bool = True  # a kind that no API server has is a file of trainc's own

    @property
    def api_version(self) -> str:
        """`group/version`, as `apiVersion` spells it."""
        return f"{self.group}/{self.version}"

    @property
    def key(self) -> str:
        """`group/version/kind`, the kind's key in the run-time table."""
        return f"{self.api_version}/{self.kind}"


STATE_AND_AGE = (Column("State", ".status.conditions[-1:].type"), Column("Age", ".metadata.creationTimestamp", "date"))


class OwnerReference(ApiObject):
    """The object that this one is deleted with."""

    api_version: str = Field(description="API version of the owner.")
    kind: str = Field(description="Kind of the owner.")
    name: str = Field(description="Name of the owner.")
    uid: str = Field(description="UID of the owner; only the cluster knows it.")
    controller: bool | None = optional("Whether the owner manages this object; at most one owner may.")
    block_owner_deletion: bool | None = None
    """Whether the owner waits for this object when it is deleted in the foreground."""


class ObjectMeta(ApiObject):
    """Name, labels and annotations of an object, and what the cluster keeps about it."""

    name: str | None = optional("Name of the object, unique for its kind in its namespace.")
    generate_name: str | None = None
    """Prefix from which the server makes a name when `name` is absent; nothing can be compiled from it."""
    namespace: str | None = None
    """Namespace of the object; absent leaves the choice to whoever applies the manifest."""
    labels: StringMap | None = optional("Short values to select objects by.")
    annotations: StringMap | None = optional("Free text for tools and people.")
    finalizers: list[str] | None = optional("What must happen before the object may go away.")
    owner_references: list[OwnerReference] | None = optional("Objects that this one is deleted with.")
    uid: str | None = optional("Identity in the cluster; written by the server.")
    resource_version: str | None = optional("Version of the stored object; written by the server.")
    generation: Int64 | None = optional("How often the wanted state has changed; written by the server.")
    creation_timestamp: Time | None = optional("When the object was made; written by the server.")
    deletion_timestamp: Time | None = optional("When deletion was asked for; written by the server.")
    deletion_grace_period_seconds: Int64 | None = optional("How long deletion may take; written by the server.")
    self_link: str | None = optional("Old address of the object; no server writes it any more.")
    managed_fields: list[dict[str, object]] | None = optional("Who set which field; written by the server.")


class TemplateMeta(ApiObject):
    """The five metadata fields that survive inside a template."""

    name: str | None = optional("Accepted and not used.")
    namespace: str | None = optional("Accepted and not used.")
    labels: StringMap | None = optional("Labels of what is made from the template.")
    annotations: StringMap | None = optional("Annotations of what is made from the template.")
    finalizers: list[str] | None = optional("Finalizers of what is made from the template.")


class Resource(ApiObject):
    """A whole manifest of one kind; `apiVersion` and `kind` need not be given."""

    NAMES: ClassVar[Names]

    api_version: str | None = optional("API group and version that this object is written in.")
    kind: str | None = optional("Kind of this object.")
    metadata: ObjectMeta | None = optional("Name, labels and annotations.")

    @model_validator(mode="after")
    def _head(self) -> Self:
        wanted = (self.NAMES.api_version, self.NAMES.kind)
        given = (self.api_version or wanted[0], self.kind or wanted[1])
        if given != wanted:
            raise ValueError(f"this is {given[0]} {given[1]}, not {wanted[0]} {wanted[1]}")
        self.api_version, self.kind = wanted
        return self

    @classmethod
    def from_yaml(cls, text: str) -> Self:
        """The one manifest in a YAML text, read as Kubernetes reads it; ValueError where it cannot be read."""
        report = Report()
        trees = [plain(document.tree) for document in read(text, "text", report)]
        if report.failed or len(trees) != 1:
            problems = [f"{one.span}: {one.message}" for one in report.findings if one.level == "error"]
            raise ValueError("; ".join(problems) or f"one document is wanted, here are {len(trees)}")
        return cls.model_validate(trees[0])

    def to_yaml(self) -> str:
        """The manifest in the one spelling in which trainc writes YAML, keys in its order."""
        return dump(self.to_dict())
