"""What the TrainJob webhook refuses of a Flux job, and where its brokers would not meet."""

from __future__ import annotations

from trainc.frameworks.base.field_errors import invalid
from trainc.frameworks.base.refusals import policy_span, refuse, unbuildable
from trainc.frameworks.base.requirements import check, check_slots, template_span
from trainc.frameworks.base.secrets import note, secret_name
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.plan import NODE
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report

INSTALLER = "flux-installer"
RECIPE = "flux keygen curve.cert && kubectl create secret generic NAME --from-file=curve.cert"

SPLIT_WORD = Rule(
    "split-argument",
    WARNING,
    "an argument that contains spaces is split",
    "Flux's command is joined with spaces and split again in the pod, without quotes (Trainer v2.3.0).",
)
NOT_NODE = Rule(
    "trainer-not-node",
    ERROR,
    "the trainer of a Flux runtime is not the replicatedJob `node`",
    "The controller finds the volumes and the installer by that name, and the command that it wraps by the "
    "trainer label (Trainer v2.3.0).",
)


def refuse_job(plan: Plan, report: Report) -> None:
    """The TrainJob webhook's refusals of a Flux job, and what makes the controller crash."""
    procs = plan.trainer_field("numProcPerNode")
    if procs is not None and procs.value < 1:
        detail = "must be greater than or equal to 1 for Flux TrainJob"
        path = ("spec", "trainer", "numProcPerNode")
        refuse(plan, report, path, f"`numProcPerNode` {detail}", invalid(".".join(path), procs, detail))
    role = plan.role(NODE)
    if role is not None and role.init_container(INSTALLER) is not None:
        text = invalid("spec.trainer.initContainers", INSTALLER, f"InitContainer '{INSTALLER}' is reserved")
        message = f"the runtime has an init container `{INSTALLER}`, a name that Flux keeps for its own"
        refuse(plan, report, ("spec", "runtimeRef"), message, text, "give it another name")
    if plan.trainer_field("numNodes") is None:
        text = "runtime error: invalid memory address or nil pointer dereference"
        message = "a Flux job must say `spec.trainer.numNodes`: the controller crashes without it (Trainer v2.3.0)"
        unbuildable(plan, report, plan.document.span(("spec", "trainer")), message, text, "set `numNodes`")


def verify(plan: Plan, report: Report) -> None:
    """Findings where the brokers would not meet, or the command would not be what was written."""
    check(plan, report)
    check_slots(plan, report, plan.trainer_field("numProcPerNode"))
    curve = secret_name(plan, "flux", "-flux-curve").value
    note(plan, report, curve, ("curve.cert",), RECIPE)
    for field in ("command", "args"):
        for item in plan.trainer_field(field) or []:
            if any(c.isspace() for c in item.value):
                message = f"`{item.value}` is split at its spaces"
                advice = "put the command into a script in the image"
                report.add(SPLIT_WORD.at(place(item.origin) or policy_span(plan), message, help=advice))
    trainer = plan.trainer
    if trainer is not None and value(trainer.tree, "name") != NODE:
        message = f"the trainer is called `{trainer.name.value}`, and Flux equips `node` alone"
        effect = "its command is wrapped in a script that is not there, and every pod fails at once"
        report.add(NOT_NODE.at(template_span(plan), message, effect=effect, help=f"call it `{NODE}`"))
