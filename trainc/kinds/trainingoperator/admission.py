"""Is an older job legal? What its operator would refuse, and what nobody reconciles any more."""

from collections.abc import Callable, Mapping

from trainc.apiserver.admission import admit_object
from trainc.apiserver.served import Server
from trainc.kinds.mpijob.admission import refuse_ssh, refuse_v1
from trainc.kinds.shared.job import key_of, mapping
from trainc.kinds.shared.refusals import (
    Validator,
    containers,
    empty_manager,
    forbidden,
    image,
    invalid,
    label_errors,
    not_supported,
    odd_case,
    required,
    respelling,
    tolerant,
)
from trainc.kinds.table import LISTED, MPI_OPERATOR, NAMES, REMOVED, ROWS, V1, Kind, kind_of
from trainc.kinds.tfjob import refuse_listed
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.report import Report
from trainc.model.tree import Path, Tree, get, value
from trainc.text.object_keys import FORMER_TRAINER_API, MULTIKUEUE, TRAINC_PREFIX, TRAINER_API
from trainc.text.placeholders import is_placeholder, placeholder

REMOVED_KIND = Rule("removed-kind", ERROR)
UNKNOWN_VERSION = Rule("unsupported-version", ERROR)
FLAT = Rule("lost-indentation", ERROR)
ALIAS = Rule("api-alias", WARNING)
MOVED = Rule("moved-field", WARNING)
ROOT_POLICIES = (
    "cleanPodPolicy", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "schedulingPolicy",
)  # fmt: skip
MANAGERS = (MULTIKUEUE, "kubeflow.org/training-operator")
MASTER_COUNT = Rule("master-replicas", NOTE)
OLD_NPROC = Rule("deprecated-nproc", WARNING)
_LISTED = ("mlkube.io/v1beta1", "TfJob")
# How the schema spells what the first operators read in any case, with and without underscores.
_SPEC = ("RuntimeId", "tensorboard", "replicaSpecs", "tfImage", "terminationPolicy")
_ENTRY = ("replicas", "template", "tfPort", "tfReplicaType", "IsDefaultPS")
_BOARD = ("logDir", "volumes", "volumeMounts", "serviceType")


def admit(document: Document, server: Server, _: Cluster, report: Report) -> Document | None:
    """An older job as its server would have stored it, without unknown fields; None with findings where it is refused."""
    if (kind := kind_of(document.api_version, document.kind)) is None:
        legal(document, report)
        return None
    if kind.field in document.tree or (kind.field == LISTED and key_of(document.tree, LISTED)):
        message = f"`{kind.field}` is at the top level of the document: the indentation is missing"
        help_ = f"indent `name` below `metadata`, `{kind.field}` below `spec`, and each role's fields below the role"
        report.add(FLAT.at(document.span((kind.field,), key=True), message, help=help_))
        return None
    server = tolerant(server)
    if kind.field == LISTED:
        return listed_job(document, server, report) if legal(document, report) else None
    document = settled(document, kind, report)
    if server.table.root(f"{document.api_version}/{document.kind}") is not None:
        stored = admit_object(document, server, report)
    else:  # early versions are read as v1, whose fields they share
        stored = admit_object(_as(document, document.tree, V1, document.kind), server, report)
        stored = stored and document.admitted({**stored.tree, "apiVersion": document.tree["apiVersion"]})
    if stored is None:
        return None
    lenient = value(stored.tree, "metadata", "annotations", f"{TRAINC_PREFIX}lenient") == "true"
    return stored if legal(stored, report, lenient=lenient) else None


def legal(document: Document, report: Report, *, lenient: bool = False) -> bool:
    """Whether an older job would have been accepted by its operator; every refusal is reported.

    With `lenient`, mistakes that have only one reading are warnings: lower-case roles, a Master without `replicas`.
    """
    if (kind := kind_of(document.api_version, document.kind)) is None:
        api, name = document.api_version, document.kind
        if removed := REMOVED.get((api, name)):
            # The fields of the Trainer's first kinds are read once the version is today's.
            fix = document.edits(("apiVersion",), TRAINER_API) if api == FORMER_TRAINER_API else ()
            span = document.span(("kind",) if api == V1 else ("apiVersion",))
            report.add(REMOVED_KIND.at(span, removed[0], help=removed[1], fix=fix))
        elif name in NAMES and get(document.tree, "spec") is not None:
            served = ", ".join(f"`{row.api}`" for row in ROWS if row.kind == name)
            message = f"{name} was never served as `{api}`, or that version was removed"
            help_ = f"supported versions: {served}"
            report.add(UNKNOWN_VERSION.at(document.span(("apiVersion",)), message, help=help_))
        return False
    if document.api_version == "mlkube.io/v1alpha1":
        fix = document.edits(("apiVersion",), "mlkube.io/v1beta1")
        message = "`mlkube.io/v1alpha1` was never served; it is read as `mlkube.io/v1beta1`"
        report.add(ALIAS.at(document.span(("apiVersion",)), message, fix=fix))
    by = "webhook" if kind.api == V1 and kind.kind != "MPIJob" else "controller"
    validator = Validator(kind, document, report, by=f"{kind.kind} {by}", lenient=lenient)
    if kind.field == LISTED:
        refuse_listed(validator)
    elif kind.api == MPI_OPERATOR:
        refuse_ssh(validator)
    elif kind.kind == "MPIJob":
        refuse_v1(validator)
    else:
        refuse(validator)
    if not validator.refused:
        seen: dict[str, str] = {}
        for key in validator.replicas:
            if (role := validator.kind.role(key)) and role in seen:
                path = ("spec", validator.kind.field, key)
                text = f"spec.{validator.kind.field}: both {seen[role]} and {key} name the role {role}"
                validator.say(path, text, f"`{seen[role]}` and `{key}` are one role", key=True, help="keep one of them")
            seen.setdefault(role, key)
    return not validator.refused


def settled(document: Document, kind: Kind, report: Report) -> Document:
    """The job with all its policies in `runPolicy`; what stands there already wins."""
    spec = get(document.tree, "spec")
    if type(spec) is not dict or not (policies := [name for name in ROOT_POLICIES if name in spec]):
        return document
    inside = dict(mapping(spec.get("runPolicy")))
    for name in policies:
        is_v1_mpi = kind.api == V1 and kind.kind == "MPIJob" and name == "cleanPodPolicy"
        if kind.api in {V1, MPI_OPERATOR} and not is_v1_mpi:
            is_twice = name in inside
            help_ = "remove it: `spec.runPolicy` also sets it" if is_twice else f"write it as `spec.runPolicy.{name}`"
            message = f"`runPolicy` replaced `spec.{name}` in the API of {kind.kind}"
            report.add(MOVED.at(document.span(("spec", name), key=True), message, help=help_))
        inside.setdefault(name, spec[name])
    kept = {key: node for key, node in spec.items() if key not in policies}
    return document.admitted({**document.tree, "spec": {**kept, "runPolicy": inside}})


def refuse(r: Validator) -> None:
    """Report everything the webhook of this kind would refuse."""
    if is_placeholder(r.document.name):
        r.report.skip(f"the value of `{placeholder(r.document.name)}`")
    errors = label_errors(r.document.name)
    if errors and (r.document.name or get(r.document.tree, "metadata", "generateName") is None):
        path: Path = ("metadata", "name")
        text = invalid(path, r.document.name, f"should match: {','.join(errors)}")
        message = f"the name `{r.document.name}` is not a DNS-1035 label"
        r.say(path, text, message, help="start with a letter; use a-z, 0-9 and `-`, at most 63")
    if get(r.spec, r.kind.field) is None:
        r.say(("spec",), required(("spec", r.kind.field), "must be required"), f"`spec.{r.kind.field}` is missing")
    if r.kind.kind != "JAXJob":
        path = ("spec", "runPolicy", "managedBy")
        manager = value(r.document.tree, *path)
        if manager == "":
            empty_manager(r)
        elif manager is not None and manager not in MANAGERS:
            r.say(path, not_supported(path, manager, MANAGERS), f"`{manager}` does not manage jobs of this kind")
    for key in r.roles:
        path = ("spec", r.kind.field, key)
        if key not in r.kind.roles:
            role = r.kind.role(key)
            if role and (r.lenient or r.kind.kind == "TFJob"):
                odd_case(r, key, role)
            else:
                known = f"write `{role}`" if role else f"the roles are {', '.join(r.kind.roles)}"
                text = not_supported(path, key, r.kind.roles)
                message = f"{r.kind.kind} has no role `{key}`"
                r.say(path, text, message, key=True, help=known, fix=respelling(r, key, role) if role else ())
        replica = r.replicas.get(key)
        inside = (*path, "template", "spec", "containers")
        if not (listed := containers(replica)):
            r.say(inside, required(inside, "must be specified"), f"the role `{key}` has no containers")
        for index, container in enumerate(listed):
            if not image(container):
                here = (*inside, index, "image")
                r.say(here, required(here, "must be required"), f"a container of `{key}` has no image")
        name = r.kind.container
        if all(value(container, "name") != name for container in listed):
            shown = f'"{name}"' if r.kind.kind == "PaddleJob" else name
            text = required(inside, f"must have at least one container with name {shown}")
            message, help_ = f"no container of `{key}` is called `{name}`", f"call the training container `{name}`"
            if len(listed) == 1:
                written = value(listed[0], "name")
                message = f"the container of `{key}` is called `{written}`, the operator expects `{name}`"
                at = (*inside, 0, "name")
                r.say(at, text, message, help=f"call it `{name}`", fix=r.document.edits(at, name))
            else:
                r.say(inside, text, message, help=help_)
    if extra := EXTRAS.get(r.kind.kind):
        extra(r)


def _one_master(r: Validator) -> None:
    if "Master" not in r.replicas:
        return
    path = ("spec", r.kind.field, "Master", "replicas")
    count = value(r.document.tree, *path)
    if count == 1 or type(count) is str:  # text is filled in later, which whoever counts pods has a word on
        return
    if count is None and r.lenient:
        message, fix = "the Master has no `replicas`; the default is 1", r.document.edits(path, 1)
        r.report.add(MASTER_COUNT.at(r.document.span(path), message, fix=fix))
        return
    message = "the Master has no `replicas`" if count is None else f"{count} Masters are requested"
    note = "the webhook runs before the default of 1 is set" if count is None else ""
    help_ = f"set `replicas: 1`{'; ' + note if note else ''}"
    r.say(path, forbidden(path, "must be 1"), message, help=help_, fix=r.document.edits(path, 1))


def _pytorch(r: Validator) -> None:
    _one_master(r)
    workers = ("spec", r.kind.field, "Worker", "replicas")
    count = value(r.document.tree, *workers)
    if type(count) is int and count < 1:
        r.say(workers, forbidden(workers, "must be at least 1"), f"{count} Workers are requested")
    if (elastic := get(r.spec, "elasticPolicy")) is None:
        return
    if not any(r.kind.role(key) == "Worker" for key in r.roles):
        path: Path = ("spec", r.kind.field, "Worker")
        message = "`elasticPolicy` needs a Worker role"
        r.say(path, required(path, "must be configured if elastic policy is used"), message)
    path = ("spec", "elasticPolicy", "nProcPerNode")
    if get(elastic, "nProcPerNode") is None:
        return
    help_ = "use `spec.nprocPerNode`"
    if get(r.spec, "nprocPerNode") is not None:
        text = forbidden(path, "must not be used with spec.nprocPerNode")
        r.say(path, text, "the number of processes is set twice", help=help_, fix=r.document.edits(path))
    else:
        message = "`spec.elasticPolicy.nProcPerNode` is deprecated, use spec.nprocPerNode instead"
        r.report.add(OLD_NPROC.at(r.document.span(path), message, help=help_))


def _tensorflow(r: Validator) -> None:
    deciders = [key for key in r.roles if r.kind.role(key) in {"Chief", "Master"}]
    if len(deciders) > 1:
        path = ("spec", r.kind.field)
        text = forbidden(path, "must not have more than 1 Chief or Master role")
        message = "the job has both a Chief and a Master"
        r.say((*path, deciders[1]), text, message, key=True, help="they are one role: keep one")


def _xgboost(r: Validator) -> None:
    if "Master" not in r.roles:
        path = ("spec", r.kind.field, "Master")
        r.say(path, required(path, "must be present"), "an XGBoostJob needs a Master")
    _one_master(r)


EXTRAS: dict[str, Callable[[Validator], None]] = {"PyTorchJob": _pytorch, "TFJob": _tensorflow, "XGBoostJob": _xgboost}


def listed_job(document: Document, server: Server, report: Report) -> Document | None:
    """A job with a list of roles as its operator read it: in its own spelling, its templates without strays."""
    tree = document.tree
    spec = _spelled(get(tree, "spec"), _SPEC)
    if type(spec) is not dict:
        return None
    entries = spec.get("replicaSpecs")
    if type(entries) is list:
        spec["replicaSpecs"] = [_spelled(entry, _ENTRY) for entry in entries]
    if "tensorboard" in spec:
        spec["tensorboard"] = _spelled(spec["tensorboard"], _BOARD)
    admitted = admit_object(_as(document, {**tree, "spec": spec}, *_LISTED), server, report)
    if admitted is None or type(entries) is not list:
        return document if admitted is not None else None
    key, read = key_of(tree["spec"], "replicaSpecs"), admitted.tree["spec"]["replicaSpecs"]
    clean = [
        {**entry, key_of(entry, "template"): stored["template"]} if "template" in stored else entry
        for entry, stored in zip(entries, read, strict=True)
    ]
    return document.admitted({**tree, "spec": {**tree["spec"], key: clean}})


def _as(document: Document, tree: Tree, api: str, kind: str) -> Document:
    """The document as one of another kind; what is found wrong in the tree still stands where it is written."""
    names = {"apiVersion": tree["apiVersion"].map(lambda _: api), "kind": tree["kind"].map(lambda _: kind)}
    return document.instead({**tree, **names})


def _spelled(node: Tree, names: tuple[str, ...]) -> Tree:
    """A map with its keys spelled as the schema has them; others stay away: nobody read them."""
    if type(node) is not dict:
        return node
    known: Mapping[str, str] = {name.lower(): name for name in names}
    folded = {key: known.get(key.replace("_", "").lower()) for key in node}
    return {name: node[key] for key, name in folded.items() if name is not None}
