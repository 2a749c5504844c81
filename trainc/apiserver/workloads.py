"""Plain Jobs and Pods as a server gets them: what it says of them as they are."""

from trainc.apiserver import metadata, metadata_decoding
from trainc.apiserver.admission import INVALID_FIELD, UNDECODABLE, refused, tell_unchecked, unknown_field
from trainc.apiserver.advice import rewritten
from trainc.apiserver.fault import Fault
from trainc.apiserver.golang.decoding import decode
from trainc.apiserver.jobs import created
from trainc.apiserver.jobs.spec import chosen, job_spec, restart, settings_of
from trainc.apiserver.jobset import defaults as jobset
from trainc.apiserver.null_fields import check_nulls, deduplicated
from trainc.apiserver.pods.complaints import Complaints, Field, fields
from trainc.apiserver.pods.template import spec as pod_spec
from trainc.apiserver.pods.template import template
from trainc.apiserver.schema.features import features_of
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import load
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.served import Server
from trainc.apiserver.verdict import kind_of
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import Refusal
from trainc.model.report import Report
from trainc.model.settings import STRICT
from trainc.model.tree import Path, get, plain, value

# Where the schema of a JobSet holds that of a Job's spec, and that of a pod's.
NODES: dict[str, Path] = {
    "batch/v1/Job": ("spec", "replicatedJobs", 0, "template"),
    "v1/Pod": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
}


def judge_workload(document: Document, server: Server, cluster: Cluster, report: Report) -> bool:
    """Whether the API server takes a Job or a Pod; everything that it has against it is reported."""
    kind = kind_of(document.tree)
    report.looking_at(document)
    check_nulls(document, report)
    # By trainc's own schema of JobSets: no cluster defines Jobs and Pods.
    node, tree = load().at(jobset.KIND, NODES[kind]), document.tree
    misfits = decode(node, tree)
    for fault in misfits:
        subject = fault.message.partition(" into Go ")[0].removeprefix("json: ")
        wanted = fault.message.rpartition(" of type ")[2]
        text = fault.message
        if wanted != text:
            text = f"`{'.'.join(map(str, fault.path))}`: {subject} into {wanted}"
        help_ = rewritten(document, fault, None) or "write a value of the type that the field has"
        report.add(UNDECODABLE.at(document.span(fault.path), text, help=help_))
    unreadable = metadata_decoding.decode(tree.get("metadata", {}))
    refused(document, unreadable, server, report)
    log = Log()
    walk(node, {"spec": tree.get("spec", {})}, log)
    tell_unchecked(document, log.unchecked, report)
    unknown = log.unknown if server.field_validation == STRICT else []
    for fault in unknown:
        report.add(unknown_field(document, fault))
    if misfits or unreadable:
        return False
    held = tree.get("metadata", {})
    faults = [*metadata.validate(held)] if type(held) is dict else []
    faults += _complaints(document, kind, cluster)
    for fault in deduplicated(faults):
        path, _, reason = fault.message.partition(": ")
        span = document.span(fault.path, key=get(document.written, *fault.path) is None)
        refusal = None if unknown else Refusal("schema", fault.message)  # a server names unknown fields first
        report.add(INVALID_FIELD.at(span, f"`{path}`: {reason[:1].lower()}{reason[1:]}", refusal=refusal))
    return not faults and not unknown


def _complaints(document: Document, kind: str, cluster: Cluster) -> list[Fault]:
    tree = document.tree
    log = Complaints(features_of(cluster))
    spec = fields(tree.get("spec"))
    if kind == "batch/v1/Job":
        pods = fields(spec.get("template"))
        job = Field(settings_of({**spec, "template": pods}), ("spec",), log)
        job_spec(job)
        chosen(job, fields(plain(get(pods, "metadata", "labels"))), {})
        pods = {**pods, "spec": fields(pods.get("spec"))}
        template(pods, ("spec", "template"), log, {})
        restart(job, value(pods, "spec", "restartPolicy"))
    else:
        pod_spec(spec, ("spec",), log, {})
        if not log.faults:
            created.pod({**tree, "spec": spec}, document.name, (), log, cluster.objects)
    return log.faults
