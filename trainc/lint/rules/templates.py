"""What pod validation says about the pod itself once the child Job is made (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.refusal import Explanation, Words
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job
    from trainc.lint.refusal import ServerComplaint


WORD = Rule("unknown-pod-setting", ERROR)
NAME = Rule("bad-pod-name-field", ERROR)
LABEL = Rule("bad-label", ERROR)
DEADLINE = Rule("bad-pod-deadline", ERROR)
ALIAS = Rule("bad-host-alias", ERROR)
AFFINITY = Rule("empty-topology-key", ERROR)
TOLERATION = Rule("bad-toleration", ERROR)
GRACE = Rule("negative-grace-period", WARNING)


def negative_grace_period(job: Job) -> Findings:
    for role in job.roles:
        leaf = role.pod.get("terminationGracePeriodSeconds")
        if type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
            yield GRACE.at(
                job.at((*role.pod_path, "terminationGracePeriodSeconds")),
                f"the pods get {leaf.value} seconds to stop",
                effect="Kubernetes reads it as one second: a checkpoint that is being written is lost",
                help="give the seconds that writing a checkpoint takes, e.g. 120",
            )


_CALLED = {"priorityClassName": "priority class", "schedulingGates": "scheduling gate"}


def _word(refused: ServerComplaint) -> Words:
    words = refused.reason.partition("supported values: ")[2].replace('"', "`")
    return Words(f"`{refused.fault.value}` is not a `{refused.path[-1]}`", f"use one of {words}")


def _name(refused: ServerComplaint) -> Words:
    field = str(refused.path[-1] if refused.path[-1] != "name" else refused.path[-3])
    message = f"`{refused.fault.value or ''}` cannot be a {_CALLED.get(field, field)}"
    return Words(message, "use lower-case letters, digits and `-`")


def _label(refused: ServerComplaint) -> Words:
    key = refused.path[-1]
    if refused.fault.value == key:
        return Words(f"`{key}` cannot be a key", key=True, group=(*refused.path, "key"))
    return Words(f"`{refused.fault.value}` cannot be the value of `{key}`")


def _deadline(refused: ServerComplaint) -> Words:
    return Words(f"{refused.fault.value} seconds is not a deadline", "remove it, or give the seconds a pod may take")


def _alias(refused: ServerComplaint) -> Words:
    address = refused.fault.value or ""
    return Words(f"`{address}` is not an IP address", "a Service or a pod is found by its DNS name instead")


def _operator(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.fault.value}` is not an operator", "use `Exists` or `Equal`")


def _comparison(refused: ServerComplaint) -> Words:
    return Words(
        f"`{refused.fault.value}` is an operator of servers with TaintTolerationComparisonOperators",
        "use `Exists` or `Equal`, or say that the gate is on: `--set gates=TaintTolerationComparisonOperators`",
    )


def _effect(refused: ServerComplaint) -> Words:
    help_ = "use `NoSchedule`, `PreferNoSchedule` or `NoExecute`"
    return Words(f"`{refused.fault.value}` is not an effect of a taint", help_)


EXPLANATIONS = (
    Explanation(WORD, ("spec.restartPolicy", "spec.dnsPolicy", "spec.preemptionPolicy"), _word, "supported values"),
    Explanation(
        NAME,
        ("template.spec.hostname", "template.spec.subdomain", "spec.priorityClassName", "schedulingGates.#.name"),
        _name,
        "Invalid value",
    ),
    Explanation(LABEL, ("metadata.labels.*", "metadata.annotations.*", "spec.nodeSelector.*"), _label, "must "),
    Explanation(DEADLINE, "template.spec.activeDeadlineSeconds", _deadline, "must be between"),
    Explanation(ALIAS, "hostAliases.#.ip", _alias, "valid IP address"),
    Explanation(
        AFFINITY,
        "topologyKey",
        Words(
            "an affinity term names no topology",
            "name the node label that makes a group, e.g. `kubernetes.io/hostname`",
        ),
        "Required value: can not be empty",
    ),
    Explanation(
        AFFINITY,
        "topologyKey",
        Words(
            "an affinity term names no topology",
            "name the node label that makes a group, e.g. `kubernetes.io/hostname`",
        ),
        'Invalid value: ""',
    ),
    Explanation(TOLERATION, "tolerations.#.operator", _comparison, '"Exists", "Lt"'),
    Explanation(TOLERATION, "tolerations.#.operator", _operator, "supported values"),
    Explanation(TOLERATION, "tolerations.#.effect", _effect, "supported values"),
    Explanation(
        TOLERATION,
        "tolerations.#.value",
        Words("a toleration that tolerates any value also names one"),
        "value must be empty",
    ),
)


CHECKS = (negative_grace_period,)
