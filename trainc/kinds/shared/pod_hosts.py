"""Host names that the operator gave, in the text of a job's containers: written as the JobSet's pods are called."""

from __future__ import annotations

from trainc.kinds.shared.environment import NAMESPACE_REFERENCE
from trainc.kinds.shared.former_hosts import FormerHosts, is_domain
from trainc.kinds.shared.peers import alias, aliased, own_name, peers
from trainc.kinds.table import MPI_OPERATOR
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob
    from trainc.kinds.shared.peers import Peer
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree


class Hosts(FormerHosts):
    """The operator's names of a job's pods, and what they are called in its JobSet."""

    def __init__(self, job: LegacyJob, plan: Plan) -> None:
        super().__init__(job.document.name, job.document, job.report)
        self._job = job
        self._plan = plan
        self._pods = {_former(job, p): p for p in peers(plan)}
        self._domain = job.asks("cluster-domain") or job.options.cluster_domain

    def present(self, host: str) -> str:
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
        return is_domain(rest, self._job.document.namespace, self._domain)


class HostsInFiles(Hosts):
    """The same names in files of a ConfigMap, in which nobody fills in the namespace of a pod."""

    def _rest(self) -> str:
        rest = super()._rest()
        return "" if NAMESPACE_REFERENCE in rest else rest


def present_files(job: LegacyJob, plan: Plan, companions: tuple[Document, ...]) -> tuple[Document, ...]:
    """The objects beside a job, with the operator's host names in files of ConfigMaps rewritten."""
    if value(plan.settings, "runtimeId") is not None or not any(one.kind == "ConfigMap" for one in companions):
        return companions
    hosts = HostsInFiles(job, plan)
    return tuple([hosts.config_map(one) for one in companions])


def present_hosts(job: LegacyJob, plan: Plan, replicated: list[Tree]) -> list[Tree]:
    """The replicatedJobs of a plan, with the operator's host names in commands, arguments and variables rewritten."""
    if value(plan.settings, "runtimeId") is not None:
        return replicated
    beginning = FormerHosts(job.document.name, job.document, job.report)
    if not any(beginning.occur_in(_pod(tree)) for tree in replicated):
        return replicated
    hosts = Hosts(job, plan)
    return [with_pod(tree, hosts.pod(_pod(tree))) for tree in replicated]


def _pod(tree: Tree) -> Tree:
    return tree["template"]["spec"]["template"]["spec"]


def _former(job: LegacyJob, pod: Peer) -> str:
    only = job.kind.kind == "MPIJob" and pod.type == "launcher"
    return f"{job.document.name}-{pod.type}" + ("" if only else f"-{pod.index}")


def with_pod(tree: Tree, pod: Tree) -> Tree:
    """A replicatedJob with another pod spec."""
    spec = tree["template"]["spec"]
    return {**tree, "template": {**tree["template"], "spec": {**spec, "template": {**spec["template"], "spec": pod}}}}
