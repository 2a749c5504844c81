"""`--set KEY=VALUE`: what is known of the cluster for one run."""

from __future__ import annotations

from trainc.model.cluster import UNITS, Cluster, version
from trainc.model.sourced import Origin, Sourced
from trainc.model.spelling import nearest
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def assigned(words: Iterable[str]) -> Cluster:
    """The cluster that a run's assignments describe.

    Raises:
        Trouble: for a setting that does not exist or a value that it cannot take.
    """
    settings: dict[str, object] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise Trouble(f"--set takes KEY=VALUE, not `{word}`")
        known = _SETTINGS.get(key)
        if known is None:
            near = nearest(key, _SETTINGS)
            hint = f"did you mean `{near}`?" if near else f"settings: {', '.join(_SETTINGS)}"
            raise Trouble(f"there is no setting `{key}`; {hint}")
        field, read = known
        settings[field] = read(key, text)
    return Cluster(**settings)  # type: ignore[arg-type] # each reader gives what its field takes


def _text(key: str, text: str) -> Sourced[str]:
    return Sourced(text, Origin(by=f"--set {key}={text}"))


def _seconds(key: str, text: str) -> Sourced[int]:
    if not text.isdigit() or int(text) < 1:
        raise Trouble(f"`{key}` is a number of seconds, not `{text}`")
    return Sourced(int(text), Origin(by=f"--set {key}={text}"))


def _version(key: str, text: str) -> tuple[int, int]:
    found = version(text)
    if found is None:
        raise Trouble(f"`{key}` is a version such as `1.37`, not `{text}`")
    return found


def _names(key: str, text: str) -> tuple[str, ...]:
    del key
    return tuple(name for name in text.split(",") if name)


def _unit(key: str, text: str) -> str:
    if text not in UNITS:
        raise Trouble(f"`{key}` is one of {', '.join(UNITS)}, not `{text}`")
    return text


def _switch(key: str, text: str) -> bool:
    if text not in {"true", "false"}:
        raise Trouble(f"`{key}` is true or false, not `{text}`")
    return text == "true"


_SETTINGS: dict[str, tuple[str, Callable[[str, str], object]]] = {
    "scheduler": ("scheduler", _text),
    "schedulerName": ("scheduler_name", _text),
    "queue": ("queue", _text),
    "topology": ("topology", _text),
    "gang": ("unit", _unit),
    "gangTimeout": ("timeout", _seconds),
    "autoscaling": ("autoscaling", _switch),
    "kubernetes": ("kubernetes", _version),
    "jobset": ("jobset", _version),
    "kueue": ("kueue", _version),
    "gates": ("gates", _names),
    "admission": ("admission", _names),
}
