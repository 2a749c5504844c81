"""A job of another operator as TrainJobs, with the objects of its file that belong to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trainc.apiserver.pods.complaints import fields
from trainc.changes.migrate.chunks import joined, values
from trainc.changes.migrate.compared import at_clusters_of, differences, is_unplaced, made, objects, unplaced
from trainc.changes.migrate.older import (
    OTHER_ENDS,
    Older,
    TextPlace,
    errors,
    kept_of,
    launches,
    messages_of,
    misread,
    namespaces_of,
    new_error,
    own_layout,
    unlike,
    with_comments,
    with_moved_allows,
    written,
)
from trainc.changes.migrate.placed_text import Writer, says
from trainc.changes.migrate.policies import NODE, PLAIN, OlderFacts, Policy, clash, tensorflow_policy
from trainc.changes.migrate.source_reader import source_of
from trainc.changes.migrate.target import MigrationTarget, wanted
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, Finding
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.object_keys import VOLCANO_GROUP, VOLCANO_QUEUE
from trainc.yaml.writer import dump as yaml_text

KEPT = "it stays a plain Job, as `trainc.dev/keep` requests; a TrainJob becomes a JobSet"


class Rewritten(NamedTuple):
    """What becomes of one document: the text, one result for each of its jobs, and the objects around as they are now."""

    text: str
    jobs: tuple[Older, ...]
    around: Mapping[int, str]
    findings: tuple[Finding, ...] = ()  # what keeps the document from being compiled


class _Compiled(NamedTuple):
    """The jobs of a text, everything that its objects are, and what was found."""

    jobs: list[Bundle]
    objects: list[Any]
    report: Report


class _Source(NamedTuple):
    """A document of a job, and what its file compiles to; `bare` is that without what clusters add."""

    text: str
    tree: dict[str, Any]
    around: Mapping[int, str]
    place: TextPlace
    before: _Compiled
    bare: _Compiled


def rewritten_other(piece: str, tree: dict[str, Any], place: TextPlace, around: Mapping[int, str]) -> Rewritten:
    """The text of a document as TrainJobs and their runtimes; `around` are objects of its file, by their places.

    The first way that compiles to the same is taken: with the shared runtime, with a policy, with none.
    """
    project = at_clusters_of(place.project, tree, place.file)
    place = place._replace(project=project)
    context = joined([piece, *around.values()])
    before = _compiled(context, place)
    bare = before if is_unplaced(project) else _compiled(context, place._replace(project=unplaced(project)))
    _, refusals = made(context, unplaced(project), checked=False)
    if refusals.failed:
        return Rewritten(piece, (), around, errors(refusals))
    source = _Source(piece, tree, around, place, before, bare)
    if not bare.jobs or len(bare.jobs) != len(before.jobs):
        return Rewritten(piece, (), around, errors(before.report))
    if any(bundle.keeps_job for bundle in bare.jobs):
        return Rewritten(piece, tuple(_refused(piece, KEPT) for _ in bare.jobs), around)
    refused = ""
    for wants in _ways(source):
        for want in wants:
            if refused and want.policy is None and want.was_wired:
                want.reason = f"`mlPolicy` would not have the same effect: {refused}"
        tried = _tried(source, wants)
        refused = next((job.refused for job in tried.jobs if job.refused), "")
        if not refused:
            return tried
    return Rewritten(piece, tuple(_refused(piece, refused) for _ in bare.jobs), around)


def _compiled(text: str, place: TextPlace) -> _Compiled:
    bundles, report = made(text, place.project)
    jobs = [bundle for bundle in bundles if bundle.jobset is not None and not bundle.passing]
    return _Compiled(jobs, objects(bundles), report)


def _refused(piece: str, why: str) -> Older:
    return Older(piece, None, [], [], why)


def _ways(source: _Source) -> Iterable[list[MigrationTarget]]:
    """The manifests that may take the place of the document's jobs, the best first."""
    shared = source.place.shared
    choices = [policy_of_other(facts) for facts in _facts(source)]
    wired = _wanted(source, choices)
    if shared is not None:
        served = [shared.serve(want) for want in wired]
        if not any(isinstance(one, str) for one in served):
            yield [one for one in served if not isinstance(one, str)]
    if not all(isinstance(choice, str) for choice in choices):
        yield wired
    if any(isinstance(choice, Policy) and choice.own for choice in choices):
        yield _wanted(source, [policy_of_other(facts, by_variables=False) for facts in _facts(source)])
    bare = _wanted(source, [choice if isinstance(choice, str) else "" for choice in choices])
    for want, choice in zip(bare, choices, strict=True):
        want.was_wired = not isinstance(choice, str)
    yield bare


def _facts(source: _Source) -> list[OlderFacts]:
    """What policies look at, for each job; a document of several jobs is one for each."""
    several = len(source.bare.jobs) > 1 or "metadata" not in source.tree
    trees = [plain(bundle.document.tree) if several else source.tree for bundle in source.bare.jobs]
    pairs = zip(trees, source.bare.jobs, strict=True)
    return [OlderFacts(tree, plain(bundle.jobset), launches(bundle)) for tree, bundle in pairs]


def _wanted(source: _Source, choices: list[Any]) -> list[MigrationTarget]:
    beside = {_key(one) for one in _documents(source.around)}
    out = []
    for bundle, facts, choice in zip(source.bare.jobs, _facts(source), choices, strict=True):
        own = [tree for tree in objects([bundle]) if _key(tree) not in beside]
        groups = [
            tree
            for tree in own
            if tree["kind"] == "PodGroup" and tree["apiVersion"].startswith("scheduling.volcano.sh/")
        ]
        is_grouped = bool(groups) and (
            not isinstance(choice, str)
            or any(cluster.scheduler is not None for cluster in source.place.project.clusters)
        )
        kept = [readable_group(tree) if tree in groups else tree for tree in own if not (is_grouped and tree in groups)]
        want = wanted(facts, kept, namespaces_of(source.place.project), choice)
        out.append(with_group(want, groups[0]) if is_grouped else want)
    return out


def _documents(around: Mapping[int, str]) -> list[dict[str, Any]]:
    trees = values(joined(around.values()))
    return [one for one in trees if isinstance(one, dict) and isinstance(one.get("metadata"), dict) and "kind" in one]


def _tried(source: _Source, wants: list[MigrationTarget]) -> Rewritten:
    """The jobs as they are wanted, each refused where anything of the file would mean something else."""
    text, wrong = _text(source, wants)
    around = {place: followed(one, source.before.objects) for place, one in source.around.items()}
    shared = source.place.shared
    served = shared is not None and shared.is_new and any(want.served_by for want in wants)
    beside = yaml_text(shared.runtime) if shared is not None and served else ""
    after = _compiled(joined([text, *around.values(), beside]), source.place)
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
        refused = wrong or unlike(changes, after.report) or new_error(source.before.report, after.report)
        refused = with_moved_allows(refused, text, source.text)
        messages = [*messages_of(source.tree.get("kind", "Armada job"), want), *silent]
        jobs.append(Older(text, want, messages, changes, refused, left=tuple(kept_of(want))))
        silent = []
    return Rewritten(text, tuple(jobs), around)


def _text(source: _Source, wants: list[MigrationTarget]) -> tuple[str, str]:
    """The text of the jobs, and why it would not say what it should, "" where it does."""
    if len(wants) == 1 and "metadata" in source.tree and not OTHER_ENDS.intersection(source.text):
        text = with_comments(written(source.text, source.tree, wants[0]), source.text)
        if not misread(text, wants[0]):
            return text, ""
    text = with_comments(joined([own_layout(source.text, want) for want in wants]), source.text)
    is_read = says(values(text), [tree for want in wants for tree in want.documents])
    return text, "" if is_read else misread(text, wants[0])


def followed(piece: str, compiled: list[Any]) -> str:
    """An object of the file as it goes out with the job: what selects or names pods follows them."""
    for tree in _documents({0: piece}):
        twin = next((one for one in compiled if _key(one) == _key(tree)), None)
        if twin is None or says(tree, twin):
            continue
        namespace = fields(tree.get("metadata")).get("namespace")
        metadata = fields(twin.get("metadata"))
        wanted_ = {**twin, "metadata": {k: v for k, v in metadata.items() if k != "namespace" or namespace}}
        source = source_of(piece, tree)
        lines = [*source.above, *Writer({}, deeper=source.deeper).document(wanted_, source.root), *source.below]
        return with_comments("".join(f"{line}\n" for line in lines), piece)
    return piece


def _key(tree: dict[str, Any]) -> tuple[str, str]:
    return str(tree.get("kind")), str(fields(tree.get("metadata")).get("name"))  # a server makes up the name of some


def readable_group(group: dict[str, Any]) -> dict[str, Any]:
    """A PodGroup as one writes it: without minima of tasks that are all zero, or that add up to more than the whole."""
    spec = group["spec"]
    if 0 < sum(spec.get("minTaskMember", {}).values()) <= spec.get("minMember", 0):
        return group
    return {**group, "spec": {key: value for key, value in spec.items() if key != "minTaskMember"}}


def with_group(want: MigrationTarget, group: dict[str, Any]) -> MigrationTarget:
    """The job whose runtime asks Volcano for a gang of all its pods, in the queue of this PodGroup."""
    spec = group["spec"]
    topology = spec.get("networkTopology")
    runtime = want.runtime["spec"]
    runtime["podGroupPolicy"] = {"volcano": {"networkTopology": topology} if topology else {}}
    if "queue" in spec:
        annotations = runtime["template"].setdefault("metadata", {}).setdefault("annotations", {})
        annotations.setdefault(VOLCANO_QUEUE, spec["queue"])
    for role in want.roles_of_runtime:  # the Trainer writes again what ties a pod to its group
        template = role["template"]["spec"]["template"]
        metadata = template.get("metadata", {})
        annotations = metadata.get("annotations", {})
        annotations.pop(VOLCANO_GROUP, None)
        if "annotations" in metadata and not annotations:
            del metadata["annotations"]
        if "metadata" in template and not metadata:
            del template["metadata"]
    want.is_gang = True
    return want


_BY_VARIABLES = ("torch", "jax")  # policies whose variables a person may have written out
_PROCESSES = "PET_NPROC_PER_NODE"
_VOLCANO_COUNTS = "variables and files of Volcano name this number of pods"
_NONE = {
    "MiniCluster": "its scripts start Flux as its operator did, which `mlPolicy.flux` does differently",
    "RayJob": "a Ray cluster has a head, groups of workers and a driver, and no mlPolicy sets one up",
}


def policy_of_other(facts: OlderFacts, *, by_variables: bool = True) -> Policy | str:
    """The policy that wires the pods as their operator did, or why there is none.

    Not `by_variables`: one that leaves all variables that a person wrote as they are.
    """
    kind = facts.old["kind"]
    if kind in _NONE:
        return _NONE[kind]
    if not all(facts.main(role) for role in facts.roles):
        return "the pods of a role have no containers"
    plugins = _plugins(facts)
    if "tensorflow" in plugins:
        return tensorflow_policy(facts)
    if "mpi" in plugins:
        return "the master reads `MPI_HOST` or `/etc/volcano`, which `mlPolicy.mpi` does not create"
    if len(facts.roles) != 1:
        return "its roles have different pods, and `numNodes` counts identical pods"
    (role,) = facts.roles
    if role.get("replicas", 1) != 1:
        return "each of its parts is its own Job, and `numNodes` counts the pods of one"
    if (clashing := clash(facts, [role["name"]])) is not None:
        return clashing
    return (_by_variables(facts, role) if by_variables else None) or _plain(facts, role)


def _plugins(facts: OlderFacts) -> Any:
    spec = facts.old["spec"]
    return (spec.get("plugins") or {}) if facts.old["apiVersion"].startswith("batch.volcano.sh/") else {}


def _by_variables(facts: OlderFacts, role: dict[str, Any]) -> Policy | None:
    """The policy whose variables a container sets itself, None where it sets none, or a part of them."""
    given = {entry["name"]: entry.get("value", "") for entry in facts.main(role).get("env", [])}
    for name in _BY_VARIABLES:
        reserved = VOCABULARIES[name].reserved
        if set(reserved) - {_PROCESSES} <= given.keys():
            match = re.fullmatch(r"[1-9][0-9]{0,3}", given.get(_PROCESSES, ""))
            processes = int(match[0]) if match else None
            return _one_role(facts, role, name, NODE, processes, frozenset(reserved))
    return None


def _plain(facts: OlderFacts, role: dict[str, Any]) -> Policy:
    reason = _VOLCANO_COUNTS if "svc" in _plugins(facts) else ""
    if facts.old["kind"] == "LeaderWorkerSet":
        reason = "`LWS_GROUP_SIZE` and the TPU's variables name this number of pods"
    return _one_role(facts, role, PLAIN, role["name"], None, frozenset(), reason)


def _one_role(
    facts: OlderFacts,
    role: dict[str, Any],
    policy: str,
    name: str,
    processes: int | None,
    without: frozenset[str],
    reason: str = "",
) -> Policy:
    return Policy(
        policy,
        {"numNodes": 1} if policy == PLAIN else {policy: {}},
        {role["name"]: name},
        {facts.main(role)["name"]: NODE},
        (name,),
        name,
        facts.count(role),
        processes,
        without,
        reason,
        own=without,
    )
