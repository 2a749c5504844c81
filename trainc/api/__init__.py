"""The kinds that trainc reads and writes, as classes to write specs with in Python.

    >>> from trainc.api import ObjectMeta, RuntimeRef, Trainer, TrainJob, TrainJobSpec
    >>> job = TrainJob(
    ...     metadata=ObjectMeta(name="bert", namespace="nlp"),
    ...     spec=TrainJobSpec(
    ...         runtime_ref=RuntimeRef(name="torch-distributed"),
    ...         trainer=Trainer(
    ...             num_nodes=4,
    ...             resources_per_node={"requests": {"cpu": "4", "nvidia.com/gpu": 8}},
    ...             env=[{"name": "EPOCHS", "value": "3"}],
    ...         ),
    ...     ),
    ... )
    >>> print(job.to_yaml(), end="")
    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: bert
      namespace: nlp
    spec:
      runtimeRef:
        name: torch-distributed
      trainer:
        env:
        - name: EPOCHS
          value: "3"
        numNodes: 4
        resourcesPerNode:
          requests:
            cpu: "4"
            nvidia.com/gpu: 8
    >>> TrainJob.from_yaml(job.to_yaml()) == TrainJob.model_validate(job.to_dict()) == job
    True

Fields are snake_case here and camelCase in YAML; a model reads both. Shapes of Kubernetes itself (an environment
variable, a volume, a pod template) are plain dicts, written as in YAML. Quantities stay as they are written. A model
adds nothing but `apiVersion` and `kind`: what is absent stays absent, defaults are the API server's business. Unknown
fields, wrong types, bounds, enums and patterns of the kinds' own fields are refused at once; everything else a server
would refuse is said by `trainc validate`.

Nothing that compiles or validates imports this package: it needs pydantic, and run time reads the generated table.
Adding a kind: one module and one line below.
"""

from trainc.api.component import Parameter as Parameter
from trainc.api.component import RuntimeComponent as RuntimeComponent
from trainc.api.component import RuntimeComponentSpec as RuntimeComponentSpec
from trainc.api.coscheduling import CoschedulingPodGroup as CoschedulingPodGroup
from trainc.api.coscheduling import CoschedulingPodGroupSpec as CoschedulingPodGroupSpec
from trainc.api.inherited import ComponentUse as ComponentUse
from trainc.api.inherited import Lock as Lock
from trainc.api.inherited import Runtime as Runtime
from trainc.api.inherited import RuntimeSpec as RuntimeSpec
from trainc.api.inventory import Inventory as Inventory
from trainc.api.inventory import InventorySpec as InventorySpec
from trainc.api.jobset import JobSet as JobSet
from trainc.api.jobset import JobSetSpec as JobSetSpec
from trainc.api.jobset import ReplicatedJob as ReplicatedJob
from trainc.api.legacy.jaxjob import JAXJob as JAXJob
from trainc.api.legacy.leaderworkerset import LeaderWorkerSet as LeaderWorkerSet
from trainc.api.legacy.minicluster import MiniCluster as MiniCluster
from trainc.api.legacy.mpijob import MPIJob as MPIJob
from trainc.api.legacy.mpijob import MPIJobV2 as MPIJobV2
from trainc.api.legacy.paddlejob import PaddleJob as PaddleJob
from trainc.api.legacy.policy import ReplicaSpec as ReplicaSpec
from trainc.api.legacy.policy import RunPolicy as RunPolicy
from trainc.api.legacy.pytorchjob import PyTorchJob as PyTorchJob
from trainc.api.legacy.rayjob import RayJob as RayJob
from trainc.api.legacy.rayjob import RayJobSpec as RayJobSpec
from trainc.api.legacy.tfjob import TFJob as TFJob
from trainc.api.legacy.tfjob_listed import TfJob as TfJob
from trainc.api.legacy.volcanojob import VolcanoJob as VolcanoJob
from trainc.api.legacy.volcanojob import VolcanoJobSpec as VolcanoJobSpec
from trainc.api.legacy.xgboostjob import XGBoostJob as XGBoostJob
from trainc.api.node import ApiObject as ApiObject
from trainc.api.node import ObjectMeta as ObjectMeta
from trainc.api.node import Resource as Resource
from trainc.api.node import TemplateMeta as TemplateMeta
from trainc.api.patches import RuntimePatch as RuntimePatch
from trainc.api.project import ProjectCluster as ProjectCluster
from trainc.api.project import ProjectFile as ProjectFile
from trainc.api.project import ProjectSpec as ProjectSpec
from trainc.api.runtime import ClusterTrainingRuntime as ClusterTrainingRuntime
from trainc.api.runtime import JobSetTemplate as JobSetTemplate
from trainc.api.runtime import MLPolicy as MLPolicy
from trainc.api.runtime import PodGroupPolicy as PodGroupPolicy
from trainc.api.runtime import TrainingRuntime as TrainingRuntime
from trainc.api.runtime import TrainingRuntimeSpec as TrainingRuntimeSpec
from trainc.api.trainjob import Initializer as Initializer
from trainc.api.trainjob import RuntimeRef as RuntimeRef
from trainc.api.trainjob import Source as Source
from trainc.api.trainjob import Trainer as Trainer
from trainc.api.trainjob import TrainJob as TrainJob
from trainc.api.trainjob import TrainJobSpec as TrainJobSpec
from trainc.api.volcano import VolcanoPodGroup as VolcanoPodGroup
from trainc.api.volcano import VolcanoPodGroupSpec as VolcanoPodGroupSpec


def kinds() -> tuple[type[Resource], ...]:
    """Every kind imported above, in the order of its key in the run-time table."""
    classes = [value for value in globals().values() if isinstance(value, type) and issubclass(value, Resource)]
    return tuple(sorted((kind for kind in classes if kind is not Resource), key=lambda kind: kind.NAMES.key))
