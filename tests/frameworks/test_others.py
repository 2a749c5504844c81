"""JAX, XGBoost, LightGBM, TensorFlow, Paddle and plain: what each sets, and what it questions."""

import json
from typing import Any

import pytest

from tests.frameworks.planning import env, lowered, plan, refusals, role, said
from trainc.frameworks.base.refusals import compact, forbidden, invalid

INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_jax() -> None:
    assert env(plan("{jax: {}}", role("node"), "{numNodes: 3}")) == {
        "JAX_NUM_PROCESSES": "3",
        "JAX_PROCESS_ID": INDEX,
        "JAX_COORDINATOR_ADDRESS": "run-node-0-0.run:29500",
    }


def test_a_job_that_beats_jax() -> None:
    job = "{env: [{name: JAX_NUM_PROCESSES, value: '9'}]}"
    assert said(plan("{jax: {}}", role("node"), job)) == ["rendezvous-env-replaced"]


@pytest.mark.parametrize(
    ("nodes", "gpus", "workers"),
    [(1, "{}", "1"), (4, "{limits: {cpu: 8}}", "4"), (2, "{limits: {nvidia.com/gpu: 4}}", "8"), (0, "{}", "0")],
)
def test_workers_of_xgboost(nodes: int, gpus: str, workers: str) -> None:
    planned = plan("{xgboost: {}}", role("node", f"{{name: node, resources: {gpus}}}"), f"{{numNodes: {nodes}}}")
    assert env(planned)["DMLC_NUM_WORKER"] == workers


def test_xgboost_refuses_each_variable_at_its_place() -> None:
    job = "{env: [{name: A}, {name: DMLC_TASK_ID, value: '1'}]}"
    text = "spec.trainer.env[1]: Forbidden: DMLC_TASK_ID is reserved for the XGBoost runtime"
    assert refusals(plan("{xgboost: {}}", role("node"), job)) == [text]


def test_lightgbm() -> None:
    found = env(plan("{numNodes: 3}", role("node"), label="lightgbm"))
    assert found["MASTER_ADDR"] == "run-node-0-0.run"
    assert found["WORKER_ADDRS"] == "run-node-0-1.run,run-node-0-2.run"
    assert (found["WORLD_SIZE"], found["RANK"]) == ("3", INDEX)


def test_a_single_lightgbm_worker_has_no_others() -> None:
    assert "WORKER_ADDRS" not in env(plan("{}", role("node"), label="lightgbm"))


def test_plain_sets_nothing() -> None:
    planned = plan("{}", role("node"), "{numNodes: 2}")
    assert (lowered(planned).patches, said(planned)) == ((), [])


CLUSTER = f"{role('chief')}, {role('ps', parallelism=2)}, {role('worker')}"


def config(name: str, text: str = CLUSTER, job: str = "{numNodes: 2}") -> dict[str, object]:
    """TF_CONFIG of one role, with the index that its second pod would have."""
    written = env(plan("{numNodes: 1}", text, job, label="tensorflow"), name)["TF_CONFIG"]
    found: dict[str, object] = json.loads(written.replace("$(JOB_COMPLETION_INDEX)", "1"))
    return found


def test_tensorflow_lists_every_task_and_its_own() -> None:
    assert config("worker") == {
        "cluster": {
            "chief": ["run-chief-0-0.run:2222"],
            "ps": ["run-ps-0-0.run:2222", "run-ps-0-1.run:2222"],
            "worker": ["run-worker-0-0.run:2222", "run-worker-0-1.run:2222"],
        },
        "task": {"type": "worker", "index": 1},
        "environment": "cloud",
    }
    assert config("chief")["task"] == {"type": "chief", "index": 0}


def test_the_jobs_nodes_are_tensorflows_workers() -> None:
    planned = plan("{numNodes: 1}", CLUSTER, "{numNodes: 5}", label="tensorflow")
    assert [count.value for count in lowered(planned).counts.values()] == [1, 2, 5]


def test_a_single_tensorflow_process_has_nobody_to_meet() -> None:
    assert env(plan("{}", role("worker"), label="tensorflow"), "worker") == {}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (role("ps"), ["endless-server", "no-decider"]),
        (f"{role('chief')}, {role('master')}", ["two-chiefs"]),
        (f"{role('chief')}, {role('worker', '{name: main}')}", ["no-node-container"]),
        (role("worker").replace("name: worker,", "name: worker, replicas: 2,"), ["replicated-task"]),
    ],
)
def test_clusters_that_would_not_form(roles: str, expected: list[str]) -> None:
    assert said(plan("{}", roles, label="tensorflow")) == expected


def test_a_cluster_too_large_for_an_object_is_refused_and_never_written() -> None:
    planned = plan("{}", role("worker"), "{numNodes: 2000000000}", label="tensorflow")
    assert said(planned) == ["too-many-hosts"]
    assert lowered(planned).patches == ()


PAIR = f"{role('leader')}, {role('worker')}"


def test_paddles_leader_asks_itself_by_address() -> None:
    planned = plan("{numNodes: 1}", PAIR, "{numNodes: 3}", label="paddle")
    assert [count.value for count in lowered(planned).counts.values()] == [1, 2]
    assert env(planned, "leader")["PADDLE_MASTER"] == "$(POD_IP_DUMMY):36543"
    assert next(iter(env(planned, "leader"))) == "POD_IP_DUMMY"
    assert env(planned, "worker") == {
        "PYTHONUNBUFFERED": "1",
        "PADDLE_JOB_ID": "run",
        "PADDLE_NNODES": "3",
        "PADDLE_MASTER": "run-leader-0-0.run:36543",
    }


def test_a_paddle_server_of_parameters() -> None:
    planned = plan("{}", f"{role('master')}, {role('worker', parallelism=2)}", "{numNodes: 2}", label="paddle")
    assert env(planned, "master")["PADDLE_SERVER_NUM"] == "1"
    assert env(planned, "worker")["PADDLE_TRAINER_NUM"] == "1"
    assert env(planned, "worker")["PADDLE_NNODES"] == "3"


@pytest.mark.parametrize(("roles", "job"), [(role("worker"), "{numNodes: 2}"), (role("extra"), "{}")])
def test_paddle_without_a_server_for_the_rendezvous(roles: str, job: str) -> None:
    assert said(plan("{}", roles, job, label="paddle")) == ["no-rendezvous-server"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (2, "2"),
        ("a b", '"a b"'),
        ([{"value": "1", "name": "X"}], '[{"name":"X","value":"1"}]'),
        ({"requests": {"b": "1", "a": "2"}, "limits": {}}, '{"limits":{},"requests":{"a":"2","b":"1"}}'),
        ({"kind": "K", "name": "n", "apiGroup": "g"}, '{"name":"n","apiGroup":"g","kind":"K"}'),
        ("a<b>&c", '"a\\u003cb\\u003e\\u0026c"'),
        ("ä", '"ä"'),
    ],
)
def test_values_print_as_go_prints_them(value: Any, expected: str) -> None:
    assert compact(value) == expected


def test_the_two_kinds_of_errors() -> None:
    assert invalid("spec.x", 0, "must not be 0") == "spec.x: Invalid value: 0: must not be 0"
    assert forbidden("spec.x", "no") == "spec.x: Forbidden: no"
