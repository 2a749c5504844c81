"""What pod validation says about the pod itself once the child Job is made (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.numbers import whole_number
from trainc.model.remembered import Nodes
from trainc.model.sourced import Sourced
from trainc.schema.names import label, label_value, qualified, subdomain
from trainc.verify.refusal import refuse, unsupported
from trainc.verify.values import mappings, rows, substituted, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

_WHY = "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods."

WORD = Rule("unknown-pod-setting", ERROR, "a setting of the pod is a word that Kubernetes does not know", _WHY)
NAME = Rule("bad-pod-name-field", ERROR, "a name in the pod has characters that it cannot have", _WHY)
LABEL = Rule("bad-label", ERROR, "a label, an annotation or a node selector has characters that it cannot have", _WHY)
DEADLINE = Rule("bad-pod-deadline", ERROR, "a pod's deadline is not a positive number of seconds", _WHY)
ALIAS = Rule("bad-host-alias", ERROR, "a host alias has no IP address", _WHY)
AFFINITY = Rule("empty-topology-key", ERROR, "an affinity term has no topology key", _WHY)
TOLERATION = Rule(
    "bad-toleration", ERROR, "a toleration has an operator or an effect that Kubernetes does not know", _WHY
)
GRACE = Rule(
    "negative-grace-period",
    WARNING,
    "the time to stop is negative",
    "The API server takes it and stops the pod after one second, in the middle of whatever it writes.",
)

_WORDS = {
    "restartPolicy": ("Always", "OnFailure", "Never"),
    "dnsPolicy": ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
    "preemptionPolicy": ("PreemptLowerPriority", "Never"),
}
_OPERATORS = ("Equal", "Exists", "Lt", "Gt")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def unknown_pod_setting(job: Job) -> None:
    for role in job.roles:
        for field, words in _WORDS.items():
            if field in role.pod:
                word = text(role.pod, field)
                if word and word not in words and not substituted(word):
                    refuse(
                        job,
                        WORD,
                        (*role.pod_path, field),
                        unsupported(word, words),
                        f"`{word}` is no `{field}`",
                        help=f"use one of {', '.join(f'`{w}`' for w in words)}",
                    )


def bad_pod_name_field(job: Job) -> None:
    for role in job.roles:
        pod = role.pod
        for field in ("hostname", "subdomain"):
            name = text(pod, field) if field in pod else ""
            if not name or substituted(name):
                continue
            faults = label(name)
            _names(job, (*role.pod_path, field), name, faults)
        name = text(pod, "priorityClassName") if "priorityClassName" in pod else ""
        if name and not substituted(name):
            _names(job, (*role.pod_path, "priorityClassName"), name, subdomain(name))
        for index, gate in enumerate(rows(pod, "schedulingGates")):
            path = (*role.pod_path, "schedulingGates", index)
            _names(job, (*path, "name"), text(gate, "name"), qualified(text(gate, "name")), shown=path)


def _names(job: Job, path: Path, name: str, faults: tuple[str, ...], shown: Path = ()) -> None:
    if faults:
        refuse(
            job,
            NAME,
            path,
            tuple(f'Invalid value: "{name}": {fault}' for fault in faults),
            f"`{name}` cannot be a {_called(path)}",
            shown=shown,
            help="use lower-case letters, digits and `-`",
        )


def _called(path: Path) -> str:
    field = path[-1] if path[-1] != "name" else path[-3]
    return {"priorityClassName": "priority class", "schedulingGates": "scheduling gate"}.get(str(field), str(field))


def bad_label(job: Job) -> None:
    for role in job.roles:
        metadata = (*role.spec_path, "template", "metadata")
        for field, keep in (("labels", role.labels), ("annotations", role.annotations)):
            path = (*metadata, field)
            for key, leaf in keep.items():
                _label(job, (*path, key), (*metadata[:-1], field), key, leaf, values=field == "labels")
        if "nodeSelector" in role.pod:
            path = (*role.pod_path, "nodeSelector")
            for key, leaf in table(role.pod, "nodeSelector").items():
                _label(job, (*path, key), path, key, leaf, values=True)


def _label(job: Job, path: Path, shown: Path, key: str, leaf: Tree, *, values: bool) -> None:
    held = leaf.value if type(leaf) is Sourced else None
    faults = (
        ()
        if _plain_key(key)
        else tuple(f'Invalid value: "{key}": {fault}' for fault in qualified(key if values else key.lower()))
    )
    if faults:
        refuse(job, LABEL, path, faults, f"`{key}` cannot be a key", shown=shown, key=True)
    if (
        values
        and type(held) is str
        and not (held.isalnum() and held.isascii() and len(held) < 64)
        and not substituted(held)
    ):
        faults = tuple(f'Invalid value: "{held}": {fault}' for fault in label_value(held))
        if faults:
            refuse(job, LABEL, path, faults, f"`{held}` cannot be the value of `{key}`", shown=shown)


def _plain_key(key: str) -> bool:
    return len(key) < 64 and key.isascii() and key.isalnum()


def bad_pod_deadline(job: Job) -> None:
    for role in job.roles:
        leaf = role.pod.get("activeDeadlineSeconds")
        if type(leaf) is Sourced and type(leaf.value) is int and not 0 < leaf.value < 2**31:
            reason = f"Invalid value: {leaf.value}: must be between 1 and 2147483647, inclusive"
            path = (*role.pod_path, "activeDeadlineSeconds")
            refuse(
                job,
                DEADLINE,
                path,
                reason,
                f"{leaf.value} seconds is no deadline",
                help="remove it, or give the seconds a pod may take",
            )


def bad_host_alias(job: Job) -> None:
    for role in job.roles:
        for index, alias in enumerate(rows(role.pod, "hostAliases")):
            ip = text(alias, "ip")
            if not _is_ip(ip) and not substituted(ip):
                reason = f'Invalid value: "{ip}": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
                path = (*role.pod_path, "hostAliases", index, "ip")
                refuse(
                    job,
                    ALIAS,
                    path,
                    reason,
                    f"`{ip}` is no IP address",
                    help="a Service or a pod is found by its DNS name instead",
                )


def _is_ip(text: str) -> bool:
    if ":" in text:
        return all(c in "0123456789abcdefABCDEF:." for c in text)
    parts = text.split(".")
    return len(parts) == 4 and all(whole_number(p, most=255) is not None for p in parts)


def empty_topology_key(job: Job) -> None:
    for role in job.roles:
        if "affinity" not in role.pod:
            continue
        affinity = table(role.pod, "affinity")
        for kind in ("podAffinity", "podAntiAffinity"):
            terms = table(affinity, kind)
            required, preferred = (
                "requiredDuringSchedulingIgnoredDuringExecution",
                "preferredDuringSchedulingIgnoredDuringExecution",
            )
            for index, term in enumerate(rows(terms, required)):
                _topology(job, role, (kind, required, index), term)
            for index, term in enumerate(rows(terms, preferred)):
                _topology(job, role, (kind, preferred, index, "podAffinityTerm"), table(term, "podAffinityTerm"))


def _topology(job: Job, role: Role, below: Path, term: Tree) -> None:
    if text(term, "topologyKey"):
        return
    path = (*role.pod_path, "affinity", *below, "topologyKey")
    help_ = "name the node label that makes a group, e.g. `kubernetes.io/hostname`"
    message = "an affinity term names no topology"
    reasons = ("Required value: can not be empty", *(f'Invalid value: "": {fault}' for fault in qualified("")))
    refuse(job, AFFINITY, path, reasons, message, help=help_)


def bad_toleration(job: Job) -> None:
    for role in job.roles:
        for index, toleration in enumerate(rows(role.pod, "tolerations")):
            path = (*role.pod_path, "tolerations", index)
            operator, effect = text(toleration, "operator"), text(toleration, "effect")
            if operator and operator not in _OPERATORS:
                reason = unsupported(operator, ("Equal", "Exists"))
                refuse(
                    job,
                    TOLERATION,
                    (*path, "operator"),
                    reason,
                    f"`{operator}` is no operator",
                    help="use `Exists` or `Equal`",
                )
            if effect and effect not in _EFFECTS:
                reason = unsupported(effect, _EFFECTS)
                help_ = "use `NoSchedule`, `PreferNoSchedule` or `NoExecute`"
                refuse(job, TOLERATION, (*path, "effect"), reason, f"`{effect}` is no effect of a taint", help=help_)
            if operator == "Exists" and text(toleration, "value"):
                reason = (
                    f"Invalid value: \"{text(toleration, 'value')}\": value must be empty when `operator` is 'Exists'"
                )
                refuse(
                    job,
                    TOLERATION,
                    (*path, "value"),
                    reason,
                    "a toleration that tolerates any value also names one",
                    shown=(*path, "operator"),
                )


def _odd_toleration(tolerations: Tree) -> bool:
    """Whether one of them may be refused."""
    for one in mappings(tolerations):
        operator, value = text(one, "operator"), text(one, "value")
        if (not text(one, "key") and operator != "Exists") or qualified(text(one, "key") or "a") or label_value(value):
            return True
        if "tolerationSeconds" in one and text(one, "effect") != "NoExecute":
            return True
        if operator and (operator not in _OPERATORS or (operator == "Exists" and text(one, "value"))):
            return True
        if text(one, "effect") not in ("", *_EFFECTS):
            return True
    return False


TOLERATIONS = Nodes(_odd_toleration)


def negative_grace_period(job: Job) -> None:
    for role in job.roles:
        leaf = role.pod.get("terminationGracePeriodSeconds")
        if type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
            job.report.add(
                GRACE.at(
                    job.at((*role.pod_path, "terminationGracePeriodSeconds")),
                    f"the pods get {leaf.value} seconds to stop",
                    effect="Kubernetes reads it as one second: a checkpoint that is being written is lost",
                    help="give the seconds that writing a checkpoint takes, e.g. 120",
                )
            )
