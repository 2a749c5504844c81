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
"""

from trainc.apiserver.models import *  # noqa: F403 (the one list of names stands there)
