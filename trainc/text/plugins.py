"""What installed packages add to trainc, by entry point; they add, they never replace."""

from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoints
    from typing import TypeVar

    T = TypeVar("T")

GROUPS = FRAMEWORKS, SCHEDULERS, RULES = "trainc.frameworks", "trainc.schedulers", "trainc.rules"


def installed(group: str, name: str, kind: "type[T]") -> "T | None":
    """What an installed package offers under that name, None where none does; Trouble where it cannot be loaded, or is of another kind."""
    for entry in _entries(group):
        if entry.name == name:
            what = f"{group}: `{name}` is installed as {entry.value}"
            try:
                loaded = entry.load()
            except (ImportError, AttributeError) as error:
                raise Trouble(f"{what}, which does not load: {error}") from error
            if not isinstance(loaded, kind):
                raise Trouble(f"{what}, which is not a {kind.__name__}")
            return loaded
    return None


def offered(group: str) -> list[str]:
    """The names that installed packages offer, in order."""
    return sorted({entry.name for entry in _entries(group)})


def has_additions() -> bool:
    """Whether an installed package adds anything to trainc; every package is looked at once for all groups."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (costs more than a whole validation)

    return not entry_points().groups.isdisjoint(GROUPS)


def _entries(group: str) -> "EntryPoints":
    from importlib.metadata import entry_points  # noqa: PLC0415 (costs more than a whole validation)

    return entry_points(group=group)
