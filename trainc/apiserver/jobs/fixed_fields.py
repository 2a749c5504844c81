"""What an API server lets nobody change in a batch/v1 Job (pkg/apis/batch/validation, ValidateJobSpecUpdate, 1.36)."""

from __future__ import annotations

from collections.abc import Iterator

from trainc.model.tree import Path, Tree, get, plain, value

_FIXED = (
    "selector", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex", "managedBy",
)  # fmt: skip
# While a Job is suspended, its queue may say where the pods go.
_POD_DIRECTIVES = ("affinity", "nodeSelector", "tolerations", "schedulingGates")
_POD_METADATA = ("labels", "annotations")


def fixed_fields(old: Tree, new: Tree) -> list[Path]:
    """The fields below `spec` of a Job whose change the server refuses."""
    before, after = get(old, "spec") or {}, get(new, "spec") or {}
    changed = [field for field in _FIXED if plain(before.get(field)) != plain(after.get(field))]
    if _has_other_completions(before, after):
        changed.append("completions")
    if _template(before, before) != _template(after, before):
        changed.append("template")
    return [("spec", field) for field in changed]


def _has_other_completions(before: dict[str, Tree], after: dict[str, Tree]) -> bool:
    """Whether completions change otherwise than those of an Indexed Job together with its parallelism."""
    was, now = value(before, "completions"), value(after, "completions")
    is_elastic = value(after, "completionMode") == "Indexed" and now == value(after, "parallelism")
    return was != now and not is_elastic


def _template(spec: dict[str, Tree], before: dict[str, Tree]) -> object:
    template = plain(spec.get("template"))
    return template if value(before, "suspend") is not True else dict(_without_directives(template))


def _without_directives(template: dict[str, dict[str, object]]) -> Iterator[tuple[str, object]]:
    for part, left_out in (("metadata", _POD_METADATA), ("spec", _POD_DIRECTIVES)):
        content = template.get(part) or {}
        yield part, {field: node for field, node in content.items() if field not in left_out}
