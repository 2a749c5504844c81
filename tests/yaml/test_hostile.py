"""Texts made to exhaust the reader: findings in bounded time and memory, and no traceback."""

import time
import tracemalloc
from collections.abc import Iterator

import pytest

from tests.yaml.reading import values
from trainc.yaml import constructor, parsed, reader

SECONDS = 20  # of CPU; generous: each takes well under one on a slow machine


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < SECONDS


def test_depth_has_a_bound() -> None:
    deep = constructor.DEPTH
    assert values("[" * deep + "]" * deep)[1] == []
    assert values("[" * (deep + 1) + "]" * (deep + 1))[1] == [f"yaml-depth 1:{deep + 1}"]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "[{", "? ", '{"a":['])
def test_a_hundred_thousand_openings(opening: str) -> None:
    found, findings = values(opening * 100_000 + "\n---\nb: 1\n")
    assert found in ([], [{"b": 1}])
    assert [finding.split()[0] for finding in findings] == ["yaml-depth"]


def test_nested_lines() -> None:
    text = "".join(f"{' ' * n}a:\n" for n in range(3000))
    assert [finding.split()[0] for finding in values(text)[1]] == ["yaml-depth"]


def test_billion_laughs() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    assert [finding.split()[0] for finding in values("\n".join(lines))[1]] == ["yaml-aliases"]


def test_merged_billions() -> None:
    lines = ["a0: &a0 {k: [1, 2, 3, 4, 5, 6, 7, 8, 9]}"]
    lines += [f"a{n}: &a{n} {{{', '.join(f'k{i}: {{<<: *a{n - 1}}}' for i in range(9))}}}" for n in range(1, 20)]
    assert [finding.split()[0] for finding in values("\n".join(lines))[1]] == ["yaml-aliases"]


def test_ordinary_aliases_are_no_bomb() -> None:
    text = "a: &a [1, 2, 3]\nb:\n" + "- *a\n" * 10_000
    found, findings = values(text)
    assert findings == []
    assert len(found[0]["b"]) == 10_000


@pytest.mark.slow
def test_one_endless_line() -> None:
    found, findings = values("a: " + "x" * 20_000_000)
    assert findings == []
    assert len(found[0]["a"]) == 20_000_000


def test_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LIMIT", 1000)
    assert values("a: " + "x" * 1000) == ([], ["yaml-size 1:1"])


def test_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constructor, "NODES", 1000)
    assert values("a: [" + "1, " * 900 + "]")[1] == []
    assert values("a: [" + "1, " * 1100 + "]\n---\nb: 1") == ([{"b": 1}], ["yaml-size 1:4"])
    assert values("- [1, 2, 3]\n" * 400)[1] == ["yaml-size 251:3"]


def test_memory_of_a_refused_text() -> None:
    tracemalloc.start()
    try:
        values("[" * 1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


def test_many_broken_documents() -> None:
    found, findings = values("---\na: b: c\n" * 10_000)
    assert found == []
    assert len(findings) == parsed.RESTARTS + 1
    assert findings[-1] == f"yaml-syntax {2 * parsed.RESTARTS + 1}:1"


def test_many_documents_of_bad_bytes() -> None:
    found, findings = values(b"---\na: \xff\n" * 10_000 + b"---\nb: 1\n")
    assert found == []
    assert len(findings) == parsed.RESTARTS + 1
    assert findings[-1] == f"yaml-syntax {2 * parsed.RESTARTS + 1}:1"


@pytest.mark.parametrize(
    "piece", ["? ", "- ", ": ", "a: ", "&a ", "!x ", "'", '"', "|\n", "# ", "\t", "%", "\r", "{", "},", "*a ", "--- "]
)
def test_repeated_syntax(piece: str) -> None:
    values(piece * 5_000)
