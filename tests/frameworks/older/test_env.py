"""The environment of every pod of small jobs, value by value."""

from __future__ import annotations

import pytest

from tests.older.jobs import Compiled
from tests.older.texts import job, role
from trainc.frameworks.older.env import rewritten
from trainc.resolve.older import Options

V2 = "kubeflow.org/v2beta1"
W3 = role("Worker", 3)
PORTED = "{name: %s, image: img, ports: [{name: %s, containerPort: 8080}]}"


def jax(index: int) -> dict[str, str]:
    return {
        "PYTHONUNBUFFERED": "1",
        "COORDINATOR_PORT": "6666",
        "COORDINATOR_ADDRESS": "demo-worker-0-0.demo",
        "NUM_PROCESSES": "4",
        "PROCESS_ID": str(index),
    }


def torch(rank: int, host: str, world: int = 4, procs: str = "auto", port: int = 23456) -> dict[str, str]:
    return {
        "PYTHONUNBUFFERED": "1",
        "MASTER_PORT": str(port),
        "PET_MASTER_PORT": str(port),
        "MASTER_ADDR": host,
        "PET_MASTER_ADDR": host,
        "WORLD_SIZE": str(world),
        "RANK": str(rank),
        "PET_NODE_RANK": str(rank),
        "PET_NPROC_PER_NODE": procs,
        "PET_NNODES": "4",
    }


def xgb(rank: int, master: str, workers: list[str]) -> dict[str, str]:
    return {
        "MASTER_PORT": "9999",
        "MASTER_ADDR": master,
        "WORLD_SIZE": "4",
        "RANK": str(rank),
        "PYTHONUNBUFFERED": "1",
        "WORKER_PORT": "9999",
        "WORKER_ADDRS": ",".join(workers),
    }


def tf(kind: str, index: int, namespace: str = ".ns1.svc") -> str:
    hosts = ",".join(f'"demo-worker-0-{i}.demo{namespace}:2222"' for i in range(3))
    cluster = f'{{"chief":["demo-chief-0-0.demo{namespace}:2222"],"worker":[{hosts}]}}'
    return f'{{"cluster":{cluster},"task":{{"type":"{kind}","index":{index}}},"environment":"cloud"}}'


def paddle(**own: str) -> dict[str, str]:
    return {"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": "demo", "PADDLE_NNODES": "4", **own}


MERGED = [f"demo-node-0-{i}.demo" for i in range(4)]
ALONE = [f"demo-worker-{i}-0.demo" for i in range(3)]
OMPI = {
    "K_MPI_JOB_ROLE": "launcher",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
    "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
    "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    "OMPI_MCA_orte_set_default_slots": "1",
}
NO_GPU = {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}
KUBEXEC = {
    "OMPI_MCA_plm_rsh_agent": "/etc/mpi/kubexec.sh",
    "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
    **NO_GPU,
    "I_MPI_HYDRA_BOOTSTRAP": "rsh",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC": "/etc/mpi/kubexec.sh",
}
CASES = {
    "jax": (job("JAXJob", role("Worker", 4)), "jax", [("worker", 0, i, jax(i)) for i in range(4)]),
    "pytorch, one Job": (
        job("PyTorchJob", role("Master"), W3),
        "pytorch",
        [("node", 0, i, torch(i, MERGED[0])) for i in range(4)],
    ),
    "pytorch, processes per node": (
        job("PyTorchJob", role("Master"), W3, spec='nprocPerNode: "2"'),
        "pytorch",
        [("node", 0, i, torch(i, MERGED[0], 8, "2")) for i in range(4)],
    ),
    "pytorch, one Job per worker": (
        job("PyTorchJob", role("Master", 1, "Never"), W3),
        "pytorch",
        [
            ("master", 0, 0, torch(0, "demo-master-0-0.demo")),
            *(("worker", i, 0, torch(i + 1, "demo-master-0-0.demo")) for i in range(3)),
        ],
    ),
    "pytorch, port": (
        job(
            "PyTorchJob",
            role("Master", 1, "", PORTED % ("pytorch", "pytorchjob-port")),
            role("Worker", 3, "", PORTED % ("pytorch", "pytorchjob-port")),
        ),
        "pytorch",
        [("node", 0, i, torch(i, MERGED[0], port=8080)) for i in range(4)],
    ),
    "pytorch, workers only": (
        job("PyTorchJob", role("Worker", 4)),
        "pytorch",
        [
            ("worker", 0, i, {"PYTHONUNBUFFERED": "1", "PET_NPROC_PER_NODE": "auto", "PET_NNODES": "4"})
            for i in range(4)
        ],
    ),
    "tensorflow": (
        job("TFJob", role("Chief"), W3),
        "tensorflow",
        [
            ("chief", 0, 0, {"TF_CONFIG": tf("chief", 0)}),
            *(("worker", 0, i, {"JOB_COMPLETION_INDEX": str(i), "TF_CONFIG": tf("worker", i)}) for i in range(3)),
        ],
    ),
    "xgboost, one Job": (
        job("XGBoostJob", role("Master"), W3),
        "xgboost",
        [("node", 0, i, xgb(i, MERGED[0], MERGED[1:])) for i in range(4)],
    ),
    "xgboost, one Job per worker": (
        job("XGBoostJob", role("Master"), role("Worker", 3, "ExitCode")),
        "xgboost",
        [
            ("master", 0, 0, xgb(0, "demo-master-0-0.demo", ALONE)),
            *(("worker", i, 0, xgb(i + 1, "demo-master-0-0.demo", ALONE)) for i in range(3)),
        ],
    ),
    "paddle, collective": (
        job("PaddleJob", role("Worker", 4)),
        "paddle",
        [
            ("leader", 0, 0, paddle(POD_IP_DUMMY="10.0.0.7", PADDLE_MASTER="10.0.0.7:36543")),
            *(("worker", 0, i, paddle(PADDLE_MASTER="demo-leader-0-0.demo:36543")) for i in range(3)),
        ],
    ),
    "paddle, parameter server": (
        job("PaddleJob", role("Master", 1, "", PORTED % ("paddle", "master")), W3),
        "paddle",
        [
            ("master", 0, 0, paddle(POD_IP_DUMMY="10.0.0.7", PADDLE_MASTER="10.0.0.7:8080", PADDLE_SERVER_NUM="1")),
            *(
                ("worker", 0, i, paddle(PADDLE_MASTER="demo-master-0-0.demo:8080", PADDLE_TRAINER_NUM="1"))
                for i in range(3)
            ),
        ],
    ),
    "paddle, several servers": (
        job("PaddleJob", role("Master", 2), role("Worker", 2)),
        "paddle",
        [
            ("master", 0, 0, paddle(POD_IP_DUMMY="10.0.0.7", PADDLE_MASTER="10.0.0.7:36543", PADDLE_SERVER_NUM="1")),
            ("master-rest", 0, 0, paddle(PADDLE_MASTER="demo-master-0-0.demo:36543", PADDLE_SERVER_NUM="1")),
            *(
                ("worker", 0, i, paddle(PADDLE_MASTER="demo-master-0-0.demo:36543", PADDLE_TRAINER_NUM="1"))
                for i in range(2)
            ),
        ],
    ),
    "mpi": (
        job("MPIJob", role("Launcher"), W3),
        "mpi",
        [("launcher", 0, 0, KUBEXEC), *(("worker", 0, i, {}) for i in range(3))],
    ),
    "mpi over ssh": (
        job("MPIJob", role("Launcher"), W3, api=V2),
        "mpi",
        [("launcher", 0, 0, {**OMPI, **NO_GPU}), *(("worker", 0, i, {"K_MPI_JOB_ROLE": "worker"}) for i in range(3))],
    ),
    "mpi over ssh, Intel": (
        job("MPIJob", role("Launcher"), W3, api=V2, spec="mpiImplementation: Intel\nslotsPerWorker: 5"),
        "mpi",
        [
            (
                "launcher",
                0,
                0,
                {
                    "K_MPI_JOB_ROLE": "launcher",
                    "I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile",
                    "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
                    "I_MPI_PERHOST": "5",
                    **NO_GPU,
                },
            )
        ],
    ),
    "mpi over ssh, MPICH, launcher works": (
        job("MPIJob", role("Launcher"), W3, api=V2, spec="mpiImplementation: MPICH\nrunLauncherAsWorker: true"),
        "mpi",
        [
            (
                "launcher",
                0,
                0,
                {
                    "K_MPI_JOB_ROLE": "launcher",
                    "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
                    "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
                },
            )
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_pod_sees_what_its_operator_gave_it(name: str) -> None:
    text, container, expected = CASES[name]
    compiled = Compiled(text)
    found = [(role, job, index, compiled.env(role, container, index, job)) for role, job, index, _ in expected]
    assert found == expected


@pytest.mark.parametrize("name", CASES)
def test_the_operator_order_of_variables_is_kept(name: str) -> None:
    text, container, expected = CASES[name]
    compiled = Compiled(text)
    for role_name, child, index, env in expected:
        assert list(compiled.env(role_name, container, index, child)) == list(env)


def test_elastic_workers_meet_at_a_short_name_that_is_searched_for() -> None:
    spec = "elasticPolicy: {minReplicas: 1, maxReplicas: 2, maxRestarts: 100, rdzvConf: [{key: a, value: b}, {key: c, value: d}]}"
    compiled = Compiled(job("PyTorchJob", role("Worker", 2), spec=spec))
    assert compiled.env("worker", "pytorch", 1) == {
        "PYTHONUNBUFFERED": "1",
        "PET_NPROC_PER_NODE": "auto",
        "PET_RDZV_ENDPOINT": "demo-worker-0-0:23456",
        "PET_RDZV_BACKEND": "c10d",
        "PET_NNODES": "1:2",
        "PET_MAX_RESTARTS": "100",
        "PET_RDZV_CONF": "a=b,c=d",
    }
    searched = [patch.pod["dnsConfig"] for patch in compiled.contribution.patches if "dnsConfig" in patch.pod]
    assert [config["searches"][0].value for config in searched] == ["demo.ns1.svc.cluster.local"]


@pytest.mark.parametrize(
    ("policy", "range_"),
    [
        ("{}", "2:2"),
        ("{maxReplicas: 1}", "1:1"),
        ("{minReplicas: 1}", "1:1"),
        ("{minReplicas: 1, maxReplicas: 3}", "1:3"),
    ],
)
def test_an_elastic_range_fills_itself_in(policy: str, range_: str) -> None:
    compiled = Compiled(job("PyTorchJob", role("Worker", 2), spec=f"elasticPolicy: {policy}"))
    assert compiled.env("worker", "pytorch")["PET_NNODES"] == range_


def test_an_elastic_rendezvous_of_its_own_is_kept() -> None:
    spec = "elasticPolicy: {rdzvBackend: c10d, rdzvHost: localhost, rdzvPort: 1234, rdzvId: rdzv-id, standalone: true, nProcPerNode: 4}"
    env = Compiled(job("PyTorchJob", role("Worker", 2), spec=spec)).env("worker", "pytorch")
    assert env["PET_RDZV_ENDPOINT"] == "localhost:1234"
    assert (env["PET_RDZV_ID"], env["PET_STANDALONE"], env["PET_NPROC_PER_NODE"]) == ("rdzv-id", "", "4")


def test_with_a_master_an_elastic_job_still_meets_at_worker_zero() -> None:
    env = Compiled(job("PyTorchJob", role("Master"), W3, spec="elasticPolicy: {}")).env("node", "pytorch", 2)
    assert (env["PET_RDZV_ENDPOINT"], env["RANK"], env["PET_NNODES"]) == ("demo-node-0-1:23456", "2", "3:3")


def test_dynamic_workers_see_only_themselves() -> None:
    compiled = Compiled(job("TFJob", role("PS", 2), role("Worker", 2), spec="enableDynamicWorker: true"))
    both = '"demo-ps-0-0.demo.ns1.svc:2222","demo-ps-0-1.demo.ns1.svc:2222"'
    own = '{"1":"demo-worker-0-1.demo.ns1.svc:2222"}'
    worker = f'{{"cluster":{{"worker":{own},"ps":[{both}]}},"task":{{"type":"worker","index":1}}}}'
    server = '{"cluster":{"worker":{},"ps":["demo-ps-0-1.demo.ns1.svc:2222"]},"task":{"type":"ps","index":1}}'
    assert compiled.env("worker", "tensorflow", 1)["TF_CONFIG"] == worker
    assert compiled.env("ps", "tensorflow", 1)["TF_CONFIG"] == server


def test_a_tensorflow_job_of_one_process_needs_no_cluster() -> None:
    assert Compiled(job("TFJob", role("Worker"))).env("worker", "tensorflow") == {}


def test_an_empty_role_stays_in_the_cluster() -> None:
    compiled = Compiled(job("TFJob", role("Chief"), role("Worker"), role("PS", 0)))
    assert '"ps":[]' in compiled.env("chief", "tensorflow")["TF_CONFIG"]
    assert [r.name.value for r in compiled.plan.roles] == ["chief", "worker"]


def test_the_names_of_the_operator_are_kept_when_asked_for() -> None:
    meta = ', annotations: {trainc.dev/compat-names: "true"}'
    compiled = Compiled(job("PyTorchJob", role("Master"), W3, meta=meta))
    assert compiled.env("node", "pytorch", 3)["MASTER_ADDR"] == "demo-master-0"
    services = compiled.objects("Service")
    assert [s["metadata"]["name"] for s in services] == ["demo-master-0", *(f"demo-worker-{i}" for i in range(3))]
    assert services[3]["spec"]["selector"] == {
        "jobset.sigs.k8s.io/jobset-name": "demo",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "jobset.sigs.k8s.io/job-index": "0",
        "batch.kubernetes.io/job-completion-index": "3",
    }
    assert services[0]["spec"]["ports"] == [{"name": "pytorchjob-port", "port": 23456}]


def test_jax_names_can_be_had_beside_the_operators() -> None:
    meta = ', annotations: {trainc.dev/jax-variables: "true"}'
    env = Compiled(job("JAXJob", role("Worker", 4), meta=meta)).env("worker", "jax", 3)
    own = {"JAX_COORDINATOR_ADDRESS": "demo-worker-0-0.demo:6666", "JAX_NUM_PROCESSES": "4", "JAX_PROCESS_ID": "3"}
    assert env == {**jax(3), **own}


USER = "{name: jax, image: img, env: [{name: NUM_PROCESSES, value: '7'}, {name: SAID, value: 'n=$(NUM_PROCESSES) $$(X) $(Y'}]}"


def test_a_replaced_variable_lives_on_where_it_was_referred_to() -> None:
    compiled = Compiled(job("JAXJob", role("Worker", 4, "", USER)))
    env = compiled.env("worker", "jax")
    assert (env["SAID"], env["NUM_PROCESSES"]) == ("n=7 $(X) $(Y", "4")
    assert "env-overridden" in compiled.rules


def test_a_reference_to_a_replaced_secret_is_an_error() -> None:
    first = "{name: RANK, valueFrom: {configMapKeyRef: {name: s, key: k}}}"
    container = f"{{name: pytorch, image: img, env: [{first}, {{name: SAID, value: $(RANK)}}]}}"
    compiled = Compiled(job("PyTorchJob", role("Master", 1, "", container), role("Worker", 3, "", container)))
    assert "env-reference-lost" in compiled.rules


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$(A)", "1"),
        ("$$(A)", "$$(A)"),
        ("$(JOB_COMPLETION_INDEX)", "$$(JOB_COMPLETION_INDEX)"),
        ("$(B) $A $( $", "$(B) $A $( $"),
    ],
)
def test_values_are_rewritten_as_kubernetes_reads_them(text: str, found: str) -> None:
    assert rewritten(text, {"A": "1"}, escape=True) == found


def test_every_regular_container_is_wired_and_no_init_container() -> None:
    two = "{name: jax, image: img}, {name: helper, image: img}"
    compiled = Compiled(
        job("JAXJob", role("Worker", 2, "", two, initContainers="[{name: init, image: img}]")), Options()
    )
    assert compiled.env("worker", "helper", 1)["PROCESS_ID"] == "1"
    assert {patch.container for patch in compiled.contribution.patches} == {"jax", "helper"}
