"""The parameters of an Argo CD application, as its plugin server hands them over."""

from __future__ import annotations

from typing import Any, NamedTuple

from trainc.text.embedded_json import json_value
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_SHAPES = {"cluster": "string", "paths": "array"}


class Parameters(NamedTuple):
    """What an application asks for; empty is its way to say nothing."""

    cluster: str = ""
    paths: tuple[str, ...] = ()


def parameters(text: str) -> Parameters:
    """The parameters in ARGOCD_APP_PARAMETERS; none where the variable is empty or `null`.

    Raises:
        Trouble: for text that is not a list of parameters, and for parameters that are unknown, twice there, or of a
            shape that they do not have.
    """
    try:
        listed = json_value(text) if text.strip() else None
    except ValueError as error:
        raise Trouble("ARGOCD_APP_PARAMETERS is not valid JSON") from error
    if listed is None:
        return Parameters()
    if type(listed) is not list:
        raise Trouble("ARGOCD_APP_PARAMETERS is not a list of parameters")
    values: dict[str, Any] = {}
    for entry in listed:
        name, content = _parameter(entry)
        if name in values:
            raise Trouble(f"parameter `{name}` is given twice")
        values[name] = content
    return Parameters(values.get("cluster") or "", tuple(values.get("paths") or ()))


def _parameter(entry: Any) -> tuple[str, Any]:
    name = entry.get("name") if type(entry) is dict else None
    if type(name) is not str:
        raise Trouble("a parameter of the application has no name")
    shape = _SHAPES.get(name)
    if shape is None:
        hint = meant(name, _SHAPES, f"parameters: {', '.join(_SHAPES)}")
        raise Trouble(f"there is no parameter `{name}`; {hint}")
    for key in entry:
        if key not in ("name", shape) and entry[key] is not None:
            raise Trouble(f"parameter `{name}` is given as {key}; it takes `{shape}`")
    content = entry.get(shape)
    if content is None:
        return name, None
    if shape == "string" and type(content) is not str:
        raise Trouble(f"parameter `{name}` is not text")
    if shape == "array":
        if type(content) is not list:
            raise Trouble(f"parameter `{name}` is not a list of texts")
        for item in content:
            _path(item)
    return name, content


def _path(text: Any) -> None:
    if type(text) is not str or not text or text.startswith(("/", "-")) or ".." in text.split("/") or "\0" in text:
        raise Trouble(f"parameter `paths`: `{text}` is not a path below the application's folder")
