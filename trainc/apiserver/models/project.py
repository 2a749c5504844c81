"""Project: what trainc.yaml says for all jobs of a repository (trainc.dev/v1alpha1); no server ever sees it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, StringConstraints

from trainc.apiserver.models.inherited import Components, PartialRuntimeSpec, Text
from trainc.apiserver.models.node import ApiObject, Name, Names, Resource, minimum


def _off(value: object) -> object:
    """Kubernetes' YAML reads a bare `off` as false; here it can only mean one thing."""
    return "off" if value is False else value


Level = Annotated[Literal["off", "warning", "error"], BeforeValidator(_off)]
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
    """The folder that holds what `kubectl get ... -o yaml` printed of it."""
    delivery: Tool | None = None
    """The tool that applies its manifests, where it is not the project's."""
    components: Components | None = None
    """Components that every runtime gets there, in this order: a list, text or map."""
    paths: list[Text] | None = None
    """Which jobs it runs: files, folders, globs in which `*` stands for `/` as well."""
    images: Images | None = None
    """Registries to rewrite and digests to pin."""
    patch: PartialRuntimeSpec | None = None
    """A piece of a runtime's spec, merged over every runtime."""
    scheduler: Name | None = None
    """The back end that places the pods of every job: none, coscheduling, volcano, native, kueue, or a package's."""
    scheduler_name: Name | None = None
    """The scheduler that the pods ask for, where it has another name than usual."""
    queue: Name | None = None
    """Queue of jobs that name none."""
    topology: Name | None = None
    """The widest domain of one job: a node label, with Volcano the number or name of a tier."""
    gang: Literal["whole", "roles", "replicas"] | None = None
    """What starts together: all pods of a job, each role, or each replica."""
    gang_timeout: Annotated[int, minimum(1)] | None = None
    """Seconds that coscheduling waits for the last pod of a gang."""
    autoscaling: bool | None = None
    """Whether nodes appear on demand: what is free now says nothing then."""
    nodes: Literal["fixed"] | None = None
    """`fixed` where nobody adds nodes: what no node of the dump holds is an error then."""
    kubernetes: Version | None = None
    """Version of Kubernetes, in quotes."""
    jobset: Version | None = None
    """Version of JobSet, in quotes."""
    kueue: Version | None = None
    """Version of Kueue, in quotes."""
    gates: str | None = None
    """Feature gates that are on, separated by commas."""
    admission: str | None = None
    """Whose webhooks are installed besides the Trainer's and JobSet's, separated by commas."""
    namespace: Name | None = None
    """Namespace of jobs that name none."""


class ProjectSpec(ApiObject):
    """Settings for all jobs below the folder of trainc.yaml."""

    runtimes: list[Text] | None = None
    """Folders that are searched for runtimes; the nearest `runtimes/` upwards from each job when absent."""
    policies: list[Text] | None = None
    """Folders of admission policies, their bindings and parameters; default: `policies`, where it holds any."""
    rules: dict[str, Level] | None = None
    """Level of rules by name; what a server refuses stays an error."""
    rules_by_path: dict[str, dict[str, Level]] | None = None
    """Levels below a path or glob; the last one that holds a file counts."""
    rules_from: list[Name] | None = None
    """Installed packages whose rules count as well."""
    deadline: Literal["per-job"] | None = None
    """What becomes of a TrainJob's activeDeadlineSeconds: `per-job` gives it to each child Job; an error when absent."""
    secrets: dict[str, KeyMaterial] | None = None
    """By framework, where its keys come from: `existing:NAME`, or `external-secrets`."""
    clusters: dict[str, ProjectCluster] | None = None
    """The clusters that jobs are compiled for, by name."""
    output: Text | None = None
    """The folder that `trainc build -w` writes; `rendered` when absent."""
    old_run: Literal["prune", "keep"] | None = None
    """What becomes of the file of an earlier run; `prune` when absent."""
    delivery: Tool | None = None
    """The tool that applies the output: its annotations are written, and rules say what it would do."""
    requires: Annotated[str, StringConstraints(pattern="^trainc")] | None = None
    """Versions of trainc that may compile this project: `trainc>=0.1,<1`."""


class ProjectFile(Resource):
    """What trainc.yaml says for all jobs of a repository; read by trainc alone."""

    NAMES: ClassVar[Names] = Names("trainc.dev", "v1alpha1", "Project", "projects", namespaced=False, served=False)

    spec: ProjectSpec | None = None
    """The settings."""
