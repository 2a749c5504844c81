"""The recorded refusals, line by line, and whether a run says the same."""

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

LINES = (
    # API server: the schema, list types and CEL rules of the CRDs.
    (re.compile(r"REJECTED by API schema (\w+)/(\S+): (schema|listtype|cel): (.*)", re.DOTALL), 3, 4),
    # The validating webhooks of Trainer; several refusals of one object are joined as `[a, b]`.
    (re.compile(r"REJECTED by (webhook) (\w+): (.*)", re.DOTALL), 1, 3),
    # The TrainJob webhook's answer before any list of errors exists.
    (re.compile(r"REJECTED (TrainJob) (\S+): (.*)", re.DOTALL), 1, 3),
    # Admitted, and then impossible to build; only that there is an error counts.
    (re.compile(r"(BUILD ERROR|PANIC) (\w+) (\S+): (.*)", re.DOTALL), 1, 4),
    (re.compile(r"REJECTED by (YAML reader):? ?(.*)", re.DOTALL), 1, 2),
)
VALUE = "Invalid value: "
UNCOMPARED = {"BUILD ERROR", "PANIC", "YAML reader"}
STAGES = {"TrainJob": "webhook"}


class Refusal(NamedTuple):
    """Which stage refuses, in which words."""

    by: str
    text: str


def recorded(text: str) -> list[Refusal]:
    """The refusals of one `expected-rejection.txt`."""
    return [_refusal(line) for line in text.splitlines() if line]


def _refusal(line: str) -> Refusal:
    for pattern, by, words in LINES:
        match = pattern.fullmatch(line)
        if match:
            return Refusal(STAGES.get(match[by], match[by]), match[words])
    raise ValueError(f"a line that no server writes: {line}")


def ordered(refusal: Refusal) -> Refusal:
    """A refusal whose JSON values have their keys in one order: a server prints maps as it happens to walk them."""
    text, at = refusal.text, 0
    while (at := text.find(VALUE, at)) >= 0:
        at += len(VALUE)
        if text[at : at + 1] in ("{", "["):
            content, end = json.JSONDecoder().raw_decode(text, at)
            shown = json.dumps(content, sort_keys=True)
            text, at = text[:at] + shown + text[end:], at + len(shown)
    return Refusal(refusal.by, text)


def difference(expected: Iterable[Refusal], said: Iterable[Refusal]) -> list[str]:
    """What one side has and the other lacks; empty when they agree.

    The recordings list CEL rules beside schema faults; a server leaves them out after faults that block them.
    """
    wanted, left = [ordered(refusal) for refusal in expected], [ordered(refusal) for refusal in said]
    if any(refusal.by in ("schema", "listtype") for refusal in left):
        wanted = [refusal for refusal in wanted if refusal.by != "cel" or refusal in left]
    missing = []
    for refusal in wanted:
        found = [] if refusal.by in UNCOMPARED else _spelled(refusal, left)
        if not found and refusal.by not in UNCOMPARED:
            missing.append(f"missing: {refusal.by}: {refusal.text}")
        left = [other for other in left if other not in found]
    if any(refusal.by in UNCOMPARED for refusal in wanted):
        return missing if said else [*missing, "nothing is refused"]
    return [*missing, *(f"surplus: {other.by}: {other.text}" for other in left)]


def _spelled(refusal: Refusal, said: list[Refusal]) -> list[Refusal]:
    """The refusals that together make this one: itself, or the parts of a joined list."""
    alike = [other for other in said if other.by == refusal.by]
    if any(other.text == refusal.text for other in alike):
        return [other for other in alike if other.text == refusal.text]
    parts = list({other.text: other for other in alike if other.text in refusal.text}.values())
    joined = 2 + sum(len(part.text) for part in parts) + 2 * (len(parts) - 1)
    return parts if len(parts) > 1 and refusal.text[0] == "[" and joined == len(refusal.text) else []
