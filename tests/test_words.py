"""English as the field writes it: words and turns that are gone stay gone, from pages and from everything that trainc prints."""

import ast
import re
from collections.abc import Callable, Iterator

import pytest
from yaml import safe_load

from tests.compiling import ROOT
from trainc.cli.commands import COMMANDS
from trainc.cli.options import help_text
from trainc.lint.catalogue import rules

STYLE = safe_load((ROOT / "docs/styles/trainc/Words.yml").read_text("utf-8"))
LISTED = re.compile("|".join(f"(?:{pattern})" for pattern in STYLE["swap"]), re.IGNORECASE)
# Names of fields and rules stay as they are, and so do lines of people's own files.
OFF = re.compile(r"<!-- vale off -->.*?<!-- vale on -->|`[^`\n]+`|^ *\d+ \| [^\n]*", re.DOTALL | re.MULTILINE)


def listed(name: str, text: str) -> list[str]:
    """Where a text has a word of the list, with what to write instead."""
    found = []
    for number, line in enumerate(OFF.sub(lambda off: "\n" * off[0].count("\n"), text).splitlines(), 1):
        for hit in LISTED.finditer(line):
            instead = next(word for pattern, word in STYLE["swap"].items() if re.search(pattern, hit[0], re.IGNORECASE))
            found.append(f"{name}:{number}: {hit[0]!r}: {instead}: {line.strip()[:140]}")
    return found


def texts() -> Iterator[tuple[str, str]]:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))):
        yield str(page.relative_to(ROOT)), page.read_text("utf-8")
    for path in sorted(ROOT.glob("trainc/cli/scaffold/files/**/*.*")):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for rule in rules():
        yield f"rule {rule.name}", f"{rule.summary}\n{rule.why}"
    for name, command in COMMANDS.items():
        yield f"trainc {name} --help-all", help_text(command, is_full=True)
    for findings in sorted(ROOT.glob("tests/cases/**/expected/findings.txt")):
        yield str(findings.relative_to(ROOT)), findings.read_text("utf-8")


def printed() -> Iterator[tuple[str, str]]:
    """The texts of the source that may be printed: what it says in docstrings is for those who read it."""
    for path in sorted(ROOT.glob("trainc/**/*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        docs = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and id(node) not in docs and " " in str(node.value):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", str(node.value)


@pytest.mark.slow
@pytest.mark.parametrize("source", [texts, printed])
def test_no_text_has_a_listed_word(source: Callable[[], Iterator[tuple[str, str]]]) -> None:
    found = [line for name, text in source() for line in listed(name, text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["`node` asks for 16 network cards", "the server drops it in silence", "it is no JSON"]
)
def test_a_listed_word_is_found(text: str) -> None:
    assert listed("here", text)
    assert not listed("here", f"<!-- vale off -->\n{text}\n<!-- vale on -->")
