"""Key material by reference: which Secret a job uses, and what the user must know about it."""

from __future__ import annotations

from collections.abc import Sequence

from trainc.model.finding import NOTE, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive

EXISTING = "existing"  # the project names a Secret: `existing:NAME`
IN_CLUSTER = "external-secrets"  # the External Secrets operator makes it

SECRET_NEEDED = Rule("secret-needed", NOTE)

RULES = (SECRET_NEEDED,)


def choice(plan: Plan, framework: str) -> str:
    """What the project chose for a framework's keys: `existing` (also where it is silent) or `external-secrets`."""
    chosen = plan.secrets.get(framework)
    return chosen.value.partition(":")[0] if chosen is not None else EXISTING


def secret_name(plan: Plan, framework: str, suffix: str) -> Sourced[str]:
    """The Secret that the project names, else the job's name with `suffix`, as the Trainer controller names it."""
    if (chosen := plan.secrets.get(framework)) is not None and ":" in chosen.value:
        return derive("the project's Secret", lambda text: text.partition(":")[2], chosen)
    own: Sourced[str] = plan.job["metadata"]["name"]  # keys outlive the runs of a job
    return derive("the controller's name for this Secret", lambda job: job + suffix, own)


def note(plan: Plan, report: Report, name: str, keys: Sequence[str], recipe: str) -> None:
    """A note on the Secret a job needs: its keys, and the command that makes it."""
    where = f" -n {plan.namespace.value}" if plan.namespace is not None else ""
    message = f"the Secret `{name}` must hold {' and '.join(f'`{key}`' for key in keys)}"
    effect = "the pods wait in ContainerCreating until it exists"
    help_ = f"{recipe.replace('NAME', name)}{where}"
    report.add(SECRET_NEEDED.at(plan.document.span(("metadata", "name")), message, effect=effect, help=help_))
