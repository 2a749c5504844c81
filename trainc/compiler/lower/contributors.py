"""What a framework and a scheduler change in a plan, once both have let it in, laid over its roles."""

from collections.abc import Iterable
from typing import Any

from trainc import schedulers
from trainc.frameworks import framework
from trainc.frameworks.base.hosts import own_count
from trainc.frameworks.base.requirements import check_reserved, check_unread
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, Rule, place
from trainc.model.patch import METADATA, POD, Patch, PatchField
from trainc.model.patches import PODS, PROCESSES, Contribution, Framework
from trainc.model.plan import TRAINER, Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, value
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

UNKNOWN_FRAMEWORK = Rule("unknown-framework", ERROR)
_PROCESSES = "the number of processes per node"
_FIELDS = ("containers", "initContainers")


def contributor(plan: Plan, cluster: Cluster, report: Report, *, admission_only: bool) -> Framework:
    """The framework of a plan; where it is not known, or somebody refuses the job, one that adds nothing to a barred plan.

    The webhook says all that it has against a job, so a job that is refused already is judged all the same.
    """
    chosen = framework(plan.framework)
    if chosen is None:
        span = plan.document.span(("spec", "runtimeRef", "name"))
        hint = "correct the runtime's label `trainer.kubeflow.org/framework`, or install the package that adds it"
        report.add(UNKNOWN_FRAMEWORK.at(span, f"unknown framework `{plan.framework}`", help=hint))
        return _refused(plan, Framework(plan.framework, _adds_nothing))
    if plan.barred:
        return _refused(plan, chosen)
    if not is_computable(plan, chosen, report):
        silent = _refused(plan, chosen) if report.compiles else _silent(chosen)
        return silent._replace(lower=chosen.lower_unsized or silent.lower)
    if not _let_in(plan, chosen, cluster, report) or plan.refused:
        return _refused(plan, chosen)
    if not admission_only:  # what the framework of a job that can be built thinks of it
        if chosen.verify is not None:
            chosen.verify(plan, report)
        if plan.block is not None or chosen.verify is None:
            check_reserved(plan, chosen, report)
        if not chosen.has_slots:
            check_unread(plan, chosen.name, report)
    return chosen


def _refused(plan: Plan, chosen: Framework) -> Framework:
    """What goes on with a job that is refused: what its framework would add is unknown."""
    plan.barred = True
    overrides: list[Patch] = []
    for patch in plan.overrides:
        kept = tuple([entry for entry in patch.env if entry["name"].value not in chosen.vocabulary.reserved])
        if len(kept) == len(patch.env):
            overrides.append(patch)
        else:  # what the framework keeps for itself is as unknown as the rest
            overrides += [patch.restricted(without=("env",)), Patch(patch.role, patch.container, env=kept)]
    plan.overrides = tuple(overrides)
    return _silent(chosen)


def _silent(chosen: Framework) -> Framework:
    return Framework(chosen.name, _adds_nothing, vocabulary=chosen.vocabulary)


def _adds_nothing(plan: Plan) -> Contribution:  # noqa: ARG001 (what any framework is given)
    """What a framework adds that cannot compute with numbers which are filled in later: a check goes on without."""
    return Contribution()


def _let_in(plan: Plan, chosen: Framework, cluster: Cluster, report: Report) -> bool:
    """Whether neither framework nor scheduler refuses the job; what they say is reported."""
    if chosen.refuse is None and plan.gang is None:
        return True
    own_report = Report()
    if chosen.refuse is not None:
        chosen.refuse(plan, own_report)
    schedulers.refuse(plan, cluster, own_report)
    findings = own_report.findings
    # Only a job that is let in can turn out impossible to build.
    barred = plan.refused or any(finding.refusal and finding.refusal.by == "webhook" for finding in findings)
    for finding in findings:
        if not (barred and finding.refusal and finding.refusal.by == "build"):
            report.add(finding)
    return not findings or not own_report.failed


def is_computable(plan: Plan, framework: Framework, report: Report) -> bool:
    """Whether every number is known that the framework computes with; what is not is reported where it is needed."""
    processes = plan.trainer_field("numProcPerNode")
    ok = True
    needs = framework.needs(plan)
    if PODS in needs:
        advice = f"write the number: {framework.name} computes addresses and sizes with it"
        trainers = [role for role in plan.roles if role.ancestor == TRAINER]
        own = [own_count(role) for role in trainers] if len(trainers) > 1 else ()  # `numNodes` is for one of them
        sizes = [leaf for role in plan.roles for leaf in (role.count, role.replicas)]
        for leaf in (plan.trainer_field("numNodes"), *sizes, *own):
            ok &= _known(leaf, "the number of pods", advice, plan, report)
        for leaf in (processes, plan.settings.get("numProcPerNode")):
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    if PROCESSES in needs and processes is None:
        advice = "write the amount, or set `numProcPerNode`: otherwise the number of processes follows from it"
        for leaf in plan.inferred.counted:
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    return ok


def _known(leaf: Tree, what: str, advice: str, plan: Plan, report: Report) -> bool:
    if type(leaf) is not Sourced or type(leaf.value) is not str or not is_placeholder(leaf.value):
        return True
    at = place(leaf.origin) or plan.document.span(("metadata", "name"))
    message = f"{what} is unknown: `{leaf.value}` is substituted later"
    report.add_or_skip(UNKNOWN_SIZE.at(at, message, help=advice))
    return False


class Draft:
    """A replicatedJob while it is written: the way down to its pods is copied once, all else is left as it is."""

    __slots__ = ("_env", "_names", "_own", "_pods", "_spec", "job", "pod")

    def __init__(self, job: Tree) -> None:
        self.job = dict(job)
        template = self.job["template"] = dict(job.get("template") or {})
        spec = self._spec = template["spec"] = dict(template.get("spec") or {})
        pods = self._pods = spec["template"] = dict(spec.get("template") or {})
        self.pod = pods["spec"] = dict(pods.get("spec") or {})
        self._own: dict[str, Tree] = {}  # containers that have been copied
        self._env: list[Tree] | None = None  # the variables that were last written, and where the first of each stands
        self._names: dict[object, int] = {}

    def lay(self, patch: Patch) -> None:
        """Lay one patch on."""
        for field, content in patch.contents():
            if field.owner == METADATA:
                metadata = self._pods["metadata"] = dict(self._pods.get("metadata") or {})
                self._change(metadata, field, content)
            elif field.owner == POD:
                if field.target == "initContainers" or "containers" in content or "initContainers" in content:
                    self._own.clear()  # other containers may stand there now
                self._change(self.pod, field, content)
            else:
                container = self._own.get(patch.container) or self._copied(patch.container)
                if container is not None:
                    self._change(container, field, content)

    def _copied(self, name: str) -> Tree | None:
        """The container of that name, copied so that it may be changed."""
        for field in _FIELDS:
            containers = self.pod.get(field) or ()
            for at, container in enumerate(containers):
                leaf = container.get("name") if type(container) is dict else None
                if type(leaf) is Sourced and leaf.value == name:
                    own = self._own[name] = dict(container)
                    self.pod[field] = [*containers[:at], own, *containers[at + 1 :]]
                    return own
        return None

    def _change(self, node: Tree, field: PatchField, content: Any) -> None:
        """Apply one field of a patch to the container, the pod or the metadata that it belongs to."""
        if field.target and not field.list_key:
            node[field.target] = {**(node.get(field.target) or {}), **content}
        elif not field.list_key:
            for key, inner in content.items():
                put(node, key, inner)
        elif field.target == "env":
            # The variables with new ones laid on: what this draft has written itself grows, all else is copied.
            old = node.get("env") or []
            if self._env is None or old is not self._env:
                self._env = list(old)
                self._names = _places(old, "name")
            insert(self._env, content, "name", self._names)
            node["env"] = self._env
        elif field.target == "ports":
            node["ports"] = upsert_ports(node.get("ports") or (), content)
        else:
            node[field.target] = upsert(node.get(field.target) or (), content, field.list_key)

    def fold_ports(self) -> list[tuple[Tree, Tree]]:
        """Write ports back as the controller does, each upserted into its own list: the containers before and after.

        Unnamed ports overwrite one another (Trainer v2.3.0); later releases compare number and protocol.
        """
        folded = []
        for field in _FIELDS:
            for at, container in enumerate(self.pod.get(field) or ()):
                if (ports := container.get("ports")) and len(ports) > 1:
                    own = {**container, "ports": upsert_ports(ports, ports)}
                    self.pod[field] = [*self.pod[field][:at], own, *self.pod[field][at + 1 :]]
                    folded.append((container, own))
        if folded:
            self._own.clear()
        return folded

    def count(self, count: Sourced[int], replicas: Sourced[int] | None) -> None:
        """Write the number of pods, and that of child Jobs where it is not the job's own."""
        self._spec["completions"] = self._spec["parallelism"] = count
        if replicas is not None:
            self.job["replicas"] = replicas


def put(node: Tree, key: str, content: Tree) -> None:
    """Set a field, or take it away for None and for an empty list, which the API's types do not write."""
    if content is None or (type(content) is list and not content):
        node.pop(key, None)
    else:
        node[key] = content


def _places(items: Iterable[Tree], key: str) -> dict[object, int]:
    places: dict[object, int] = {}
    for at, item in enumerate(items):
        places.setdefault(item[key].value, at)
    return places


def upsert(items: Iterable[Tree], new: Iterable[Tree], key: str) -> list[Tree]:
    """The list with each new item in the place of the first one with the same `key`, else at the end."""
    out = list(items)
    insert(out, new, key, _places(out, key))
    return out


def insert(items: list[Tree], new: Iterable[Tree], key: str, places: dict[object, int]) -> None:
    """Put each new item where the first one with the same `key` stands (`places`), else at the end."""
    end = len(items)
    for item in new:
        at = places.setdefault(item[key].value, end)
        if at == end:
            items.append(item)
            end += 1
        else:
            items[at] = item


def upsert_ports(items: Iterable[Tree], new: Iterable[Tree]) -> list[Tree]:
    """The ports with each new one in the place of the first one that the controller takes for the same."""
    out = list(items)
    for item in new:
        for at, old in enumerate(out):
            is_same_number = value(old, "containerPort") == value(item, "containerPort")
            if is_same_number or value(old, "name") == value(item, "name"):  # two absent names included
                out[at] = item
                break
        else:
            out.append(item)
    return out
