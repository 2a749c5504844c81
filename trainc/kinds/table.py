"""The job kinds of the operators before Trainer v2, as one table: what each calls its parts and what it fills in."""

from collections.abc import Mapping
from typing import NamedTuple

V1 = "kubeflow.org/v1"
MPI_OPERATOR = "kubeflow.org/v2beta1"
MASTER_WORKER = ("Master", "Worker")
TF_ROLES = ("Chief", "Master", "PS", "Worker", "Evaluator")
PREFIX = "training.kubeflow.org/"  # of the labels of both operators
LISTED = "replicaSpecs"  # the ancestors of TFJob hold a list, each entry naming its own type
LISTED_ROLES = ("MASTER", "PS", "WORKER")
MERGED_ROLE = "node"  # Master and Worker as one role, where their pods look alike


class Kind(NamedTuple):
    """One older kind: `field` holds its replica specs, `roles` their names in the order they are listed.

    `framework` wires its processes; `container` is the one that the operator looks at ("" for the first one); a port and
    its name, and `restart`, are what the operator fills in; `clean` is the clean-up policy where the job names none.
    """

    api: str
    kind: str
    field: str
    roles: tuple[str, ...]
    framework: str
    container: str = ""
    port_name: str = ""
    port: int = 0
    restart: str = ""
    clean: str = "None"

    @property
    def operator(self) -> str:
        """What labels its pods."""
        return "mpi-operator" if self.api == MPI_OPERATOR else f"{self.kind.lower()}-controller"

    def role(self, key: str) -> str:
        """The role a key names, "" where the kind has no such role: in whatever case, but not for the mpi-operator."""
        if self.api == MPI_OPERATOR:
            return key if key in self.roles else ""
        return next((role for role in self.roles if role.lower() == key.lower()), "")


# Training operator v1.9.0, mpi-operator v0.8.2, and the history of tensorflow/k8s.
# fmt: off
JAX = Kind(V1, "JAXJob", "jaxReplicaSpecs", ("Worker",), "jaxjob", "jax", "jaxjob-port", 6666, "Never")
PYTORCH = Kind(
    V1, "PyTorchJob", "pytorchReplicaSpecs", MASTER_WORKER, "pytorchjob", "pytorch", "pytorchjob-port", 23456, "OnFailure"
)
TF = Kind(V1, "TFJob", "tfReplicaSpecs", TF_ROLES, "tfjob", "tensorflow", "tfjob-port", 2222, "Never")
XGBOOST = Kind(
    V1, "XGBoostJob", "xgbReplicaSpecs", MASTER_WORKER, "xgboostjob", "xgboost", "xgboostjob-port", 9999, "Never"
)
PADDLE = Kind(V1, "PaddleJob", "paddleReplicaSpecs", MASTER_WORKER, "paddlejob", "paddle", "master", 36543, "OnFailure")
MPI = Kind(V1, "MPIJob", "mpiReplicaSpecs", ("Worker", "Launcher"), "mpijob", restart="Never")
_LISTED_TF = TF._replace(field=LISTED, roles=LISTED_ROLES, restart="")
ROWS = (
    JAX, PYTORCH, TF, XGBOOST, PADDLE, MPI,
    MPI._replace(api=MPI_OPERATOR, framework="mpijob-ssh"),
    TF._replace(api="kubeflow.org/v1beta2", clean="Running"),
    TF._replace(api="kubeflow.org/v1beta1", clean="Running"),
    TF._replace(api="kubeflow.org/v1alpha2", clean="All"),
    _LISTED_TF._replace(api="kubeflow.org/v1alpha1"),
    _LISTED_TF._replace(api="tensorflow.org/v1alpha1", kind="TfJob"),
    _LISTED_TF._replace(api="mlkube.io/v1beta1", kind="TfJob"),
    _LISTED_TF._replace(api="mlkube.io/v1alpha1", kind="TfJob"),
)
# fmt: on

KINDS: Mapping[tuple[str, str], Kind] = {(row.api, row.kind): row for row in ROWS}
NAMES = frozenset(row.kind for row in ROWS)
EVERY_KIND = tuple(sorted(NAMES))
GROUPS = frozenset(row.api.partition("/")[0] for row in ROWS)

# Kinds and versions nobody reconciles any more: since when, and what to do.
REMOVED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("kubeflow.org/v1", "MXJob"): (
        "MXJob was removed in training operator 1.9",
        "Apache MXNet is archived: move the training to another framework, then write a TrainJob",
    ),
    ("kubeflow.org/v1alpha1", "MPIJob"): (
        "MPIJob `kubeflow.org/v1alpha1` was replaced by v1 and v2beta1",
        "write the job as `kubeflow.org/v2beta1`: the replica specs go to `spec.mpiReplicaSpecs`",
    ),
    **{
        ("kubeflow.org/v2alpha1", kind): (
            f"{kind} `kubeflow.org/v2alpha1` became `trainer.kubeflow.org/v1alpha1` in February 2025",
            "`trainc migrate` rewrites it with the current field names",
        )
        for kind in ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
    },
    ("kubeflow.org/v1alpha2", "MPIJob"): (
        "MPIJob `kubeflow.org/v1alpha2` was replaced by v1 and v2beta1",
        "set `apiVersion: kubeflow.org/v2beta1` and move the policies to `spec.runPolicy`",
    ),
}


def kind_of(api: str, kind: str) -> Kind | None:
    return KINDS.get((api, kind))


def is_older(api: str, kind: str) -> bool:
    """Whether this is one of the job kinds before TrainJob, or looks like one: a removed kind or an unknown version."""
    return (api, kind) in KINDS or (api, kind) in REMOVED or (kind in NAMES and api.partition("/")[0] in GROUPS)
