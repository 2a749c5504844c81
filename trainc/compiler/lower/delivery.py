"""What only a controller would have done with a TrainJob, and what becomes of it without one."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.text.object_keys import MULTIKUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.settings import Project
    from trainc.model.tree import Tree

DEADLINE_NOT_ENFORCED = Rule(
    "deadline-not-enforced",
    ERROR,
    "nothing enforces a TrainJob's activeDeadlineSeconds",
    "The Trainer controller runs this timer itself and writes it to no object; JobSet has no such field.",
)


def carried_labels(plan: Plan) -> dict[str, Tree]:
    """Kueue's labels of the TrainJob: no TrainJob will be in the cluster, so the JobSet carries them."""
    labels = plan.job["metadata"].get("labels")
    if not labels or "kueue.x-k8s.io/" not in "\n".join(labels):
        return {}
    return {key: leaf for key, leaf in labels.items() if key.startswith("kueue.x-k8s.io/")}


def managed_by(plan: Plan, spec: Tree) -> Tree:
    """A job that MultiKueue runs elsewhere becomes a JobSet that MultiKueue runs elsewhere."""
    leaf = plan.job["spec"].get("managedBy")
    return {**spec, "managedBy": leaf} if leaf is not None and leaf.value == MULTIKUEUE else spec


def deadline(plan: Plan, spec: Tree, project: Project, report: Report) -> Tree:
    """The deadline on every child Job where the project chooses so; otherwise an error that says it would be lost."""
    leaf = plan.job["spec"].get("activeDeadlineSeconds")
    if leaf is None:
        return spec
    if project.deadline != "per-job":
        report.add(
            DEADLINE_NOT_ENFORCED.at(
                plan.document.span(("spec", "activeDeadlineSeconds")),
                f"nobody enforces `activeDeadlineSeconds: {leaf.value}`",
                effect="the job runs on past its deadline: only the Trainer controller knows this timer",
                help="remove it, or set `deadline: per-job` in trainc.yaml to give every child Job this deadline",
            )
        )
        return spec
    jobs = [_with_deadline(job, leaf) for job in spec.get("replicatedJobs") or ()]
    return {**spec, "replicatedJobs": jobs} if jobs else spec


def _with_deadline(job: Tree, leaf: Tree) -> Tree:
    template = job["template"]
    return {**job, "template": {**template, "spec": {"activeDeadlineSeconds": leaf, **template["spec"]}}}
