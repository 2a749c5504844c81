"""What is wrong with the spec of a Job, its pod template aside."""

from typing import Any

from trainc.apiserver.fault import compact
from trainc.apiserver.names import prefixed_path
from trainc.apiserver.pods.complaints import Field, fields, selects
from trainc.model.tree import Tree, plain

DEFAULT_BACKOFF_LIMIT = 6  # of a Job that does not count by index
_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_MAX_INDEXES, _SOFT_LIMIT, _MAX_FOR_MANY = 100_000, 100_000, 10_000
_RESTARTS = ("OnFailure", "Never")


def settings_of(spec: Tree) -> dict[str, Any]:
    """The spec of a Job as the Job API gets it: with its defaults, and its template where a policy names containers."""
    settings = {name: plain(part) for name, part in spec.items() if name != "template"}
    if "completions" not in settings and "parallelism" not in settings:
        settings["completions"] = settings["parallelism"] = 1
    if "podFailurePolicy" in settings:
        settings["template"] = plain(spec.get("template"))
    return settings


def job_spec(spec: Field) -> None:
    """Look at the settings of a Job; its pod template is looked at elsewhere."""
    for number in spec.given(*_COUNTS):
        number.not_negative()
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        spec["backoffLimitPerIndex"].required("when maxFailedIndexes is specified", at=spec["maxFailedIndexes"])
    manager = spec["managedBy"]
    if manager.value is not None and spec.log.features.has("JobManagedBy") and manager.need():
        for part, reason in prefixed_path(str(manager.value)):
            manager.reading(part).invalid(reason)
        manager.too_long(63)
    mode = spec["completionMode"].reading(spec.get("completionMode", "NonIndexed"))
    mode.default("").one_of(("NonIndexed", "Indexed"))
    if mode.value == "Indexed":
        _indexed(spec)
    elif mode.value == "NonIndexed":
        for field in spec.given("backoffLimitPerIndex", "maxFailedIndexes"):
            field.invalid("requires indexed completion mode")
    if spec.get("podFailurePolicy") is not None:
        from trainc.apiserver.jobs.policies import failure  # noqa: PLC0415 (few Jobs say what a failed pod means)

        failure(spec)
    if spec.get("successPolicy") is not None:
        from trainc.apiserver.jobs.policies import printed, success  # noqa: PLC0415 (few Jobs end early)

        if mode.value == "Indexed":
            success(spec)
        else:
            shown = compact(printed(spec["successPolicy"]))
            spec["successPolicy"].add(f"Invalid value: {shown}: requires indexed completion mode")
    spec["podReplacementPolicy"].one_of(_REPLACEMENTS[: 2 if spec.get("podFailurePolicy") is None else 1])


def _indexed(spec: Field) -> None:
    """The bounds of a Job whose pods have an index."""
    pods, width, failed = (spec[name] for name in ("completions", "parallelism", "maxFailedIndexes"))
    if pods.value is None:
        at = spec["parallelism" if width.value is not None else "completionMode"]
        pods.required("when completion mode is Indexed", at=at)
    if _is_above(width, _MAX_INDEXES):
        width.invalid(f"must be less than or equal to {_MAX_INDEXES} when completion mode is Indexed")
    if type(pods.value) is int and _is_above(failed, pods.value):
        failed.invalid("must be less than or equal to completions")
    if _is_above(failed, _MAX_INDEXES):
        failed.invalid(f"must be less than or equal to {_MAX_INDEXES}")
    if not _is_above(pods, _SOFT_LIMIT) or spec.get("backoffLimitPerIndex") is None:
        return
    if failed.value is None:
        failed.required(f"must be specified when completions is above {_SOFT_LIMIT}", at=pods)
    why = f"when completions are above {_SOFT_LIMIT} and used with backoff limit per index"
    for number in (width, failed):
        if _is_above(number, _MAX_FOR_MANY):
            number.invalid(f"must be less than or equal to {_MAX_FOR_MANY} {why}")


def _is_above(number: Field, most: int) -> bool:
    return type(number.value) is int and number.value > most


def restart(spec: Field, written: object) -> None:
    """The restart policy of the pods, which must be able to end."""
    policy = spec["template"]["spec"]["restartPolicy"].reading(written if type(written) is str else "")
    if policy.value in ("", "Always"):
        policy.required('valid values: "OnFailure", "Never"')
    elif policy.value not in _RESTARTS:
        policy.one_of(_RESTARTS)
    elif spec.get("podFailurePolicy") is not None and policy.value != "Never":
        policy.invalid('only "Never" is supported when podFailurePolicy is specified')


def chosen(spec: Field, labels: dict[str, Any], added: dict[str, str]) -> None:
    """The selector of a Job, which the server makes unless told otherwise, and which its pods must match.

    `added` are the labels that JobSet writes on the pods besides their own.
    """
    manual, selector = spec["manualSelector"], spec["selector"]
    if selector.value is None and manual.value is not True:
        return
    pods = spec["template"]["metadata"]["labels"]
    unmatched = f"Invalid value: {compact(labels)}: `selector` does not match template `labels`"
    if selector.value is None:
        selector.required(at=manual)
        pods.add(unmatched, at=manual)
        return
    from trainc.apiserver.pods.placement import selector as look  # noqa: PLC0415 (nearly nobody chooses a Job's pods)

    before = len(spec.log.faults)
    look(selector)
    if len(spec.log.faults) > before:
        return
    # The server selects by the labels that it makes, of which a person knows none.
    if manual.value is not True and not selects(fields(selector.value), {}):
        selector.add(f"Invalid value: {compact(selector.value)}: `selector` not auto-generated")
    if not selects(fields(selector.value), {**labels, **added}):
        pods.add(unmatched, at=selector)
