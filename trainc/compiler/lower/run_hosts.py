"""Host names of a job's first run, in the texts of a later one: written as the pods of that run are called."""

from trainc.kinds.shared.former_hosts import FormerHosts, is_domain, with_pod
from trainc.model.bundle import keeps_job
from trainc.model.document import Document
from trainc.model.finding import NOTE, Rule
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get
from trainc.text.numbers import parsed_int

REWRITTEN = Rule("run-host-rewritten", NOTE)


def of_this_run(plan: Plan, jobset: Tree, report: Report) -> tuple[Tree, tuple[Document, ...]]:
    """The JobSet of a later run and the objects beside it, with this run's hosts where they name those of the first."""
    base = plan.name.value.removesuffix(f"-r{run_of(plan.job)}")
    if base == plan.name.value:
        return jobset, plan.companions
    hosts = RunHosts(base, plan, jobset, report)
    spec = jobset["spec"]
    if replicated := [hosts.role(role) for role in spec.get("replicatedJobs") or ()]:
        jobset = {**jobset, "spec": {**spec, "replicatedJobs": replicated}}
    return jobset, hosts.files(plan.companions, [])


class RunHosts(FormerHosts):
    """`JOB-ROLE-JOB_INDEX-INDEX.SUBDOMAIN`, as the pods of the first run are called, and what this run calls them."""

    rule = REWRITTEN
    said = "`{}` is a pod of the first run; in this run it is `{}`: trainc rewrites it"
    job_names = ()  # labels of a pod hold the name of its own run
    checks_unknown = False  # what begins with the name of the run, from a label of the pod, is right already

    def __init__(self, base: str, plan: Plan, jobset: Tree, report: Report) -> None:
        super().__init__(base, plan.document, report)
        self._name = plan.name
        self._namespace = plan.namespace.value if plan.namespace is not None else ""
        self.families = {"": _indices(plan.roles[0])} if keeps_job(plan.job) else _families(plan)
        subdomain = get(jobset, "spec", "network", "subdomain")
        # A subdomain that is written is the same for every run.
        is_written = type(subdomain) is Sourced and subdomain.value != plan.name.value
        self._former: str = subdomain.value if is_written else base
        self._present: str = subdomain.value if is_written else plan.name.value

    def present(self, host: str) -> str:
        first, dot, rest = host.partition(".")
        subdomain, _, domain = rest.partition(".")
        if not dot or subdomain not in (self._former, self._present) or not self.is_domain(domain):
            return ""
        pod = first.removeprefix(f"{self.base}-")
        family, _, index = pod.rpartition("-")
        if family not in self.families or parsed_int(index) is None:
            return ""
        return f"{self._name.value}-{pod}.{self._present}{domain and '.'}{domain}"

    def role(self, role: Tree) -> Tree:
        """A replicatedJob whose pods name hosts of this run, and search its subdomain."""
        pod = get(role, "template", "spec", "template", "spec")
        if type(pod) is not dict:
            return role
        if self.occur_in(pod):
            pod = self.pod(pod)
        dns = pod.get("dnsConfig")
        domains = dns.get("searches") if type(dns) is dict else None
        if type(domains) is list and self._former != self._present:
            pod = {**pod, "dnsConfig": {**dns, "searches": [self._domain(domain) for domain in domains]}}
        return with_pod(role, pod)

    def _domain(self, leaf: Tree) -> Tree:
        """A search domain, that of this run's subdomain where it was that of the first."""
        if type(leaf) is not Sourced or type(leaf.value) is not str:
            return leaf
        subdomain, dot, rest = leaf.value.partition(".")
        if subdomain != self._former or not dot or not self.is_domain(rest):
            return leaf
        return derive("name of the run", lambda domain, name: name + domain[len(subdomain) :], leaf, self._name)

    def is_domain(self, rest: str) -> bool:
        is_variable = not self.document.namespace and rest.partition(".")[0] == "namespace"  # which stands for one
        return is_domain(rest, "" if is_variable else self._namespace, rest.partition(".svc.")[2])


def _families(plan: Plan) -> dict[str, range | None]:
    """The pods of all Jobs by what stands between the job's name and their index."""
    return {
        f"{role.name.value}-{replica}": _indices(role)
        for role in plan.roles
        for replica in range(role.replicas.value if type(role.replicas.value) is int else 1)
    }


def _indices(role: Role) -> range:
    return range(max(1, role.count.value) if type(role.count.value) is int else 1)
