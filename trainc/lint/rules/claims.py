"""Claims that a JobSet makes for its pods, and what becomes of them when it is deleted."""

from __future__ import annotations

from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import NOTE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job
    from trainc.model.tree import Path

RETAINED = Rule("retained-claim-differs", NOTE)
_STORED = ("volumeMode", "storageClassName", "volumeName")  # what the server writes into a claim's spec


def retained_claim_differs(job: Job) -> Findings:
    for index, policy in enumerate(rows(job.spec, "volumeClaimPolicies")):
        if text(table(policy, "retentionPolicy"), "whenDeleted") != "Retain":
            continue
        for at, template in enumerate(rows(policy, "templates")):
            missing = [field for field in _STORED if not text(table(template, "spec"), field)]
            if missing:
                path: Path = ("spec", "volumeClaimPolicies", index, "templates", at, "spec")
                yield RETAINED.at(
                    job.at(path, key=True),
                    f"the template of `{text(table(template, 'metadata'), 'name')}` leaves {_listed(missing)} to the server",
                    effect="the claim stays when the JobSet is deleted, and the same JobSet is then refused",
                    help="write `volumeMode: Filesystem`; once the claim is bound, repeat its `storageClassName` and "
                    "`volumeName` before you create the JobSet again",
                )


def _listed(fields: list[str]) -> str:
    *first, last = [f"`{field}`" for field in fields]
    return f"{', '.join(first)} and {last}" if first else last


CHECKS = (retained_claim_differs,)
