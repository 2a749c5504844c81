"""One job of another operator as TrainJobs: the way that compiles to what it compiled to, but for what is explained.

The new documents are the user's own lines, with their comments, in their new places.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from trainc.apiserver.admission import UNKNOWN_FIELD
from trainc.apiserver.pods.complaints import fields
from trainc.changes.migrate.chunks import as_bytes, joined, lost_comments, values
from trainc.changes.migrate.compared import UNEXPLAINED, Difference, differences, made, objects
from trainc.changes.migrate.placed_text import (
    SourceEntry,
    SourceNode,
    Writer,
    apart,
    at,
    children_at,
    composed,
    name_in,
    says,
    source_of,
)
from trainc.changes.migrate.policies import NODE, PLAIN, SSH_VOLUME, OlderFacts, Policy, policy_of, policy_of_other
from trainc.changes.migrate.target import (
    OF_SERVER,
    MigrationTarget,
    Shared,
    key_of_tree,
    pods,
    wanted,
    with_group,
    with_hosts,
)
from trainc.kinds.table import KINDS, LISTED
from trainc.lint import expand
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, WARNING, Finding
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.tree import plain
from trainc.yaml.comments import allows
from trainc.yaml.writer import dump as yaml_text

OTHER_ENDS = frozenset("\r\x85\u2028\u2029")  # line ends that the parser counts and a text editor may not
_COUNTS = ("-np", "-n", "--np", "-c")  # options of mpirun for the number of processes
_FIELDS = {"image": "image", "command": "command", "args": "args", "env": "env", "resourcesPerNode": "resources"}
# A replicatedJob that stands for a role of another name: the roles it may come from, the first that is there.
_FORMER = {"node": ("master", "worker"), "leader": ("worker",), "master-rest": ("master",)}
# What no TrainJob says: where it stands in an older job, and why it is left behind.
_LEFT = (
    (("schedulingPolicy",), "a TrainJob is a gang as a whole, its queue and priority are passed to the scheduler"),
    (("ttlSecondsAfterFinished",), "a job that its TTL deletes is applied again from Git"),
    (("cleanPodPolicy",), "a JobSet deletes running pods and keeps finished ones"),
    (("elasticPolicy", "metrics"), "nothing can scale a JobSet"),
    (("enableDynamicWorker",), "the number of workers cannot change while the job runs"),
    (("tensorboard",), "run it as its own Deployment"),
)
_OF_JOBSETS = ("cleanPodPolicy", "Running")
KEPT = "it stays a plain Job, as `trainc.dev/keep` requests; a TrainJob becomes a JobSet"


def written(text: str, plain: dict[str, Any], want: MigrationTarget) -> str:
    """The documents that take the place of one older job's `text`, which says `plain`."""
    source = source_of(text, plain)
    writer = Writer(want.containers, deeper=source.deeper)
    roles = _roles(source.root, plain)
    former = {new: old for old, new in want.roles.items()}
    entries: dict[str, SourceEntry | None] = {}
    for role, _ in pods(want.runtime["spec"]):
        name = former.get(role, role)
        entries[role] = next((roles[one] for one in (name, *_FORMER.get(name, ())) if one in roles), None)
    out = [*source.above, *writer.document(want.job, _job(source.root, entries, want))]
    if not want.served_by:
        out += ["---", *writer.document(want.runtime, _runtime(entries))]
    for extra in want.extras:
        out += ["---", *writer.document(extra, None)]
    while out and not out[-1]:
        out.pop()
    return "".join(f"{line}\n" for line in [*out, *source.below])


def _roles(root: SourceNode, plain: dict[str, Any]) -> dict[str, SourceEntry]:
    """The entries that hold a `template`, by their roles' names in lower case; none where there are no pod templates."""
    roles: dict[str, SourceEntry | None] = {}
    if (kind := KINDS.get((str(plain.get("apiVersion")), str(plain.get("kind"))))) is not None:
        listed = _named(children_at(root, "spec"), LISTED) if kind.field == LISTED else at(root, "spec", kind.field)
        children = listed.node.children if listed is not None else None
        if isinstance(children, dict):
            return {key.lower(): entry for key, entry in children.items()}
        return {str(_named(one.node.value, "tfReplicaType") or "MASTER").lower(): one for one in children or ()}
    if plain.get("apiVersion") == "batch.volcano.sh/v1alpha1":
        return _listed(root, "name", "spec", "tasks")
    match plain.get("kind"):
        case "Job":
            roles["node"] = _holding(root, "spec", "template")
        case "LeaderWorkerSet":
            names = ("leaderTemplate", "workerTemplate")
            leader, worker = (_holding(root, "spec", "leaderWorkerTemplate", name) for name in names)
            roles = {"leader": leader or worker, "worker": worker, "node": worker}
        case "RayJob":
            cluster = ("spec", "rayClusterSpec")
            groups = _listed(root, "groupName", *cluster, "workerGroupSpecs")
            driver = _holding(root, "spec", "submitterPodTemplate")
            roles = {"head": at(root, *cluster, "headGroupSpec"), "driver": driver, **groups}
    return {name: entry for name, entry in roles.items() if entry is not None}


def _named(entries: Any, name: str) -> Any:
    known = entries.items() if isinstance(entries, dict) else ()
    return next((one for key, one in known if key.replace("_", "").lower() == name.lower()), None)


def _holding(root: SourceNode, *path: str) -> SourceEntry | None:
    template = at(root, *path)
    return apart(composed(template=template)) if template is not None else None


def _listed(root: SourceNode, name: str, *path: str) -> dict[str, SourceEntry]:
    items = children_at(root, *path)
    nodes = [(one.node.value, one) for one in (items if isinstance(items, list) else ())]
    return {str(value[name]): one for value, one in nodes if isinstance(value, dict) and name in value}


def _job(root: SourceNode, pods: Mapping[str, SourceEntry | None], want: MigrationTarget) -> SourceNode:
    trainer = None
    if want.policy is not None:
        role = pods.get(want.policy.trainers[0])
        items = children_at(role.node if role is not None else None, "template", "spec", "containers")
        nodes = [entry.node for entry in items] if isinstance(items, list) else []
        main = next((one for one in nodes if name_in(one.value) in want.containers), None)
        trainer = apart(composed(**{new: at(main, old) for new, old in _FIELDS.items()}))
    spec, kept = at(root, "spec"), composed(trainer=trainer)
    top = {key: at(root, key) for key in ("apiVersion", "kind", "metadata")}
    return composed(**top, spec=spec.holding(kept) if spec is not None else None)


def _runtime(pods: Mapping[str, SourceEntry | None]) -> SourceNode:
    """Where the runtime's parts come from: the pods of its roles from those of the job."""
    jobs = SourceNode(0, 0)
    jobs.children = []
    for name, role in pods.items():
        template = at(role.node, "template") if role is not None else None
        node = composed(template=apart(composed(spec=apart(composed(template=template)))))
        node.value = {"name": name}
        jobs.children.append(role.holding(node) if role is not None else apart(node))
    inner = apart(composed(replicatedJobs=apart(jobs)))
    return composed(spec=apart(composed(template=apart(composed(spec=inner)))))


def dropped_fields(old: dict[str, Any], jobset: dict[str, Any]) -> list[str]:
    """What an older job says that its TrainJob does not, one sentence each."""
    sentences = []
    for path, why in _LEFT:
        for place in (path, ("runPolicy", *path)):
            node = old["spec"]
            for key in place:
                node = node.get(key) if isinstance(node, dict) else None
            # A zero says something, an empty map does not, nor what a JobSet does anyway.
            if node is None or node is False or node in ("", {}, []) or (path[-1], node) == _OF_JOBSETS:
                continue
            if path[-1] not in jobset["spec"]:
                sentences.append(f"`spec.{'.'.join(place)}` is dropped: {why}")
            break
    return sentences


class TextPlace(NamedTuple):
    """Where a text stands: the project and the file, which decide about clusters and namespaces.

    `shared` is the runtime that its jobs are to name, None where each has its own.
    """

    project: Project
    file: str
    shared: Shared | None = None


class Outcome(NamedTuple):
    """What becomes of one older job: the new text, or why there is none."""

    text: str
    want: MigrationTarget | None = None  # None at the end for one that stays as it is
    messages: Sequence[str] = ()
    differences: Sequence[Difference] = ()
    refused: str = ""  # "" where the text may be written
    left: tuple[str, ...] = ()  # those of the messages that name what is dropped, or kept as the operator had it
    kind: str = ""
    name: str = ""

    @property
    def policy(self) -> str:
        """The policy that wires it now, empty for none."""
        return self.want.policy.name if self.want is not None and self.want.policy is not None else ""

    @property
    def reason(self) -> str:
        """Why it is not migrated, or why no policy wires it now."""
        return self.want.reason if self.want is not None else self.refused


def _unplaced(project: Project) -> Project:
    """The project without what its clusters and its delivery add to every job; names and versions still count."""
    clusters = [Cluster(name=one.name, kubernetes=one.kubernetes, jobset=one.jobset) for one in project.clusters]
    return Project(project.root, runtimes=project.runtimes, secrets=project.secrets, clusters=tuple(clusters))


def _is_unplaced(project: Project) -> bool:
    """Whether the project's clusters and its delivery add nothing to any job."""
    fields = Cluster.__annotations__.keys() - {"name", "kubernetes", "jobset", "capacity"}
    nothing = Cluster()
    plain_clusters = all(getattr(one, key) == getattr(nothing, key) for one in project.clusters for key in fields)
    return plain_clusters and not project.delivery and not project.deadline


def _at_clusters_of(project: Project, job: dict[str, Any], file: str) -> Project:
    """The project with those clusters alone that run a job of a file, whatever the file is called."""
    metadata = job.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    annotation = annotations.get("trainc.dev/cluster") if isinstance(annotations, dict) else None
    if annotation is not None:
        named = project.by_annotation[str(annotation)]
        return project.serving(tuple(named.clusters)) if named.clusters and not named.unknown else project
    if len(project.clusters) == 1 and not project.clusters[0].paths:
        return project
    clusters = project.holders[file]
    return project.serving((replace(clusters[0], paths=()),)) if len(clusters) == 1 else project


def rewritten(piece: str, job: dict[str, Any], place: TextPlace, around: Mapping[int, str]) -> "Rewritten":
    """The text of a job as a TrainJob and its runtime; every difference in what the two compile to is explained."""
    project = _at_clusters_of(place.project, job, place.file)
    bare = _unplaced(project)
    bundle = next((one for one in made(piece, bare, checked=False)[0] if one.jobset is not None), None)
    if bundle is None:
        return Rewritten(piece, (), {})
    facts = OlderFacts(job, plain(bundle.jobset), launches(bundle))
    before = objects([bundle] if _is_unplaced(project) else made(piece, project, checked=False)[0])
    choice = policy_of(facts)
    make = partial(wanted, facts, objects([bundle]), namespaces_of(project))
    found = made(piece, project)[1]
    attempt = partial(_tried, piece, facts, before, found, place._replace(project=project))
    done = attempt(make(choice))
    if done.refused and isinstance(choice, Policy):
        done = attempt(make(f"`mlPolicy` would not have the same effect: {done.refused}"))
    if done.refused or done.want is None:
        return Rewritten(piece, (done,), {})
    if place.shared is not None:
        served = place.shared.serve(done.want)
        with_shared = attempt(served) if isinstance(served, MigrationTarget) else None
        if with_shared is not None and not with_shared.refused:
            done = with_shared
        else:
            why = with_shared.refused if with_shared is not None else served
            done = done._replace(messages=[*done.messages, f"it keeps its own runtime: {why}"])
    maps = {at: text for at, text in around.items() if "ConfigMap" in text}
    if maps and (want := done.want) is not None:  # they get the names that its pods have as those of a TrainJob
        built = objects(made(joined([piece, *maps.values()]), place.project)[0])
        name = want.job["metadata"]["name"]
        now = [with_hosts(one, name, want.roles) for one in built if one["kind"] == "ConfigMap"]
        maps = {at: followed(text, now) for at, text in maps.items()}
    return Rewritten(done.text, (done,), maps)


def launches(bundle: Bundle) -> dict[str, Any]:
    """The launcher that the first container of each role starts, None where it starts none that is known."""
    job = expand(bundle, None, Report())
    return {role.name: next((c.launch for c in role.containers if c.main), None) for role in job.roles} if job else {}


def _tried(
    piece: str, facts: OlderFacts, before: list[Any], found: Report, place: TextPlace, want: MigrationTarget
) -> Outcome:
    """The job as it is wanted, refused where it would mean something else."""
    text, wrong = _text(piece, facts.old, [want])
    after, result_report = made(joined([text, _runtime_beside(place, [want])]), place.project)
    changes = differences(before, objects(after), want)
    refused = _refusal(wrong, changes, found, result_report, text, piece)
    dropped = dropped_fields(facts.old, facts.jobset)
    messages = [*messages_of(facts.old["kind"], want), *dropped]
    names = [f"`metadata.{key}`" for key in facts.old["metadata"] if key in OF_SERVER]
    if names := [*names, "`status`"] if "status" in facts.old else names:
        messages.append(f"{', '.join(names)}: dropped, because only the API server writes it")
    # The fields of the old text that no server knows and the new one lacks, and the warnings that only the new text has.
    known = {finding.rule.name for finding in found.findings}
    unknown = [one for one in found.findings if one.rule is UNKNOWN_FIELD]
    messages += dict.fromkeys(f"dropped: {one.message}{f'; {one.help}' if one.help else ''}" for one in unknown)
    new = [one for one in result_report.findings if one.level == WARNING and one.rule.name not in known]
    messages += dict.fromkeys(f"`validate` reports: {one.message}" for one in new)
    return Outcome(text, want, messages, changes, refused, left=(*kept_of(want), *dropped))


def _text(piece: str, job: dict[str, Any], wants: list[MigrationTarget]) -> tuple[str, str]:
    """The text of the jobs, and why it would not say what it should, "" where it does."""
    text = ""
    # The parser counts lines otherwise where there are other line ends.
    if len(wants) == 1 and "metadata" in job and not OTHER_ENDS.intersection(piece):
        text = with_comments(written(piece, job, wants[0]), piece)
    documents = [tree for want in wants for tree in want.documents]
    if not text or not says(values(text), documents):
        # A layout of their own: nothing is copied from the text but the mark that starts it.
        writer = Writer({}, deeper=False)
        own = "---\n".join("".join(f"{line}\n" for line in writer.document(tree, None)) for tree in documents)
        text = with_comments("---\n" + own if piece.startswith("---") else own, piece)
        if not says(values(text), documents):
            return text, "the edit would change a value: a comment would become part of it"
    return text, ""


def _runtime_beside(place: TextPlace, wants: list[MigrationTarget]) -> str:
    """The text of a new runtime that the jobs share, "" where there is none."""
    shared = place.shared
    is_named = shared is not None and shared.is_new and any(want.served_by for want in wants)
    return yaml_text(shared.runtime) if shared is not None and is_named else ""


def _refusal(wrong: str, changes: list[Difference], before: Report, after: Report, text: str, former: str) -> str:
    """Why a new text may not be taken, "" where it may: it misreads, compiles to something else, or has a new error."""
    known = {finding.rule.name for finding in before.findings}
    found = errors(after)
    unexplained = next((one.path for one in changes if one.reason == UNEXPLAINED), None)
    if not wrong and unexplained is not None:
        wrong = found[0].message if found else f"what it compiles to would change: {unexplained}"
    wrong = wrong or next((finding.message for finding in found if finding.rule.name not in known), "")
    # The comments that speak to trainc and stand at the top of the text for want of a place.
    if wrong and (moved := _allows_on_top(text) - _allows_on_top(former)):
        comments = ", ".join(f"`{comment}`" for comment in moved)
        return f"{wrong}; {comments} would lose its place: write its value in lines, without braces"
    return wrong


def namespaces_of(project: Project) -> frozenset[str]:
    """The namespaces that clusters give a job without one; "" where one gives none and another does."""
    given = {str(one.namespace.value) if one.namespace is not None else "" for one in project.clusters}
    return frozenset() if given == {""} else frozenset(given)


def messages_of(kind: str, want: MigrationTarget) -> list[str]:
    """What a migration means for a job, one sentence each."""
    name = want.job["metadata"]["name"]
    where = f"`{want.served_by}`, which other jobs share" if want.served_by else f"`{name}` in the same file"
    messages = [f"the {kind} is now a TrainJob; its pods are in the {want.runtime['kind']} {where}"]
    policy = want.policy
    if policy is None:
        messages.append(f"the runtime holds every address, so `numNodes` cannot scale it: {want.reason}")
    elif policy.name == PLAIN:
        messages.append("`numNodes` counts its pods; its own variables and arguments configure them")
    else:
        what = f"the framework `{policy.name}`" if policy.labels else f"`mlPolicy.{policy.name}`"
        messages.append(f"{what} configures {'its processes, so `numNodes` scales it' if policy.sized else 'it'}")
    is_mpi = policy is not None and policy.name == "mpi"
    messages += [] if is_mpi else kept_of(want)
    for former, now in want.containers.items():
        if former != now:
            messages.append(f"the container `{former}` is now `{now}`: `kubectl logs -c {now}`")
    pods_of = {role: template.get("spec") or {} for role, template in pods(want.runtime["spec"])}
    if is_mpi:
        # What a job says to the launcher of MPI alone, and so stays as it is when other fields of the job change.
        messages += kept_of(want)
        nodes = [one for one in pods_of.get(NODE, {}).get("containers", []) if one["name"] == NODE]
        if "image" in want.job["spec"].get("trainer", {}) and any("image" in one for one in nodes):
            messages.append(
                "`trainer.image` is the image of the launcher; that of the nodes is in role `node` of the runtime"
            )
        messages.append(f"the SSH keys are in the Secret `{name}-mpi-ssh-auth`, or in the one that trainc.yaml names")
    elif kind == "MPIJob":
        volumes = [one for pod in pods_of.values() for one in pod.get("volumes", []) if one["name"] == SSH_VOLUME]
        for secret in [str(one["secret"]["secretName"]) for one in volumes if "secret" in one][:1]:
            messages.append(
                f"the SSH keys are in the Secret `{secret}`, which must exist; `validate` no longer checks that"
            )
    if want.extras:
        kinds = ", ".join(f"{tree['kind']} `{tree['metadata']['name']}`" for tree in want.extras)
        messages.append(f"the file includes what the operator created with the job: {kinds}")
    return messages


def kept_of(want: MigrationTarget) -> list[str]:
    """Those of the messages that name what stays as the operator had it, and does not follow `numNodes`."""
    if want.policy is None:
        return []
    if want.policy.name != "mpi":
        kept = "variables of the operator stay in `trainer.env`; with another `numNodes` change them too"
        return [f"{kept}: {want.policy.reason}"] if want.policy.reason else []
    trainer = want.job["spec"].get("trainer", {})
    words = " ".join(map(str, (*trainer.get("command", []), *trainer.get("args", [])))).split()
    count = next((f"{word} {number}" for word, number in pairwise(words) if word in _COUNTS and number.isdigit()), "")
    why = "without it, mpirun starts a process for each slot of the hostfile"
    return [f"`{count}` stays when `numNodes` changes: {why}"] if count else []


def with_comments(text: str, former: str) -> str:
    """The text with the comments that it lost since it was `former` at its top."""
    if not (lost := lost_comments(text, former)):
        return text
    start, mark, rest = text.partition("\n") if text.startswith("---") else ("", "", text)
    return start + mark + "".join(f"{comment}\n" for comment in lost) + rest


def _allows_on_top(text: str) -> Counter[str]:
    """The comments that speak to trainc in front of the first key of a document."""
    above = takewhile(lambda line: not line or line.startswith(("#", "---")), text.splitlines())
    return Counter(line for line in above if allows(as_bytes(line), ""))


def errors(report: Report) -> tuple[Finding, ...]:
    """The errors of a report."""
    return tuple(finding for finding in report.findings if finding.level == ERROR)


class Rewritten(NamedTuple):
    """What becomes of one document: the text, one result for each of its jobs, and the objects around as they are now."""

    text: str
    jobs: tuple[Outcome, ...]
    around: Mapping[int, str]
    findings: tuple[Finding, ...] = ()  # what keeps the document from being compiled


class _Compiled(NamedTuple):
    """The jobs of a text, everything that its objects are, and what was found."""

    jobs: list[Bundle]
    objects: list[Any]
    report: Report


class _Source(NamedTuple):
    """A document of a job, and what its file compiles to; `bare` are its jobs without what clusters add."""

    text: str
    tree: dict[str, Any]
    around: Mapping[int, str]
    place: TextPlace
    before: _Compiled
    bare: list[Bundle]
    facts: list[OlderFacts]  # for each job; a document of several jobs is one for each


def rewritten_other(piece: str, tree: dict[str, Any], place: TextPlace, around: Mapping[int, str]) -> Rewritten:
    """The text of a document as TrainJobs and their runtimes; `around` are objects of its file, by their places.

    The first way that compiles to the same is taken: with the shared runtime, with a policy, with none.
    """
    project = _at_clusters_of(place.project, tree, place.file)
    place = place._replace(project=project)
    context = joined([piece, *around.values()])
    before = _compiled(context, place)
    bare = before if _is_unplaced(project) else _compiled(context, place._replace(project=_unplaced(project)))
    _, refusals = made(context, _unplaced(project), checked=False)
    if refusals.failed:
        return Rewritten(piece, (), around, errors(refusals))
    if not bare.jobs or len(bare.jobs) != len(before.jobs):
        return Rewritten(piece, (), around, errors(before.report))
    if any(bundle.keeps_job for bundle in bare.jobs):
        return Rewritten(piece, tuple(Outcome(piece, refused=KEPT) for _ in bare.jobs), around)
    several = len(bare.jobs) > 1 or "metadata" not in tree
    facts = [
        OlderFacts(plain(one.document.tree) if several else tree, plain(one.jobset), launches(one)) for one in bare.jobs
    ]
    source = _Source(piece, tree, around, place, before, bare.jobs, facts)
    refused = ""
    for wants in _ways(source):
        for want in wants:
            if refused and want.policy is None and want.was_wired:
                want.reason = f"`mlPolicy` would not have the same effect: {refused}"
        tried = _tried_other(source, wants)
        refused = next((job.refused for job in tried.jobs if job.refused), "")
        if not refused:
            return tried
    return Rewritten(piece, tuple(Outcome(piece, refused=refused) for _ in bare.jobs), around)


def _compiled(text: str, place: TextPlace) -> _Compiled:
    bundles, report = made(text, place.project)
    jobs = [bundle for bundle in bundles if bundle.jobset is not None and not bundle.passing]
    return _Compiled(jobs, objects(bundles), report)


def _ways(source: _Source) -> Iterable[list[MigrationTarget]]:
    """The manifests that may take the place of the document's jobs, the best first."""
    shared = source.place.shared
    choices = [policy_of_other(facts) for facts in source.facts]
    wired = _wanted(source, choices)
    if shared is not None:
        served = [shared.serve(want) for want in wired]
        if not any(isinstance(one, str) for one in served):
            yield [one for one in served if not isinstance(one, str)]
    if not all(isinstance(choice, str) for choice in choices):
        yield wired
    if any(isinstance(choice, Policy) and choice.own for choice in choices):
        yield _wanted(source, [policy_of_other(facts, by_variables=False) for facts in source.facts])
    bare = _wanted(source, [choice if isinstance(choice, str) else "" for choice in choices])
    for want, choice in zip(bare, choices, strict=True):
        want.was_wired = not isinstance(choice, str)
    yield bare


def _wanted(source: _Source, choices: list[Any]) -> list[MigrationTarget]:
    beside = {key_of_tree(one) for one in _documents(source.around)}
    out = []
    is_scheduled = any(cluster.scheduler is not None for cluster in source.place.project.clusters)
    for bundle, facts, choice in zip(source.bare, source.facts, choices, strict=True):
        own = [tree for tree in objects([bundle]) if key_of_tree(tree) not in beside]
        volcanos = [tree for tree in own if tree["apiVersion"].startswith("scheduling.volcano.sh/")]
        groups = [tree for tree in volcanos if tree["kind"] == "PodGroup"]
        is_grouped = bool(groups) and (is_scheduled or not isinstance(choice, str))
        kept = [_readable(tree) if tree in groups else tree for tree in own if not (is_grouped and tree in groups)]
        want = wanted(facts, kept, namespaces_of(source.place.project), choice)
        out.append(with_group(want, groups[0]) if is_grouped else want)
    return out


def _readable(group: dict[str, Any]) -> dict[str, Any]:
    """A PodGroup as one writes it: without minima of tasks that are all zero, or that add up to more than the whole."""
    spec = group["spec"]
    is_whole = 0 < sum(spec.get("minTaskMember", {}).values()) <= spec.get("minMember", 0)
    return {**group, "spec": {key: one for key, one in spec.items() if is_whole or key != "minTaskMember"}}


def _documents(around: Mapping[int, str]) -> list[dict[str, Any]]:
    trees = values(joined(around.values()))
    return [one for one in trees if isinstance(one, dict) and isinstance(one.get("metadata"), dict) and "kind" in one]


def _tried_other(source: _Source, wants: list[MigrationTarget]) -> Rewritten:
    """The jobs as they are wanted, each refused where anything of the file would mean something else."""
    text, wrong = _text(source.text, source.tree, wants)
    around = {place: followed(one, source.before.objects) for place, one in source.around.items()}
    after = _compiled(joined([text, *around.values(), _runtime_beside(source.place, wants)]), source.place)
    if not wrong and len(after.jobs) != len(source.before.jobs):
        wrong = next((finding.message for finding in errors(after.report)), "it would not compile")
    still = {finding.rule.name for finding in after.report.findings}
    gone = [one for one in source.before.report.findings if one.rule.name not in still and one.level != ERROR]
    silent = [f"`validate` reported: {message}" for message in dict.fromkeys(one.message for one in gone)]
    jobs = []
    for index, want in enumerate(wants):
        changes = []
        if not wrong:
            changes = differences(objects([source.before.jobs[index]]), objects([after.jobs[index]]), want)
        refused = _refusal(wrong, changes, source.before.report, after.report, text, source.text)
        messages = [*messages_of(source.tree.get("kind", "Armada job"), want), *silent]
        jobs.append(Outcome(text, want, messages, changes, refused, left=tuple(kept_of(want))))
        silent = []
    return Rewritten(text, tuple(jobs), around)


def followed(piece: str, compiled: list[Any]) -> str:
    """An object of the file as it goes out with the job: what selects or names pods follows them."""
    for tree in _documents({0: piece}):
        twin = next((one for one in compiled if key_of_tree(one) == key_of_tree(tree)), None)
        if twin is None or says(tree, twin):
            continue
        namespace = fields(tree.get("metadata")).get("namespace")
        metadata = fields(twin.get("metadata"))
        wanted_ = {**twin, "metadata": {k: v for k, v in metadata.items() if k != "namespace" or namespace}}
        source = source_of(piece, tree)
        lines = [*source.above, *Writer({}, deeper=source.deeper).document(wanted_, source.root), *source.below]
        return with_comments("".join(f"{line}\n" for line in lines), piece)
    return piece
