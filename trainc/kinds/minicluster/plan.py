"""MiniCluster of the Flux Operator: one Indexed Job whose brokers form a Flux instance, in which the command runs."""

from trainc.frameworks.mpi import SEVERAL_LAUNCHERS
from trainc.kinds.minicluster.admission import lacks_counterparts
from trainc.kinds.minicluster.pods import pod_template, runner_of, text_of
from trainc.kinds.shared.former_hosts import REWRITTEN, FormerHosts, pod_of
from trainc.kinds.shared.job import LegacyOptions, job_metadata
from trainc.kinds.shared.layout import plan_of_jobset, replicated_job
from trainc.model.catalog import Entry
from trainc.model.document import Document
from trainc.model.finding import place
from trainc.model.plan import NODE, Plan
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, filled, get, given, stamp, value
from trainc.text.numbers import index_below

_BY = "MiniCluster default"
_LAUNCHERS = ("mpirun", "mpiexec", "srun")


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan:
    """The plan of a MiniCluster; barred where it asks for what a JobSet cannot be."""
    document = entry.document
    spec = document.tree["spec"]
    name = run_name(document.tree)
    subdomain = given(filled(spec, "network", "headlessName"), name)
    barred = lacks_counterparts(document, report)
    _say_of_launchers(document, report)
    size = given(spec.get("size"), Sourced(1, Origin(by=_BY)))
    hosts = ClusterHosts(document, report, subdomain, size, options.cluster_domain)
    limits = {
        "backoffLimit": given(filled(spec, "backoffLimit"), Sourced(100, Origin(by=_BY))),
        "activeDeadlineSeconds": given(spec.get("deadlineSeconds"), Sourced(31500000, Origin(by=_BY))),
    }
    role, index = stamp(NODE, "role of a MiniCluster"), stamp("Indexed", "MiniCluster Job")
    replicated = replicated_job(role, size, index, limits, pod_template(document, name, hosts))
    metadata = job_metadata(document.tree)
    metadata["labels"] |= get(document.tree, "spec", "jobLabels") or {}
    template: Tree = {"metadata": metadata, "spec": {"replicatedJobs": [replicated]}}
    if subdomain is not name:
        template["spec"]["network"] = {"subdomain": subdomain}
    return plan_of_jobset(
        entry,
        options,
        template,
        framework="minicluster",
        title=f"MiniCluster {document.name}",
        companions=hosts.files(entry.companions, [pod_of(replicated)]),
        namespace=options.namespace,
        policy={"minicluster": _settings({**spec, "size": size}, hosts)},
        barred=barred,
    )


def _say_of_launchers(document: Document, report: Report) -> None:
    """Say where each task, which Flux starts, would start all processes once more."""
    spec = document.tree["spec"]
    tasks = value(spec, "tasks") or value(spec, "size") or 1
    for index, container in enumerate(get(spec, "containers") or ()):
        words = text_of(container, "command").split()
        program = words[0].rpartition("/")[2] if words else ""
        is_launcher = program in _LAUNCHERS or words[:2] in (["flux", "run"], ["flux", "submit"])
        is_once = value(container, "launcher") or value(container, "batch")
        if not is_launcher or is_once or type(tasks) is not int or tasks < 2:
            continue
        name = " ".join(words[: 2 if program == "flux" else 1])
        span = document.span(("spec", "containers", index, "command"))
        message = f"`flux submit` runs `{name}` in each of {tasks} tasks"
        effect = f"{tasks} launchers start, and each starts processes of its own"
        rest = "Flux starts the tasks; or set `launcher: true` to run the command once"
        help_ = f"remove `{name}` and its options: {rest}"
        report.add(SEVERAL_LAUNCHERS.at(span, message, effect=effect, help=help_))


class ClusterHosts(FormerHosts):
    """`NAME-INDEX[.SERVICE]`, as the operator's Indexed Job calls its pods, and what they are called now."""

    def __init__(
        self, document: Document, report: Report, subdomain: Sourced[str], size: Sourced[int], domain: str
    ) -> None:
        super().__init__(document.name, document, report, domain)
        self._name, self._size = run_name(document.tree), size
        self.service = subdomain.value
        self.families = {"": range(size.value)} if type(size.value) is int and size.value > 0 else {}

    def present(self, host: str) -> str:
        first, _, rest = host.partition(".")
        index = first[len(self.base) + 1 :]
        if index_below(index, self._size.value) is None:
            return ""
        now = f"{self._name.value}-{NODE}-0-{index}"
        if not rest:
            return now
        subdomain, _, rest = rest.partition(".")
        known = subdomain == self.service and self.is_domain(rest)
        return f"{now}.{subdomain}{rest and '.'}{rest}" if known else ""

    def hostlist(self, leaf: Tree) -> Tree:
        """A text with Flux's list of all pods, `NAME-[0-3]`, as their hosts are called now."""
        former, now = f"{self.base}-[", f"{self._name.value}-{NODE}-0-["
        if type(leaf) is not Sourced or former not in str(leaf.value):
            return leaf
        span = place(leaf.origin) or self.document.span(("spec",))
        self.report.add(REWRITTEN.at(span, f"`{former}` is `{now}` in the JobSet: trainc rewrites it"))
        return derive("host names", lambda text, _: text.replace(former, now), leaf, self._name)


def _settings(spec: Tree, hosts: ClusterHosts) -> Tree:
    """What the scripts are made of: the spec, with host names of the JobSet in its texts."""
    index, container = runner_of(spec)
    values = {name: text.value for name, text in (container.get("environment") or {}).items()}
    texts = {field: hosts.leaf(leaf, values) for field, leaf in (container.get("commands") or {}).items()}
    container = {**container, **({"commands": texts} if texts else {})}
    if "command" in container:
        container["command"] = hosts.leaf(container["command"], values)
    if (written := get(spec, "flux", "brokerConfig")) is not None:
        spec = {**spec, "flux": {**spec["flux"], "brokerConfig": hosts.hostlist(hosts.leaf(written, {}))}}
    return {"spec": spec, "container": container, "index": stamp(index, "place of the container")}
