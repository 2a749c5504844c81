"""Project: what trainc.yaml says for all jobs of a repository (trainc.dev/v1alpha1); no server ever sees it."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, StringConstraints

from trainc.apiserver.models.inherited import Components, PartialRuntimeSpec, Text
from trainc.apiserver.models.node import ApiObject, Name, Names, Resource, minimum, optional

# Kubernetes' YAML reads a bare `off` as false; here it can only mean one thing.
_OFF = BeforeValidator(lambda value: "off" if value is False else value)
Level = Annotated[Literal["off", "warning", "error"], _OFF]
Tool = Literal["argocd", "flux"]
Version = Annotated[str, StringConstraints(pattern=r"^v?[0-9]+\.[0-9]+")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
KeyMaterial = Annotated[str, StringConstraints(pattern=r"^(existing:.+|external-secrets)$")]


class Images(ApiObject):
    """Where a cluster gets its images from; the last step of all."""

    registries: dict[str, Text] | None = None
    """Prefix of an image's name, and what stands there instead; the longest one counts."""
    digests: dict[str, Digest] | None = None
    """Image, as the manifests name it before its registry is replaced, and the digest to pin."""


class ProjectCluster(ApiObject):
    """One cluster: what is known of it, which jobs it runs, and what it changes in them."""

    folder: Text | None = None
    """A dump of the cluster (`kubectl get ... -o yaml`): definitions, runtimes, queues, classes, PVCs, policies, names of Secrets."""
    delivery: Tool | None = optional("The tool that applies its manifests, if it differs from the project's.")
    components: Components | None = None
    """The components that every runtime gets there, in this order: a list, text or map."""
    paths: list[Text] | None = optional("The jobs it runs: files, folders, globs in which `*` also matches `/`.")
    images: Images | None = optional("Registries to rewrite, by prefix, and digests to pin; applied last.")
    patch: PartialRuntimeSpec | None = optional("A partial runtime spec, merged over every runtime.")
    scheduler: Name | None = None
    """The back end that places the pods of every job: none, coscheduling, volcano, native, kueue, or a package's."""
    scheduler_name: Name | None = optional("The scheduler that the pods ask for, if its name is not the usual one.")
    queue: Name | None = optional("The queue of jobs that set none.")
    topology: Name | None = None
    """The widest domain of one job: a node label, with Volcano the number or name of a tier."""
    gang: Literal["whole", "roles", "replicas"] | None = None
    """What starts together: `whole` (all pods of a job), `roles` or `replicas` (each of them alone)."""
    gang_timeout: Annotated[int, minimum(1)] | None = None
    """Seconds that coscheduling waits for the last pod of a gang."""
    autoscaling: bool | None = optional("Whether nodes are added on demand, so that free nodes now say nothing.")
    nodes: Literal["fixed"] | None = None
    """`fixed` if the cluster does not add nodes: a job that does not fit its nodes is then an error."""
    kubernetes: Version | None = optional("Its version of Kubernetes, in quotes.")
    jobset: Version | None = optional("Its version of JobSet, in quotes.")
    kueue: Version | None = optional("Its version of Kueue, in quotes.")
    gates: str | None = optional("Feature gates that are on, of Kubernetes and of JobSet, separated by commas.")
    admission: str | None = None
    """Webhooks that are installed in addition to the Trainer's and JobSet's, separated by commas: `kueue`."""
    namespace: Name | None = optional("The namespace of jobs that set none.")


class ProjectSpec(ApiObject):
    """Settings for all jobs below the folder of trainc.yaml."""

    runtimes: list[Text] | None = None
    """Folders that are searched for runtimes; default: the nearest `runtimes/` upwards from each job."""
    policies: list[Text] | None = None
    """Folders of admission policies, their bindings and parameters; default: `policies`."""
    rules: dict[str, Level] | None = None
    """Levels of rules and of categories; what the API server rejects stays an error."""
    rules_by_path: dict[str, dict[str, Level]] | None = None
    """Levels below a path or glob; the last path that matches a file wins."""
    rules_from: list[Name] | None = optional("Installed packages whose rules count as well.")
    deadline: Literal["per-job"] | None = None
    """`per-job` gives each child Job the TrainJob's activeDeadlineSeconds, which is an error without this setting."""
    secrets: dict[str, KeyMaterial] | None = None
    """By framework, where its keys come from: `existing:NAME`, or `external-secrets`."""
    clusters: dict[str, ProjectCluster] | None = optional("The clusters that jobs are compiled for, by name.")
    output: Text | None = optional("The folder that `trainc build -w` writes; default: `rendered`.")
    old_run: Literal["prune", "keep"] | None = optional("What becomes of the file of an earlier run; default: `prune`.")
    delivery: Tool | None = None
    """The tool that applies the output: trainc writes its annotations, and rules report what it would do."""
    copy_labels: list[Text] | None = None
    """Keys of labels of jobs that their JobSets and pods get as well, such as `owner`."""
    requires: Annotated[str, StringConstraints(pattern="^trainc")] | None = None
    """Versions of trainc that may compile this project: `trainc>=0.1,<1`."""


class ProjectFile(Resource):
    """What trainc.yaml says for all jobs of a repository; read by trainc alone."""

    NAMES = Names("trainc.dev", "v1alpha1", "Project", "projects", namespaced=False, served=False)

    spec: ProjectSpec | None = optional("The settings.")
