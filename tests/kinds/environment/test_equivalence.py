"""Every pod of any older job sees what its operator would have given it, hosts called by their new names."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kinds.samples.jobs import REFERENCE, Compiled, replaced
from tests.kinds.samples.operators import KINDS, SETS, Pod, containers, count, replicas

pytestmark = pytest.mark.slow

INDEX = "JOB_COMPLETION_INDEX"
NAMES = (
    "A",
    "B",
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "PET_NNODES",
    "TF_CONFIG",
    "PADDLE_MASTER",
    "NUM_PROCESSES",
    INDEX,
)
ROLES: dict[str, list[tuple[str, ...]]] = {
    "JAXJob": [("Worker",)],
    "PyTorchJob": [("Master",), ("Worker",), ("Master", "Worker"), ("Worker", "Master")],
    "TFJob": [("Worker",), ("Chief", "Worker"), ("PS", "Worker", "Evaluator"), ("Worker", "PS", "Master")],
    "XGBoostJob": [("Master",), ("Worker", "Master")],
    "PaddleJob": [("Master",), ("Worker",), ("Worker", "Master")],
}
ELASTIC = {
    "minReplicas": st.integers(1, 2),
    "maxReplicas": st.integers(3, 4),
    "rdzvBackend": st.sampled_from(["etcd", "c10d"]),
    "rdzvPort": st.just(99),
    "rdzvHost": st.just("etcd.svc"),
    "rdzvId": st.just("id"),
    "rdzvConf": st.just([{"key": "a", "value": "b"}, {"key": "c"}]),
    "standalone": st.booleans(),
    "maxRestarts": st.integers(0, 3),
}


@st.composite
def variables(draw: st.DrawFn) -> list[dict[str, str]]:
    """A user's variables: plain values, empty ones, and references to those above, live and escaped."""
    names = draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True))
    out: list[dict[str, str]] = []
    for place, name in enumerate(names):
        text = draw(st.sampled_from(["", "v", "$", "a$$b", "$(", "<$({})>", "<$$({})>", "$({})(B)"]))
        above = draw(st.sampled_from(names[:place])) if place else "A"
        out.append({"name": name, "value": text.format(above)} if text or draw(st.booleans()) else {"name": name})
    return out


@st.composite
def roles(draw: st.DrawFn, kind: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Roles that look alike, or each its own way."""
    _, main, port, _ = KINDS[kind]
    alike = draw(st.booleans())
    out: dict[str, Any] = {}
    for name in names:
        if not out or not alike:
            container: dict[str, Any] = {"name": main, "image": "img:1", "env": draw(variables())}
            number = draw(st.sampled_from([None, 1234, 5678]))
            container |= {"ports": [{"name": port, "containerPort": number}]} if number else {}
            policy = draw(st.sampled_from(["Never", "OnFailure", "ExitCode"]))
        single = name in {"Master", "Chief"} and kind != "PaddleJob"
        size = 1 if single else draw(st.integers(0 if name == "PS" else 1, 3))
        out[name] = {"replicas": size, "restartPolicy": policy, "template": {"spec": {"containers": [container]}}}
    return out


@st.composite
def jobs(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(list(KINDS)))
    spec: dict[str, Any] = {KINDS[kind][0]: draw(roles(kind, draw(st.sampled_from(ROLES[kind]))))}
    if kind == "PyTorchJob":
        spec |= draw(
            st.fixed_dictionaries({}, optional={"nprocPerNode": st.sampled_from(["2", "auto", "+3", "-1", "x"])})
        )
        if "Worker" in spec["pytorchReplicaSpecs"] and draw(st.booleans()):
            spec["elasticPolicy"] = draw(st.fixed_dictionaries({}, optional=ELASTIC))
    if kind == "TFJob":
        spec["enableDynamicWorker"] = draw(st.booleans())
    asked = draw(st.sampled_from(["compat-names: true", "rank-layout: per-job", "nothing: else"]))
    name, _, answer = asked.partition(": ")
    meta = {"name": "demo", "namespace": "ns1", "annotations": {f"trainc.dev/{name}": answer}}
    return {"apiVersion": "kubeflow.org/v1", "kind": kind, "metadata": meta, "spec": spec}


def place_of(compiled: Compiled, kind: str, index: int) -> tuple[str, int, int]:
    """The role, the child Job and the pod that stand for a replica."""
    there = {role.name.value: role.replicas.value for role in compiled.plan.roles}
    if "node" in there:
        return "node", 0, index + (kind == "worker")
    if kind == "worker" and "leader" in there:
        return ("worker", 0, index - 1) if index else ("leader", 0, 0)
    if kind == "master" and index:
        return "master-rest", 0, index - 1
    return (kind, index, 0) if there[kind] > 1 else (kind, 0, index)


def kubelets(entries: list[dict[str, str]]) -> dict[str, str]:
    seen: dict[str, str] = {}
    for entry in entries:
        seen[entry["name"]] = REFERENCE.sub(partial(replaced, seen), entry.get("value", ""))
    return seen


@settings(max_examples=80, deadline=None)
@given(jobs())
def test_every_pod_sees_what_its_operator_gave_it(job: Any) -> None:
    compiled = Compiled(json.dumps(job))
    main = KINDS[job["kind"]][1]
    aliased = "trainc.dev/compat-names" in job["metadata"]["annotations"]

    def short(kind: str, index: int) -> str:
        role, number, pod = place_of(compiled, kind, index)
        return f"demo-{kind}-{index}" if aliased else f"demo-{role}-{number}-{pod}"

    def address(kind: str, index: int) -> str:
        return short(kind, index) + ("" if aliased else ".demo")

    for role, index in replicas(job):
        spec = job["spec"][KINDS[job["kind"]][0]][role]
        users = kubelets(containers(spec)[0]["env"])
        operators = SETS[job["kind"]](Pod(job, role, index, address, short))
        where, number, pod = place_of(compiled, role.lower(), index)
        found = compiled.env(where, main, pod, number)
        expected = users | {name: str(content) for name, content in operators}
        assert {**found, INDEX: ""} == {**expected, INDEX: ""}
        assert count(spec) > 0
