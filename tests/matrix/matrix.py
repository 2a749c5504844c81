"""What is found of a mistake in each kind: levels, rules, and the fields of the pod template that they point at."""

import atexit
import copy
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path as Folder
from typing import Any

import yaml

from tests.compiling import compile_in
from tests.matrix.excuses import ABSENT, SPLIT, is_beside, is_silent
from tests.matrix.kinds import KINDS, Kind, Node, Path
from trainc.model.rule_selection import rule_facts
from trainc.yaml.writer import dump

Told = tuple[str, str, Path | None]  # a level, a rule, a field of the pod template
Found = Counter[Told]

REMOVED: Any = object()


@dataclass(frozen=True)
class Mistake:
    """A healthy pod template, the same with a mistake in it, and the rule that must find it."""

    name: str
    rule: str
    healthy: Node = field(repr=False)
    broken: Node = field(repr=False)
    pods: int = 2
    is_of_role: bool = False  # whether the number of pods of one role is a part of it

    @property
    def names(self) -> tuple[str, str]:
        """Its own and that of its rule."""
        return self.name, self.rule

    @property
    def changes(self) -> tuple[Path, ...]:
        """The fields that differ."""
        return tuple(differences(self.healthy, self.broken))

    def is_possible_in(self, kind: Kind) -> bool:
        """Whether a kind has all fields that differ."""
        return (kind.is_whole or not self.is_of_role) and all(kind.has(path) for path in self.changes)

    def found(self, kind: Kind) -> Found:
        """The findings that its healthy twin does not have."""
        return told(kind, self.broken, self.healthy, self.pods) - told(kind, self.healthy, self.healthy, self.pods)

    def healthy_twin(self, kind: Kind) -> Found:
        """The findings of the healthy twin."""
        return told(kind, self.healthy, self.healthy, self.pods)


def differences(one: Node, other: Node, path: Path = ()) -> Iterator[Path]:
    """The fields in which two trees differ, each as far down as both have a mapping or lists of one length."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in one or key not in other:
                yield (*path, key)
            else:
                yield from differences(one[key], other[key], (*path, key))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, (*path, index))
    elif type(one) is not type(other) or one != other:
        yield path


def problems(mistake: Mistake, kind: Kind) -> list[str]:
    """What is wrong with the findings of a mistake in a kind, beside those of the JobSet: nothing, or words for each."""
    wanted, found = _wanted(mistake), mistake.found(kind)
    out = []
    if not any(_is_same(one, other, kind, mistake) for one in wanted for other in found) and not is_silent(
        kind, mistake.names
    ):
        out.append(f"{kind.name}: no {mistake.rule}, but {_words(found)}")
    usual = {rule for _, rule, _ in (*mistake.found(KINDS[0]), *mistake.healthy_twin(kind))}
    more = [
        other
        for other in found
        if other[0] != "note"
        and other[1] not in usual
        and not any(_is_same(one, other, kind, mistake) for one in wanted)
        and not is_beside(kind, other[1], mistake.names)
    ]
    if more:
        out.append(f"{kind.name}: also {_words(more)}")
    return out


def _wanted(mistake: Mistake) -> list[Told]:
    """The findings of the mistake's rule where its pods stand in a JobSet."""
    return [one for one in mistake.found(KINDS[0]) if one[1] == mistake.rule]


def _words(found: Iterable[Told]) -> str:
    told = [f"{level}[{rule}] at {'.'.join(map(str, place or ('elsewhere',)))}" for level, rule, place in found]
    return ", ".join(told) or "nothing"


# The server's or the operator's own verdicts.
VERDICTS = {"pod-template-refused", *(name for name, facts in rule_facts().items() if facts.verdict)} - {
    "unknown-field"
}
# What one kind's operator says in the words of its own rule, and the rule of every other kind.
_SYNONYMS = {
    "restart-always": "restart-policy-always",
    "unknown-policy": "unknown-pod-setting",
    "value-dropped": "env-value-and-source",
}
# Who drops a field says so; others refuse it: unknown ones of older jobs, values of a TrainJob, restart policies.
_WEAKER = ("unknown-field", "restart-policy-always", "env-value-and-source")


def _is_same(one: Told, other: Told, kind: Kind, mistake: Mistake) -> bool:
    """Whether two findings are the same in two kinds: one rule at one place, or the refusal of a server or an operator."""
    (level, rule, place), (other_level, other_rule, other_place) = one, other
    is_elsewhere = other_place is None and kind.name in SPLIT
    if not (_is_near(place, other_place) or is_elsewhere or not ABSENT.isdisjoint((rule, mistake.name))):
        return False
    other_rule = _SYNONYMS.get(other_rule, other_rule)
    if rule == other_rule:
        return level == other_level or rule in _WEAKER
    return level == other_level == "error" and (rule in VERDICTS or other_rule in VERDICTS)


def _is_near(one: Path | None, other: Path | None) -> bool:
    """Whether two places are one field, a field and what holds it, or fields of one item of a list."""
    if one is None or other is None:
        return one is other
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter] or _item(one) == _item(other)


def _item(path: Path) -> Path:
    """The innermost item of a list that holds a field; outside of lists the field of the pod."""
    return path[: max((index for index, step in enumerate(path) if isinstance(step, int)), default=1) + 1]


def edited(template: Node, edits: dict[str, Node]) -> Node:
    """A template with fields set or removed; a path has blanks between its steps and begins in the pod's spec."""
    out = copy.deepcopy(template)
    for text, node in edits.items():
        words = [int(word) if word.isdigit() else word for word in text.split()]
        *way, last = words if words[0] == "metadata" else ["spec", *words]
        at = out
        for step in way:
            if isinstance(at, dict) and step not in at:
                at[step] = {}
            at = at[step]
        if node is REMOVED:
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(copy.deepcopy(node))
        else:
            at[last] = copy.deepcopy(node)
    return out


def told(kind: Kind, template: Node, twin: Node, pods: int) -> Found:
    """Every finding about a template in a kind."""
    return _told(kind.name, json.dumps([template, twin]), pods)


@cache
def _place() -> Folder:
    """An empty folder, for as long as the process lives."""
    folder = Folder(tempfile.mkdtemp())
    atexit.register(folder.rmdir)
    return folder


@cache
def _told(name: str, templates: str, pods: int) -> Found:
    kind = next(kind for kind in KINDS if kind.name == name)
    template, twin = json.loads(templates)
    documents = kind.documents(template, twin, pods)
    text = "---\n".join(map(dump, documents))
    run = compile_in(_place(), "validate", "-", stdin=text)
    assert run.code in (0, 1), run.err
    found: Found = Counter()
    for finding in run.findings:
        span = finding.labels[0].span
        number, place = place_at(text, span.line - 1, span.column - 1)
        home = kind.home(place) if number == kind.document else None
        found[finding.level, finding.rule.name, home] += 1
    return found


def place_at(text: str, line: int, column: int) -> tuple[int, Path]:
    """The number of a document, and the path of the innermost field at a place of it."""
    for number, root in enumerate(_composed(text)):
        if root.start_mark.line <= line <= root.end_mark.line:
            path = _inside(root, (line, column))
            if path is not None:
                return number, path
    raise AssertionError(f"nothing stands at line {line + 1}, column {column + 1}")


@lru_cache(maxsize=8)
def _composed(text: str) -> list[yaml.Node]:
    return list(yaml.compose_all(text, yaml.CSafeLoader))


def _inside(node: yaml.Node, at: tuple[int, int]) -> Path | None:
    end = node.end_mark.line, node.end_mark.column
    if (
        not (node.start_mark.line, node.start_mark.column) <= at
        or at > end
        or (at == end and isinstance(node, yaml.CollectionNode))
    ):
        return None
    if isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            if _inside(key, at) is not None:
                return (key.value,)
            below = _inside(child, at)
            if below is not None:
                return (key.value, *below)
    if isinstance(node, yaml.SequenceNode):
        for index, child in enumerate(node.value):
            below = _inside(child, at)
            if below is not None:
                return (index, *below)
    return ()
