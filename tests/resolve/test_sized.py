"""The roles of a job that patches nothing are those that would be made for it alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.frameworks.planning import role
from trainc.model.report import Report
from trainc.model.tree import stamp
from trainc.resolve import roles_of, sized
from trainc.resolve.template import Prepared
from trainc.yaml.reader import read

ROLES = {
    "one trainer": role("node"),
    "two trainers": f"{role('a', parallelism=3)}, {role('b')}",
    "a trainer that comes second": f"{role('first', trainer=False)}, {role('second')}, {role('third', trainer=False)}",
    "no trainer": role("node", trainer=False),
    "nobody": "",
}


@pytest.mark.parametrize("policy", ["{torch: {}}", "{numNodes: 2, torch: {}}", "{mpi: {}}", "null"])
@pytest.mark.parametrize("roles", ROLES.values(), ids=list(ROLES))
@pytest.mark.parametrize("nodes", [None, 0, 7])
def test_sized_roles_are_those_made_for_the_job_alone(policy: str, roles: str, nodes: int | None) -> None:
    text = f"metadata: {{name: r}}\nspec: {{mlPolicy: {policy}, template: {{spec: {{replicatedJobs: [{roles}]}}}}}}"
    (document,) = read(text, "case.yaml", Report())
    runtime, asked = Prepared(document, document.tree), None if nodes is None else stamp(nodes, "job")
    wanted = roles_of(asked, runtime, runtime.template)
    for _ in range(2):
        found: Any = sized(asked, runtime)
        assert [(r.index, r.tree, r.pod, r.name, r.ancestor, r.replicas.value) for r in found] == [
            (r.index, r.tree, r.pod, r.name, r.ancestor, r.replicas.value) for r in wanted
        ]
        assert [(r.count.value, r.count.origin) for r in found] == [(r.count.value, r.count.origin) for r in wanted]
