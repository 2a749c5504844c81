"""What `trainc new --framework` takes: the starts that the frameworks declare, by their names."""

from __future__ import annotations

from trainc.frameworks import FRAMEWORKS, framework

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.patches import Start


def _starts() -> Iterator[tuple[str, Start]]:
    for name in FRAMEWORKS:
        declared = framework(name)
        yield from declared.starts.items() if declared is not None else ()


STARTS = dict(_starts())


def suiting(machines: tuple[str, ...]) -> tuple[str, ...]:
    """The frameworks that run on machines of one of these sorts."""
    return tuple(name for name, start in STARTS.items() if set(start.machines) & set(machines))
