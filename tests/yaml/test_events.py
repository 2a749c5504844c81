"""libyaml's parser is used where PyYAML has it, and not needed."""

import subprocess
import sys

import pytest
import yaml

from trainc.yaml.events import Parser

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


def test_libyaml() -> None:
    assert Parser is yaml._yaml.CParser


@pytest.mark.slow
def test_without_libyaml() -> None:
    done = subprocess.run([sys.executable, "-c", PURE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
