"""A patch: changes to the pods of one role, and where each of them goes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree
from trainc.text.memo import Memo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.paths import Steps

CONTAINER, POD, METADATA = "container", "pod", "metadata"
_NOTHING: dict[Any, Any] = {}  # what all that are empty share; nobody writes into a patch


class Literals:
    """Makes bare scalars `Sourced` by one contributor; leaves that know their origin keep it."""

    __slots__ = ("_origin", "_texts")

    def __init__(self, by: str) -> None:
        self._origin = Origin(None, by, ())
        # Names of variables and fields are few.
        self._texts: Memo[str, Sourced[str]] = Memo(lambda text: Sourced(text, self._origin))

    def items(self, items: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """The items, their bare scalars with this origin."""
        return tuple([self.tree(item) for item in items])

    def fields(self, fields: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """The fields, their bare scalars with this origin; None stays, which takes a field away."""
        return {key: node if node is None else self.tree(node) for key, node in fields.items()}

    def variable(self, name: str, leaf: Sourced[Any]) -> Tree:
        """One env entry of this contributor with a value that knows its origin."""
        return {"name": self.tree(name), "value": leaf if type(leaf.value) is str else leaf.map(str)}

    def tree(self, node: Any) -> Tree:
        """A tree, its bare scalars with this origin."""
        kind = type(node)
        if kind is Sourced:
            return node
        if kind is dict:
            return {key: self.tree(inner) for key, inner in node.items()}
        if kind is str:
            return self._texts[node]
        if kind is list or kind is tuple:
            return [self.tree(item) for item in node]
        return Sourced(node, self._origin)


LITERALS: Final = Memo(Literals, most=100)  # by the name of the contributor


class PatchField(NamedTuple):
    """Where one field of a patch goes."""

    name: str
    owner: str  # the patched `container`, the `pod` spec or the pod's `metadata`
    target: str = ""  # below the owner; empty for fields of the owner itself
    list_key: str = ""  # the merge key of items that go into the list `target`; else entries replace those of a map

    def steps(self, content: Any) -> "Iterator[Steps]":
        """Each place below the owner that the content replaces whole."""
        above: Steps = (self.target,) if self.target else ()
        for entry in content:
            yield (*above, (self.list_key, entry[self.list_key].value) if self.list_key else entry)


class Patch:
    """Changes to the pods of one role, each an upsert: an element of equal key is replaced whole where it stands.

    With `container` the fields `env`, `ports`, `mounts` and `sets` go to that container (regular ones first, then
    init containers); `volumes`, `init_containers`, `pod`, `labels` and `annotations` go to the pod template.
    A `sets` or `pod` entry of None removes the field. `fields` says where each goes, in the order in which they are
    applied; whoever copies, compares or applies a patch goes through `contents`, `touches` or `restricted`.
    """

    __slots__ = (
        "annotations", "container", "env", "init_containers", "labels", "mounts", "pod", "ports", "role", "sets",
        "volumes",
    )  # fmt: skip
    fields: tuple[PatchField, ...] = (
        PatchField("labels", METADATA, "labels"),
        PatchField("annotations", METADATA, "annotations"),
        PatchField("pod", POD),
        PatchField("volumes", POD, "volumes", "name"),
        PatchField("init_containers", POD, "initContainers", "name"),
        PatchField("sets", CONTAINER),
        PatchField("env", CONTAINER, "env", "name"),
        PatchField("ports", CONTAINER, "ports", "containerPort"),
        PatchField("mounts", CONTAINER, "volumeMounts", "mountPath"),
    )

    def __init__(
        self,
        role: int,
        container: str = "",
        *,
        env: tuple[Tree, ...] = (),
        ports: tuple[Tree, ...] = (),
        mounts: tuple[Tree, ...] = (),
        sets: Mapping[str, Tree] | None = None,
        volumes: tuple[Tree, ...] = (),
        init_containers: tuple[Tree, ...] = (),
        pod: Mapping[str, Tree] | None = None,
        labels: Mapping[str, Tree] | None = None,
        annotations: Mapping[str, Tree] | None = None,
    ) -> None:
        self.role = role
        self.container = container
        self.env = env
        self.ports = ports
        self.mounts = mounts
        self.sets = sets or _NOTHING
        self.volumes = volumes
        self.init_containers = init_containers
        self.pod = pod or _NOTHING
        self.labels = labels or _NOTHING
        self.annotations = annotations or _NOTHING

    def contents(self) -> Iterator[tuple[PatchField, Any]]:
        """Each field that says something, with what it says, in the order in which they are applied."""
        for field in self.fields:
            if content := getattr(self, field.name):
                yield field, content

    def restricted(self, *, only: Iterable[str] = (), without: Iterable[str] = ()) -> "Patch":
        """The same patch with `only` some fields, or `without` some."""
        chosen = {field.name: content for field, content in self.contents()}
        kept = {name: chosen[name] for name in chosen if (name in only if only else name not in without)}
        return type(self)(self.role, self.container, **kept)

    def attach_origin(self, by: str) -> "Patch":
        """This patch with every bare scalar sourced from `by`."""
        literals = LITERALS[by]
        with_origin: dict[str, Any] = {
            field.name: literals.items(content) if field.list_key else literals.fields(content)
            for field, content in self.contents()
        }
        return type(self)(self.role, self.container, **with_origin)

    def touches(self, role: str, containers: str) -> "tuple[Steps, ...]":
        """Every place of a JobSet that this patch replaces whole, as keyed paths.

        `role` is the name of the role that it patches, `containers` the list that holds its container.
        """
        template: Steps = ("spec", "replicatedJobs", ("name", role), "template", "spec", "template")
        owners: dict[str, Steps] = {
            METADATA: (*template, "metadata"),
            POD: (*template, "spec"),
            CONTAINER: (*template, "spec", containers, ("name", self.container)),
        }
        return tuple(
            (*owners[field.owner], *steps) for field, content in self.contents() for steps in field.steps(content)
        )
