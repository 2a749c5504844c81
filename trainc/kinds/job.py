"""A plain Indexed Job: a JobSet of one Job with the same pods, whose addresses follow the names of the JobSet."""

from collections.abc import Mapping

from trainc.apiserver.normalise import normalise
from trainc.apiserver.served import Server
from trainc.apiserver.workloads import judge_workload
from trainc.kinds.shared.former_hosts import FormerHosts
from trainc.kinds.shared.job import MOST, LegacyOptions, job_metadata, pruned
from trainc.kinds.shared.layout import plan_of_jobset
from trainc.model.bundle import KEEP, OF_THE_WHOLE, keeps_job
from trainc.model.catalog import Entry
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import NOTE, WARNING, Rule, place
from trainc.model.plan import NODE, Plan
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, filled, get, given, stamp, value
from trainc.schedulers.gang import at_once
from trainc.text.numbers import index_below
from trainc.text.object_keys import JOB_LABELS, JOB_NAME_LABELS, JOBSET_NAME, MULTIKUEUE
from trainc.text.placeholders import is_placeholder

UNRESOLVED = Rule("host-never-resolves", WARNING)
SPLICED = Rule("spliced-job-host", WARNING)
SERVICE_ELSEWHERE = Rule("peer-service-elsewhere", WARNING)
_BY = "batch/v1 default"
_FIELDS = tuple(f"metadata.labels['{label}']" for label in JOB_NAME_LABELS)


def admit(document: Document, server: Server, cluster: Cluster, report: Report) -> Document | None:
    """The Job as the API server stores it, None with findings where it refuses it."""
    return document.admitted(pruned(document.tree)) if judge_workload(document, server, cluster, report) else None


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan:
    """The plan of a Job that was admitted: one role with its pods, and the Services of its file that follow it."""
    document = entry.document
    name = run_name(document.tree)
    hosts = JobHosts(document, report, name, options.cluster_domain)
    replicated = _replicated(document, hosts)
    namespace = given(get(document.tree, "metadata", "namespace"), options.namespace)
    values = hosts.common_values([document.tree["spec"]["template"]["spec"]])
    companions = tuple(hosts.companion(companion, namespace, values) for companion in entry.companions)
    network = _network(hosts, entry)
    of_job = {field: document.tree["spec"].get(field) for field in OF_THE_WHOLE}
    managed = keeps_job(document.tree) or value(of_job["managedBy"]) == MULTIKUEUE
    kept = {name: leaf for name, leaf in of_job.items() if type(leaf) is Sourced and (managed or name != "managedBy")}
    spec = {**kept, **({"network": network} if network else {}), "replicatedJobs": [replicated]}
    template = {"metadata": job_metadata(document.tree, kept=KEEP), "spec": spec}
    spec = document.tree["spec"]
    width, size = value(spec, "parallelism"), value(spec, "completions")
    width = 1 if width is None else width
    # The pods work through a list of indices, a few at a time: nothing has to run together.
    is_queue = type(width) is int and type(size) is int and size > width
    return plan_of_jobset(
        entry,
        options,
        template,
        framework="plain",
        title=f"Job {document.name}",
        companions=companions,
        namespace=options.namespace,
        gang={"none": {}} if is_queue else None,
        pods=[at_once(replicated)],
    )


class JobHosts(FormerHosts):
    """`JOB-INDEX.SUBDOMAIN`, as the Job controller calls the pods of an Indexed Job, and what they are called now."""

    spliced = SPLICED

    def __init__(self, document: Document, report: Report, name: Sourced[str], domain: str) -> None:
        super().__init__(document.name, document, report, domain)
        self.name = name
        spec = document.tree["spec"]
        size = value(spec, "completions" if "completions" in spec else "parallelism")
        if is_placeholder(size):
            size = MOST  # any index may be that of a pod
        self._size = size if type(size) is int else 0
        self._indexed = value(spec, "completionMode") == "Indexed"
        self.families = {"": range(self._size)} if self._indexed and self._size > 0 else {}
        self.keeps = keeps_job(document.tree)
        self.subdomain: Sourced[str] | None = filled(spec, "template", "spec", "subdomain")
        self.service = "" if self.subdomain is None else self.subdomain.value

    def present(self, host: str) -> str:
        first, _, rest = host.partition(".")
        index = first[len(self.base) + 1 :]
        if not self._indexed or index_below(index, self._size) is None:
            return ""
        subdomain, _, rest = rest.partition(".")
        expected = self.name.value if self.subdomain is None else self.subdomain.value
        if subdomain not in {"", expected} or not self.is_domain(rest):
            return ""
        return f"{self.name.value}-{NODE}-0-{index}.{expected}{rest and '.'}{rest}"

    def leaf(self, leaf: Tree, values: Mapping[str, str]) -> Tree:
        """A text with present names; one that never led anywhere is said to be one."""
        if type(leaf) is Sourced and type(leaf.value) is str:
            at = place(leaf.origin) or self.document.span(("spec",), key=True)
            for former, present in dict.fromkeys(self.rewritten(leaf.value)[1]):
                if self.subdomain is None:
                    why, service = "the pod template has no `subdomain`", "a headless Service of that name"
                    help_ = (
                        f"write `subdomain` in the pod template, {service}, and `{former.partition('.')[0]}.SUBDOMAIN`"
                    )
                elif "." not in former:
                    why, help_ = "the name has no subdomain", f"write `{former}.{self.service}`"
                else:
                    continue
                message = f"`{former}` never resolves in the Job: {why}"
                effect = f"the Job's processes never connect; the JobSet gets `{present}`"
                self.report.add(UNRESOLVED.at(at, message, effect=effect, help=help_))
        return super().leaf(leaf, values)

    def companion(self, companion: Document, namespace: Sourced[str] | None, values: Mapping[str, str]) -> Document:
        """Another object of the file: a Service in the job's namespace; selectors and texts follow the JobSet."""
        tree = companion.tree
        metadata = tree.get("metadata")
        if companion.kind == "Service" and namespace is not None and not companion.namespace and type(metadata) is dict:
            tree = {**tree, "metadata": {**metadata, "namespace": namespace}}
        if self.keeps:
            return companion if tree is companion.tree else companion.admitted(tree)
        tree = with_jobset_selectors(tree, self.base, self.name)
        return self.config_map(companion.admitted(tree), values)


def _replicated(document: Document, hosts: JobHosts) -> Tree:
    spec = document.tree["spec"]
    kept = {key: node for key, node in spec.items() if key not in (*OF_THE_WHOLE, "template")}
    kept.setdefault("completionMode", Sourced("NonIndexed", Origin(by=_BY)))
    if "completions" not in kept and "parallelism" not in kept:
        kept["completions"] = Sourced(1, Origin(by=_BY))
    kept.setdefault("parallelism", Sourced(1, Origin(by=_BY)))
    if "backoffLimitPerIndex" not in kept:
        kept.setdefault("backoffLimit", Sourced(6, Origin(by=_BY)))
    template = normalise(spec["template"], "template")
    if hosts.keeps:
        return {"name": stamp(NODE, "role of a plain Job"), "template": {"spec": {**kept, "template": template}}}
    pod = {key: node for key, node in template["spec"].items() if key not in {"hostname", "subdomain"}}
    metadata = dict(template.get("metadata") or {})
    if type(metadata.get("labels")) is dict:
        metadata["labels"] = {key: node for key, node in metadata["labels"].items() if key not in JOB_LABELS}
    pod = with_jobset_selectors(hosts.pod(pod), hosts.base, hosts.name)
    kept["template"] = {**({"metadata": metadata} if metadata else {}), "spec": pod}
    return {"name": stamp(NODE, "role of a plain Job"), "template": {"spec": kept}}


def _network(hosts: JobHosts, entry: Entry) -> dict[str, Tree]:
    """The subdomain that the pods have, and whether its Service names pods that start; a finding where the file has none."""
    if (name := hosts.subdomain) is None:
        return {}
    for other in (*entry.companions, *entry.beside):
        if other.kind == "Service" and other.name == name.value:
            early = get(other.tree, "spec", "publishNotReadyAddresses")
            default = Sourced(False, Origin(by="Service default"))
            return {"subdomain": name, "publishNotReadyAddresses": given(early, default)}
    span = place(name.origin) or hosts.document.span(("spec",))
    message, level = f"Service `{name.value}` is not in this file; the JobSet creates one with that name", ""
    effect = "a Service in another file selects the pods of the former Job, and overwrites it"
    help_ = "move it into this file, or remove it"
    if hosts.keeps:
        message, level = f"Service `{name.value}` is not in this file", NOTE
        effect, help_ = "without it, pods cannot resolve each other's names", "add it to the file of the Job"
    hosts.report.add(SERVICE_ELSEWHERE.at(span, message, effect=effect, help=help_, level=level))
    return {"subdomain": name}


def with_jobset_selectors(tree: Tree, former: str, present: Sourced[str]) -> Tree:
    """A tree in which labels and fields that name the Job's pods by `former` name those of the JobSet `present`."""
    if type(tree) is list:
        return [with_jobset_selectors(item, former, present) for item in tree]
    if type(tree) is Sourced:
        if tree.value not in _FIELDS:
            return tree
        return derive("the JobSet's own label", lambda _: f"metadata.labels['{JOBSET_NAME}']", tree)
    if type(tree) is not dict:
        return tree
    out: dict[str, Tree] = {}
    for key, node in tree.items():
        if key in JOB_NAME_LABELS and type(node) is Sourced and node.value == former:
            out[JOBSET_NAME] = derive("the JobSet's own label", lambda _, name: name, node, present)
        else:
            out[key] = with_jobset_selectors(node, former, present)
    # A requirement of `matchExpressions` that lists the Job's name.
    label, values = out.get("key"), out.get("values")
    lists_job = type(values) is list and [value(item) for item in values] == [former] and value(out, "operator") == "In"
    if lists_job and type(label) is Sourced and label.value in JOB_NAME_LABELS:
        out |= {"key": derive("the JobSet's own label", lambda _: JOBSET_NAME, label), "values": [present]}
    return out
