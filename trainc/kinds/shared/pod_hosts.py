"""Host names that the operator gave, in the text of a job's containers: written as the JobSet's pods are called."""

from __future__ import annotations

from functools import cached_property

from trainc.kinds.shared.environment import NAMESPACE_REFERENCE
from trainc.kinds.shared.former_hosts import FormerHosts, is_domain
from trainc.kinds.shared.peers import alias, aliased, own_name, peers, stretches
from trainc.kinds.table import MPI_OPERATOR
from trainc.model.tree import value
from trainc.text.object_keys import TRAINC_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.shared.job import LegacyJob
    from trainc.kinds.shared.peers import Peer
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree


class Hosts(FormerHosts):
    """The operator's names of a job's pods, and what they are called in its JobSet."""

    instead = f'{FormerHosts.instead}, or keep the operator\'s names with `{TRAINC_PREFIX}compat-names: "true"`'

    def __init__(self, job: LegacyJob, plan: Plan) -> None:
        super().__init__(job.document.name, job.document, job.report)
        self._job = job
        self._plan = plan
        self._domain = job.asks("cluster-domain") or job.options.cluster_domain

    @cached_property
    def families(self) -> Mapping[str, range | None]:
        """The types of replicas, and their indices; the launcher of an MPIJob has none."""
        found: dict[str, range | None] = {}
        for one in stretches(self._plan):
            earlier = found.get(one.type) or range(one.index, one.index)
            found[one.type] = None if self._is_alone(one.type) else range(earlier.start, one.index + one.count)
        return found

    @cached_property
    def _pods(self) -> Mapping[str, Peer]:
        return {
            f"{self.base}-{pod.type}" + ("" if self._is_alone(pod.type) else f"-{pod.index}"): pod
            for pod in peers(self._plan)
        }

    def _is_alone(self, kind: str) -> bool:
        return self._job.kind.kind == "MPIJob" and kind == "launcher"

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


def with_present_names(
    job: LegacyJob, plan: Plan, replicated: list[Tree], companions: tuple[Document, ...]
) -> tuple[list[Tree], tuple[Document, ...]]:
    """The replicatedJobs of a plan and the objects beside it, with the operator's host names in their texts rewritten."""
    if value(plan.settings, "runtimeId") is not None:
        return replicated, companions
    hosts = Hosts(job, plan)
    pods = [pod_of(tree) for tree in replicated]
    present = [
        with_pod(tree, hosts.pod(pod)) if hosts.occur_in(pod) else tree
        for tree, pod in zip(replicated, pods, strict=True)
    ]
    return present, HostsInFiles(job, plan).files(companions, pods)


def pod_of(tree: Tree) -> Tree:
    """The pod spec of a replicatedJob."""
    return tree["template"]["spec"]["template"]["spec"]


def with_pod(tree: Tree, pod: Tree) -> Tree:
    """A replicatedJob with another pod spec."""
    spec = tree["template"]["spec"]
    return {**tree, "template": {**tree["template"], "spec": {**spec, "template": {**spec["template"], "spec": pod}}}}
