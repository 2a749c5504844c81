"""The object that configures a run of `trainc fn`: options of `build` and `validate`, and settings of the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from trainc.compiler.admit.function_config import BUILD, COMMANDS, is_function_config
from trainc.integrations.krm.resource_list import Item, resources
from trainc.model.document import Document
from trainc.model.tree import get, plain
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_CHOICES = {  # a word of the configuration -> the option, and what it may be
    "only": ("only", ("admission",)),
    "failOn": ("fail_on", ("error", "warning")),
    "fieldValidation": ("field_validation", ("strict", "warn", "ignore")),
    "podSecurity": ("pod_security", ("baseline", "restricted")),
}
_NAMES = {"cluster": "cluster", "select": "select", "ignore": "ignore"}  # one name, or several
_SWITCHES = {"closedWorld": "closed_world"}


class Configuration(NamedTuple):
    """What to do with the items: the command, its options as the command line has them, and items besides those given."""

    command: str
    options: dict[str, list[str]]
    resources: list[Item]


def configuration(config: Document | None, settings: Iterable[str]) -> Configuration:
    """What a functionConfig asks for: a ConfigMap's `data`, or the `spec` of kind Build or Validate of trainc.dev.

    `settings` are the names of those of a cluster.

    Raises:
        Trouble: for a kind, an option or a value that there is not.
    """
    if config is None:
        return Configuration(BUILD, {}, [])
    section = _section(config)
    written = plain(get(config.tree, section) or {})
    if type(written) is not dict:
        raise Trouble(f"functionConfig: `{section}` is not a map of options")
    words = dict(written)
    command = COMMANDS.get(config.kind) or str(words.pop("command", BUILD))
    if command not in COMMANDS.values():
        raise Trouble(f"functionConfig: `command` must be {' or '.join(COMMANDS.values())}, not `{command}`")
    inline = resources(get(config.tree, "spec", "resources")) if config.kind in COMMANDS else []
    words.pop("resources", None)
    options: dict[str, list[str]] = {}
    for key, given in words.items():
        _add(key, given, options, tuple(settings))
    return Configuration(command, options, inline)


def _section(config: Document) -> str:
    if config.kind == "ConfigMap":
        return "data"
    if is_function_config(config.api_version, config.kind):
        return "spec"
    raise Trouble(
        f"functionConfig has kind {config.kind or 'unknown'}; it must be a ConfigMap, or a Build or Validate of "
        "trainc.dev/v1alpha1; put jobs under `spec.resources` of Build"
    )


def _add(key: str, given: Any, options: dict[str, list[str]], settings: tuple[str, ...]) -> None:
    if type(given) is dict or (type(given) is list and key not in _NAMES):
        raise Trouble(f"functionConfig: `{key}` must be one value, not a {'map' if type(given) is dict else 'list'}")
    text = str(given).lower() if type(given) is bool else str(given)
    if key in _CHOICES:
        option, choices = _CHOICES[key]
        if text not in choices:
            raise Trouble(f"functionConfig: `{key}` must be one of {', '.join(choices)}, not `{text}`")
        options[option] = [text]
    elif key in _NAMES:
        names = given if type(given) is list else text.split(",")
        options[_NAMES[key]] = [str(name).strip() for name in names]
    elif key in _SWITCHES:
        if text not in ("true", "false"):
            raise Trouble(f"functionConfig: `{key}` must be true or false, not `{text}`")
        options |= {_SWITCHES[key]: [""]} if text == "true" else {}
    elif key in settings:
        options.setdefault("set", []).append(f"{key}={text}")
    else:
        known = (*_CHOICES, *_NAMES, *_SWITCHES, *settings)
        hint = meant(key, known, f"options: {', '.join(known)}")
        raise Trouble(f"functionConfig: unknown option `{key}`; {hint}")
