"""Compile high-level training specs into plain Kubernetes manifests.

    >>> import trainc
    >>> job = trainc.TrainJob(
    ...     metadata=trainc.ObjectMeta(name="bert", namespace="nlp"),
    ...     spec=trainc.TrainJobSpec(
    ...         runtime_ref=trainc.RuntimeRef(name="torch-distributed"),
    ...         trainer=trainc.Trainer(num_nodes=4, image="registry.example.org/nlp/bert:1.4"),
    ...     ),
    ... )
    >>> trainc.compile(job)
    <Compilation: 2 objects, 0 errors, 0 warnings>

`compile` and `validate` take models, files and folders. docs/python.md shows a whole program.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.api import ClusterTrainingRuntime as ClusterTrainingRuntime
    from trainc.api import Initializer as Initializer
    from trainc.api import JobSet as JobSet
    from trainc.api import MLPolicy as MLPolicy
    from trainc.api import ObjectMeta as ObjectMeta
    from trainc.api import Runtime as Runtime
    from trainc.api import RuntimeComponent as RuntimeComponent
    from trainc.api import RuntimeRef as RuntimeRef
    from trainc.api import Source as Source
    from trainc.api import Trainer as Trainer
    from trainc.api import TrainingRuntime as TrainingRuntime
    from trainc.api import TrainJob as TrainJob
    from trainc.api import TrainJobPatch as TrainJobPatch
    from trainc.api import TrainJobSpec as TrainJobSpec
    from trainc.library import Compilation as Compilation
    from trainc.library import compile as compile  # noqa: A004 (what the program does)
    from trainc.library import validate as validate
    from trainc.model.finding import Finding as Finding
    from trainc.model.sourced import Span as Span
    from trainc.text.trouble import Trouble as Trouble

__version__ = "0.1.0"

_MODULES = {  # public name -> the module that has it, loaded when somebody asks: the command line needs none of them
    **dict.fromkeys(("Compilation", "compile", "validate"), "trainc.library"),
    "Finding": "trainc.model.finding",
    "Span": "trainc.model.sourced",
    "Trouble": "trainc.text.trouble",
}
__all__ = [  # noqa: RUF022 (functions, what they give and raise, then the models)
    "compile",
    "validate",
    "Compilation",
    "Finding",
    "Span",
    "Trouble",
    "ClusterTrainingRuntime",
    "Initializer",
    "JobSet",
    "MLPolicy",
    "ObjectMeta",
    "Runtime",
    "RuntimeComponent",
    "RuntimeRef",
    "Source",
    "TrainJob",
    "TrainJobPatch",
    "TrainJobSpec",
    "Trainer",
    "TrainingRuntime",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'trainc' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 (the command line never comes here)

    return getattr(import_module(_MODULES.get(name, "trainc.api")), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
