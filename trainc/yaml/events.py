"""YAML events: libyaml through PyYAML's C extension, or PyYAML's own parser where the extension is missing."""

from typing import Any


def python_parser(data: bytes) -> Any:
    """PyYAML's parser in Python: the same events as libyaml's, slower."""
    from yaml.parser import Parser as Grammar  # noqa: PLC0415 (few texts need it)
    from yaml.reader import Reader  # noqa: PLC0415
    from yaml.scanner import Scanner  # noqa: PLC0415

    class PythonParser(Reader, Scanner, Grammar):
        def __init__(self) -> None:
            Reader.__init__(self, data)
            Scanner.__init__(self)
            Grammar.__init__(self)

    return PythonParser()


Parser: Any
try:
    from yaml._yaml import CParser as Parser
except ImportError:
    Parser = python_parser
