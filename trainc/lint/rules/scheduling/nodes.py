"""Whether there are nodes that every pod may run on."""

from __future__ import annotations

from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import ERROR, Label, Rule
from trainc.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Job
    from trainc.model.tree import Path

TAS = Rule("topology-annotation", ERROR)
CONTRADICTS = Rule("selector-contradicts-affinity", ERROR)

_PREFIX = "kueue.x-k8s.io/podset-"
_LEVELS = ("required-topology", "preferred-topology", "unconstrained-topology")


def topology_annotation(job: Job) -> None:
    for role in job.roles:
        if not role.annotations:
            continue
        path = (*role.spec_path, "template", "metadata", "annotations")
        levels = [_PREFIX + level for level in _LEVELS if _PREFIX + level in role.annotations]
        if len(levels) > 1:
            _tas(job, (*path, levels[1]), f"`{levels[1]}` and `{levels[0]}` exclude each other", "keep one of them")
        size, top = _PREFIX + "slice-size", _PREFIX + "slice-required-topology"
        if (size in role.annotations) != (top in role.annotations):
            there, missing = (size, top) if size in role.annotations else (top, size)
            _tas(job, (*path, there), f"`{there}` needs `{missing}`", f"add `{missing}`")
        number = whole_number(text(role.annotations, size))
        if number and type(role.count) is int and role.count:
            if number > role.count:
                _tas(
                    job,
                    (*path, size),
                    f"a slice has {number} pods, but `{role.name}` has {role.count}",
                    f"use at most {role.count}",
                )
            elif role.count % number:
                _tas(
                    job,
                    (*path, size),
                    f"slices of {number} pods do not divide the {role.count} pods of `{role.name}`",
                    "use a divisor",
                )


def _tas(job: Job, path: Path, message: str, help_: str) -> None:
    job.report.add(TAS.at(job.at(path), message, effect="Kueue refuses the job, or leaves pods over", help=help_))


def selector_contradicts_affinity(job: Job) -> None:
    for role in job.roles:
        if "affinity" not in role.pod or "nodeSelector" not in role.pod:
            continue
        selector = table(role.pod, "nodeSelector")
        required = table(
            table(table(role.pod, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution"
        )
        terms = rows(required, "nodeSelectorTerms")
        for index, expression in enumerate(rows(terms[0], "matchExpressions") if len(terms) == 1 else ()):
            key = text(expression, "key")
            values = [leaf.value for leaf in expression.get("values", ())]
            held = text(selector, key)
            against = (text(expression, "operator") == "In" and held not in values) or (
                text(expression, "operator") == "NotIn" and held in values
            )
            if key in selector and against:
                base = (*role.pod_path, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
                job.report.add(
                    CONTRADICTS.at(
                        job.at((*role.pod_path, "nodeSelector", key)),
                        f"the selector wants `{key}: {held}`, which the affinity excludes",
                        also=[
                            Label(job.at((*base, "nodeSelectorTerms", 0, "matchExpressions", index)), "the affinity")
                        ],
                        effect="no node satisfies both: the pods stay pending",
                        help="keep one of them",
                    )
                )


CHECKS = (topology_annotation, selector_contradicts_affinity)
