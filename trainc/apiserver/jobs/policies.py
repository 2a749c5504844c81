"""What is wrong with the policies of a Job: which failures count, and when it has succeeded."""

from typing import Any

from trainc.apiserver.fault import compact
from trainc.apiserver.names import qualified
from trainc.apiserver.pods.complaints import Field, items
from trainc.text.numbers import whole_number

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_MAX_RULES, _MAX_CODES, _MAX_CONDITIONS = 20, 255, 20
_MAX_INDEXES_TEXT = 64 * 1024


def failure(spec: Field) -> None:
    """The policy about pods that fail."""
    rules = spec["podFailurePolicy"]["rules"]
    rules.too_many(_MAX_RULES)
    pod = spec["template"]["spec"]
    names = {container.text("name") for field in ("containers", "initContainers") for container in pod[field].items()}
    for rule in rules.maps():
        action, codes, conditions = rule["action"], rule["onExitCodes"], rule["onPodConditions"]
        if action.need(f"valid values: {_listed(_ACTIONS)}"):
            if action.value == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
                action.invalid("requires the backoffLimitPerIndex to be set")
            else:
                action.one_of(_ACTIONS)
        if codes.value is not None:
            _exit_codes(codes, names)
        conditions.too_many(_MAX_CONDITIONS)
        for pattern in conditions.maps():
            pattern["type"].default("").fits(qualified)
            # The server fills in `True` where nothing is said.
            pattern["status"].fallback("True").one_of(("False", "True", "Unknown"))
        if codes.value is not None and items(conditions.value):
            rule.add("Invalid value: specifying both OnExitCodes and OnPodConditions is not supported")
        if codes.value is None and not items(conditions.value):
            rule.add("Invalid value: specifying one of OnExitCodes and OnPodConditions is required")


def _listed(words: tuple[str, ...]) -> str:
    return "[" + " ".join(f'"{word}"' for word in words) + "]"


def _exit_codes(codes: Field, names: set[str]) -> None:
    operator, container, values = codes["operator"], codes["containerName"], codes["values"]
    if operator.need(f"valid values: {_listed(_OPERATORS)}"):
        operator.one_of(_OPERATORS)
    if container.value is not None and container.value not in names:
        container.invalid("must be one of the container or initContainer names in the pod template")
    listed = items(values.value)
    if not listed:
        values.invalid("at least one value is required")
    values.too_many(_MAX_CODES)
    for index, code in enumerate(values.items()):
        if operator.value == "In" and code.value == 0:
            code.invalid("must not be 0 for the In operator")
        if code.value in listed[:index]:
            code.duplicate()
    numbers = [code for code in listed if type(code) is int]
    if numbers != sorted(numbers):
        values.invalid("must be ordered")


def success(spec: Field) -> None:
    """The policy about when an indexed Job has succeeded."""
    policy, completions = spec["successPolicy"], spec.get("completions")
    rules = policy["rules"]
    if not items(rules.value):
        rules.required("at least one rules must be specified when the successPolicy is specified", at=policy)
    rules.too_many(_MAX_RULES)
    for rule in rules.maps() if type(completions) is int else ():
        indexes, count, total = rule["succeededIndexes"], rule["succeededCount"], 0
        if indexes.value is None and count.value is None:
            rule.required("at least one of succeededCount or succeededIndexes must be specified")
        if type(indexes.value) is str:
            indexes.too_long(_MAX_INDEXES_TEXT)
            try:
                total = size_of(indexes.value, completions)
            except ValueError as error:
                indexes.invalid(f"error parsing succeededIndexes: {error}")
        if type(count.value) is int:
            count.not_negative()
            if count.value > completions:
                count.invalid(f"must be less than or equal to {completions} (the number of specified completions)")
            if type(indexes.value) is str and count.value > total:
                why = f"{total} (the number of indexes in the specified succeededIndexes field)"
                count.invalid(f"must be less than or equal to {why}")


def size_of(indexes: str, completions: int) -> int:
    """How many indexes a text such as `0,2-5` names; a ValueError for a text that names none, in the server's words."""
    total, previous = 0, None
    for interval in indexes.split(",") if indexes else ():
        limits = interval.split("-")
        if len(limits) > 2:
            raise ValueError(
                f'the fragment "{interval}" violates the requirement that an index interval can have at most two parts '
                "separated by '-'"
            )
        first, last = _index(limits[0], completions), _index(limits[-1], completions)
        if len(limits) == 2 and first >= last:
            raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
        if previous is not None and previous >= first:
            raise ValueError(f"non-increasing order, previous: {previous}, current: {first}")
        total += last - first + 1
        previous = last
    return total


def _index(written: str, completions: int) -> int:
    if (number := whole_number(written.removeprefix("+"))) is None:
        raise ValueError(f"cannot convert string to integer for index: {compact(written)}")
    if number >= completions:
        raise ValueError(f"too large index: {compact(written)}")
    return number


def printed(policy: Field) -> dict[str, Any]:
    """A success policy as the server prints it: all fields of Kubernetes' own structure."""
    names = {"SucceededIndexes": "succeededIndexes", "SucceededCount": "succeededCount"}
    rules = [{shown: rule.get(field) for shown, field in names.items()} for rule in policy["rules"].maps()]
    return {"Rules": None if policy.get("rules") is None else rules}
