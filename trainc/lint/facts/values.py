"""Reading trees that may be wrong, and values that may be unknown: three-valued, because unknown is not wrong."""

from typing import NamedTuple

from trainc.model.cluster import Cluster
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree
from trainc.text.placeholders import is_placeholder

# Linux starts no program with a longer argument or variable (MAX_ARG_STRLEN), nor with more of both together.
LONGEST = 128 << 10
MOST_TEXT = 2 << 20
COMPLETION_INDEX = "completion index"
JOB_INDEX = "job index"
GLOBAL_JOB_INDEX = "global job index"
_EMPTY_TABLE: dict[str, Tree] = {}
_EMPTY_ROWS: list[dict[str, Tree]] = []
# What a shell, a program or a person reads: text may hold a `$` there.
_TEXTS = frozenset(("command", "args", "annotations"))


class Unknown(NamedTuple):
    """A value that cannot be known from the text: a Secret's content, a `${VAR}` that another tool fills in."""

    reason: str

    def __repr__(self) -> str:
        return f"<{self.reason}>"


class Varies(NamedTuple):
    """A value that every pod has, but not the same: `by` names the index it follows."""

    by: str

    def __repr__(self) -> str:
        return f"<{self.by}>"


UNKNOWN = Unknown("unknown")
TOO_LONG = Unknown("longer than the limit for arguments")
SUBSTITUTED = Unknown("substituted by another tool")

Value = str | Unknown | Varies


def table(tree: Tree, key: str) -> dict[str, Tree]:
    """The mapping at `key`, empty where there is none."""
    node = tree.get(key)
    return node if type(node) is dict else _EMPTY_TABLE


def rows(tree: Tree, key: str) -> list[dict[str, Tree]]:
    """The mappings listed at `key`, in place; what is not a mapping reads as an empty one."""
    return mappings(tree.get(key))


def mappings(node: Tree) -> list[dict[str, Tree]]:
    """The mappings of a list, in place; what is not a mapping reads as an empty one."""
    if type(node) is not list:
        return _EMPTY_ROWS
    for item in node:
        if type(item) is not dict:
            return [entry if type(entry) is dict else _EMPTY_TABLE for entry in node]
    return node


def text(tree: Tree, key: str) -> str:
    """The string at `key`, empty where there is none."""
    node = tree.get(key)
    return node.value if type(node) is Sourced and type(node.value) is str else ""


def texts(tree: Tree, key: str) -> list[str]:
    """The strings listed at `key`; other scalars as they read."""
    node = tree.get(key)
    if type(node) is not list:
        return []
    return [str(item.value) for item in node if type(item) is Sourced and item.value is not None]


def flag(tree: Tree, key: str) -> bool:
    """Whether the field at `key` is true."""
    node = tree.get(key)
    return type(node) is Sourced and node.value is True


def whole(tree: Tree, key: str) -> int | Unknown | None:
    """The whole number at `key`: None where absent, unknown where it is something else."""
    if (node := tree.get(key)) is None:
        return None
    if type(node) is Sourced:
        if type(node.value) is int:
            return node.value
        if node.value is None:
            return None
    return SUBSTITUTED


def templated(written: str) -> bool:
    """Whether a text still holds a place for another tool to fill in, which no shell fills in as well."""
    return "${" in written or "{{" in written or "<%" in written


def substituted(name: str) -> bool:
    """Whether a name still holds a place for another tool to fill in (envsubst, Flux, Helm, Jinja, xpk)."""
    return templated(name) or is_placeholder(name)


def word_end(written: str, end: int) -> int:
    """Where the word ends of which a fragment ends there."""
    return next(
        (at for at in range(end, len(written)) if written[at].isspace() or written[at] in "'\";|&)"), len(written)
    )


def repository(image: str, cluster: Cluster) -> tuple[str, str]:
    """The whole name of an image's repository and its tag, a cluster's mirror undone; empty where it is filled in later."""
    for public, own in cluster.images.get("registries", {}).items():
        if image.startswith(own.value.rstrip("/") + "/"):
            image = public.rstrip("/") + image[len(own.value.rstrip("/")) :]
    if "$" in image:
        return "", ""
    name, _, tag = image.partition("@")[0].partition(":")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first:
        name = f"docker.io/{name}"
    return name, tag


def untagged(image: str) -> str:
    """An image without its tag and digest; empty where a part of it is filled in later."""
    path = image.partition("@")[0]
    tag = path.rpartition("/")[2].partition(":")[1:]
    is_known = not any(mark in image for mark in "${<%")
    return path.removesuffix("".join(tag)) if is_known else ""


def is_program_text(path: Path) -> bool:
    """Whether a text of a JobSet is for a shell, a program or a person, who may mean something by a `$`."""
    return not _TEXTS.isdisjoint(path) or (path[-1] == "value" and "env" in path)
