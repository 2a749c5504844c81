"""A pod as the Pod Security Standards look at it, and the words for what is wrong with it."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from trainc.lint.facts.values import rows, substituted, table, text, texts
from trainc.model.tree import Path, Tree, value

NEWEST = 37  # the last minor version of Kubernetes whose standards are known here
_NO_SECCOMP_ON_WINDOWS = 25  # the first version that spares Windows pods what Windows does not have
_RELAXED_IN_USER_NAMESPACES = 35


class Violation(NamedTuple):
    """What a control forbids in a pod: its name, the details, and the first place of it in the pod template."""

    control: str
    details: str
    path: Path


class Owner(NamedTuple):
    """The pod's spec, which has no name here, or one of its containers: its place in the template, and its fields."""

    name: str | None
    path: Path
    tree: Tree

    @property
    def security(self) -> Tree:
        """Its securityContext, empty where there is none."""
        return table(self.tree, "securityContext")

    @property
    def security_path(self) -> Path:
        """Where its securityContext stands."""
        return (*self.path, "securityContext")


class PodTemplate:
    """A pod template, and the minor version of the standards that it is put before."""

    __slots__ = ("annotations", "containers", "minor", "spec")

    def __init__(self, template: Tree, minor: int) -> None:
        self.spec = table(template, "spec")
        self.annotations = table(table(template, "metadata"), "annotations")
        self.minor = minor
        self.containers = tuple(
            Owner(text(container, "name"), ("spec", field, index), container)
            for field in ("initContainers", "containers")
            for index, container in enumerate(rows(self.spec, field))
        )

    @property
    def owner(self) -> Owner:
        """The pod itself as the owner of a securityContext."""
        return Owner(None, ("spec",), self.spec)

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The pod, then its containers."""
        return self.owner, *self.containers

    @property
    def is_windows(self) -> bool:
        """Whether it is spared what only Linux has."""
        return self.minor >= _NO_SECCOMP_ON_WINDOWS and text(table(self.spec, "os"), "name") == "windows"

    @property
    def is_relaxed(self) -> bool:
        """Whether a user namespace of its own lets it have what a standard forbids otherwise."""
        return self.minor >= _RELAXED_IN_USER_NAMESPACES and value(self.spec, "hostUsers") is False


def known(tree: Tree, key: str) -> str:
    """The text at a key, empty where there is none or another tool fills it in."""
    written = text(tree, key)
    return "" if substituted(written) else written


def known_texts(tree: Tree, key: str) -> list[str]:
    """The texts listed at a key without those that another tool fills in."""
    return [written for written in texts(tree, key) if not substituted(written)]


def quoted(names: Iterable[str]) -> str:
    """`"a", "b"`."""
    return ", ".join(f'"{name}"' for name in names)


def counted(word: str, things: Sequence[object] | set[str], plural: str = "") -> str:
    """A word as it is written for so many things."""
    return word if len(things) == 1 else plural or f"{word}s"


def containers(owners: Sequence[Owner]) -> str:
    """`container "a"` or `containers "a", "b"`."""
    return f"{counted('container', owners)} {quoted(owner.name or '' for owner in owners)}"


def setters(owners: Sequence[Owner]) -> str:
    """`pod and container "a"`."""
    inner = [owner for owner in owners if owner.name is not None]
    parts = ["pod"] * (len(inner) < len(owners)) + ([containers(inner)] if inner else [])
    return " and ".join(parts)


def forbidden(control: str, owners: Sequence[Owner], details: str, *path: str) -> Violation | None:
    """The violation of owners by what their securityContext has at a path, None where there are none."""
    return Violation(control, details, (*owners[0].security_path, *path)) if owners else None


def setting(given: Iterable[Owner], *path: str, bad: Callable[[str], bool]) -> tuple[list[Owner], list[str]]:
    """The owners whose securityContext has a bad text at a path, and these texts, sorted."""
    owners: list[Owner] = []
    values: set[str] = set()
    for owner in given:
        tree = owner.security
        for step in path[:-1]:
            tree = table(tree, step)
        if (written := known(tree, path[-1])) and bad(written):
            owners.append(owner)
            values.add(written)
    return owners, sorted(values)
