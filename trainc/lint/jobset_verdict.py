"""Whether the JobSet server would take what trainc made: its schema, its CEL rules, its webhooks."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Refusal, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.fault import Fault
    from trainc.apiserver.served import Served
    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.report import Report

JOBSET_REFUSED = Rule("jobset-refused", ERROR, verdict=True)

_EFFECT = "the job is accepted, and no pod of it is ever created"


def accepted(bundle: Bundle, server: Served, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet, at the place it comes from."""
    judged = server.judge_jobset(bundle.jobset)
    if not judged.by:
        return
    barred = bundle.plan is not None and bundle.plan.barred
    for fault in judged.faults:
        if barred and _may_be_known(fault):
            continue
        report.add(_refused(bundle, fault, judged.by))


def _may_be_known(fault: Fault) -> bool:
    """Whether what keeps a plan from being compiled may be this very fault: a name that is too long."""
    from trainc.apiserver.jobset.name_length import is_too_long  # noqa: PLC0415 (only where something is wrong)

    return is_too_long(fault)


def _refused(bundle: Bundle, fault: Fault, by: str) -> Finding:
    from trainc.apiserver.fault import gate_help, in_words  # noqa: PLC0415
    from trainc.apiserver.jobset.name_length import is_too_long  # noqa: PLC0415 (only where something is wrong)

    if is_too_long(fault):
        return _long(bundle, fault, by)
    path, reason = in_words(fault)
    return JOBSET_REFUSED.at(
        bundle.span(bundle.jobset, fault.path),
        f"the JobSet server refuses `{path}`: {reason}",
        effect=_EFFECT,
        help=gate_help(fault),
        refusal=Refusal(by, fault.message),
    )


def _long(bundle: Bundle, fault: Fault, by: str) -> Finding:
    """Once for the Jobs and the pods of a role: whose names are too long is the same to the one who shortens them."""
    from trainc.apiserver.jobset.name_length import LIMIT, shorter  # noqa: PLC0415

    run = bundle.name.removeprefix(bundle.document.name)
    return JOBSET_REFUSED.at(
        bundle.document.span(("metadata", "name")),
        f"the JobSet server refuses `{bundle.name}`: names of more than {LIMIT} characters would be derived from it",
        also=[Label(bundle.span(bundle.jobset, fault.path), "the name of this role is a part of them")],
        effect=_EFFECT,
        help=shorter(bundle.jobset, fault, run),
        refusal=Refusal(by, fault.message),
    )
