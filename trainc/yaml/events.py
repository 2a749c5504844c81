"""YAML events: libyaml through PyYAML's C extension, or PyYAML's own parser where the extension is missing.

Running `yaml/__init__` costs ten milliseconds for loaders and dumpers that are not used here, so where nobody has
imported PyYAML yet only its extension and the plain classes around it are loaded. The package that is left in
`sys.modules` completes itself as soon as anybody asks it for anything else.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_ERRORS = {  # what the extension takes from modules that are not worth loading: the error, and whether it has marks
    "reader": ("ReaderError", False),
    "scanner": ("ScannerError", True),
    "parser": ("ParserError", True),
    "composer": ("ComposerError", True),
    "constructor": ("ConstructorError", True),
    "emitter": ("EmitterError", False),
    "serializer": ("SerializerError", False),
    "representer": ("RepresenterError", False),
}


class _Stand:
    """Stands in for a module while the extension is loaded."""


def _extension() -> Any:
    """The parser class of libyaml, None where PyYAML was built without it."""
    if "yaml" not in sys.modules:
        try:
            return _light()
        except Exception:  # noqa: BLE001 (a PyYAML of another shape: the ordinary import decides)
            for name in [name for name in sys.modules if name.partition(".")[0] == "yaml"]:
                del sys.modules[name]
    try:
        from yaml._yaml import CParser  # noqa: PLC0415
    except ImportError:
        return None
    return CParser


def _light() -> Any:
    from _frozen_importlib import module_from_spec  # noqa: PLC0415
    from _frozen_importlib_external import PathFinder  # noqa: PLC0415

    spec: Any = PathFinder.find_spec("yaml")
    package = module_from_spec(spec)
    sys.modules["yaml"] = package
    import yaml.error  # noqa: PLC0415
    import yaml.events  # noqa: PLC0415
    import yaml.nodes  # noqa: PLC0415
    import yaml.tokens  # noqa: PLC0415

    for module, (name, marked) in _ERRORS.items():
        stand = _Stand()
        base = yaml.error.MarkedYAMLError if marked else yaml.error.YAMLError
        setattr(stand, name, type(name, (base,), {}))
        setattr(package, module, stand)
    from yaml._yaml import CParser  # noqa: PLC0415

    for module in _ERRORS:
        delattr(package, module)
    package.__dict__["__getattr__"] = _completion(package, spec.loader.exec_module)
    return CParser


def _completion(package: ModuleType, run: Callable[[ModuleType], None]) -> Callable[[str], object]:
    def complete(name: str) -> object:
        if package.__dict__.pop("__getattr__", None) is not None:
            run(package)
        try:
            return package.__dict__[name]
        except KeyError:
            raise AttributeError(f"module 'yaml' has no attribute {name!r}") from None

    return complete


def _pure() -> Any:
    from yaml.parser import Parser  # noqa: PLC0415
    from yaml.reader import Reader  # noqa: PLC0415
    from yaml.scanner import Scanner  # noqa: PLC0415

    class Pure(Reader, Scanner, Parser):
        def __init__(self, stream: bytes) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)

    return Pure


Parser: Any = _extension() or _pure()

from yaml.error import MarkedYAMLError, YAMLError  # noqa: E402 (after the package is in place)
from yaml.events import (  # noqa: E402
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

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
