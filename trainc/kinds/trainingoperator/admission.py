"""Is an older job legal? What its operator would refuse, and what nobody reconciles any more."""

from __future__ import annotations

from trainc.kinds.mpijob import admission as mpi_operators
from trainc.kinds.shared.refusals import Refuser
from trainc.kinds.shared.replica_lists import key_of
from trainc.kinds.table import LISTED, MPI_OPERATOR, NAMES, REMOVED, ROWS, V1, kind_of
from trainc.kinds.tfjob import listed_admission as tfjob_lists
from trainc.kinds.trainingoperator import typed, webhook
from trainc.kinds.trainingoperator.moved_policies import settled
from trainc.model.finding import ERROR, WARNING, Edit, Rule
from trainc.model.settings import STRICT, WARN
from trainc.model.tree import get, value
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINC_PREFIX, TRAINER_API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.of_cluster import Server
    from trainc.kinds.table import Kind
    from trainc.model.document import Document
    from trainc.model.report import Report

REMOVED_KIND = Rule(
    "removed-kind",
    ERROR,
    "no operator reconciles this kind any more",
    "In a current cluster such a job is rejected, or stored and never reconciled.",
)
UNKNOWN_VERSION = Rule(
    "unsupported-version",
    ERROR,
    "trainc does not support this version of the kind",
    "Versions of one kind differ in their defaults; to read one as another would change the job.",
)
FLAT = Rule(
    "lost-indentation",
    ERROR,
    "all fields of a job are at the top level of the document",
    "YAML copied from a web page or a slide often loses its indentation; only a flat list of fields is left.",
)
ALIAS = Rule(
    "api-alias",
    WARNING,
    "the job names an API version that never shipped",
    "`mlkube.io/v1alpha1` appears in documents, but only `mlkube.io/v1beta1` was ever served.",
)


def admit_older(document: Document, server: Server, report: Report, *, lenient: bool = False) -> Document | None:
    """An older job as its API server would have stored it, None with findings where it would have been refused.

    Unknown fields are warnings: the job ran without them, since the server dropped them.
    """
    kind = kind_of(document.api_version, document.kind)
    if kind is None:
        legal(document, report)
        return None
    if kind.field in document.tree or (kind.field == LISTED and key_of(document.tree, LISTED)):
        _flat(document, kind, report)
        return None
    server = server.tolerant(WARN if server.field_validation == STRICT else server.field_validation)
    if kind.field == LISTED:
        return typed.listed(document, server, report) if legal(document, report) else None
    keyed = typed.keyed(settled(document, kind, report), server, report)
    if keyed is None:
        return None
    lenient = lenient or value(keyed.tree, "metadata", "annotations", f"{TRAINC_PREFIX}lenient") == "true"
    return keyed if legal(keyed, report, lenient=lenient) else None


def _flat(document: Document, kind: Kind, report: Report) -> None:
    message = f"`{kind.field}` stands at the top of the document: its indentation is lost"
    help_ = f"indent `name` below `metadata`, `{kind.field}` below `spec`, and each role's fields below the role"
    report.add(FLAT.at(document.span((kind.field,), key=True), message, help=help_))


def legal(document: Document, report: Report, *, lenient: bool = False) -> bool:
    """Whether an older job would have been accepted by its operator; every refusal is reported.

    With `lenient`, mistakes that have only one reading are warnings: lower-case roles, a Master without `replicas`.
    """
    kind = kind_of(document.api_version, document.kind)
    if kind is None:
        _gone(document, report)
        return False
    if document.api_version == "mlkube.io/v1alpha1":
        fix = document.edits(("apiVersion",), "mlkube.io/v1beta1")
        message = "`mlkube.io/v1alpha1` was never served; it is read as `mlkube.io/v1beta1`"
        report.add(ALIAS.at(document.span(("apiVersion",)), message, fix=fix))
    refuser = Refuser(kind, document, report, by=f"{kind.kind} {_judge(kind.api, kind.kind)}", lenient=lenient)
    _look(refuser)
    if not refuser.refused:
        _collisions(refuser)
    return not refuser.refused


def _judge(api: str, kind: str) -> str:
    return "webhook" if api == V1 and kind != "MPIJob" else "controller"


def _look(refuser: Refuser) -> None:
    kind = refuser.kind
    if kind.field == LISTED:
        tfjob_lists.refuse(refuser)
    elif kind.api == MPI_OPERATOR:
        mpi_operators.refuse_ssh(refuser)
    elif kind.kind == "MPIJob":
        mpi_operators.refuse_v1(refuser)
    else:
        webhook.refuse(refuser)


def _collisions(refuser: Refuser) -> None:
    seen: dict[str, str] = {}
    for key in refuser.replicas:
        role = refuser.kind.role(key)
        if role and role in seen:
            path = ("spec", refuser.kind.field, key)
            text = f"spec.{refuser.kind.field}: both {seen[role]} and {key} name the role {role}"
            refuser.say(path, text, f"`{seen[role]}` and `{key}` are one role", key=True, help="keep one of them")
        seen.setdefault(role, key)


def _gone(document: Document, report: Report) -> None:
    api, name = document.api_version, document.kind
    removed = REMOVED.get((api, name))
    span = document.span(("kind",) if api == V1 else ("apiVersion",))
    if removed:
        report.add(REMOVED_KIND.at(span, removed[0], help=removed[1], fix=_renewed(document)))
    elif name in NAMES and get(document.tree, "spec") is not None:
        served = ", ".join(f"`{row}`" for row in _served(name))
        message = f"{name} was never served as `{api}`, or that version is gone"
        report.add(
            UNKNOWN_VERSION.at(document.span(("apiVersion",)), message, help=f"versions that can be read: {served}")
        )


def _renewed(document: Document) -> list[Edit]:
    """The edit to today's version, for the kinds of the Trainer's first one, whose fields are read from then on."""
    if document.api_version != FORMER_TRAINER_API:
        return []
    return document.edits(("apiVersion",), TRAINER_API)


def _served(name: str) -> list[str]:
    return [row.api for row in ROWS if row.kind == name]
