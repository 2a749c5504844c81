"""What a text becomes, for tests of the reader."""

from typing import Any

from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml.reader import read


def documents(text: str | bytes, *, duplicates: str = "strict") -> tuple[list[Document], list[str]]:
    """The documents of a text, and its findings as `rule line:column`."""
    report = Report()
    found = list(read(text, "f.yaml", report, duplicates=duplicates))
    return found, [f"{f.rule.name} {f.span.line}:{f.span.column}" for f in report.findings]


def values(text: str | bytes, *, duplicates: str = "strict") -> tuple[list[Any], list[str]]:
    """The bare values of each document, and the findings."""
    found, findings = documents(text, duplicates=duplicates)
    return [plain(document.tree) for document in found], findings


def only(text: str | bytes) -> Document:
    """The one document of a text without findings."""
    found, findings = documents(text)
    assert findings == []
    assert len(found) == 1
    return found[0]
