"""PyYAML is loaded lightly, completes itself when asked, and is not needed in its compiled form."""

from __future__ import annotations

import subprocess
import sys

LIGHT = """
import sys
import trainc.yaml.parsed
loaded = {name for name in sys.modules if name.partition(".")[0] == "yaml"}
assert loaded == {"yaml", "yaml._yaml", "yaml.error", "yaml.events", "yaml.nodes", "yaml.tokens"}, loaded
import yaml
assert yaml.safe_load("a: [1]") == {"a": [1]}
assert yaml.load("a: [1]", Loader=yaml.CSafeLoader) == {"a": [1]}
assert yaml.error is sys.modules["yaml.error"]
try:
    yaml.load("a: b: c", Loader=yaml.CSafeLoader)
except yaml.YAMLError:
    pass
from yaml import *
try:
    yaml.nothing
except AttributeError as error:
    assert "nothing" in str(error)
"""

FULL_FIRST = """
import yaml
from trainc.yaml.events import Parser, ScalarEvent
assert Parser is yaml._yaml.CParser
assert ScalarEvent is yaml.ScalarEvent
"""

PURE = """
import sys
class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "yaml._yaml":
            raise ImportError(name)
sys.meta_path.insert(0, Missing)
from tests.yaml.test_reader import ACCEPTED, FAULTS
from tests.yaml.reading import values
from trainc.yaml.events import Parser
assert Parser.__module__ == "trainc.yaml.events"
for text, expected in ACCEPTED:
    if "\\t" not in text:  # PyYAML's own scanner refuses tabs that libyaml takes
        assert values(text) == (expected, []), text
for text, expected, _ in FAULTS:
    found, findings = values(text)
    assert found == expected, (text, found)
    assert findings, text
"""


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_light() -> None:
    run(LIGHT)


def test_after_an_ordinary_import() -> None:
    run(FULL_FIRST)


def test_without_libyaml() -> None:
    run(PURE)
