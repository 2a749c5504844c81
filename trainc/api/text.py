"""Manifests as YAML text that every reader reads back alike."""

from __future__ import annotations

import re

import yaml

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_BOOLEAN = frozenset("y n yes no on off true false null".split())  # YAML 1.1, as Kubernetes reads it


def to_yaml(document: object) -> str:
    """Block style, two spaces, keys in the order given; a string that could be read as something else is quoted."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=False)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 (anchors are never written)
        return True


def _string(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    plain = _PLAIN.fullmatch(value) and value.lower() not in _BOOLEAN
    style = None if plain else "|" if "\n" in value else '"'  # PyYAML falls back to quotes where a block would lose text
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _string)
