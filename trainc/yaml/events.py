"""YAML events: libyaml through PyYAML's C extension, or PyYAML's own parser where the extension is missing."""

from __future__ import annotations

from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Parser: Any
try:
    from yaml._yaml import CParser as Parser
except ImportError:
    from yaml.parser import Parser as OwnParser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class _Pure(Reader, Scanner, OwnParser):
        def __init__(self, stream: bytes) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            OwnParser.__init__(self)

    Parser = _Pure

__all__ = [
    "AliasEvent",
    "DocumentStartEvent",
    "MappingEndEvent",
    "MappingStartEvent",
    "MarkedYAMLError",
    "Parser",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "YAMLError",
]
