"""What is wrong with the policies of a Job: which failures count, and when it has succeeded."""

from __future__ import annotations

from typing import Any

from trainc.apiserver.fault import compact
from trainc.apiserver.pods.complaints import Complaints, fields, items, maps, text
from trainc.model.tree import Path
from trainc.text.numbers import whole_number

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUS = ("False", "True", "Unknown")
_MAX_RULES, _MAX_CODES, _MAX_CONDITIONS = 20, 255, 20
_MAX_INDEXES_TEXT = 64 * 1024


def failure(spec: dict[str, Any], path: Path, log: Complaints) -> None:
    """The policy about pods that fail."""
    rules = items(fields(spec["podFailurePolicy"]).get("rules"))
    at: Path = (*path, "rules")
    log.too_many(at, len(rules), _MAX_RULES)
    pod = fields(fields(spec.get("template")).get("spec"))
    containers = [*items(pod.get("containers")), *items(pod.get("initContainers"))]
    names = {text(fields(container), "name") for container in containers}
    for index, rule in maps(rules):
        _failure_rule(rule, spec, names, (*at, index), log)


def _failure_rule(rule: dict[str, Any], spec: dict[str, Any], names: set[str], path: Path, log: Complaints) -> None:
    action, codes, conditions = text(rule, "action"), rule.get("onExitCodes"), items(rule.get("onPodConditions"))
    at: Path = (*path, "action")
    if not action:
        log.required(at, f"valid values: {_listed(_ACTIONS)}")
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        log.invalid(at, action, "requires the backoffLimitPerIndex to be set")
    else:
        log.one_of(at, action, _ACTIONS)
    if codes is not None:
        _exit_codes(fields(codes), names, (*path, "onExitCodes"), log)
    log.too_many((*path, "onPodConditions"), len(conditions), _MAX_CONDITIONS)
    for index, pattern in maps(conditions):
        where: Path = (*path, "onPodConditions", index)
        log.key((*where, "type"), text(pattern, "type"))
        # The server fills in `True` where nothing is said.
        log.one_of((*where, "status"), pattern.get("status") or "True", _STATUS)
    if codes is not None and conditions:
        log.add(path, "Invalid value: specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        log.add(path, "Invalid value: specifying one of OnExitCodes and OnPodConditions is required")


def _listed(words: tuple[str, ...]) -> str:
    return "[" + " ".join(f'"{word}"' for word in words) + "]"


def _exit_codes(codes: dict[str, Any], names: set[str], path: Path, log: Complaints) -> None:
    operator, values = text(codes, "operator"), items(codes.get("values"))
    if operator:
        log.one_of((*path, "operator"), operator, _OPERATORS)
    else:
        log.required((*path, "operator"), f"valid values: {_listed(_OPERATORS)}")
    if codes.get("containerName") is not None and codes["containerName"] not in names:
        why = "must be one of the container or initContainer names in the pod template"
        log.invalid((*path, "containerName"), codes["containerName"], why)
    at: Path = (*path, "values")
    if not values:
        log.invalid(at, codes.get("values"), "at least one value is required")
    log.too_many(at, len(values), _MAX_CODES)
    numbers = [value for value in values if type(value) is int]
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            log.invalid((*at, index), value, "must not be 0 for the In operator")
        if value in values[:index]:
            log.duplicate((*at, index), value)
    if numbers != sorted(numbers):
        log.invalid(at, values, "must be ordered")


def success(spec: dict[str, Any], path: Path, log: Complaints) -> None:
    """The policy about when an indexed Job has succeeded."""
    rules, at = items(fields(spec["successPolicy"]).get("rules")), (*path, "rules")
    if not rules:
        log.required(at, "at least one rules must be specified when the successPolicy is specified", at=path)
    log.too_many(at, len(rules), _MAX_RULES)
    completions = spec.get("completions")
    if type(completions) is not int:
        return
    for index, rule in maps(rules):
        _success_rule(rule, completions, (*at, index), log)


def _success_rule(rule: dict[str, Any], completions: int, path: Path, log: Complaints) -> None:
    indexes, count, total = rule.get("succeededIndexes"), rule.get("succeededCount"), 0
    if indexes is None and count is None:
        log.required(path, "at least one of succeededCount or succeededIndexes must be specified")
    if type(indexes) is str:
        at: Path = (*path, "succeededIndexes")
        log.too_long(at, len(indexes.encode()), _MAX_INDEXES_TEXT)
        try:
            total = size_of(indexes, completions)
        except ValueError as error:
            log.invalid(at, indexes, f"error parsing succeededIndexes: {error}")
    if type(count) is int:
        at = (*path, "succeededCount")
        log.not_negative(at, count)
        if count > completions:
            log.invalid(at, count, f"must be less than or equal to {completions} (the number of specified completions)")
        if type(indexes) is str and count > total:
            why = f"{total} (the number of indexes in the specified succeededIndexes field)"
            log.invalid(at, count, f"must be less than or equal to {why}")


def size_of(indexes: str, completions: int) -> int:
    """How many indexes a text such as `0,2-5` names.

    Raises:
        ValueError: for a text that names none, in the server's words.
    """
    total, previous = 0, None
    for interval in indexes.split(",") if indexes else ():
        first, last = _interval(interval, completions)
        if previous is not None and previous >= first:
            raise ValueError(f"non-increasing order, previous: {previous}, current: {first}")
        total += last - first + 1
        previous = last
    return total


def _interval(interval: str, completions: int) -> tuple[int, int]:
    limits = interval.split("-")
    if len(limits) > 2:
        raise ValueError(
            f'the fragment "{interval}" violates the requirement that an index interval can have at most two parts '
            "separated by '-'"
        )
    first = _index(limits[0], completions)
    if len(limits) == 1:
        return first, first
    last = _index(limits[1], completions)
    if first >= last:
        raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def _index(written: str, completions: int) -> int:
    if (number := whole_number(written.removeprefix("+"))) is None:
        raise ValueError(f"cannot convert string to integer for index: {compact(written)}")
    if number >= completions:
        raise ValueError(f"too large index: {compact(written)}")
    return number


def printed(policy: dict[str, Any]) -> dict[str, Any]:
    """A success policy as the server prints it: all fields of Kubernetes' own structure."""
    names = {"SucceededIndexes": "succeededIndexes", "SucceededCount": "succeededCount"}
    rules = [{shown: rule.get(field) for shown, field in names.items()} for _, rule in maps(policy.get("rules"))]
    return {"Rules": rules if policy.get("rules") is not None else None}
