"""A new job as somebody wants it, the frameworks and machines to choose from, and the YAML of its files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from shlex import join

from trainc import __version__ as VERSION  # noqa: N812 (a constant of the package)
from trainc.frameworks import FRAMEWORKS, framework
from trainc.frameworks.base.requirements import IN_CLUSTER
from trainc.frameworks.flux import RECIPE as CURVE
from trainc.frameworks.mpi import RECIPE as KEYS
from trainc.model import patches as start
from trainc.model.patches import Start
from trainc.text.numbers import whole_number
from trainc.text.object_keys import GPU_RESOURCE, KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.text.quantity import NANO, Quantity
from trainc.yaml.spelling import other_text, text_of

STARTS = {name: one for each in map(framework, FRAMEWORKS) if each is not None for name, one in each.starts.items()}
_QUEUES = {"kueue": ("labels", KUEUE_QUEUE), "volcano": ("annotations", VOLCANO_QUEUE)}
_GANGS = ("coscheduling", "volcano", "native")
_WAIT = (
    "# The launcher starts together with its nodes: wait until sshd of each node answers.",
    "for host in $(cut -d' ' -f1 /etc/mpi/hostfile | grep -v \"^$(hostname)\"); do",
    '  timeout 600 sh -c "until ssh $host true; do sleep 2; done" || exit 1',
    "done",
)
_NODE = """\
        - name: node
          template:
            spec:
              template:
                spec:
                  containers:
                    - name: node
"""
_IMAGE = """\
                      # A job's `image` sets only that of the launcher; mpirun starts the program here, too.
                      image: {}
"""
_TOGETHER = """\
        - name: launcher
          # A gang is scheduled only when all its pods exist; the job's command waits for the nodes instead.
          dependsOn: null
"""
# Kueue waits for all roles at once, and the launcher starts after its nodes: both lines are repeated, to be allowed.
_KUEUE_NODE = """\
                      readinessProbe:
                        tcpSocket:
                          # trainc: allow[kueue-slow-start] sshd listens within seconds
                          port: 2222
"""
_KUEUE_LAUNCHER = """\
        - name: launcher
          dependsOn:
            # trainc: allow[kueue-slow-start] the nodes are ready within seconds
            - name: node
              status: Ready
"""


@dataclass(slots=True, eq=False)
class Request:
    """The answers from which a job and its runtime are written; empty texts and zeros stand for "not asked for"."""

    name: str
    framework: str = "torch"
    nodes: int = 0
    gpus: int = 0
    cpu: str = ""
    memory: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    namespace: str = "training"
    checkpoints: str = ""  # the claim that keeps them
    restarts: bool = False  # whether the job says how often it starts again from them
    on: str = ""  # a name of HARDWARE
    values: Mapping[str, str] = field(default_factory=dict)  # values for the parameters of its components
    scheduler: str = ""
    kubernetes: str = ""  # the cluster's version
    queue: str = ""
    runtime: str = ""  # of the project, used as it is
    variant: str = ""  # what the runtime's name ends in, beside one of the project with other values
    secrets: str = ""  # what the project says of the keys of its framework: existing:NAME, external-secrets or nothing

    @property
    def start(self) -> Start:
        """Where the framework starts from."""
        return STARTS[self.framework]

    @property
    def hardware(self) -> "Hardware | None":
        """The machines, None where none are named."""
        return HARDWARE.get(self.on)

    @property
    def accelerators(self) -> int:
        """How many accelerators a pod has that a framework starts a process for."""
        return self.hardware.count if self.hardware else self.gpus

    @property
    def runtime_name(self) -> str:
        """The runtime that the job refers to."""
        usual = self.start.runtime if self.start.is_named else ""
        machines = f"{self.on or ('gpu' if self.gpus else 'cpu')}{self.variant}"
        return self.runtime or usual or f"{self.framework}-{machines}"

    def words(self) -> tuple[str, ...]:
        """The command of the job: the one given, else the usual one of the framework."""
        processes = str(max(self.nodes, 1) * max(self.accelerators, 1))
        return self.command or tuple(word.format(processes=processes) for word in self.start.words)

    def settings(self) -> dict[str, str]:
        """What is said of the machines' own component: values of its parameters, and sizes where they are parameters."""
        is_sized = self.hardware is not None and self.hardware.is_sized_by_component
        sizes = {"cpu": self.cpu, "memory": self.memory} if is_sized else {}
        return {**{key: size for key, size in sizes.items() if size}, **self.values}

    def uses(self) -> dict[str, dict[str, str]]:
        """The components that the runtime switches on, each with the values of its parameters, in this order."""
        components = {name: dict(given) for name, given in (self.hardware.uses if self.hardware else {}).items()}
        if self.framework == "flux":
            components.pop("shm", None)  # Flux mounts a /dev/shm of its own
        if self.gpus and not self.start.has_shared_memory and "shm" not in components:
            components = {"shm": {}, **components}
        memory = self.memory or self.resources().get("memory")
        if "shm" in components and memory:
            components["shm"] = _shared(memory, components["shm"])
        if self.hardware:
            main = next(reversed(self.hardware.uses))
            components[main] |= self.settings()
        return components

    def resources(self) -> dict[str, str]:
        """What each node asks for beyond what the components of its machine say; a share of the machine for GPUs."""
        # For GPUs cores and memory, less than any machine of the clouds has for each.
        usual = (str(8 * self.gpus), f"{64 * self.gpus}Gi") if self.gpus else ("", "")
        if self.hardware:
            usual = (self.hardware.cpu, self.hardware.memory)
        given = {"cpu": self.cpu or usual[0], "memory": self.memory or usual[1]}
        if self.hardware and self.hardware.is_sized_by_component:
            return {}
        if self.gpus and not self.hardware:
            given[GPU_RESOURCE] = str(self.gpus)
        return {name: amount for name, amount in given.items() if amount}


def _shared(memory: str, given: dict[str, str]) -> dict[str, str]:
    """The parameters of `shm` for pods of that much memory: a quarter of it where the usual size would not fit."""
    wanted = Quantity.parse(given.get("size", "64Gi")).nanos
    most = Quantity.parse(memory).nanos
    if wanted * 2 <= most:
        return given
    return {**given, "size": f"{max(most // 4 // NANO >> 20, 1)}Mi"}


@dataclass(slots=True, eq=False)
class Hardware:
    """A machine type: components with the values of their parameters, and the accelerators of one pod.

    `count` is 0 where the component's topology decides it, which then decides the number of nodes as well. `cpu` and
    `memory` are what a job asks for that says nothing else: most of the machine on EKS, about half elsewhere. `sorts`
    are words of `trainc/model/patches.py`: a framework says there which of them it runs on.
    """

    about: str
    uses: dict[str, dict[str, str]]
    count: int = 8
    sorts: tuple[str, ...] = (start.GPU,)
    cpu: str = "64"
    memory: str = "512Gi"
    is_sized_by_component: bool = False  # cores and memory are parameters: the job asks for nothing

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks that run on these machines."""
        return tuple(name for name, start in STARTS.items() if set(start.machines) & set(self.sorts))


def _slice(name: str, memory: str) -> Hardware:
    """One slice of a TPU generation; the memory is half of a host's (axlearn, system_characteristics.py)."""
    return Hardware(f"GKE TPU {name}, one slice", {f"tpu-{name}": {}}, 0, (start.TPU,), cpu="32", memory=memory)


def _gib(machine: str, about: str, label: str) -> Hardware:
    uses = {"shm": {"size": "250Gi"}, "gke-gib": {"machine": label}}
    return Hardware(f"GKE {machine}, {about} with RDMA", uses)


def _nd(machine: str, about: str) -> Hardware:
    uses = {"shm": {"size": "64Gi"}, "aks-infiniband": {"machine": machine}}
    return Hardware(f"AKS {machine}, {about} with InfiniBand", uses)


def _oci(shape: str, about: str) -> Hardware:
    return Hardware(f"OCI {shape}, {about} with RDMA", {"shm": {"size": "32Gi"}, "oci-rdma": {"shape": shape}})


def _most(cores: int, gib: int) -> tuple[str, str]:
    """The cores and the memory that a job takes of a machine with so many cores and GiB, which it has alone.

    The rest is for the kubelet, DaemonSets and, on machines with EFA, 10 GiB of huge pages.
    """
    return str(cores * 15 // 16), f"{gib * 7 // 8}Gi"


def _neuron(instance: str) -> Hardware:
    about = f"EKS {instance}, Trainium with EFA; a process for each of 32 cores"
    cpu, memory = _most(128, 512)
    return Hardware(about, {"aws-neuron": {"instance": instance}}, 32, (start.NEURON,), cpu=cpu, memory=memory)


def _efa(instance: str, about: str, cores: int = 192, gib: int = 2048) -> Hardware:
    """An instance of so many cores and GiB (torchx, named_resources_aws.py, which takes them from Amazon's pages)."""
    uses = {"shm": {}, "aws-efa": {"instance": instance}}
    cpu, memory = _most(cores, gib)
    return Hardware(f"EKS {instance}, {about} with EFA", uses, sorts=(start.GPU, start.EFA), cpu=cpu, memory=memory)


HARDWARE = {
    "gke-a3-mega": Hardware("GKE a3-megagpu-8g, H100 with TCPXO", {"shm": {"size": "128Gi"}, "gke-tcpxo": {}}),
    "gke-a3-high": Hardware("GKE a3-highgpu-8g, H100 with TCPX", {"shm": {"size": "128Gi"}, "gke-tcpx": {}}),
    "gke-a3-ultra": _gib("a3-ultragpu-8g", "H200", "nvidia-h200-141gb"),
    "gke-a4": _gib("a4-highgpu-8g", "B200", "nvidia-b200"),
    "gke-a4x": Hardware(
        "GKE a4x-highgpu-4g, GB200 in one NVLink domain",
        {"shm": {"size": "250Gi"}, "gke-a4x": {}},
        4,
        is_sized_by_component=True,
    ),
    "aks-nd-a100": _nd("Standard_ND96asr_v4", "A100"),
    "aks-nd-a100-80gb": _nd("Standard_ND96amsr_A100_v4", "A100 of 80 GB"),
    "aks-nd-h100": _nd("Standard_ND96isr_H100_v5", "H100"),
    "aks-nd-h200": _nd("Standard_ND96isr_H200_v5", "H200"),
    "oci-h100": _oci("BM.GPU.H100.8", "H100"),
    "oci-h200": _oci("BM.GPU.H200.8", "H200"),
    "oci-b200": _oci("BM.GPU.B200.8", "B200"),
    "eks-trn1": _neuron("trn1.32xlarge"),
    "eks-trn1n": _neuron("trn1n.32xlarge"),
    "eks-p4d": _efa("p4d.24xlarge", "A100", 96, 1152),
    "eks-p4de": _efa("p4de.24xlarge", "A100", 96, 1152),
    "eks-p5": _efa("p5.48xlarge", "H100"),
    "eks-p5e": _efa("p5e.48xlarge", "H200"),
    "eks-p5en": _efa("p5en.48xlarge", "H200"),
    "eks-p6-b200": _efa("p6-b200.48xlarge", "B200"),
    "eks-p6-b300": _efa("p6-b300.48xlarge", "B300", gib=4096),
    "tpu-v4": _slice("v4", "200Gi"),
    "tpu-v5e": _slice("v5e", "96Gi"),
    "tpu-v5p": _slice("v5p", "220Gi"),
    "tpu-v6e": _slice("v6e", "360Gi"),
    "tpu-7x": _slice("7x", "480Gi"),
}


def queue_of(scheduler: str) -> tuple[str, str]:
    """Where a job names its queue: labels or annotations, and the key; empty where the scheduler has no queues."""
    return _QUEUES.get(scheduler, ("", ""))


def job_text(request: Request) -> str:
    """The file of the job."""
    return "".join(f"{line}\n" for line in _job(request))


def _job(request: Request) -> Iterator[str]:
    yield "# A training job: what to run, on how many nodes, from which image. The runtime sets the rest."
    yield "# `trainc explain TrainJob.spec.trainer` describes the fields; `trainc show` draws what will run."
    yield "apiVersion: trainer.kubeflow.org/v1alpha1"
    yield "kind: TrainJob"
    yield "metadata:"
    needs_secret = request.framework == "flux" or (request.start.has_launcher and request.secrets != IN_CLUSTER)
    if needs_secret:
        recipe, ending = (KEYS, "mpi-ssh-auth") if request.start.has_launcher else (CURVE, "flux-curve")
        secret = request.secrets.partition(":")[2] or f"{request.name}-{ending}"
        where = f" -n {request.namespace}" if request.namespace else ""
        yield "  # The pods need a Secret. Create it once, outside Git:"
        for part in f"{recipe.replace('NAME', secret)}{where}".split(" && "):
            yield f"  #   {part.strip()}"
        yield "  # trainc: allow[secret-needed] created by the commands above"
    yield f"  name: {text_of(request.name)}"
    if request.namespace:
        yield f"  namespace: {text_of(request.namespace)}"
    section, key = queue_of(request.scheduler)
    queue = [f"    {key}: {text_of(request.queue)}"] if request.queue and section else []
    annotations = queue if section == "annotations" else []
    if request.checkpoints:
        annotations += [
            "    # The PVC of this job: write checkpoints to /checkpoints, and resume from the latest one at start.",
            "    trainc.dev/components: checkpoints",
            f"    checkpoints.trainc.dev/claim: {text_of(request.checkpoints)}",
        ]
    if request.restarts:
        annotations.append('    checkpoints.trainc.dev/restarts: "3"')
    if queue and section == "labels":
        yield from ["  labels:", *queue]
    if annotations:
        yield from ["  annotations:", *annotations]
    yield "spec:"
    yield "  runtimeRef:"
    yield f"    name: {text_of(request.runtime_name)}"
    if trainer := list(_trainer(request)):
        yield from ["  trainer:", *trainer]


def _trainer(request: Request) -> Iterator[str]:
    if request.nodes:
        yield f"    numNodes: {request.nodes}"
    if request.accelerators and (request.start.has_launcher or (request.framework == "torch" and request.hardware)):
        yield f"    numProcPerNode: {request.accelerators}"
    if request.image:
        if request.start.has_launcher:
            yield "    # The image of the launcher; the runtime sets that of the nodes."
        yield f"    image: {text_of(request.image)}"
    elif not request.runtime and not request.start.is_named:
        place = " here, and that of the nodes in the runtime" if request.start.has_launcher else ""
        yield f"    # The image of the runtime does not contain your program: set your image{place}."
        yield "    # image: REGISTRY/IMAGE:TAG"
    if words := request.words():
        yield f"    # {request.start.about}"
        if _is_gang_with_launcher(request):
            yield from ["    command:", "      - bash", "      - -c", "      - |"]
            yield from (f"        {line}" for line in (*_WAIT, f"exec {join(words)}"))
        else:
            yield f"    command: [{', '.join(_flow(word) for word in words)}]"
    if request.start.args and not request.command:
        yield f"    args: [{', '.join(_flow(word) for word in request.start.args)}]"
    if resources := request.resources():
        yield "    # Resources of each node: request most of what your machines have."
        yield "    resourcesPerNode:"
        yield "      limits:"
        yield from (f"        {name}: {_amount(amount)}" for name, amount in resources.items())


def _is_gang_with_launcher(request: Request) -> bool:
    """Whether the launcher and its nodes start together, so that the launcher itself has to wait for sshd."""
    return request.start.has_launcher and request.scheduler in _GANGS


def _flow(word: str) -> str:
    """A word as an item of a list in brackets, where commas and brackets count."""
    spelled = text_of(word)
    return spelled if spelled[:1] == '"' or not set(spelled) & set(",[]{}#&*!|>'%@`") else f'"{spelled}"'


def _amount(amount: str) -> str:
    return text_of(amount) if (number := whole_number(amount)) is None else other_text(number)


def runtime_text(request: Request) -> str:
    """The file of the runtime: the shipped one, with the components of the machines and what restarts mean."""
    return "".join(f"{line}\n" for line in _runtime(request))


def _runtime(request: Request) -> Iterator[str]:
    about = f" on {request.hardware.about}" if request.hardware else ""
    yield f"# Settings that {request.framework} jobs{about} share. A change here applies to every job that uses this runtime."
    yield "# `trainc explain Runtime.spec` describes the fields."
    yield "apiVersion: trainc.dev/v1alpha1"
    yield "kind: Runtime"
    yield "metadata:"
    yield f"  name: {request.runtime_name}"
    yield "spec:"
    yield f"  extends: {request.start.runtime}"
    if uses := request.uses():
        yield "  # Each is a file in components/, which names its sources."
        yield "  components:"
    for name, given in uses.items():
        yield f"    - name: {name}"
        if given:
            yield "      with:"
            yield from (f"        {key}: {_amount(value)}" for key, value in given.items())
    yield "  template:"
    yield "    spec:"
    yield "      failurePolicy:"
    yield "        # Without checkpoints, training would restart from step 0. If jobs write them to a PVC, set the number of"
    yield "        # restarts in the job (`checkpoints.trainc.dev/restarts`); if all write them to a bucket, set it here."
    yield "        maxRestarts: 0"
    yield "        restartStrategy: BlockingRecreate"
    if request.start.has_launcher:  # what is said of its nodes and of it, beyond the shipped runtime
        is_queued = request.scheduler == "kueue"
        node = f"{_IMAGE.format(text_of(request.image)) if request.image else ''}{_KUEUE_NODE if is_queued else ''}"
        launcher = _KUEUE_LAUNCHER if is_queued else _TOGETHER if _is_gang_with_launcher(request) else ""
        if node or launcher:
            yield "      replicatedJobs:"
            yield from f"{f'{_NODE}{node}' if node else ''}{launcher}".splitlines()


def shipped_text(text: str, request: Request) -> str:
    """A shipped runtime as the project gets it: jobs use it as it is, so that it suits the scheduler."""
    if not request.start.is_named:
        return text
    if request.scheduler == "kueue":
        reason = "the initializers end within Kueue's `waitForPodsReady.timeout`"
        waits = "          dependsOn:\n"
        text = text.replace(waits, f"{waits}            # trainc: allow[kueue-slow-start] {reason}\n")
    return with_blocking_restarts(text)


def with_blocking_restarts(text: str) -> str:
    """A shipped runtime whose restarts wait for the pods of the last run, as those of a gang must."""
    restarts = "        maxRestarts: 3\n"
    return text.replace(restarts, f"{restarts}        restartStrategy: BlockingRecreate\n")


def project_text(request: Request) -> str:
    """The trainc.yaml of a new project."""
    lines = [
        "# Settings for all jobs in this repository. `trainc explain Project.spec` describes the fields.",
        "apiVersion: trainc.dev/v1alpha1",
        "kind: Project",
        "spec:",
        f'  requires: "trainc>={VERSION}"',
    ]
    if request.scheduler:
        lines += ["  clusters:", "    main:", f"      scheduler: {text_of(request.scheduler)}"]
    if request.kubernetes:
        lines.append(f'      kubernetes: "{request.kubernetes}"')
    if request.scheduler == "native":
        lines += [
            "      # Off by default: an administrator of the cluster must enable it.",
            "      gates: GenericWorkload",
        ]
    return "".join(f"{line}\n" for line in lines)
