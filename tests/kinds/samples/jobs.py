"""Older jobs as documents, compiled as far as their frameworks, and the environment each pod would see."""

import re
from functools import partial
from typing import Any

from trainc.frameworks import framework
from trainc.kinds.shared.job import LegacyOptions
from trainc.kinds.table import kind_of
from trainc.kinds.trainingoperator.admission import legal, settled
from trainc.kinds.trainingoperator.plan import plan
from trainc.model.catalog import Entry
from trainc.model.document import Document
from trainc.model.patches import Contribution
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml.reader import read

REFERENCE = re.compile(r"\$\$|\$\(([^()]*)\)")


def document(text: str, report: Report) -> Document:
    (found,) = read(text, "job.yaml", report)
    kind = kind_of(found.api_version, found.kind)
    return settled(found, kind, report) if kind is not None else found


class Compiled:
    """A job as far as its framework."""

    def __init__(self, text: str, options: LegacyOptions | None = None) -> None:
        self.report = Report()
        self.document = document(text, self.report)
        options = options or LegacyOptions()
        self.legal = legal(self.document, self.report, lenient=options.lenient)
        found = plan(Entry(self.document), options, self.report) if self.legal else None
        self.found = found if found is not None and not found.barred else None
        if self.found is not None:
            chosen = framework(self.found.framework)
            assert chosen is not None
            if chosen.verify:
                chosen.verify(self.found, self.report)
            self.contribution: Contribution = chosen.lower(self.found).attach_origin(chosen.name)

    @property
    def plan(self) -> Plan:
        assert self.found is not None, self.report.findings
        return self.found

    @property
    def rules(self) -> list[str]:
        return sorted({f.rule.name for f in self.report.findings})

    @property
    def refusals(self) -> list[str]:
        return [f.refusal.text for f in self.report.findings if f.refusal]

    @property
    def jobset(self) -> Any:
        return plain(self.plan.template)["spec"]

    def objects(self, kind: str) -> list[Any]:
        return [plain(tree) for tree in self.contribution.objects if tree["kind"].value == kind]

    def env(self, role: str, container: str, index: int = 0, job: int = 0) -> dict[str, str]:
        """What a process in pod `index` of child Job `job` sees, references filled in."""
        found = self.plan.role(role)
        assert found is not None
        entries = (found.container(container) or {}).get("env") or []
        for patch in self.contribution.patches:
            if patch.role == found.index and patch.container == container and "env" in patch.sets:
                entries = patch.sets["env"]
        before = sum(r.replicas.value for r in self.plan.roles[: found.index])
        return expanded(plain(entries), index, before + job)


def expanded(entries: list[Any], index: int, global_index: int) -> dict[str, str]:
    seen: dict[str, str] = {}
    for entry in entries:
        assert entry["name"] not in seen
        if "valueFrom" in entry:
            path = entry["valueFrom"]["fieldRef"]["fieldPath"]
            known = {"completion-index": str(index), "job-global-index": str(global_index), "podIP": "10.0.0.7"}
            seen[entry["name"]] = next(value for key, value in known.items() if key in path)
        else:
            seen[entry["name"]] = REFERENCE.sub(partial(replaced, seen), entry.get("value", ""))
    return seen


def replaced(seen: dict[str, str], found: re.Match[str]) -> str:
    return "$" if found[0] == "$$" else seen.get(found[1], found[0])
