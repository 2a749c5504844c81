"""YAML inside of a field, as controllers read it that hand it on."""

from __future__ import annotations

from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml.reader import read


def embedded(text: str) -> object:
    """The one document of a text as plain data, None where there is none; ValueError for what is not YAML or several."""
    if not text.strip():
        return None
    report = Report()
    documents = list(read(text, "", report))
    if len(documents) != 1 or any(finding.level == "error" for finding in report.findings):
        raise ValueError("not one document of YAML")
    return plain(documents[0].tree)
