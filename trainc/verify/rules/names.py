"""Names that get too long once JobSet has added its suffixes."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Rule
from trainc.verify.refusal import JOB, refuse
from trainc.verify.values import substituted, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.job import Job

POD_NAME = Rule(
    "pod-name-too-long",
    ERROR,
    "the host names of the pods get longer than 63 characters",
    "A pod of an indexed Job is called `<job>-<role>-<Job>-<index>`, and that must be a DNS label. JobSet checks it only "
    "where `completions` is set.",
)
SELECTOR = Rule(
    "placement-label-too-long",
    ERROR,
    "the label by which a node is reserved gets longer than 63 characters",
    "With the node-selector strategy of exclusive placement it is `<namespace>_<job>-<role>-<Job>`; JobSet does not check it.",
)
ROLE = Rule(
    "role-name-empty",
    ERROR,
    "a role has no name",
    "JobSet accepts it; the Jobs are then called `<job>--0`, and nothing can refer to the role.",
)

_NODE_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"


def pod_name_too_long(job: Job) -> None:
    if not job.named:
        return
    for role in job.roles:
        if "completions" in role.spec or not role.indexed or type(role.replicas) is not int or substituted(role.name):
            continue
        host = role.host(max(role.replicas - 1, 0), 0)
        if len(host) > 63 >= len(host) - 2:
            refuse(
                job,
                POD_NAME,
                ("metadata", "name"),
                "the Job controller will not be able to create pods with host names of more than 63 characters",
                f"the last pod would be called `{host}`, which has {len(host)} characters",
                by=JOB,
                also=[Label(job.at((*role.path, "name")), "and the role's name is part of it")],
                help=f"shorten the name of the job or of the role by {len(host) - 63}",
            )


def placement_label_too_long(job: Job) -> None:
    if _NODE_SELECTOR not in table(table(job.tree, "metadata"), "annotations") or not job.named:
        return
    for role in job.roles:
        last = role.replicas - 1 if type(role.replicas) is int else 0
        value = f"{job.namespace or 'default'}_{job.name}-{role.name}-{last}"
        if len(value) > 63:
            refuse(
                job,
                SELECTOR,
                ("metadata", "name"),
                f'Invalid value: "{value}": must be no more than 63 characters',
                f"the label `{value}` has {len(value)} characters",
                by=JOB,
                help=f"shorten the name of the job, the role or the namespace by {len(value) - 63}",
            )


def role_name_empty(job: Job) -> None:
    for role in job.roles:
        if not role.name and not text(role.tree, "name"):
            job.report.add(
                ROLE.at(
                    job.at(role.path),
                    "a role has no name",
                    effect="nothing can refer to it",
                    help="name it, e.g. `worker`",
                )
            )
