"""What the TrainJob webhook and the controller's build refuse, with their own words beside ours."""

from collections.abc import Sequence
from typing import Any

from trainc.apiserver.normalise import normalise
from trainc.model.finding import ERROR, Finding, Label, Refusal, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, plain

RESERVED_ENV = Rule("reserved-env", ERROR, verdict=True)
REFUSED = Rule("framework-refuses", ERROR, verdict=True)
UNBUILDABLE = Rule("unbuildable", ERROR, verdict=True)
# Go prints the fields of a struct in the order of their declaration, and the keys of a map sorted.
_DECLARED = (
    "name", "apiGroup", "kind", "value", "valueFrom", "jobName", "containerNames", "apiVersion", "fieldPath",
    "containerName", "resource", "divisor", "limits", "requests", "claims", "key", "optional",
)  # fmt: skip


def reserved(plan: Plan, names: Sequence[str]) -> list[tuple[int, str]]:
    """The places and names in `spec.trainer.env` that the job must leave to its framework."""
    entries = plan.trainer_field("env") or ()
    return [(at, entry["name"].value) for at, entry in enumerate(entries) if entry["name"].value in names]


def refuse_env(plan: Plan, report: Report, names: Sequence[str], instead: str) -> None:
    """The webhook's refusal of reserved variables, worded as one Invalid error over the whole list."""
    if not (clashing := reserved(plan, names)):
        return
    listed = " ".join(sorted(name for _, name in clashing))
    printed = normalise(plan.trainer_field("env"), "env")
    for at, name in clashing:
        detail = f"must not have reserved envs, invalid envs configured: [{listed}]"
        report.add(reserved_env(plan, at, name, invalid("spec.trainer.env", printed, detail), instead))


def reserved_env(plan: Plan, at: int, name: str, text: str, instead: str) -> Finding:
    """The finding for one reserved variable, with the server's words for it."""
    return RESERVED_ENV.at(
        plan.document.span(("spec", "trainer", "env", at, "name")),
        f"the `{plan.framework}` framework sets `{name}`",
        label="set here",
        also=[Label(policy_span(plan), "this policy selects the framework")],
        help=f"remove it{instead}",
        refusal=Refusal("webhook", text),
    )


def refuse(plan: Plan, report: Report, path: Path, message: str, text: str, advice: str = "") -> None:
    """Any other refusal of the TrainJob webhook, shown at `path` of the job."""
    report.add(REFUSED.at(plan.document.span(path), message, help=advice, refusal=Refusal("webhook", text)))


def unbuildable(plan: Plan, report: Report, span: Span, message: str, text: str, advice: str) -> None:
    """A job that is admitted and never built: `text` is what the controller's log would say."""
    effect = "the API server accepts the TrainJob, and the controller creates nothing for it"
    also = [Label(plan.document.span(("metadata", "name")), "this job")]
    report.add(UNBUILDABLE.at(span, message, effect=effect, help=advice, also=also, refusal=Refusal("build", text)))


def policy_span(plan: Plan) -> Span:
    """Where the runtime selects the framework, or the job's reference to it."""
    if plan.runtime is None:
        return plan.document.span(("spec", "runtimeRef"))
    return plan.runtime.span(("spec", "mlPolicy", plan.framework), key=True)


def invalid(path: str, bad: Tree, detail: str) -> str:
    """The text of an Invalid error; None prints as `null`, as a pointer to nothing does."""
    return f"{path}: Invalid value: {compact(bad)}: {detail}"


def forbidden(path: str, detail: str) -> str:
    """The text of a Forbidden error."""
    return f"{path}: Forbidden: {detail}"


def compact(tree: Tree) -> str:
    """A value as Go's JSON encoder prints it: no spaces, fields in declared order, `<`, `>` and `&` escaped."""
    import json  # noqa: PLC0415 (only a refusal needs it)

    text = json.dumps(_ordered(plain(tree)), separators=(",", ":"), ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _ordered(node: Any) -> Any:
    if type(node) is list:
        return [_ordered(item) for item in node]
    if type(node) is dict:
        declared = [key for key in _DECLARED if key in node]
        return {key: _ordered(node[key]) for key in [*declared, *sorted(node.keys() - set(declared))]}
    return node
