"""A compilation as a notebook shows it: what it makes, what was found, and the manifests."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from trainc.model.finding import Finding
from trainc.report.lines import visible
from trainc.report.markdown import code, sentence


def page(title: str, objects: Sequence[Mapping[str, Any]], findings: Sequence[Finding], text: str) -> str:
    """HTML without scripts, styles or addresses."""
    parts = [f"<p><strong>{escape(title)}</strong></p>"]
    for head, rows in _tables(objects, findings):
        cells = "".join(f"<tr>{''.join(f'<td>{escape(visible(cell))}</td>' for cell in row)}</tr>" for row in rows)
        names = "".join(f"<th>{name}</th>" for name in head)
        parts.append(f"<table><thead><tr>{names}</tr></thead><tbody>{cells}</tbody></table>")
    if text:
        parts.append(f"<details><summary>Manifests</summary><pre>{escape(text)}</pre></details>")
    return "".join(parts)


def markdown(title: str, objects: Sequence[Mapping[str, Any]], findings: Sequence[Finding]) -> str:
    lines = [f"**{title}**"]
    for head, rows in _tables(objects, findings):
        lines += ["", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        lines += [f"| {' | '.join([*map(code, row[:-1]), sentence(row[-1])])} |" for row in rows]
    return "\n".join(lines)


def _tables(
    objects: Sequence[Mapping[str, Any]], findings: Sequence[Finding]
) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The tables that have rows: the names of their columns, and their rows."""
    made: list[tuple[str, ...]] = [
        (str(one["kind"]), f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}") for one in objects
    ]
    places: list[tuple[str, ...]] = [
        (one.level, one.rule.name, f"{one.span.file}:{one.span.line}", f"{one.message}; {one.help}".removesuffix("; "))
        for one in findings
    ]
    tables = (("kind", "object"), made), (("level", "rule", "place", "finding"), places)
    return [(head, rows) for head, rows in tables if rows]
