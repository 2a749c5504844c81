"""Pydantic models of every kind that trainc reads and writes: what schemas are generated from; `trainc.api` shows them.

Nothing that compiles or validates imports this package: it needs pydantic, and run time reads the generated table.
Adding a kind: one module and one line below.
"""

from trainc.apiserver.models.coscheduling import CoschedulingPodGroup as CoschedulingPodGroup
from trainc.apiserver.models.coscheduling import CoschedulingPodGroupSpec as CoschedulingPodGroupSpec
from trainc.apiserver.models.inherited import ComponentUse as ComponentUse
from trainc.apiserver.models.inherited import Lock as Lock
from trainc.apiserver.models.inherited import Parameter as Parameter
from trainc.apiserver.models.inherited import Runtime as Runtime
from trainc.apiserver.models.inherited import RuntimeComponent as RuntimeComponent
from trainc.apiserver.models.inherited import RuntimeComponentSpec as RuntimeComponentSpec
from trainc.apiserver.models.inherited import RuntimeSpec as RuntimeSpec
from trainc.apiserver.models.inventory import Inventory as Inventory
from trainc.apiserver.models.inventory import InventorySpec as InventorySpec
from trainc.apiserver.models.jobset import JobSet as JobSet
from trainc.apiserver.models.jobset import JobSetSpec as JobSetSpec
from trainc.apiserver.models.jobset import ReplicatedJob as ReplicatedJob
from trainc.apiserver.models.leaderworkerset import LeaderWorkerSet as LeaderWorkerSet
from trainc.apiserver.models.minicluster import MiniCluster as MiniCluster
from trainc.apiserver.models.node import ApiObject as ApiObject
from trainc.apiserver.models.node import ObjectMeta as ObjectMeta
from trainc.apiserver.models.node import Resource as Resource
from trainc.apiserver.models.node import TemplateMeta as TemplateMeta
from trainc.apiserver.models.patches import RuntimePatch as RuntimePatch
from trainc.apiserver.models.project import ProjectCluster as ProjectCluster
from trainc.apiserver.models.project import ProjectFile as ProjectFile
from trainc.apiserver.models.project import ProjectSpec as ProjectSpec
from trainc.apiserver.models.rayjob import RayJob as RayJob
from trainc.apiserver.models.rayjob import RayJobSpec as RayJobSpec
from trainc.apiserver.models.runtime import ClusterTrainingRuntime as ClusterTrainingRuntime
from trainc.apiserver.models.runtime import JobSetTemplate as JobSetTemplate
from trainc.apiserver.models.runtime import MLPolicy as MLPolicy
from trainc.apiserver.models.runtime import PodGroupPolicy as PodGroupPolicy
from trainc.apiserver.models.runtime import TrainingRuntime as TrainingRuntime
from trainc.apiserver.models.runtime import TrainingRuntimeSpec as TrainingRuntimeSpec
from trainc.apiserver.models.trainingoperator import JAXJob as JAXJob
from trainc.apiserver.models.trainingoperator import MPIJob as MPIJob
from trainc.apiserver.models.trainingoperator import MPIJobV2 as MPIJobV2
from trainc.apiserver.models.trainingoperator import PaddleJob as PaddleJob
from trainc.apiserver.models.trainingoperator import PyTorchJob as PyTorchJob
from trainc.apiserver.models.trainingoperator import ReplicaSpec as ReplicaSpec
from trainc.apiserver.models.trainingoperator import RunPolicy as RunPolicy
from trainc.apiserver.models.trainingoperator import TFJob as TFJob
from trainc.apiserver.models.trainingoperator import TfJob as TfJob
from trainc.apiserver.models.trainingoperator import XGBoostJob as XGBoostJob
from trainc.apiserver.models.trainjob import Initializer as Initializer
from trainc.apiserver.models.trainjob import RuntimeRef as RuntimeRef
from trainc.apiserver.models.trainjob import Source as Source
from trainc.apiserver.models.trainjob import Trainer as Trainer
from trainc.apiserver.models.trainjob import TrainJob as TrainJob
from trainc.apiserver.models.trainjob import TrainJobPatch as TrainJobPatch
from trainc.apiserver.models.trainjob import TrainJobSpec as TrainJobSpec
from trainc.apiserver.models.volcano import VolcanoPodGroup as VolcanoPodGroup
from trainc.apiserver.models.volcano import VolcanoPodGroupSpec as VolcanoPodGroupSpec
from trainc.apiserver.models.volcanojob import VolcanoJob as VolcanoJob
from trainc.apiserver.models.volcanojob import VolcanoJobSpec as VolcanoJobSpec


def kinds() -> tuple[type[Resource], ...]:
    """Every kind imported above, in the order of its key in the run-time table."""
    classes = [value for value in globals().values() if isinstance(value, type) and issubclass(value, Resource)]
    return tuple(sorted((kind for kind in classes if kind is not Resource), key=lambda kind: kind.NAMES.key))
