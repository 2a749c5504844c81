"""What is known of a cluster, one setting at a time: from `--set KEY=VALUE`, or from trainc.yaml."""

from collections.abc import Callable, Iterable
from typing import Any

from trainc.model.cluster import UNITS, version
from trainc.model.sourced import Origin, Sourced
from trainc.text.numbers import brief, whole_number
from trainc.text.spelling import meant, nearest
from trainc.text.trouble import Trouble

# The feature gates that change an answer.
GATES = (
    "ElasticJobSet", "GenericWorkload", "InPlaceRestart", "RestartJob", "TopologyAwareWorkloadScheduling",
    "WorkloadAwarePreemption",
)  # fmt: skip


_TEN = 10
WEBHOOKS = ("kueue",)  # those that trainc knows besides the Trainer's and JobSet's


def assigned(words: Iterable[str]) -> dict[str, Any]:
    """The fields of a cluster that a run's assignments set; a Trouble as for one `setting`."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals:
            raise Trouble(f"--set takes KEY=VALUE, not `{word}`")
        field, content = setting(key, Sourced(text, Origin(by=f"--set {word}")))
        settings[field] = content
    return settings


def setting(key: str, leaf: Sourced[Any]) -> tuple[str, Any]:
    """The field of a cluster that a setting fills, and its value; a Trouble for what it cannot be."""
    known = SETTINGS.get(key)
    if known is None:
        hint = meant(key, SETTINGS, f"settings: {', '.join(SETTINGS)}")
        raise Trouble(f"unknown setting `{key}`; {hint}")
    field, read, _ = known
    return field, read(key, leaf)


def _text(key: str, leaf: Sourced[Any]) -> Sourced[str]:
    if type(leaf.value) is not str or not leaf.value:
        raise Trouble(f"`{key}` is a name, not `{leaf.value}`")
    return leaf


def _seconds(key: str, leaf: Sourced[Any]) -> Sourced[int]:
    text = str(leaf.value)
    if whole_number(text, least=1, most=2**31 - 1) is None:
        raise Trouble(f"`{key}` is a number of seconds, not `{brief(text)}`")
    return leaf.map(int)


def _version(key: str, leaf: Sourced[Any]) -> tuple[int, int]:
    numbers = version(str(leaf.value))
    if type(leaf.value) is float and numbers is not None and numbers[1] < _TEN:
        raise Trouble(f"`{leaf.value}` may have been {leaf.value}0: numbers lose the zero; quote the version")
    if numbers is None:
        raise Trouble(f'`{key}` is a version such as "1.37", not `{leaf.value}`')
    return numbers


def _names(key: str, leaf: Sourced[Any]) -> tuple[str, ...]:
    if type(leaf.value) is not str:
        raise Trouble(f"`{key}` is a list of names separated by commas, not `{leaf.value}`")
    return tuple(name.strip() for name in leaf.value.split(",") if name.strip())


def _webhooks(key: str, leaf: Sourced[Any]) -> frozenset[str]:
    names = _names(key, leaf)
    for name in names:
        if name not in WEBHOOKS:
            raise Trouble(f"trainc has no webhooks of `{name}`; `{key}` is a list of {', '.join(WEBHOOKS)}")
    return frozenset(names)


def _gates(key: str, leaf: Sourced[Any]) -> frozenset[str]:
    """Any names, for a cluster has gates that trainc never asks about; one that nearly is a known one is a slip."""
    names = _names(key, leaf)
    for name in names:
        if (near := nearest(name, GATES, cutoff=0.8)) and name not in GATES:
            raise Trouble(f"unknown feature gate `{name}`; did you mean `{near}`?")
    return frozenset(names)


def _unit(key: str, leaf: Sourced[Any]) -> str:
    if leaf.value not in UNITS:
        raise Trouble(f"`{key}` is one of {', '.join(UNITS)}, not `{leaf.value}`")
    return str(leaf.value)


def _switch(key: str, leaf: Sourced[Any]) -> bool:
    if (known := {"true": True, "false": False}.get(str(leaf.value).lower())) is None:
        raise Trouble(f"`{key}` is true or false, not `{leaf.value}`")
    return known


def _nodes(key: str, leaf: Sourced[Any]) -> bool:
    if leaf.value != "fixed":
        raise Trouble(f"`{key}` is `fixed` if no autoscaler adds nodes, or unset; not `{leaf.value}`")
    return True


# The field of a cluster that each fills, what reads its value, and what may stand there.
SETTINGS: dict[str, tuple[str, Callable[[str, Sourced[Any]], object], str]] = {
    "scheduler": ("scheduler", _text, "a gang scheduler: coscheduling, volcano, native or kueue"),
    "schedulerName": ("scheduler_name", _text, "the name of a scheduler as pods name it, such as `my-scheduler`"),
    "queue": ("queue", _text, "the name of a queue, such as `research`"),
    "topology": ("topology", _text, "the label of nodes that share a network, such as `topology.kubernetes.io/rack`"),
    "gang": ("unit", _unit, f"one of {', '.join(UNITS)}"),
    "gangTimeout": ("timeout", _seconds, "a number of seconds, such as `600`"),
    "autoscaling": ("autoscaling", _switch, "`true` or `false`"),
    "nodes": ("fixed_nodes", _nodes, "`fixed`, or remove it"),
    "kubernetes": ("kubernetes", _version, 'a version in quotes, such as `"1.36"`'),
    "jobset": ("jobset", _version, 'a version in quotes, such as `"0.12"`'),
    "kueue": ("kueue", _version, 'a version in quotes, such as `"0.16"`'),
    "gates": ("gates", _gates, f"names of feature gates separated by commas, such as `{GATES[0]},{GATES[1]}`"),
    "admission": ("admission", _webhooks, f"names of webhooks separated by commas: {', '.join(WEBHOOKS)}"),
    "namespace": ("namespace", _text, "the name of a namespace, such as `research`"),
}


def instead(key: str) -> str:
    """What may be written behind a setting, as a sentence that starts with a verb."""
    return f"write {SETTINGS[key][2]}"
