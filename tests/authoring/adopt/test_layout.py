"""Names of objects as names of files: every system can have them, and no two become one."""

import pytest

from trainc.authoring.adopt.objects import step


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("bert", "bert"),
        ("bert.v2", "bert.v2"),
        ("con", "con_"),
        ("nul.v2", "nul.v2_"),
        ("com1", "com1_"),
        ("", None),
        ("../../etc/passwd", None),
        ("a:b", None),
        ("Bert", None),
        (".hidden", None),
        ("x" * 253, None),
        ("ünï\n", None),
    ],
)
def test_a_name_becomes_one_step_of_a_path(name: str, shown: str | None) -> None:
    result = step(name)
    assert shown is None or result == shown
    assert len(result.encode()) < 215
    assert set(result) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._")
    assert result.strip(".-")


def test_two_names_never_become_one_file() -> None:
    names = ["a:b", "a/b", "a\\b", "A:B", "a_b", "con", "con_", "CON", "x" * 253, "x" * 252 + "y"]
    assert len({step(name).lower() for name in names}) == len(names)
