"""Findings of one cause: the same words of one rule in many places, shown once with the places of the others."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from trainc.model.finding import Finding
from trainc.text.counting import counted

_FEW = 3  # findings alike that are still shown one by one
_PLACES = 5  # of the others that are named
_NUMBERED = re.compile(r"(?<=[A-Za-z][-_.])\d+|(?<=[A-Za-z])\d+(?=[-_`.])")


class Group(NamedTuple):
    """A finding, and the others that have its cause."""

    first: Finding
    others: tuple[Finding, ...]


def groups(findings: Sequence[Finding]) -> list[Group]:
    """Findings by their cause, each group where its first finding stands; a few alike stand alone.

    Within one file the words must be equal: a number in a name may tell two mistakes of one job apart.
    """
    out: list[Group] = []
    for members in _by(findings, _cause):
        if len({member.span.file for member in members}) > _FEW:
            out.append(Group(members[0], tuple(members[1:])))
            continue
        for equal in _by(members, _words):
            if len(equal) > _FEW:
                out.append(Group(equal[0], tuple(equal[1:])))
            else:
                out += [Group(member, ()) for member in equal]
    order = {id(finding): place for place, finding in enumerate(findings)}
    return sorted(out, key=lambda group: order[id(group.first)])


def _by(findings: Sequence[Finding], key: Callable[[Finding], tuple[str, ...]]) -> Iterable[list[Finding]]:
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        alike.setdefault(key(finding), []).append(finding)
    return alike.values()


def _words(finding: Finding) -> tuple[str, ...]:
    return (finding.level, finding.rule.name, finding.message, finding.effect or "", finding.help or "")


def _cause(finding: Finding) -> tuple[str, ...]:
    """Level, rule and words of a finding, with one form for names that differ by a number or by the file's own name."""
    stem = finding.span.file.rpartition("/")[2].partition(".")[0]
    level, rule, *texts = _words(finding)
    return (level, rule, *(_general(text, stem) for text in texts))


def _general(text: str, stem: str) -> str:
    if "`" not in text:
        return text
    parts = text.split("`")
    for index in range(1, len(parts), 2):  # what stands in backticks
        word = parts[index].replace(stem, "NAME") if len(stem) > 1 else parts[index]
        parts[index] = _NUMBERED.sub("N", f"{word}`")[:-1]
    return "`".join(parts)


def others_line(group: Group, shown: Callable[[str], str]) -> str:
    """How many others there are, in how many files, and where the first of them stand."""
    files = len({finding.span.file for finding in group.others} - {group.first.span.file})
    places = [f"{shown(other.span.file)}:{other.span.line}" for other in group.others[:_PLACES]]
    more = ", ..." if len(group.others) > _PLACES else ""
    where = f" in {counted(files, 'other file')}" if files else ""
    return f"and {len(group.others)} more{where}: {', '.join(places)}{more}"
