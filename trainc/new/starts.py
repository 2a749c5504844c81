"""Which shipped runtime a framework starts from, and how its program is usually started."""

from __future__ import annotations


class Start:
    """The shipped `runtime` of a framework; `words` start a program, and `{processes}` stands for all processes."""

    __slots__ = ("about", "args", "has_launcher", "has_shared_memory", "is_named", "runtime", "words")

    def __init__(
        self,
        runtime: str,
        words: tuple[str, ...],
        about: str,
        *,
        args: tuple[str, ...] = (),
        has_launcher: bool = False,
        has_shared_memory: bool = False,
        is_named: bool = False,
    ) -> None:
        self.runtime = runtime
        self.words = words
        self.args = args  # that go with the usual words
        self.about = about
        self.has_launcher = has_launcher
        self.has_shared_memory = has_shared_memory  # whether the runtime mounts /dev/shm
        self.is_named = is_named  # whether jobs have to refer to the shipped runtime by its own name, on one node


_MPI = ("mpirun", "-n", "{processes}", "python", "train.py")
_ONE = "Every node runs this command once."

STARTS = {
    "torch": Start(
        "torch-distributed",
        ("torchrun", "train.py"),
        "torchrun starts a process for each GPU; the PET_* variables tell it where the nodes meet.",
        has_shared_memory=True,
    ),
    "jax": Start(
        "jax-distributed",
        ("python", "train.py"),
        "One process on every node; the program calls jax.distributed.initialize().",
        has_shared_memory=True,
    ),
    "tensorflow": Start("tensorflow-distributed", ("python", "train.py"), "Every worker reads TF_CONFIG."),
    "paddle": Start(
        "paddle-distributed",
        ("python", "-m", "paddle.distributed.launch", "train.py"),
        "The launcher of Paddle starts a process for each GPU; it reads PADDLE_*.",
        has_shared_memory=True,
    ),
    "xgboost": Start("xgboost-distributed", ("python", "train.py"), "Workers meet at the tracker in DMLC_*."),
    "lightgbm": Start(
        "lightgbm-distributed",
        ("python", "train.py"),
        "The program builds its list of machines from WORKER_ADDRS and WORKER_PORT.",
    ),
    "deepspeed": Start(
        "deepspeed-distributed",
        _MPI,
        "mpirun on the launcher starts the processes on every node.",
        has_launcher=True,
        has_shared_memory=True,
    ),
    "mlx": Start(
        "mlx-distributed",
        _MPI,
        "mpirun on the launcher starts the processes on every node.",
        has_launcher=True,
        has_shared_memory=True,
    ),
    "mpi": Start(
        "deepspeed-distributed",
        _MPI,
        "mpirun on the launcher starts the processes on every node; the image needs Open MPI and sshd.",
        has_launcher=True,
        has_shared_memory=True,
    ),
    "flux": Start(
        "flux", ("python", "train.py"), "Flux starts this command as one task for each process.", has_shared_memory=True
    ),
    "torchtune": Start(
        "torchtune-llama3.2-1b",
        ("tune", "run"),
        args=(
            "dataset=torchtune.datasets.instruct_dataset",
            "dataset.source=parquet",
            "dataset.data_dir=/workspace/dataset/data",
        ),
        about="torchtune's recipe and config follow from the runtime and the size of the job.",
        has_shared_memory=True,
        is_named=True,
    ),
    "plain": Start("plain-distributed", ("python", "train.py"), _ONE),
}
