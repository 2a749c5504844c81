"""What somebody did, where the parser names only what it missed because of it."""

import pytest

from trainc.model.report import Report
from trainc.yaml.reader import read
from trainc.yaml.rules import CONFLICT, TEMPLATE

QUOTE = "check the indentation, and quote a value that contains `: `"
SPACE = "write `key: value`, with a space after the colon"
TABS = "indent with spaces, not tabs"


@pytest.mark.parametrize(
    ("text", "place", "help_"),
    [
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n", "2:1", CONFLICT),
        ("a:\n  - 1\n<<<<<<< HEAD\n  - 2\n=======\n>>>>>>> other\n", "3:1", CONFLICT),
        ("a: 1\n---\nb: |\n  x\n<<<<<<< HEAD\n  y\n=======\n  z\n>>>>>>> other\n", "5:1", CONFLICT),
        ("a: {{ .Values.x }}\n", "1:5", TEMPLATE),
        ("ä: {{ .Values.x }}-y\n", "1:4", TEMPLATE),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "1:1", TEMPLATE),
        ("a: 1\n{% if x %}\nb: 1\n{% endif %}\n", "2:1", TEMPLATE),
        ("a:\n\tb: 1\n", "2:1", TABS),
        ("a: 'x\nb: 1\n", "1:4", "close the quote or bracket that is opened here"),
        ("a:\n  x: 1\n  b:2\n  c: 3\n", "3:3", "write `b: 2`"),
        ("a:\n  - x: 1\n    b:r.example.com/a:1\n", "3:5", "write `b: r.example.com/a:1`"),
        ("ä: 1\né:2\nc: 3\n", "2:1", "write `é: 2`"),
        ("a:\n  b:2\n  c: 3\n", "2:3", "write `b: 2`"),
        ("a:\n  b: x\n  c: d: 3\n", "3:7", QUOTE),
        ("a: 1\n\nb c\nd: 1\n", "3:1", SPACE),
        ("a:2\nc: 3\n", "1:1", "write `a: 2`"),
        ("a: 1\xc2\x85b:2\xc2\x85c: 3\xc2\x85", "2:1", SPACE),
        ("a: 1\nhttp://x\nd: 1\n", "2:1", SPACE),
        ("a: 1\nb\r\nd: 1\n", "2:1", SPACE),
    ],
)
def test_cause(text: str, place: str, help_: str) -> None:
    report = Report()
    list(read(text, "f.yaml", report))
    finding = min(report.findings, key=lambda one: (one.span.line, one.span.column))
    assert (str(finding.span), finding.help) == (f"f.yaml:{place}", help_)


def test_a_marker_in_a_script_is_no_conflict() -> None:
    report = Report()
    assert len(list(read("a: |\n  cat <<EOF\n  <<<<<<< x\n  EOF\n", "f.yaml", report))) == 1
    assert report.findings == []
