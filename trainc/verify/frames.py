"""What the plain settings of a Job and of its pods amount to: remembered by the settings, which many jobs share."""

from __future__ import annotations

from trainc.model.remembered import Remembered
from trainc.verify.values import SUBSTITUTED, Unknown, content, said, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

    Fields = tuple[tuple[str, ...], tuple[object, ...]]  # names, and what is said of each

Count = int | Unknown


class Work:
    """The Jobs of a role: how many there are (`replicas`), their numbers of pods, and what is worth a look in them.

    `size` is the number of indices of a Job (of pods at once, where it is not indexed), `width` how many run at once.
    """

    __slots__ = ("indexed", "replicas", "size", "traits", "width")

    def __init__(self, asked: tuple[object, Fields]) -> None:
        replicas, (names, values) = asked
        fields = dict(zip(names, values, strict=True))
        mode = fields.get("completionMode")
        self.indexed = type(mode) is not str or mode in ("", "Indexed")
        many, width, size = (
            _count(number) for number in (replicas, fields.get("parallelism"), fields.get("completions"))
        )
        self.replicas: Count = 1 if many is None else many
        self.width: Count = 1 if width is None else width
        self.size: Count = self.width if size is None else size
        if type(self.width) is int and type(size) is int and size < self.width:
            self.width = size
        self.traits = frozenset([*names, *self._odd(fields)])

    def _odd(self, fields: dict[str, object]) -> list[str]:
        replicas, width, size = self.replicas, self.width, self.size
        traits = {
            "several Jobs": replicas != 1,
            "odd count": 0 in (replicas, width, size),
            "unknown count": Unknown in (type(replicas), type(width), type(size)),
            "not at once": width != size,
            "not Indexed": not self.indexed,
            "no backoffLimit": "backoffLimit" not in fields,
        }
        return [trait for trait, holds in traits.items() if holds]


def _count(number: object) -> Count | None:
    """A number of pods or Jobs: None where there is none, unknown where it is something else."""
    if type(number) is int:
        return number
    return None if number is None or (type(number) is tuple and content(number) is None) else SUBSTITUTED


class Frame:
    """The pods of a role but for their containers: whether they share the host's memory, and what is worth a look."""

    __slots__ = ("host_ipc", "traits")

    def __init__(self, asked: tuple[tuple[str, ...], object, object]) -> None:
        names, grace, host_ipc = asked
        self.host_ipc = content(host_ipc) is True
        traits = {
            "no grace": grace is None,
            "odd grace": grace is not None and (type(grace) is not int or grace < 0),
        }
        self.traits = frozenset([*names, *(trait for trait, holds in traits.items() if holds)])


_WORK, _FRAMES = Remembered(Work), Remembered(Frame)


def work_of(role: Tree, spec: Tree) -> Work:
    """The Jobs of a replicatedJob, `spec` being that of its Jobs."""
    return _WORK[said(role, "replicas"), (tuple(spec), written(spec))]


def frame_of(pod: Tree) -> Frame:
    """The pods of a spec."""
    return _FRAMES[
        tuple(pod),
        said(pod, "terminationGracePeriodSeconds"),
        said(pod, "hostIPC") if "hostIPC" in pod else None,
    ]
