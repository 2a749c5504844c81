"""Whether there are nodes that every pod may run on."""

from __future__ import annotations

from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import ERROR, Label, Rule
from trainc.text.numbers import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.lint.facts.job import ExpandedRole, Findings, Job

TAS = Rule("topology-annotation", ERROR)
CONTRADICTS = Rule("selector-contradicts-affinity", ERROR)

_PREFIX = "kueue.x-k8s.io/podset-"
_LEVELS = ("required-topology", "preferred-topology", "unconstrained-topology")


def topology_annotation(job: Job) -> Findings:
    for role in job.roles:
        path = (*role.spec_path, "template", "metadata", "annotations")
        for key, message, help_ in _topology_faults(role):
            yield TAS.at(job.at((*path, key)), message, effect="Kueue refuses the job, or leaves pods over", help=help_)


def _topology_faults(role: ExpandedRole) -> Iterator[tuple[str, str, str]]:
    """The annotation, the message and the help of each."""
    annotations = role.annotations
    levels = [_PREFIX + level for level in _LEVELS if _PREFIX + level in annotations]
    if len(levels) > 1:
        yield levels[1], f"`{levels[1]}` and `{levels[0]}` exclude each other", "keep one of them"
    size, top = _PREFIX + "slice-size", _PREFIX + "slice-required-topology"
    if (size in annotations) != (top in annotations):
        there, missing = (size, top) if size in annotations else (top, size)
        yield there, f"`{there}` needs `{missing}`", f"add `{missing}`"
    number, count = whole_number(text(annotations, size)), role.count
    if number and type(count) is int and count:
        if number > count:
            yield size, f"a slice has {number} pods, but `{role.name}` has {count}", f"use at most {count}"
        elif count % number:
            yield size, f"slices of {number} pods do not divide the {count} pods of `{role.name}`", "use a divisor"


def selector_contradicts_affinity(job: Job) -> Findings:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    for role in job.roles:
        selector = table(role.pod, "nodeSelector")
        terms = rows(table(table(table(role.pod, "affinity"), "nodeAffinity"), required), "nodeSelectorTerms")
        for index, expression in enumerate(rows(terms[0], "matchExpressions") if len(terms) == 1 else ()):
            key, operator = text(expression, "key"), text(expression, "operator")
            held, values = text(selector, key), [leaf.value for leaf in expression.get("values", ())]
            if key in selector and (
                (operator == "In" and held not in values) or (operator == "NotIn" and held in values)
            ):
                term = (*role.pod_path, "affinity", "nodeAffinity", required, "nodeSelectorTerms", 0)
                yield CONTRADICTS.at(
                    job.at((*role.pod_path, "nodeSelector", key)),
                    f"the selector wants `{key}: {held}`, which the affinity excludes",
                    also=[Label(job.at((*term, "matchExpressions", index)), "the affinity")],
                    effect="no node satisfies both: the pods stay pending",
                    help="keep one of them",
                )


CHECKS = (topology_annotation, selector_contradicts_affinity)
