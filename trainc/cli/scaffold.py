"""The files of a new repository, as `trainc init` writes them."""

from __future__ import annotations

import os
from json import loads
from types import MappingProxyType

import trainc
from trainc import __version__
from trainc.cli.commands import GET_CAPACITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = """\
# What holds for every job of this repository.
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  requires: "trainc>={version}"
  output: rendered
{delivery}{rules}  clusters:
    {cluster}:
      # `kubectl get ... -o yaml` dumps of what the cluster has; see the README there.
      folder: clusters/{cluster}
{scheduler}"""
UNDELIVERED = (
    "  # delivery: argocd  # or flux: who applies what is rendered, for annotations and for what would train twice\n"
)
_RULES = """\
  # Errors in jobs that are here already, as warnings. Mend them, then remove the line: `trainc explain RULE` says how.
  rules:
"""
JOB = """\
# One training job: what to run, on how many nodes. Its runtime says the rest.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: hello
  namespace: training
spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    numNodes: 2
    # Each process says hello; put your program here.
    command: [torchrun, --no-python, echo, hello]
    resourcesPerNode:
      limits:
        cpu: "2"
        memory: 4Gi
"""
CLUSTER = """\
# {cluster}

What trainc knows of this cluster: dumps of its objects, without Secrets' contents. One command fills and refreshes them,
from the top of the repository; behind it you may choose a context of kubectl (`--context NAME`). It says which kinds the
cluster does not have, and goes on:

    sh {refresh}

The definitions replace those that trainc ships: what this cluster's JobSet does not know is then an error.
They stand in a file of their own because trainc then reads them once, and not in every run.

What its nodes and queues can hold is an inventory: `trainc fit` then says whether a job is ever admitted. Leave out the
kinds that the cluster does not have:

    {dump} \\
      | trainc inventory --complete > clusters/{cluster}/inventory.yaml
"""
# Without an answer of the cluster nothing is written.
REFRESH = """\
#!/bin/sh
# Writes anew what trainc knows of the cluster `{cluster}`; what stands behind the command goes to kubectl.
set -eu
cd "$(dirname "$0")"

definitions=$(kubectl get crd --ignore-not-found -o yaml "$@" \\
  jobsets.jobset.x-k8s.io \\
  podgroups.scheduling.x-k8s.io \\
  podgroups.scheduling.volcano.sh)
printf '%s\\n' "$definitions" > definitions.yaml

for kind in clustertrainingruntimes priorityclasses runtimeclasses storageclasses \\
  clusterqueues localqueues resourceflavors namespaces limitranges persistentvolumeclaims \\
  validatingadmissionpolicies validatingadmissionpolicybindings \\
  mutatingwebhookconfigurations validatingwebhookconfigurations; do
  echo ---
  kubectl get "$kind" -A -o yaml "$@" || true
done > cluster.yaml
"""
HEALTH = "deploy/argocd-health.yaml"  # of Argo CD itself, whichever clusters it deploys to
AT_TOP = (".pre-commit-config.yaml", ".github/workflows/manifests.yaml")
# An editor may commit outside of the environment that trainc is in: the one in the repository counts as well.
_HOOK = """\
        entry: >-
          sh -c 'for trainc in trainc .venv/bin/trainc; do
          command -v $trainc > /dev/null && exec $trainc COMMAND "$@"; done;
          echo "trainc is not found: activate the environment that it is installed in, and commit again"; exit 1' trainc
"""
HOOKS = f"""\
  - repo: local
    hooks:
      - id: trainc-validate
        name: training jobs compile
{_HOOK.replace("COMMAND", "validate --staged")}\
        language: system
        types_or: [yaml, json]
        always_run: true
        require_serial: true
      - id: trainc-build-check
        name: rendered manifests are up to date
{_HOOK.replace("COMMAND", "build --check --staged --only rendered")}\
        language: system
        always_run: true
        pass_filenames: false
        require_serial: true
"""
PRE_COMMIT = f"""\
# The hooks run the trainc that is installed; `requires` in trainc.yaml refuses another version.
repos:
{HOOKS}"""
WORKFLOW = """\
# The rendered manifests are what the jobs compile to, no edit is one that a server refuses, and a comment on the pull
# request says what it changes.
name: trainc
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
  pull-requests: write
jobs:
  check:
    runs-on: ubuntu-latest
    env:
      # What pip installs trainc from: a wheel, or git+https://HOST/trainc.git at a tag.
      TRAINC: {install}
    steps:
      - uses: actions/checkout@v5
        with:
          fetch-depth: 0
      - uses: actions/setup-python@v6
        with:
          python-version: "3.13"
      - name: Install trainc
        run: pip install "${{TRAINC:?set the repository variable TRAINC to what pip installs trainc from}}"
      - name: Rendered manifests are up to date
        run: trainc build --check --no-cache --report github
      - name: Running jobs can take the edit
        if: ${{{{ !cancelled() && github.event_name == 'pull_request' }}}}
        run: trainc validate --against "$(git merge-base "origin/$BASE" HEAD)" --report github
        env:
          BASE: ${{{{ github.base_ref }}}}
      - name: Say what changes, in one comment
        if: >-
          ${{{{ !cancelled() && github.event_name == 'pull_request'
          && github.event.pull_request.head.repo.full_name == github.repository }}}}
        run: |
          {{
            echo '<!-- trainc diff -->'
            trainc diff "$(git merge-base "origin/$BASE" HEAD)" --report markdown
          }} > "$RUNNER_TEMP/changes.txt"
          cat "$RUNNER_TEMP/changes.txt" >> "$GITHUB_STEP_SUMMARY"
          comment=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" \\
            --jq '.[] | select(.body | startswith("<!-- trainc diff -->")) | .id' | head -n 1)
          if [ -n "$comment" ]; then
            gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$comment" -F "body=@$RUNNER_TEMP/changes.txt"
          else
            gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" -F "body=@$RUNNER_TEMP/changes.txt"
          fi
        env:
          BASE: ${{{{ github.base_ref }}}}
          GH_TOKEN: ${{{{ github.token }}}}
          NUMBER: ${{{{ github.event.pull_request.number }}}}
"""
# Git leaves no marks of a conflict in rendered files: `trainc build -w` writes them anew.
ATTRIBUTES = "rendered/** text eol=lf -merge linguist-generated=true\n"
ARGOCD = """\
# One application over the rendered manifests of one cluster; write your repository's address into it.
# Argo CD does not know when a JobSet has failed: add {health} to argocd-cm, or the application
# stays green.
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: training-{cluster}
  namespace: argocd
spec:
  project: default
  source:
    repoURL: https://git.example.com/training.git
    targetRevision: main
    path: {below}rendered/{cluster}
    directory:
      recurse: true
  destination:
    server: https://kubernetes.default.svc
    # Of manifests without a namespace; jobs in other namespaces keep theirs. Edit it if trainc.yaml sets no namespace.
    namespace: training
  syncPolicy:
    automated:
      prune: true
      # Repairing what was deleted by hand would train again.
      selfHeal: false
    # No PruneLast: pruning would be a wave of its own, and wait until the new run has ended.
    syncOptions:
      - ServerSideApply=true
      - RespectIgnoreDifferences=true
      - ApplyOutOfSyncOnly=true
  # What a queue and its controllers write into a running job.
  ignoreDifferences:
    - group: jobset.x-k8s.io
      kind: JobSet
      jsonPointers:
        - /spec/suspend
      jqPathExpressions:
        - .spec.replicatedJobs[].template.spec.suspend
        - .spec.replicatedJobs[].template.spec.template.spec.nodeSelector
        - .spec.replicatedJobs[].template.spec.template.spec.tolerations
        - .spec.replicatedJobs[].template.spec.template.spec.schedulingGates
        - .spec.replicatedJobs[].template.spec.template.metadata.labels
        - .spec.replicatedJobs[].template.spec.template.metadata.annotations
"""
FLUX = """\
# One Kustomization over the rendered manifests of one cluster; `training` is the GitRepository of this repository.
# It is ready once all jobs below `healthChecks` have ended; `trainc flux deploy/flux.yaml` writes that list.
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: training-{cluster}
  namespace: flux-system
spec:
  interval: 10m
  # Longer than applying takes, and no longer: newer commits wait while a check lasts.
  timeout: 2m
  retryInterval: 2m
  path: ./{below}rendered/{cluster}
  prune: true
  # With `wait: true` a failed training would be ready: Flux leaves out what it has created before.
  wait: false
  healthChecks:
    - apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      name: hello
      namespace: training
  force: false
  sourceRef:
    kind: GitRepository
    name: training
  healthCheckExprs:
    - apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      failed: has(status.conditions) && status.conditions.exists(c, c.type == 'Failed' && c.status == 'True')
      current: has(status.conditions) && status.conditions.exists(c, c.type == 'Completed' && c.status == 'True')
"""


def refresh(cluster: str) -> str:
    """The path of the script that writes what a cluster has."""
    return f"clusters/{cluster}/refresh.sh"


def origin() -> str:
    """What pip installed this trainc from, empty where no other machine finds that."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415

    try:
        record = loads(distribution("trainc").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return ""
    url = record.get("url", "")
    if not url.startswith(("https://", "ssh://")):
        return ""
    commit = record.get("vcs_info", {})
    return f"{commit['vcs']}+{url}@{commit['commit_id']}" if commit else url


def errors_as_warnings(levels: Mapping[str, int]) -> str:
    """The entry `rules` of a trainc.yaml, for an old repository: `levels` has the number of jobs by rule."""
    rows = [f"    {rule}: warning  # {number} job{'s' * (number != 1)}\n" for rule, number in sorted(levels.items())]
    return "".join([_RULES, *rows]) if rows else ""


def scaffold(
    cluster: str,
    delivery: str,
    below: str = "",
    levels: Mapping[str, int] = MappingProxyType({}),
    scheduler: str = "",
) -> dict[str, str]:
    """The text of each file by its path; `delivery` is argocd, flux or empty, `below` the folder in the work tree."""
    words = {
        "version": __version__,
        "cluster": cluster,
        "below": below,
        "delivery": f"  delivery: {delivery}\n" if delivery else UNDELIVERED,
        "rules": errors_as_warnings(levels),
        "scheduler": f"      scheduler: {scheduler}\n" if scheduler else "",
        "refresh": refresh(cluster),
        "dump": GET_CAPACITY,
        "health": HEALTH,
        "install": origin() or "${{ vars.TRAINC }}",
    }
    files = {
        "trainc.yaml": PROJECT,
        "jobs/hello.yaml": JOB,
        f"clusters/{cluster}/README.md": CLUSTER,
        refresh(cluster): REFRESH,
        ".pre-commit-config.yaml": PRE_COMMIT,
        ".github/workflows/manifests.yaml": WORKFLOW,
        ".gitattributes": ATTRIBUTES,
    }
    if delivery:
        files[f"deploy/{delivery}.yaml"] = {"argocd": ARGOCD, "flux": FLUX}[delivery]
    written = {path: text.format(**words) for path, text in files.items()}
    return written | {HEALTH: _health()} if delivery == "argocd" else written


def _health() -> str:
    """The health checks of Argo CD: in the wheel, or beside the package in a checkout."""
    here = os.path.dirname(os.path.abspath(trainc.__file__))
    packed = os.path.join(here, "_data", "argocd-health.yaml")
    path = packed if os.path.exists(packed) else os.path.join(os.path.dirname(here), "deploy", "argocd", "health.yaml")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    text = text.replace("--patch-file health.yaml", f"--patch-file {HEALTH}")
    return text.replace("use health-started.yaml", "use deploy/argocd/health-started.yaml of trainc's repository")


_BINDING = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {name}
spec:
  policyName: {name}
{params}  validationActions: [Deny]
"""
_PARAMS = """\
  paramRef:
    name: {name}
    namespace: default
    parameterNotFoundAction: Deny
"""
_RUNTIMES = """\
# Which runtimes the jobs of a namespace may use. trainc asks this policy about each TrainJob; the cluster sees JobSets.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: allowed-runtimes
spec:
  paramKind:
    apiVersion: v1
    kind: ConfigMap
  matchConstraints:
    resourceRules:
    - apiGroups: [trainer.kubeflow.org]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [trainjobs]
  variables:
  - name: allowed
    expression: params.data[?object.metadata.namespace].orValue(params.data[?"others"].orValue("")).split(" ")
  validations:
  - expression: object.spec.runtimeRef.name in variables.allowed
    messageExpression: >-
      "jobs in namespace " + object.metadata.namespace + " may use these runtimes: " + variables.allowed.join(", ")
"""
_RUNTIMES_PARAMS = """\
---
# For each namespace its runtimes, between blanks; `others` is for every namespace that is not here.
apiVersion: v1
kind: ConfigMap
metadata:
  name: allowed-runtimes
  namespace: default
data:
  training: torch-distributed
  others: torch-distributed
"""
_REGISTRIES = """\
# Where images may come from: every container of every pod, in Git and in the cluster.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: allowed-registries
spec:
  paramKind:
    apiVersion: v1
    kind: ConfigMap
  matchConstraints:
    resourceRules:
    - apiGroups: [""]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [pods]
  variables:
  - name: registries
    expression: params.data.registries.split(" ")
  - name: containers
    expression: object.spec.containers + object.spec.?initContainers.orValue([])
  - name: others
    expression: >-
      variables.containers.filter(c, !variables.registries.exists(registry, c.image.startsWith(registry)))
  validations:
  - expression: >-
      variables.containers.all(c, variables.registries.exists(registry, c.image.startsWith(registry)))
    messageExpression: >-
      "image " + variables.others[0].image + " is from none of these: " + variables.registries.join(", ")
"""
_REGISTRIES_PARAMS = """\
---
# The beginnings of images, between blanks, each with its slash; docker.io/ must be written in the image too.
apiVersion: v1
kind: ConfigMap
metadata:
  name: allowed-registries
  namespace: default
data:
  registries: docker.io/pytorch/ pytorch/ ghcr.io/kubeflow/ registry.example.com/
"""
_ACCELERATORS = """\
# How many accelerators one job of a namespace may have: those of all its pods together.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: accelerators-per-job
spec:
  paramKind:
    apiVersion: v1
    kind: ConfigMap
  matchConstraints:
    resourceRules:
    - apiGroups: [jobset.x-k8s.io]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [jobsets]
  variables:
  - name: resources
    expression: >-
      ["nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "aws.amazon.com/neuron", "habana.ai/gaudi"]
  - name: accelerators
    expression: >-
      object.spec.replicatedJobs.map(role,
        role.?replicas.orValue(1) * role.template.spec.?parallelism.orValue(1)
        * role.template.spec.template.spec.containers.map(container,
          variables.resources.map(resource,
            quantity(string(container.?resources.limits[?resource].orValue(0))).asInteger()
          ).sum()
        ).sum()
      ).sum()
  - name: most
    expression: int(params.data[?object.metadata.namespace].orValue(params.data[?"others"].orValue("0")))
  validations:
  - expression: variables.accelerators <= variables.most
    messageExpression: >-
      "the job has " + string(variables.accelerators) + " accelerators, and one of namespace "
      + object.metadata.namespace + " may have " + string(variables.most)
"""
_ACCELERATORS_PARAMS = """\
---
# For each namespace how many accelerators one job may have; `others` is for every namespace that is not here.
apiVersion: v1
kind: ConfigMap
metadata:
  name: accelerators-per-job
  namespace: default
data:
  training: "64"
  others: "8"
"""
_LABELS = """\
# Whose a job is, and who pays for it: labels of every job that people write. JobSets do not take them over: labels that
# pods shall carry stand in the runtime.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: required-labels
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [trainer.kubeflow.org]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [trainjobs]
    - apiGroups: [kubeflow.org]
      apiVersions: ["*"]
      operations: [CREATE, UPDATE]
      resources: [jaxjobs, mpijobs, paddlejobs, pytorchjobs, tfjobs, xgboostjobs]
  variables:
  - name: missing
    expression: >-
      ["owner", "cost-centre"].filter(label, object.metadata.?labels[?label].orValue("") == "")
  validations:
  - expression: variables.missing.size() == 0
    messageExpression: '"the job lacks these labels: " + variables.missing.join(", ")'
"""


_NAMESPACE = "  namespace: training\n"


def with_labels(job: str) -> str:
    """The first job of a repository with the labels that one of the policies asks for."""
    return job.replace(_NAMESPACE, f"{_NAMESPACE}  labels:\n    owner: me\n    cost-centre: research\n", 1)


def starter_policies() -> dict[str, str]:
    """The files of the policies by their path."""
    with_params = {
        "allowed-runtimes": (_RUNTIMES, _RUNTIMES_PARAMS),
        "allowed-registries": (_REGISTRIES, _REGISTRIES_PARAMS),
        "accelerators-per-job": (_ACCELERATORS, _ACCELERATORS_PARAMS),
    }
    files = {
        name: policy + _BINDING.format(name=name, params=_PARAMS.format(name=name)) + params
        for name, (policy, params) in with_params.items()
    }
    files["required-labels"] = _LABELS + _BINDING.format(name="required-labels", params="")
    return {f"policies/{name}.yaml": text for name, text in files.items()}
