"""What texts become, and what is said about those that become nothing."""

from typing import Any

import pytest

from tests.yaml.reading import documents, only, values
from trainc.model.report import Report
from trainc.model.tree import get, plain
from trainc.yaml.reader import read

ACCEPTED = [
    ("", []),
    ("# only a comment\n", []),
    ("---\n---\n# x\n---\n", []),
    ("a: 1", [{"a": 1}]),
    ("a: 1\n---\nb: 2\n...\n---\nc: 3", [{"a": 1}, {"b": 2}, {"c": 3}]),
    ("- 1\n- [2, {x: 3}]", [[1, [2, {"x": 3}]]]),
    ("text", ["text"]),
    ("\ufeffa: 1", [{"a": 1}]),
    ("a: 1\r\nb: |\r\n  x\r\n  y\r\n", [{"a": 1, "b": "x\ny\n"}]),
    ("a: 1\rb: 2", [{"a": 1, "b": 2}]),
    ("a:\tb", [{"a": "b"}]),
    ("a: |\n  x", [{"a": "x\n"}]),
    ("a: |-\n  x\n  y\nb: >-\n  x\n  y", [{"a": "x\ny", "b": "x y"}]),
    ("a:\nb: ''\nc: ~", [{"a": None, "b": "", "c": None}]),
    ('a: "\\t\\e\\N\\_\\L"', [{"a": "\t\x1b\x85\xa0\u2028"}]),
    ("1: a\n1.50: b\n'2': c\ntrue: d", [{"1": "a", "1.5": "b", "2": "c", "true": "d"}]),
    ("'<<': {a: 1}\nb: <<", [{"<<": {"a": 1}, "b": "<<"}]),
    ("a: &x {k: 1}\nb: {<<: *x, k: 2}\nc: *x", [{"a": {"k": 1}, "b": {"k": 2}, "c": {"k": 1}}]),
    ("a: {<<: [{k: 1}, {k: 2, j: 3}]}", [{"a": {"k": 1, "j": 3}}]),
    ("a: {<<: {b: 1}}", [{"a": {"b": 1}}]),
    ("x: &x foo\n*x : 1", [{"x": "foo", "foo": 1}]),
    ("&x a: *x", [{"a": "a"}]),
    ("a: &x 1\nb: &x 2\nc: *x", [{"a": 1, "b": 2, "c": 2}]),
    (
        "a: !!str 12\nb: !!int '7'\nc: !!float 1_0\nd: !!map {e: !!seq [!!bool on]}",
        [{"a": "12", "b": 7, "c": 10, "d": {"e": [True]}}],
    ),
    ("? a\n: b", [{"a": "b"}]),
    (
        '{"a": "\\ud83d\\ude00\\u00e9", "b": [1,2,\n\t3], "c": {"d": null}}',
        [{"a": "😀é", "b": [1, 2, 3], "c": {"d": None}}],
    ),
    ('{"a": "x\\/y"}', [{"a": "x/y"}]),
]


@pytest.mark.parametrize(("text", "expected"), ACCEPTED)
def test_accepted(text: str, expected: list[Any]) -> None:
    assert values(text) == (expected, [])
    assert values(text.encode()) == (expected, [])


FAULTS = [
    ("a: b: c", [], ["yaml-syntax 1:5"]),
    ("a: [1", [], ["yaml-syntax 1:4"]),
    ("a: 'x", [], ["yaml-syntax 1:4"]),
    ("a: @x", [], ["yaml-syntax 1:4"]),
    ("a: *", [], ["yaml-syntax 1:5"]),
    ("a:\n\tb: 1", [], ["yaml-syntax 2:1"]),
    ("a: 1\n---\nb: c: d\n---\ne: 1", [{"a": 1}, {"e": 1}], ["yaml-syntax 3:5"]),
    ("[\n---\na: 1\n---\n]\n---\nb: 1", [{"a": 1}, {"b": 1}], ["yaml-syntax 2:1", "yaml-syntax 5:1"]),
    ("{{ x }}: 1", [], ["yaml-key 1:2"]),
    ("? [a]\n: 1", [], ["yaml-key 1:3"]),
    ("~: 1", [], ["yaml-key 1:1"]),
    ("x:\n  ? \n  : 1", [], ["yaml-key 2:4"]),
    ("9223372036854775808: 1", [], ["yaml-key 1:1"]),
    ("x: &x ~\n*x : 1", [], ["yaml-key 2:1"]),
    ("a: .inf\nb: -.INF\nc: .nan", [], ["not-a-number 1:4", "not-a-number 2:4", "not-a-number 3:4"]),
    ("a: !foo x", [], ["yaml-tag 1:4"]),
    ("a: !!binary aGk=", [], ["yaml-tag 1:4"]),
    ("a: !!set {x}", [], ["yaml-tag 1:4"]),
    ("a: !!timestamp '2024-01-02'", [], ["yaml-tag 1:4"]),
    ("a: !!int x", [], ["yaml-tag 1:4"]),
    ("%YAML 1.1\n---\na: 1", [], ["yaml-directive 1:1"]),
    ("%TAG !e! tag:example.com,2000:\n---\na: 1", [], ["yaml-directive 1:1"]),
    ("a: *x", [], ["yaml-aliases 1:4"]),
    ("a: &x 1\n---\nb: *x", [{"a": 1}], ["yaml-aliases 3:4"]),
    ("a: &a [*a]", [], ["yaml-aliases 1:8"]),
    ("a: &a {b: {<<: *a}}", [], ["yaml-aliases 1:16"]),
    ("a: {<<: 1}", [], ["yaml-syntax 1:5"]),
    ("a: \x01", [], ["control-character 1:4"]),
    ("a: \x00", [], ["control-character 1:4"]),
    ("a: é\x7f", [], ["control-character 1:5"]),
    ("a: \ud800", [], ["not-utf8 1:4"]),
]


@pytest.mark.parametrize(("text", "expected", "findings"), FAULTS)
def test_refused(text: str, expected: list[Any], findings: list[str]) -> None:
    assert values(text) == (expected, findings)


def test_every_finding_of_text_is_an_error_with_something_to_do() -> None:
    for text, _, _ in FAULTS:
        report = Report()
        list(read(text, "f.yaml", report))
        assert report.failed
        for finding in report.findings:
            assert finding.help, text
            assert finding.rule.admission


@pytest.mark.parametrize(
    ("data", "expected", "findings"),
    [
        (b"a: caf\xe9", [], ["not-utf8 1:7"]),
        ("ä: é".encode() + b"\xff", [], ["not-utf8 1:5"]),
        (b"a: 1\n---\nb: \xe9\nc: \xe9\n---\nd: 2", [{"a": 1}, {"d": 2}], ["not-utf8 3:4"]),
        (b"a: \xff\n---\nb: \x02\n---\nd: 2", [{"d": 2}], ["control-character 3:4", "not-utf8 1:4"]),
        ("a: 1".encode("utf-16"), [], ["not-utf8 1:1"]),
    ],
)
def test_bytes_that_are_no_text(data: bytes, expected: list[Any], findings: list[str]) -> None:
    found = values(data)
    assert (found[0], sorted(found[1])) == (expected, findings)


def test_a_fault_never_hides_what_stood_before_it() -> None:
    first = "a: 1\n" * 1 + "---\n"
    stream = first * 200 + "b: c: d\n"
    assert len(values(stream)[0]) == 200


@pytest.mark.parametrize(("mode", "expected"), [("strict", "error"), ("warn", "warning"), ("ignore", "")])
def test_duplicate_keys(mode: str, expected: str) -> None:
    report = Report()
    [document] = read("a: 1\nb: 2\na:\n  c: 3\n", "f.yaml", report, duplicates=mode)
    assert plain(document.tree) == {"a": {"c": 3}, "b": 2}
    assert [f.level for f in report.findings] == [expected] * bool(expected)
    for finding in report.findings:
        assert [str(label.span) for label in finding.labels] == ["f.yaml:3:1", "f.yaml:1:1"]


def test_keys_that_become_equal_are_duplicates() -> None:
    assert values("1: a\n'1': b")[1] == ["duplicate-key 2:1"]
    assert values("true: a\nTRUE: b")[1] == ["duplicate-key 2:1"]


def test_merged_keys_are_no_duplicates() -> None:
    assert values("x: &x {k: 1}\na: {<<: *x, k: 2}\nb: {<<: *x, <<: *x}")[1] == []
    assert values("x: &x {k: 1}\na: {<<: *x, k: 2, k: 3}")[1] == ["duplicate-key 2:19"]


def test_a_late_merge_wins_and_is_told() -> None:
    """Kubernetes' reader takes whatever comes last, merged or not."""
    assert values("x: &x {k: 1}\na: {k: 2, <<: *x}") == ([{"x": {"k": 1}, "a": {"k": 1}}], ["late-merge 2:11"])


def test_ambiguous_spellings_are_warnings() -> None:
    text = "y: 1\na: on\nb: 0755\nc: 12:30\nd: [1_000, 2024-01-02]\ndefaultMode: 0644\nitems: [{mode: 0400}]\n"
    found, findings = values(text)
    assert found[0]["true"] == 1
    assert found[0]["b"] == 493
    assert findings == [f"ambiguous-scalar {place}" for place in ("1:1", "2:4", "3:4", "4:4", "5:5", "5:12")]


def test_spans() -> None:
    document = only("a: {b: c}\nd:\n- e\n- f: 'x y'\n\n\n# x\ng: |\n  é\n  z\nh: []\n")
    places = {
        (): (1, 1, 11, 6),
        ("a",): (1, 4, 1, 10),
        ("a", "b"): (1, 8, 1, 9),
        ("d",): (3, 1, 4, 11),
        ("d", 0): (3, 3, 3, 4),
        ("d", 1): (4, 3, 4, 11),
        ("d", 1, "f"): (4, 6, 4, 11),
        ("h",): (11, 4, 11, 6),
    }
    assert {path: document.span(path)[1:] for path in places} == places
    assert document.span(("g",))[1:3] == (8, 4)
    assert document.span(("d", 1, "f"), key=True)[1:] == (4, 3, 4, 4)
    assert document.span(("d", 1, "nope"))[1:] == (4, 3, 4, 11)
    assert document.span(("a", "nope", 3))[1:] == (1, 1, 1, 2)


def test_spans_count_characters() -> None:
    document = only("a: {é😀: 1, b: 2}")
    assert document.span(("a", "b"))[1:] == (1, 15, 1, 16)


def test_spans_after_a_broken_document() -> None:
    found, _ = documents("a: b: c\n---\n\nx:\n  k: 1\n")
    assert found[0].start == 2
    assert found[0].span(("x", "k"))[1:] == (5, 6, 5, 7)
    assert found[0].span(("x", "k"), key=True)[1:] == (5, 3, 5, 4)


def test_an_alias_stands_where_its_anchor_does() -> None:
    document = only("a: &x 1\nb: *x\nc: {<<: {d: 2}}")
    assert get(document.tree, "b").origin.at[1:3] == (1, 4)
    assert document.span(("c", "d"), key=True)[1:3] == (3, 10)


def test_documents_come_one_at_a_time() -> None:
    report = Report()
    stream = read("a: 1\n---\nb: c: d\n", "f.yaml", report)
    assert plain(next(stream).tree) == {"a": 1}
    assert report.findings == []


def test_what_falls_out_of_the_tree_leaves_no_place_to_a_later_object() -> None:
    """Places are kept by identity, and Python gives that of a map which is gone to the next one."""
    report = Report()
    (document,) = read("a: {x: {}}\nb: {<<: {y: {}}, z: 1}\na: {w: 2}\n", "a.yaml", report)
    later = [{"new": number} for number in range(1000)]
    assert [one for one in later if document.marks.get(id(one)) is not None] == []
