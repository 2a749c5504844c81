"""How a framework's jobs are usually started: what `trainc new` writes."""

from __future__ import annotations

GPU, TPU, NEURON, EFA = "gpu", "tpu", "neuron", "efa"  # what machines have; EFA is the network of GPUs on EKS


class Start:
    """The shipped `runtime` of a framework; `words` start a program, and `{processes}` stands for all processes.

    `machines` are the sorts of machines that `trainc new --on` offers for it; a job without `--on` is not asked.
    """

    __slots__ = ("about", "args", "has_launcher", "has_shared_memory", "is_named", "machines", "runtime", "words")

    def __init__(
        self,
        runtime: str,
        words: tuple[str, ...],
        about: str,
        *,
        machines: tuple[str, ...] = (GPU,),
        args: tuple[str, ...] = (),
        has_launcher: bool = False,
        has_shared_memory: bool = False,
        is_named: bool = False,
    ) -> None:
        self.runtime = runtime
        self.words = words
        self.about = about
        self.machines = machines
        self.args = args  # that go with the usual words
        self.has_launcher = has_launcher
        self.has_shared_memory = has_shared_memory  # whether the runtime mounts /dev/shm
        self.is_named = is_named  # whether jobs have to refer to the shipped runtime by its own name, on one node
