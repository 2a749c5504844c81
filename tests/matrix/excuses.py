"""Where a mistake is none, or comes with another finding: what an operator does with a field of its pods, and who says so."""

from fnmatch import fnmatchcase

from tests.matrix.kinds import Kind

Names = tuple[str, str]  # of a mistake and of its rule

KUBEFLOW = ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")
LEADS = ("PyTorchJob/Master", "TFJob/Chief", "XGBoostJob/Master", "PaddleJob/Master", "MPIJob/Launcher")
FOLLOWS = ("PyTorchJob/Worker", "TFJob/PS", "TFJob/Worker", "XGBoostJob/Worker", "PaddleJob/Worker", "MPIJob/Worker")

# Kinds, with or without a role; mistakes or rules; why nothing is found there, and where that is written.
SILENT: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"),
        ("case-pod-field-lost",),
        "their operator sets that label, and the pods of the JobSet read a field with its value (docs/kinds.md)",
    ),
    (
        ("RayJob",),
        (
            "command-in-one-word",
            "shell-words-without-shell",
            "undefined-variable",
            "variable-without-shell",
            "masked-exit-code",
            "endless-sleep",
            "install-at-start",
            "unpinned-download",
            "shell-words-ignored",
            "typographic-character",
            "bash-in-sh",
            "broken-continuation",
            "conda-not-initialized",
            "endless-here-document",
            "launcher-starts-wrong-program",
            "slurm-in-pod",
            "tilde-not-expanded",
            "launcher-missing",
            "launcher-sets-it",
            "nodes-mismatch",
            "no-rendezvous",
            "processes-*",
            "checkpoints-in-container",
            "output-on-read-only-mount",
            "no-shared-memory",
        ),
        "KubeRay joins the command to one text for a shell, before `ray start` (common/pod.go, BuildPod); what trains is the entrypoint",
    ),
    (
        ("TrainingRuntime", "ClusterTrainingRuntime"),
        ("missing-image",),
        "the image may come from the job (`spec.trainer.image`)",
    ),
    (
        ("TrainJob/trainer",),
        ("missing-image",),
        "without `image` the runtime's counts, and the finding stands there",
    ),
    (("TrainJob/trainer",), ("claim-*",), "the Trainer takes requests and limits alone; `claims-dropped` says so"),
    (
        ("MPIJob/Launcher",),
        ("processes-without-accelerator",),
        "the operator hides the GPUs of the node from the launcher: `NVIDIA_VISIBLE_DEVICES` is empty (mpi_job_controller.go)",
    ),
    (("MiniCluster",), ("missing-image", "null-image"), "the CRD has a default image, ghcr.io/rse-ops/accounting"),
    (
        ("MiniCluster",),
        ("claim-not-used", "infiniband-without-access", "tpu-selector-missing", "case-host-*"),
        "the rule asks for fields that the kind lacks",
    ),
    (
        (*FOLLOWS, "RayJob"),
        ("endless-sidecar",),
        "the job ends with its Master, Chief, Launcher or driver; what else runs then is deleted (cleanPodPolicy)",
    ),
    (
        (*KUBEFLOW, "VolcanoJob", "RayJob", "MiniCluster"),
        ("host-network-without-dns-policy",),
        "the JobSet's pods get `ClusterFirstWithHostNet`, as the operators set it",
    ),
    (
        (*KUBEFLOW, "VolcanoJob", "RayJob", "LeaderWorkerSet"),
        ("host-name-bad",),
        "the controller of Indexed Jobs writes the host name; `hostname-ignored` says so",
    ),
    (
        ("RayJob", "LeaderWorkerSet"),
        ("restart-policy-always",),
        "KubeRay and the StatefulSet behind a LeaderWorkerSet set the policy themselves",
    ),
    (("Armada",), ("restart-policy-always",), "Armada sets `Never` on every pod (internal/executor/util)"),
    (
        ("Armada",),
        (
            "claim-unknown",
            "request-*",
            "limits-list",
            "containers-map",
            "null-containers",
            "null-limits",
            "no-containers",
        ),
        "Armada compares requests and limits before anything else",
    ),
    (
        ("MiniCluster",),
        ("scheduler-without-group", "processes-without-accelerator"),
        "the command is one text, in which no launcher is looked for",
    ),
    (("MPIJob",), ("case-launcher-missing",), "mpirun is the launcher"),
    (("MPIJob/Worker",), ("null-command",), "the operator lets a worker without a command run sshd (newWorker)"),
    (("RayJob",), ("null-command",), "KubeRay writes `ray start` (common/pod.go, BuildPod)"),
    (("PyTorchJob", "XGBoostJob"), ("launcher-sets-it",), "the operator sets the variables in both roles"),
    (
        ("VolcanoJob", "LeaderWorkerSet"),
        ("no-containers",),
        "nothing stands where the containers should: the finding is at the pod's first field",
    ),
    (KUBEFLOW, ("case-bad-container-name",), "the operator finds its container by its own name"),
    (
        ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"),
        ("case-bad-container-name",),
        "the container that trains is called `node`",
    ),
)

# Rules and mistakes where a field of the pod is missing, or is nothing but nulls: the finding is at the first field beside it.
ABSENT = frozenset(("short-grace-period", "null-in-env-from"))
# Kinds in which a part of the pod stands in another document: a finding about both parts may point at the other one.
SPLIT = ("TrainJob/trainer", "TrainJob/patch")

# Kinds; rules; the mistakes or rules beside which they come; why.
BESIDE: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str], ...] = (
    (("PyTorchJob",), ("launcher-missing",), ("*",), "several devices and no torchrun, which a PyTorchJob asks about"),
    (
        ("XGBoostJob",),
        ("world-size-mismatch", "coordinators-differ"),
        ("command-variable", "launcher-missing"),
        "one role alone starts torchrun, which makes a rendezvous of its own; the other waits for that of the operator",
    ),
    (
        ("VolcanoJob",),
        ("gang-best-effort-member",),
        ("limits-misspelt", "null-limits"),
        "a task without requests in a gang",
    ),
    (("VolcanoJob",), ("gang-priority",), ("*",), "one class for the whole gang"),
    (("MPIJob",), ("mpi-versions-differ",), ("*image*", "moving-tag"), "the two roles have images that differ"),
    (
        ("PyTorchJob", "XGBoostJob", "TFJob", "PaddleJob"),
        ("image-versions-differ",),
        ("image-*",),
        "the two roles have images that differ",
    ),
    (("MPIJob/Launcher",), ("mpirun-as-root",), ("root-of-the-pod",), "the launcher's user starts mpirun"),
    (
        ("MPIJob",),
        ("launcher-without-mpirun", "launcher-holds-accelerators", "slots-mismatch", "worker-without-sshd"),
        ("*",),
        "the launcher starts the workers' processes",
    ),
    (LEADS, ("success-waits-for-endless-role",), ("endless-*",), "the role decides the end of the job"),
    ((*KUBEFLOW, "VolcanoJob", "RayJob"), ("hostname-ignored",), ("host-name-bad",), "see above"),
    (
        ("Job", "Armada"),
        ("invalid-field",),
        ("null-claim-name", "null-config-map-name", "null-secret-name", "volume-*", "bad-volume-*"),
        "the server asks each mount for its volume, and does not count one that it refuses (ValidateVolumes)",
    ),
    (
        ("Armada",),
        ("armada-refused",),
        ("null-limits", "null-containers", "limits-list", "containers-map", "no-containers"),
        "Armada asks each container for equal requests and limits before anything else",
    ),
    (
        ("VolcanoJob", "LeaderWorkerSet"),
        ("jobset-refused",),
        ("no-containers",),
        "the JobSet's schema asks for them too",
    ),
    (("TrainJob/patch",), ("unused-volume",), ("mount-nowhere",), "the patch's volume has no other mount"),
    (("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"), ("lost-port",), ("port-twice",), "both ports are one"),
    (("PyTorchJob", "XGBoostJob"), ("success-waits-for-endless-role",), ("endless-sleep",), "the role decides the end"),
    (("Armada",), ("armada-variable-unknown",), ("claim-not-used",), "the healthy twin goes no further than Armada"),
    (("TrainJob/trainer",), ("claims-dropped",), ("claim-*",), "see above"),
)


def is_silent(kind: Kind, names: Names) -> bool:
    """Whether a kind has a reason to say nothing of a mistake."""
    return any(_has(kinds, kind) and _is_named(whats, names) for kinds, whats, _ in SILENT)


def is_beside(kind: Kind, rule: str, names: Names) -> bool:
    """Whether a finding of a rule may come with a mistake in a kind."""
    return any(_has(kinds, kind) and rule in rules and _is_named(whats, names) for kinds, rules, whats, _ in BESIDE)


def _has(kinds: tuple[str, ...], kind: Kind) -> bool:
    return kind.name in kinds or kind.family in kinds


def _is_named(whats: tuple[str, ...], names: Names) -> bool:
    return any(fnmatchcase(name, what) for name in names for what in whats)
