"""The YAML of a new job, of the runtime it starts from, and of a project's settings; each with the comments that explain."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import join

from trainc import __version__ as VERSION  # noqa: N812 (a constant of the package)
from trainc.authoring.new import Request
from trainc.frameworks.flux import RECIPE as CURVE
from trainc.frameworks.mpi import RECIPE as KEYS
from trainc.text.numbers import whole_number
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.yaml.spelling import other_text, text_of

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
    if request.start.has_launcher or request.framework == "flux":
        recipe, ending = (KEYS, "mpi-ssh-auth") if request.start.has_launcher else (CURVE, "flux-curve")
        where = f" -n {request.namespace}" if request.namespace else ""
        yield "  # The pods need a Secret. Create it once, outside Git:"
        for part in f"{recipe.replace('NAME', f'{request.name}-{ending}')}{where}".split(" && "):
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
