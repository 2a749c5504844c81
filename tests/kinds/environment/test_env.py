"""The environment of every pod of small jobs, value by value."""

import pytest

from tests.kinds.samples.jobs import Compiled
from tests.kinds.samples.texts import entry, job, old, role

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
    "the first TfJob": (
        old(entry("MASTER"), entry("WORKER", 3)),
        "tensorflow",
        [
            ("master", 0, 0, {"TF_CONFIG": tf("master", 0, "").replace("chief", "master")}),
            *(
                (
                    "worker",
                    0,
                    i,
                    {"JOB_COMPLETION_INDEX": str(i), "TF_CONFIG": tf("worker", i, "").replace("chief", "master")},
                )
                for i in range(3)
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
