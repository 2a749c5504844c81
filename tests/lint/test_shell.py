"""Scripts as a shell would split them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.lint.facts.shell import script_of, simple_commands, unquote


@pytest.mark.parametrize(
    ("words", "script", "options"),
    [
        (["bash", "-c", "a"], "a", "-c"),
        (["/bin/sh", "-ec", "a"], "a", "-ec"),
        (["bash", "-euo", "pipefail", "-c", "a"], "a", "-euo pipefail -c"),
        (["tini", "--", "bash", "-lc", "a"], "a", "-lc"),
        (["bash", "run.sh"], "", ""),
        (["python", "-c", "print()"], "", ""),
        (["bash", "-c"], "", "-c"),
        ([], "", ""),
    ],
)
def test_script_of(words: list[str], script: str, options: str) -> None:
    assert script_of(words) == (script, options)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a b; c", [("a b", ";"), ("c", "")]),
        ("a | tee log", [("a", "|"), ("tee log", "")]),
        ("a 2>&1 | b", [("a 2>&1", "|"), ("b", "")]),
        ("a && b || c", [("a", "&&"), ("b", "||"), ("c", "")]),
        ("a \\\n  --b\nc", [("a --b", "\n"), ("c", "")]),
        ("# no\na # rest", [("a", "")]),
        ("echo 'a; b' \"c | d\"", [("echo a; b c | d", "")]),
        ("X=1 Y=2 a $(b; c)", [("a $(b; c)", "")]),
        ("if a; then b; fi", [("a", ";"), ("b", ";"), ("fi", "")]),
        ("cat <<EOF > f\na; b\nEOF\nc", [("cat > f", "\n"), ("c", "")]),
        ("a & wait", [("a", "&"), ("wait", "")]),
        ("", []),
    ],
)
def test_simple_commands(script: str, expected: list[tuple[str, str]]) -> None:
    found = [(" ".join(command.words), command.end) for command in simple_commands(script) if command.words]
    assert found == expected


def test_assignments_are_kept_apart() -> None:
    (command,) = simple_commands("A=1 B='two words' run")
    assert (command.assigned, command.program) == ({"A": "1", "B": "two words"}, "run")


@given(st.text(alphabet="ab $(){}'\"\\|&;\n#<>=`-", max_size=60))
def test_any_text_is_read_to_its_end(script: str) -> None:
    for command in simple_commands(script):
        assert all(isinstance(word, str) for word in command.words)
    assert isinstance(unquote(script), str)
