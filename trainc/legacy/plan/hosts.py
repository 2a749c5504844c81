"""Host names that the operator gave, in the text of a job's containers: written as the JobSet's pods are called."""

from __future__ import annotations

from trainc.legacy.environment.env import NAMESPACE, NAMESPACE_REFERENCE, POD_NAMESPACE
from trainc.legacy.environment.peers import alias, aliased, own_name, peers
from trainc.model.finding import NOTE, Rule, place
from trainc.model.legacy_kinds import MPI_OPERATOR
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import leaves, stamp, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.legacy.environment.peers import Peer
    from trainc.legacy.plan.job import Job
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree

REWRITTEN = Rule(
    "operator-host-rewritten",
    NOTE,
    "a host name that the operator gave is written as the JobSet's pod is called",
    "The operators called the pods `JOB-worker-0` or `JOB-launcher`; a JobSet adds the number of the Job and a subdomain.",
)
_PART_OF_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class Hosts:
    """The operator's names of a job's pods, and what they are called in its JobSet."""

    def __init__(self, job: Job, plan: Plan) -> None:
        self.base = job.document.name
        self._job = job
        self._plan = plan
        self._pods = {_former(job, p): p for p in peers(plan)}
        self._domain = job.asks("cluster-domain") or job.options.cluster_domain

    def rewritten(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """A text with present names, and the pairs of former and present name in it."""
        out, at, pairs = "", 0, []
        while (start := text.find(f"{self.base}-", at)) >= 0:
            end = start
            while end < len(text) and text[end] in _PART_OF_NAME:
                end += 1
            host = text[start:end].rstrip(".")
            new = self._present(host) if _stands_alone(text, start, end) else ""
            if new:
                pairs.append((host, new))
            out += text[at:start] + (new or host)
            at = start + len(host)
        return out + text[at:], pairs

    def _present(self, host: str) -> str:
        """What a host is called now, "" where it is none of the operator's names or the same as before."""
        first, dot, rest = host.partition(".")
        pod = self._pods.get(first)
        if pod is None:
            return ""
        if aliased(self._plan):
            new = alias(self._plan, pod)
            return "" if new == first or not self._is_domain(rest) else new + dot + rest
        own, subdomain = own_name(self._plan, pod), self._plan.name.value
        if self._job.kind.api == MPI_OPERATOR and dot:  # its Service was the job's subdomain
            above, _, rest = rest.partition(".")
            return f"{own}.{subdomain}{rest and '.'}{rest}" if above == self.base and self._is_domain(rest) else ""
        if self._job.kind.framework == "mpijob":  # reached by `kubectl exec`, which looks the pod up by its host name
            return "" if dot else own
        if not self._is_domain(rest):
            return ""
        return f"{own}.{subdomain}.{rest}" if rest else f"{own}.{subdomain}{self._rest()}"

    def _rest(self) -> str:
        """What follows the subdomain: torch knows a pod as itself by its whole name alone."""
        if self._job.kind.kind != "PyTorchJob":
            return ""
        return f".{self._job.document.namespace or NAMESPACE_REFERENCE}.svc.{self._domain}"

    def _is_domain(self, rest: str) -> bool:
        """Whether what follows a host's first label leads to this job's namespace."""
        namespace, _, below = rest.partition(".")
        if not rest or (below == "" and namespace == self._job.document.namespace):
            return True
        known = namespace == self._job.document.namespace or not self._job.document.namespace
        return known and below in {"svc", f"svc.{self._domain}"}


def present_hosts(job: Job, plan: Plan, replicated: list[Tree]) -> list[Tree]:
    """The replicatedJobs of a plan, with the operator's host names in commands, arguments and variables rewritten."""
    if value(plan.settings, "runtimeId") is not None or not any(_names(job, tree) for tree in replicated):
        return replicated
    hosts = Hosts(job, plan)
    return [_role(tree, hosts, job) for tree in replicated]


def _names(job: Job, tree: Tree) -> bool:
    """Whether any text of a role may hold a name of the operator."""
    beginning = f"{job.document.name}-"
    return any(type(leaf.value) is str and beginning in leaf.value for _, leaf in leaves(_pod(tree)))


def _pod(tree: Tree) -> Tree:
    return tree["template"]["spec"]["template"]["spec"]


def _former(job: Job, pod: Peer) -> str:
    only = job.kind.kind == "MPIJob" and pod.type == "launcher"
    return f"{job.document.name}-{pod.type}" + ("" if only else f"-{pod.index}")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a text is a host there, not a part of a path or of a longer name."""
    before, url = text[start - 1 : start], text[:start].endswith("://")
    if before and not url and (before in _PART_OF_NAME or before in "/$\\"):
        return False
    return url or text[end : end + 1] != "/"


def _role(tree: Tree, hosts: Hosts, job: Job) -> Tree:
    pod = dict(_pod(tree))
    for field in ("initContainers", "containers"):
        if field in pod:
            pod[field] = [_container(container, hosts, job) for container in pod[field]]
    spec = tree["template"]["spec"]
    return {**tree, "template": {**tree["template"], "spec": {**spec, "template": {**spec["template"], "spec": pod}}}}


def _container(container: Tree, hosts: Hosts, job: Job) -> Tree:
    out = dict(container)
    for field, first in (("command", 1), ("args", 0)):  # the first word of a command is a program
        if type(out.get(field)) is list:
            words = out[field]
            out[field] = [*words[:first], *(_leaf(word, hosts, job) for word in words[first:])]
    env = out["env"] if type(out.get("env")) is list else []
    present = [{**entry, "value": _leaf(entry["value"], hosts, job)} if "value" in entry else entry for entry in env]
    if env:
        out["env"] = present
    if _refers(out) and not _refers(container):
        own = [entry for entry in present if value(entry, "name") == NAMESPACE]
        rest = [entry for entry in present if value(entry, "name") != NAMESPACE]
        out["env"] = [*(own or [stamp({"name": NAMESPACE, **POD_NAMESPACE}, "host names")]), *rest]
    return out


def _refers(container: Tree) -> bool:
    words: Tree = {key: container[key] for key in ("command", "args", "env") if key in container}
    return any(NAMESPACE_REFERENCE in str(leaf.value) for _, leaf in leaves(words))


def _leaf(leaf: Tree, hosts: Hosts, job: Job) -> Tree:
    if type(leaf) is not Sourced or type(leaf.value) is not str:
        return leaf
    text, pairs = hosts.rewritten(leaf.value)
    for former, present in dict.fromkeys(pairs):
        span = place(leaf.origin) or job.span(("spec", job.kind.field), key=True)
        job.say(REWRITTEN.at(span, f"`{former}` is called `{present}` in the JobSet: the text is rewritten"))
    return derive("host names", lambda _: text, leaf) if pairs else leaf
