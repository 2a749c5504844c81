"""What is wrong with the spec of a Job, its pod template aside."""

from __future__ import annotations

from trainc.apiserver.fault import compact
from trainc.apiserver.names import prefixed_path
from trainc.apiserver.pods.complaints import Complaints, fields, selects
from trainc.model.tree import Path
from trainc.text.record import Any

DEFAULT_BACKOFF_LIMIT = 6  # of a Job that does not count by index
_COUNTS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_MAX_INDEXES, _SOFT_LIMIT, _MAX_FOR_MANY = 100_000, 100_000, 10_000
_MAX_MANAGER = 63
_RESTARTS = ("OnFailure", "Never")


def job_spec(spec: dict[str, Any], path: Path, log: Complaints) -> None:
    """Look at the spec of a Job as the Job API gets it, with its defaults; its pod template is looked at elsewhere."""
    for field in _COUNTS:
        if field in spec:
            log.not_negative((*path, field), spec[field])
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        why = "when maxFailedIndexes is specified"
        log.required((*path, "backoffLimitPerIndex"), why, at=(*path, "maxFailedIndexes"))
    if spec.get("managedBy") is not None and log.features.has("JobManagedBy"):
        _manager(str(spec["managedBy"]), (*path, "managedBy"), log)
    mode = spec.get("completionMode", "NonIndexed")
    log.one_of((*path, "completionMode"), mode, _MODES)
    if mode == "Indexed":
        _indexed(spec, path, log)
    elif mode == "NonIndexed":
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                log.invalid((*path, field), spec[field], "requires indexed completion mode")
    if spec.get("podFailurePolicy") is not None:
        from trainc.apiserver.jobs.policies import failure  # noqa: PLC0415 (few Jobs say what a failed pod means)

        failure(spec, (*path, "podFailurePolicy"), log)
    if spec.get("successPolicy") is not None:
        from trainc.apiserver.jobs.policies import printed, success  # noqa: PLC0415 (few Jobs end early)

        if mode == "Indexed":
            success(spec, (*path, "successPolicy"), log)
        else:
            shown = compact(printed(fields(spec["successPolicy"])))
            log.add((*path, "successPolicy"), f"Invalid value: {shown}: requires indexed completion mode")
    if (policy := spec.get("podReplacementPolicy")) is not None:
        words = _REPLACEMENTS[:1] if spec.get("podFailurePolicy") is not None else _REPLACEMENTS
        log.one_of((*path, "podReplacementPolicy"), policy, words)


def _manager(manager: str, path: Path, log: Complaints) -> None:
    if not manager:
        log.required(path)
        return
    for part, reason in prefixed_path(manager):
        log.invalid(path, part, reason)
    log.too_long(path, len(manager.encode()), _MAX_MANAGER)


def _indexed(spec: dict[str, Any], path: Path, log: Complaints) -> None:
    """The bounds of a Job whose pods have an index."""
    pods, width, failed = (_number(spec, name) for name in ("completions", "parallelism", "maxFailedIndexes"))
    if spec.get("completions") is None:
        at = (*path, "parallelism" if spec.get("parallelism") is not None else "completionMode")
        log.required((*path, "completions"), "when completion mode is Indexed", at=at)
    if width is not None and width > _MAX_INDEXES:
        why = f"must be less than or equal to {_MAX_INDEXES} when completion mode is Indexed"
        log.invalid((*path, "parallelism"), width, why)
    at = (*path, "maxFailedIndexes")
    if failed is not None and pods is not None and failed > pods:
        log.invalid(at, failed, "must be less than or equal to completions")
    if failed is not None and failed > _MAX_INDEXES:
        log.invalid(at, failed, f"must be less than or equal to {_MAX_INDEXES}")
    if pods is None or pods <= _SOFT_LIMIT or spec.get("backoffLimitPerIndex") is None:
        return
    if spec.get("maxFailedIndexes") is None:
        log.required(at, f"must be specified when completions is above {_SOFT_LIMIT}", at=(*path, "completions"))
    why = f"when completions are above {_SOFT_LIMIT} and used with backoff limit per index"
    for name, number in (("parallelism", width), ("maxFailedIndexes", failed)):
        if number is not None and number > _MAX_FOR_MANY:
            log.invalid((*path, name), number, f"must be less than or equal to {_MAX_FOR_MANY} {why}")


def _number(spec: dict[str, Any], name: str) -> int | None:
    number = spec.get(name)
    return number if type(number) is int else None


def restart(spec: dict[str, Any], policy: str, path: Path, log: Complaints) -> None:
    """The restart policy of the pods, which must be able to end."""
    if policy in ("", "Always"):
        log.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in _RESTARTS:
        log.one_of(path, policy, _RESTARTS)
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        log.invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')


def chosen(spec: dict[str, Any], labels: dict[str, Any], added: dict[str, str], path: Path, log: Complaints) -> None:
    """The selector of a Job, which the server makes unless told otherwise, and which its pods must match.

    `added` are the labels that JobSet writes on the pods besides their own.
    """
    manual, selector = spec.get("manualSelector") is True, spec.get("selector")
    if selector is None:
        if manual:
            log.required((*path, "selector"), at=(*path, "manualSelector"))
            _unmatched(labels, path, (*path, "manualSelector"), log)
        return
    from trainc.apiserver.pods.placement import selector as look  # noqa: PLC0415 (nearly nobody chooses a Job's pods)

    before = len(log.faults)
    look(selector, (*path, "selector"), log)
    if len(log.faults) > before:
        return
    # The server selects by the labels that it makes, of which a person knows none.
    if not manual and not selects(fields(selector), {}):
        log.add((*path, "selector"), f"Invalid value: {compact(selector)}: `selector` not auto-generated")
    if not selects(fields(selector), {**labels, **added}):
        _unmatched(labels, path, (*path, "selector"), log)


def _unmatched(labels: dict[str, Any], path: Path, at: Path, log: Complaints) -> None:
    why = "`selector` does not match template `labels`"
    printed: Path = (*path, "template", "metadata", "labels")
    log.add(printed, f"Invalid value: {compact(labels)}: {why}", at=at)
