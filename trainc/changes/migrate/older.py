"""One older job as a TrainJob: the way that compiles to what the job compiled to, but for what is explained.

The new documents are the user's own lines, with their comments, in their new places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from trainc.apiserver.admission import UNKNOWN_FIELD
from trainc.changes.migrate.chunks import as_bytes, lost_comments, values
from trainc.changes.migrate.compared import (
    UNEXPLAINED,
    Difference,
    at_clusters_of,
    differences,
    is_unplaced,
    made,
    objects,
    unplaced,
)
from trainc.changes.migrate.placed_text import Writer, says
from trainc.changes.migrate.policies import NODE, PLAIN, SSH_VOLUME, OlderFacts, Policy, policy_of
from trainc.changes.migrate.source_reader import SourceEntry, SourceNode, apart, at, composed, roles_of_other, source_of
from trainc.changes.migrate.target import OF_SERVER, MigrationTarget, Shared, wanted
from trainc.kinds.table import KINDS, LISTED
from trainc.lint import expand
from trainc.model.bundle import Bundle
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


def written(text: str, plain: dict[str, Any], want: MigrationTarget) -> str:
    """The documents that take the place of one older job's `text`, which says `plain`."""
    source = source_of(text, plain)
    writer = Writer(want.containers, deeper=source.deeper)
    is_older = (plain.get("apiVersion"), plain.get("kind")) in KINDS
    roles = _roles(source.root, plain) if is_older else roles_of_other(source.root, plain)
    former = {new: old for old, new in want.roles.items()}
    pods: dict[str, SourceEntry | None] = {}
    for role in want.roles_of_runtime:
        name = former.get(role["name"], role["name"])
        pods[role["name"]] = next((roles[one] for one in (name, *_FORMER.get(name, ())) if one in roles), None)
    out = [*source.above, *writer.document(want.job, _job(source.root, pods, want))]
    if want.own_runtime:
        out += ["---", *writer.document(want.runtime, _runtime(pods))]
    for extra in want.extras:
        out += ["---", *writer.document(extra, None)]
    while out and not out[-1]:
        out.pop()
    return "".join(f"{line}\n" for line in [*out, *source.below])


def own_layout(text: str, want: MigrationTarget) -> str:
    """The documents in a layout of their own: nothing is copied from the text but the mark that starts it."""
    start = "---\n" if text.startswith("---") else ""
    writer = Writer({}, deeper=False)
    documents = ["".join(f"{line}\n" for line in writer.document(tree, None)) for tree in want.documents]
    return start + "---\n".join(documents)


def _roles(root: SourceNode, plain: dict[str, Any]) -> dict[str, SourceEntry]:
    """Where the roles of a job stand, by their names in lower case."""
    kind = KINDS[plain["apiVersion"], plain["kind"]]
    if kind.field != LISTED:
        field = at(root, "spec", kind.field)
        children = field.node.children if field is not None else None
        return {key.lower(): entry for key, entry in children.items()} if isinstance(children, dict) else {}
    spec = at(root, "spec")
    entries = spec.node.children if spec is not None else None
    if not isinstance(entries, dict):
        return {}
    listed = next((one.node.children for key, one in entries.items() if _is_key(key, LISTED)), None)
    return {_listed_role(entry): entry for entry in (listed if isinstance(listed, list) else [])}


def _is_key(key: str, name: str) -> bool:
    return key.replace("_", "").lower() == name.lower()


def _listed_role(entry: SourceEntry) -> str:
    value = entry.node.value if isinstance(entry.node.value, dict) else {}
    return str(next((one for key, one in value.items() if _is_key(key, "tfReplicaType")), "MASTER")).lower()


def _job(root: SourceNode, pods: Mapping[str, SourceEntry | None], want: MigrationTarget) -> SourceNode:
    trainer = None
    if want.policy is not None:
        main = _main(pods.get(want.policy.trainers[0]), want)
        trainer = apart(composed(**{new: at(main, old) for new, old in _FIELDS.items()}))
    spec, kept = at(root, "spec"), composed(trainer=trainer)
    return composed(
        apiVersion=at(root, "apiVersion"),
        kind=at(root, "kind"),
        metadata=at(root, "metadata"),
        spec=spec.holding(kept) if spec is not None else None,
    )


def _main(role: SourceEntry | None, want: MigrationTarget) -> SourceNode | None:
    listed = at(role.node, "template", "spec", "containers") if role is not None else None
    items = listed.node.children if listed is not None else None
    nodes = [entry.node for entry in items] if isinstance(items, list) else []
    return next(
        (one for one in nodes if isinstance(one.value, dict) and one.value.get("name") in want.containers), None
    )


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


def dropped_fields(old: dict[str, Any], jobset: dict[str, Any]) -> list[str]:
    """What an older job says that its TrainJob does not, one sentence each."""
    spec = old["spec"]
    sentences = []
    for path, why in _LEFT:
        places = [(*above, *path) for above in ((), ("runPolicy",))]
        stated_place = next((place for place in places if _at(spec, place)), None)
        if stated_place is not None and path[-1] not in jobset["spec"]:
            sentences.append(f"`spec.{'.'.join(stated_place)}` is dropped: {why}")
    return sentences


def _of_server(old: dict[str, Any]) -> list[str]:
    """A sentence about what only the API server writes, where the job has some of it."""
    names = [f"`metadata.{key}`" for key in old["metadata"] if key in OF_SERVER]
    names += ["`status`"] if "status" in old else []
    return [f"{', '.join(names)}: dropped, because only the API server writes it"] if names else []


def _at(node: Any, path: tuple[str, ...]) -> bool:
    """Whether something is said at a path: a zero says something, an empty map does not, nor what a JobSet does anyway."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node is not None and node is not False and node not in ("", {}, []) and (path[-1], node) != _OF_JOBSETS


class TextPlace(NamedTuple):
    """Where a text stands: the project and the file, which decide about clusters and namespaces.

    `shared` is the runtime that its jobs are to name, None where each has its own.
    """

    project: Project
    file: str
    shared: Shared | None = None


class Older(NamedTuple):
    """What becomes of one older job: the new text, or why there is none."""

    text: str
    want: MigrationTarget | None
    messages: list[str]
    differences: list[Difference]
    refused: str  # "" where the text may be written
    findings: tuple[Finding, ...] = ()  # what keeps the job from being compiled
    left: tuple[str, ...] = ()  # those of the messages that name what is dropped, or kept as the operator had it


def rewritten(piece: str, job: dict[str, Any], place: TextPlace) -> Older:
    """The text of a job as a TrainJob and its runtime; every difference in what the two compile to is explained."""
    project = at_clusters_of(place.project, job, place.file)
    bare = unplaced(project)
    bundle = next((one for one in made(piece, bare, checked=False)[0] if one.jobset is not None), None)
    if bundle is None:
        return Older(piece, None, [], [], "", errors(made(piece, bare)[1]))
    facts = OlderFacts(job, plain(bundle.jobset), launches(bundle))
    before = objects([bundle] if is_unplaced(project) else made(piece, project, checked=False)[0])
    choice = policy_of(facts)
    make = partial(wanted, facts, objects([bundle]), namespaces_of(project))
    found = made(piece, project)[1]
    attempt = partial(_tried, piece, facts, before, found, place._replace(project=project))
    done = attempt(make(choice))
    if done.refused and isinstance(choice, Policy):
        done = attempt(make(f"`mlPolicy` would not have the same effect: {done.refused}"))
    if place.shared is None or done.refused or done.want is None:
        return done
    served = place.shared.serve(done.want)
    with_shared = attempt(served) if isinstance(served, MigrationTarget) else None
    if with_shared is not None and not with_shared.refused:
        return with_shared
    why = with_shared.refused if with_shared is not None else served
    done.messages.append(f"it keeps its own runtime: {why}")
    return done


def launches(bundle: Bundle) -> dict[str, Any]:
    """The launcher that the first container of each role starts, None where it starts none that is known."""
    job = expand(bundle, None, Report())
    return {role.name: next((c.launch for c in role.containers if c.main), None) for role in job.roles} if job else {}


def _tried(
    piece: str, facts: OlderFacts, before: list[Any], found: Report, place: TextPlace, want: MigrationTarget
) -> Older:
    """The job as it is wanted, refused where it would mean something else."""
    # The parser counts lines otherwise where there are other line ends.
    text = "" if OTHER_ENDS.intersection(piece) else with_comments(written(piece, facts.old, want), piece)
    if not text or misread(text, want):
        text = with_comments(own_layout(piece, want), piece)
    shared = place.shared if want.served_by else None
    beside = f"---\n{yaml_text(shared.runtime)}" if shared is not None and shared.is_new else ""
    after, result_report = made(text + beside, place.project)
    changes = differences(before, objects(after), want)
    refused = misread(text, want) or unlike(changes, result_report) or new_error(found, result_report)
    refused = with_moved_allows(refused, text, piece)
    dropped = dropped_fields(facts.old, facts.jobset)
    messages = [*messages_of(facts.old["kind"], want), *dropped, *_of_server(facts.old)]
    messages += _changed_findings(found, result_report)
    return Older(text, want, messages, changes, refused, left=(*kept_of(want), *dropped))


def misread(text: str, want: MigrationTarget) -> str:
    """Why a new text does not say what it should, as when a comment would become part of a script; "" where it does."""
    if says(values(text), want.documents):
        return ""
    return "the edit would change a value: a comment would become part of it"


def unlike(changes: list[Difference], report: Report) -> str:
    """Why what a new text compiles to is not what it should be, "" where it is."""
    unexplained = [one for one in changes if one.reason == UNEXPLAINED]
    if not unexplained:
        return ""
    refused = [finding.message for finding in errors(report)][:1]
    return refused[0] if refused else f"what it compiles to would change: {unexplained[0].path}"


def namespaces_of(project: Project) -> frozenset[str]:
    """The namespaces that clusters give a job without one; "" where one gives none and another does."""
    given = {str(one.namespace.value) if one.namespace is not None else "" for one in project.clusters}
    return frozenset() if given == {""} else frozenset(given)


def new_error(before: Report, after: Report) -> str:
    """An error that the new text has and the old one had not, "" where there is none."""
    known = {finding.rule.name for finding in before.findings}
    return next((finding.message for finding in errors(after) if finding.rule.name not in known), "")


def _changed_findings(before: Report, after: Report) -> list[str]:
    """The fields of the old text that no server knows and the new one lacks, and the warnings that only the new text has."""
    known = {finding.rule.name for finding in before.findings}
    unknown = [one for one in before.findings if one.rule is UNKNOWN_FIELD]
    dropped = [f"dropped: {one.message}{f'; {one.help}' if one.help else ''}" for one in unknown]
    new = [one for one in after.findings if one.level == WARNING and one.rule.name not in known]
    return [*dict.fromkeys(dropped), *dict.fromkeys(f"`validate` reports: {one.message}" for one in new)]


def messages_of(kind: str, want: MigrationTarget) -> list[str]:
    """What a migration means for a job, one sentence each."""
    name = want.job["metadata"]["name"]
    pods = f"`{want.served_by}`, which other jobs share" if want.served_by else f"`{name}` in the same file"
    messages = [f"the {kind} is now a TrainJob; its pods are in the {want.runtime['kind']} {pods}"]
    policy = want.policy
    if policy is None:
        messages.append(f"the runtime holds every address, so `numNodes` cannot scale it: {want.reason}")
    else:
        messages.append(_wiring(policy))
        messages += _kept_variables(want)
    for former, now in want.containers.items():
        if former != now:
            messages.append(f"the container `{former}` is now `{now}`: `kubectl logs -c {now}`")
    if policy is not None and policy.name == "mpi":
        messages += _of_launcher(want)
        messages.append(f"the SSH keys are in the Secret `{name}-mpi-ssh-auth`, or in the one that trainc.yaml names")
    elif kind == "MPIJob" and (secret := _key_secret(want)):
        messages.append(
            f"the SSH keys are in the Secret `{secret}`, which must exist; `validate` no longer checks that"
        )
    if want.extras:
        kinds = ", ".join(f"{tree['kind']} `{tree['metadata']['name']}`" for tree in want.extras)
        messages.append(f"the file includes what the operator created with the job: {kinds}")
    return messages


def kept_of(want: MigrationTarget) -> list[str]:
    """Those of the messages that name what stays as the operator had it, and does not follow `numNodes`."""
    return [*_kept_variables(want), *_kept_count(want)]


def _kept_variables(want: MigrationTarget) -> list[str]:
    reason = want.policy.reason if want.policy is not None else ""
    kept = "variables of the operator stay in `trainer.env`; with another `numNodes` change them too"
    return [f"{kept}: {reason}"] if reason else []


def _kept_count(want: MigrationTarget) -> list[str]:
    if want.policy is None or want.policy.name != "mpi":
        return []
    trainer = want.job["spec"].get("trainer", {})
    words = " ".join(map(str, (*trainer.get("command", []), *trainer.get("args", [])))).split()
    count = next((f"{word} {number}" for word, number in pairwise(words) if word in _COUNTS and number.isdigit()), "")
    why = "without it, mpirun starts a process for each slot of the hostfile"
    return [f"`{count}` stays when `numNodes` changes: {why}"] if count else []


def _of_launcher(want: MigrationTarget) -> list[str]:
    """What a job says to the launcher of MPI alone, and so stays as it is when other fields of the job change."""
    trainer = want.job["spec"].get("trainer", {})
    messages = _kept_count(want)
    nodes = next((role for role in want.roles_of_runtime if role["name"] == NODE), {})
    pod = nodes.get("template", {}).get("spec", {}).get("template", {}).get("spec", {})
    if "image" in trainer and any("image" in one for one in pod.get("containers", []) if one["name"] == NODE):
        messages.append(
            "`trainer.image` is the image of the launcher; that of the nodes is in role `node` of the runtime"
        )
    return messages


def _key_secret(want: MigrationTarget) -> str:
    """The Secret with the keys of the mpi-operator that the pods mount, "" where they mount none."""
    pods = [role["template"]["spec"]["template"]["spec"] for role in want.roles_of_runtime]
    volumes = [volume for pod in pods for volume in pod.get("volumes", []) if volume["name"] == SSH_VOLUME]
    return next((str(volume["secret"]["secretName"]) for volume in volumes if "secret" in volume), "")


def _wiring(policy: Policy) -> str:
    if policy.name == PLAIN:
        return "`numNodes` counts its pods; its own variables and arguments configure them"
    what = f"the framework `{policy.name}`" if policy.labels else f"`mlPolicy.{policy.name}`"
    return f"{what} configures its processes, so `numNodes` scales it" if policy.sized else f"{what} configures it"


def with_comments(text: str, former: str) -> str:
    """The text with the comments that it lost since it was `former` at its top."""
    if not (lost := lost_comments(text, former)):
        return text
    start, mark, rest = text.partition("\n") if text.startswith("---") else ("", "", text)
    return start + mark + "".join(f"{comment}\n" for comment in lost) + rest


def with_moved_allows(refused: str, text: str, former: str) -> str:
    """The reason not to take a text, with the comments that speak to trainc and stand at its top for want of a place."""
    moved = _allows_on_top(text) - _allows_on_top(former)
    if not refused or not moved:
        return refused
    comments = ", ".join(f"`{comment}`" for comment in moved)
    return f"{refused}; {comments} would lose its place: write its value in lines, without braces"


def _allows_on_top(text: str) -> Counter[str]:
    """The comments that speak to trainc in front of the first key of a document."""
    above = takewhile(lambda line: not line or line.startswith(("#", "---")), text.splitlines())
    return Counter(line for line in above if allows(as_bytes(line), ""))


def errors(report: Report) -> tuple[Finding, ...]:
    """The errors of a report."""
    return tuple(finding for finding in report.findings if finding.level == ERROR)
