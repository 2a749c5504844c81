"""What an API server lets nobody change in a batch/v1 Job (pkg/apis/batch/validation, ValidateJobSpecUpdate, 1.36)."""

from trainc.model.tree import Path, Tree, get, plain, value

_FIXED = (
    "selector", "completionMode", "podFailurePolicy", "successPolicy", "backoffLimitPerIndex", "managedBy",
)  # fmt: skip
# While a Job is suspended, its queue may say where the pods go.
_DIRECTIVES = {
    "metadata": ("labels", "annotations"),
    "spec": ("affinity", "nodeSelector", "tolerations", "schedulingGates"),
}


def fixed_fields(old: Tree, new: Tree) -> list[Path]:
    """The fields below `spec` of a Job whose change the server refuses."""
    before, after = get(old, "spec") or {}, get(new, "spec") or {}
    changed = [field for field in _FIXED if plain(before.get(field)) != plain(after.get(field))]
    # Those of an Indexed Job change together with its parallelism.
    was, now = value(before, "completions"), value(after, "completions")
    is_elastic = value(after, "completionMode") == "Indexed" and now == value(after, "parallelism")
    if was != now and not is_elastic:
        changed.append("completions")
    templates = [plain(spec.get("template")) for spec in (before, after)]
    if value(before, "suspend") is True:
        templates = [
            {
                part: {field: node for field, node in (template.get(part) or {}).items() if field not in left_out}
                for part, left_out in _DIRECTIVES.items()
            }
            for template in templates
        ]
    if templates[0] != templates[1]:
        changed.append("template")
    return [("spec", field) for field in changed]
