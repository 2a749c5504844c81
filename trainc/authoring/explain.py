"""What a field of any kind or an annotation is: type, default, bounds, description, version and an example."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainc import __version__
from trainc.apiserver import shipped
from trainc.apiserver.pods.complaints import fields
from trainc.apiserver.shipped import Shipped
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

Schema = Mapping[str, Any]
_ALIASES = {"trainc.yaml": "Project", "component": "RuntimeComponent"}
_ANY = "KEY"  # what stands for a key that the author chooses
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
    "pattern": "matches `{}`",
    "format": "format {}",
}
_WIDE = {2**31 - 1, -(2**31), 2**63 - 1, -(2**63)}  # bounds of a number's type alone
READ_FROM = {
    "trainer.kubeflow.org": "Kubeflow Trainer v2.3",
    "jobset.x-k8s.io": "JobSet 0.13",
    "kubeflow.org": "the v1 training-operator and mpi-operator",
    "mlkube.io": "the first tf-operator",
    "scheduling.x-k8s.io": "scheduler-plugins (coscheduling)",
    "flux-framework.org": "Flux Operator 0.2",
    "batch.volcano.sh": "Volcano 1.16",
    "scheduling.volcano.sh": "Volcano 1.15",
    "ray.io": "KubeRay 1.7",
    "leaderworkerset.x-k8s.io": "LeaderWorkerSet 0.10",
    "trainc.dev": f"trainc {__version__}",
}
SINCE = {"JobSet.spec.replicatedJobs.dependsOn": "JobSet 0.8", "JobSet.spec.volumeClaimPolicies": "JobSet 0.11"}
_BY_PATH: dict[str, Any] = {"Project.spec.clusters.components": ["gke-tcpxo"]}
_NUMBERS, _TEXTS = ("integer", "number", "number or string"), ("string", "number or string")
_PLAIN = {"integer": 1, "number": 1, "boolean": True, "string": "text", "number or string": 1}


@dataclass(slots=True, eq=False)
class Field:
    """One field of a kind, or the kind itself where `path` is empty; `steps` lead to it, `[]` for items of lists."""

    kind: Shipped
    defs: Schema
    schema: Schema
    validations: Schema
    about: str = ""
    path: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    required: bool = False
    is_element: bool = False
    is_foreign: bool = False  # whether it belongs to a shape of Kubernetes' own

    def children(self) -> "Iterator[tuple[str, Field]]":
        """The fields below it; those of the items of a list, and of the values of a map, count as below it."""
        steps, schema, validations = _inside(self.schema, self.validations, self.defs)
        for name, child in schema.get("properties", {}).items():
            if name != "$patch":
                yield (
                    name,
                    Field(
                        self.kind,
                        self.defs,
                        _resolved(child, self.defs),
                        validations.get("properties", {}).get(name, {}),
                        str(child.get("description") or ""),
                        (*self.path, name),
                        (*self.steps, *steps, name),
                        required=name in schema.get("required", ()),
                        is_foreign=self.is_foreign or "$ref" in schema,
                    ),
                )

    def element(self) -> "Field | None":
        """The items of a list, or the values of a map, as a field of the same path; None for anything else."""
        schema = self.schema["anyOf"][0] if "anyOf" in self.schema else self.schema
        key, _ = _held(schema)
        if not key:
            return None
        inner, validations = _resolved(schema[key], self.defs), fields(self.validations.get(key))
        return Field(self.kind, self.defs, inner, validations, "", self.path, self.steps, is_element=True)

    @property
    def name(self) -> str:
        """The path as it is asked for."""
        return ".".join((self.kind.kind, *self.path))

    @property
    def type(self) -> str:
        """The type in words: `list of string`, `map of object`."""
        return _type(self.schema, self.defs)

    @property
    def default(self) -> object:
        """What an API server writes where the field is absent, None where it writes nothing."""
        return self.schema.get("default", self.validations.get("default"))

    def bounds(self) -> Iterator[str]:
        """What a server refuses, in words."""
        if self.required:
            yield "required"
        if choices := [one for one in self.schema.get("enum", ()) if one is not None]:
            yield f"one of {', '.join(map(str, choices))}"
        for key, words in _BOUNDS.items():
            if key in self.schema and self.schema[key] not in _WIDE:
                yield words.format(self.schema[key])
        if keys := self.validations.get("x-kubernetes-list-map-keys"):
            yield f"items differ in {', '.join(keys)}"
        if self.validations.get("x-kubernetes-list-type") == "set":
            yield "items differ"
        for one in self.validations.get("x-kubernetes-validations", ()):
            yield str(one.get("message") or one["rule"])

    @property
    def since(self) -> str:
        """The release that the field was read from, or came with."""
        return SINCE.get(self.name, READ_FROM.get(self.kind.group, self.kind.group))


def find(topic: str) -> list[Field]:
    """The fields that a path names, one for each kind of that name.

    Raises:
        Trouble: where there is no such kind or field; the text says what was probably meant.
    """
    kinds, steps = _kinds(topic)
    found, trouble = [], None
    for kind in kinds:
        try:
            found.append(_descend(root_of(kind), steps))
        except Trouble as missing:
            trouble = trouble or missing
    if not found and trouble:
        raise trouble
    return found


def _kinds(topic: str) -> tuple[list[Shipped], list[str]]:
    for alias, kind in _ALIASES.items():
        if topic.lower() == alias or topic.lower().startswith(f"{alias}."):
            topic = kind + topic[len(alias) :]
    head, *steps = [step for step in re.split(r"[.\[\]]+", topic) if step] or [""]
    every = shipped.listed()
    group = ".".join(steps)
    of_group = [one for one in every if _is_called(one, head) and (f"{group}.").startswith(f"{one.group}.")]
    if of_group and group:
        return of_group, steps[of_group[0].group.count(".") + 1 :]
    if not (kinds := [one for one in every if _is_called(one, head)]):
        names = {one.kind for one in every}
        raise Trouble(f"there is no kind `{head}`; {meant(head, names, 'see trainc explain')}")
    return kinds, steps


def _is_called(kind: Shipped, name: str) -> bool:
    lower = kind.kind.lower()
    return name.lower() in (lower, f"{lower}s")


def _descend(field: Field, steps: list[str]) -> Field:
    for step in steps:
        if step.isdecimal() and _held(field.schema)[0] == "items":
            continue
        below = dict(field.children())
        name = step if step in below else next((name for name in below if name.lower() == step.lower()), "")
        if not name:
            hint = meant(step, below, f"see trainc explain {field.name}")
            raise Trouble(f"{field.name} has no field `{step}`; {hint}")
        field = below[name]
    return field


def roots(kinds: Collection[str]) -> list[Field]:
    """The kinds of these names that have a schema here."""
    return [root_of(one) for one in shipped.listed() if one.kind in kinds]


def leads_somewhere(field: Field, words: list[str]) -> bool:
    """Whether words name steps below a field; items of lists and keys of maps may be named, or left out."""
    if not words:
        return True
    below = dict(field.children())
    return words[0] in below and _goes_on(below[words[0]], words[1:])


def _goes_on(field: Field, words: list[str]) -> bool:
    if not words or _held(field.schema)[0] == "additionalProperties" or leads_somewhere(field, words):
        return True
    return _held(field.schema)[0] == "items" and _goes_on(field, words[1:])


def every_field(field: Field, above: tuple[int, ...] = ()) -> Iterator[Field]:
    """A field and all that are below it, schemas that hold themselves once."""
    yield field
    _, inside, _ = _inside(field.schema, {}, field.defs)
    same = id(inside.get("properties"))
    if same not in above:
        for _, below in field.children():
            yield from every_field(below, (*above, same))


@cache
def root_of(kind: Shipped) -> Field:
    """A kind as the field that all of its fields are below."""
    root = json.loads((shipped.folder() / kind.json).read_text("utf-8"))
    rules: Schema = {}  # the schema in the definition of the kind; a kind that no server has has none
    if kind.crd:
        document = next(iter(read((shipped.folder() / kind.crd).read_bytes(), kind.crd, Report())))
        versions = plain(document.tree)["spec"]["versions"]
        rules = next(one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == kind.version)
    return Field(kind, root.get("$defs", {}), root, rules, kind.about.partition("\n")[0])


def _inside(schema: Schema, validations: Schema, defs: Schema) -> tuple[tuple[str, ...], Schema, Schema]:
    """Through lists and maps to what has fields: the steps that lead there, and the schemas of it."""
    steps: tuple[str, ...] = ()
    schema = schema["anyOf"][0] if "anyOf" in schema else schema
    while (held := _held(schema))[0]:
        key, step = held
        steps = (*steps, step)
        schema, validations = _resolved(schema[key], defs), fields(validations.get(key))
    return steps, schema, validations


def _held(schema: Schema) -> tuple[str, str]:
    """Where a list or a map says what it holds, and the step that leads into it; empty for anything else."""
    if "properties" not in schema:
        for key, step in (("items", "[]"), ("additionalProperties", _ANY)):
            if isinstance(schema.get(key), dict):
                return key, step
    return "", ""


def _resolved(schema: Schema, defs: Schema) -> Schema:
    reference = schema.get("$ref", "")
    return {**defs[reference.rpartition("/")[2]], **schema} if reference else schema


def _type(schema: Schema, defs: Schema) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(_resolved(one, defs), defs) for one in schema["anyOf"])
    kinds = schema.get("type", "any")
    several = [one for one in kinds if one != "null"] if isinstance(kinds, list) else [kinds]
    if len(several) > 1:
        return "number or string"
    kind = str(several[0] if several else "any")
    if kind == "array":
        return f"list of {_type(_resolved(schema.get('items', {}), defs), defs)}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"map of {_type(_resolved(schema['additionalProperties'], defs), defs)}"
    return kind


# By the name of the field, where a plain value of its type would teach nothing.
_VALUES: dict[str, Any] = {
    "image": "registry.example.com/team/train:1.0.0",
    "command": ["torchrun", "train.py"],
    "args": ["--epochs=3"],
    "numNodes": 4,
    "numProcPerNode": 8,
    "env": [{"name": "NCCL_DEBUG", "value": "WARN"}],
    "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
    "storageUri": "hf://team/model",
    "namespace": "training",
    "name": "bert",
    "manager": "team.example.org/cache",
    "nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
    "labels": {"team": "nlp"},
    "annotations": {"trainc.dev/run": "2"},
    "requires": "trainc>=0.1",
    "paths": ["jobs/llm"],
    "folder": "clusters/eu",
    "kubernetes": "1.36",
    "jobset": "0.13",
    "kueue": "0.19",
    "output": "rendered",
    "registries": {"registry.example.com": "mirror.example.com"},
    "digests": {"registry.example.com/train:1": "sha256:" + "0" * 64},
    "secrets": {"mpi": "existing:ssh-keys"},
    "rules": {"moving-tag": "error"},
    "rulesByPath": {"jobs/legacy": {"moving-tag": "off"}},
    "extends": "torch-distributed",
    "components": [{"name": "shm"}],
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "time": "2026-01-01T00:00:00Z",
    "path": "mlPolicy.numNodes",
    "scheduler": "kueue",
    "secretKeyRef": {"name": "hf-token", "key": "token"},
    "configMapKeyRef": {"name": "settings", "key": "epochs"},
    "secretRef": {"name": "hf-token"},
    "configMapRef": {"name": "settings"},
}


def sample(field: Field) -> str:
    """The YAML of an object that sets the field, without what else the object needs."""
    value = _value(field)
    for step in reversed(field.steps):
        value = [value] if step == "[]" else {step: value}
    return dump(value) if isinstance(value, dict) else ""


def _value(field: Field) -> Any:
    if field.name in _BY_PATH:
        return _BY_PATH[field.name]
    if "const" in field.schema:
        return field.schema["const"]
    if choices := [one for one in field.schema.get("enum", ()) if one is not None]:
        return choices[0]
    if field.default is not None:
        return field.default
    value = _VALUES.get(field.path[-1]) if not field.is_element else None
    return value if value is not None and _fits(value, field.type) else _usual(field)


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, list):
        item = "object" if isinstance(value[0], dict) else "string"
        return kind == f"list of {item}"
    if isinstance(value, dict):
        inner = next(iter(value.values()))
        return kind == ("map of object" if isinstance(inner, dict) else "map of string") or kind == "object"
    return kind in (_NUMBERS if isinstance(value, int) else _TEXTS)


def _usual(field: Field) -> Any:
    if (inner := field.element()) is not None:
        value = _value(inner)
        return [value] if field.type.startswith("list of") else {"KEY": value}
    if field.type != "object":
        return _PLAIN.get(field.type, "text")
    below = dict(field.children())  # those that the object must have, or its first plain one
    wanted = [name for name, child in below.items() if child.required]
    wanted = wanted or [name for name, child in below.items() if child.type in _PLAIN][:1] or list(below)[:1]
    return {name: _value(below[name]) for name in wanted}


# By its name below `trainc.dev/`: an example, and what it says.
_ABOUT = {
    "run": ('"2"', "The run number; increase it to start a new run."),
    "cluster": ("eu,us", "The clusters that run the job; overrides their `paths`."),
    "components": ("shm,spot", "The components to enable."),
    "checkpoints.trainc.dev/claim": (
        "bert-data",
        "The value of a parameter of an enabled component: `<component>.trainc.dev/<parameter>`.",
    ),
    "compile": ('"true"', 'Plain Job (`batch/v1`): compile it as training; `"false"` leaves it unchanged.'),
    "keep": (
        "job",
        "Plain Job: keep it a Job; it is checked, and gets a PodGroup if the cluster has a gang scheduler.",
    ),
    "rank-layout": ("merged", "PyTorchJob: one Job for master and workers, or with `per-job` one Job per worker."),
    "run-to-completion": ('"true"', "LeaderWorkerSet: its pods end with their program; compile it as training."),
    "compat-names": ('"true"', "Jobs of other operators: add Services under the pod names that the operator used."),
    "cluster-domain": (
        "cluster.local",
        "Jobs of other operators: the DNS domain of the cluster, for host names that include it.",
    ),
    "keep-ttl": ('"true"', "Jobs of other operators: keep the time to live."),
    "lenient": ('"true"', "Jobs of other operators: a lower-case role, or a Master without `replicas`, is a warning."),
    "jax-variables": ('"true"', "JAXJob: also set the variables that JAX itself reads."),
}
ANNOTATIONS = {name if "/" in name else TRAINC_PREFIX + name: row for name, row in _ABOUT.items()}
