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
# Settings for all jobs in this repository.
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
UNDELIVERED = "  # delivery: argocd  # or flux: the tool that applies the manifests; sets its annotations and enables its checks\n"
_RULES = """\
  # Errors in existing jobs, reported as warnings. Fix the jobs, then remove the line; see `trainc explain RULE`.
  rules:
"""
JOB = """\
# A training job: what to run, and on how many nodes. The runtime sets the rest.
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: hello
  namespace: training
{label}spec:
  runtimeRef:
    name: torch-distributed
  trainer:
    numNodes: 2
    # Each process prints hello. Replace this with your program.
    command: [torchrun, --no-python, echo, hello]
    resourcesPerNode:
      limits:
        cpu: "2"
        memory: 4Gi
"""
# A queue for the whole cluster would take in jobs that misspell their own; Volcano's is the one that it takes itself.
QUEUES = {
    "kueue": ("  labels:\n    kueue.x-k8s.io/queue-name: default  # the LocalQueue that admits it\n", ""),
    "volcano": ("", "      queue: default\n"),
}
CLUSTER = """\
# {cluster}

Dumps of this cluster's objects, without the contents of Secrets. To create or refresh them, run this from the top of the
repository. Arguments go to kubectl, for example `--context NAME`. Kinds that the cluster does not have are reported and
skipped:

    sh {refresh}

`definitions.yaml` replaces the CustomResourceDefinitions that trainc ships: fields that this cluster's JobSet does not
have are then errors. They are in a separate file so that trainc can cache them.

To check whether nodes and queues can ever admit a job (`trainc fit`), add an inventory. Omit the kinds that the cluster
does not have:

    {dump} \\
      | trainc inventory --complete > clusters/{cluster}/inventory.yaml
"""
# If the cluster does not respond, nothing is written.
REFRESH = """\
#!/bin/sh
# Refreshes the dumps of the cluster `{cluster}`. Arguments go to kubectl: --context NAME
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
# An editor may commit outside the environment that has trainc: the hook also looks in .venv of the repository.
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
# The hooks run the installed trainc; `requires` in trainc.yaml rejects other versions.
repos:
{HOOKS}"""
WORKFLOW = """\
# Checks that the rendered manifests are up to date and that running jobs can take the edit, and comments on the pull
# request with the changes.
name: trainc
on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
  pull-requests: write
defaults:
  run:
    shell: bash  # with `pipefail`
jobs:
  check:
    runs-on: ubuntu-latest
    env:
      # The package that pip installs: a wheel, or git+https://HOST/trainc.git at a tag.
      TRAINC: {install}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          fetch-depth: 0
          persist-credentials: false
      - uses: actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0
        with:
          python-version: "3.13"
      - name: Install trainc
        run: pip install "${{TRAINC:?set the repository variable TRAINC to the package that pip installs}}"
      - name: Rendered manifests are up to date
        run: trainc build --check --no-cache --report github
      - name: Running jobs accept the edit
        if: ${{{{ !cancelled() && github.event_name == 'pull_request' }}}}
        run: trainc validate --against "$(git merge-base "origin/$BASE" HEAD)" --report github
        env:
          BASE: ${{{{ github.base_ref }}}}
      - name: Changes of the jobs
        if: ${{{{ !cancelled() && github.event_name == 'pull_request' }}}}
        run: |
          base=$(git merge-base "origin/$BASE" HEAD)
          # Exit code 1: the jobs do not compile, and the report says why.
          trainc diff "$base" --report comment > "$RUNNER_TEMP/changes.txt" || [ $? -eq 1 ]
          cat "$RUNNER_TEMP/changes.txt" >> "$GITHUB_STEP_SUMMARY"
        env:
          BASE: ${{{{ github.base_ref }}}}
      - name: Comment with the changes
        # The token of a pull request from a fork or from Dependabot cannot comment.
        if: >-
          ${{{{ !cancelled() && github.event_name == 'pull_request' && github.actor != 'dependabot[bot]'
          && github.event.pull_request.head.repo.full_name == github.repository }}}}
        run: |
          comment=$(gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" \\
            --jq '.[] | select(.body | startswith("<!-- trainc diff -->")) | .id' | sed -n 1p)
          if [ -n "$comment" ]; then
            gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$comment" -F "body=@$RUNNER_TEMP/changes.txt"
          else
            gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" -F "body=@$RUNNER_TEMP/changes.txt"
          fi
        env:
          GH_TOKEN: ${{{{ github.token }}}}
          NUMBER: ${{{{ github.event.pull_request.number }}}}
"""
# Git writes no conflict markers into rendered files: `trainc build -w` renders them again.
ATTRIBUTES = "rendered/** text eol=lf -merge linguist-generated=true\n"
ARGOCD = """\
# An Application for the rendered manifests of one cluster. Set `repoURL` to your repository.
# Argo CD has no health check for JobSets: add {health} to argocd-cm, or the Application stays
# Healthy when a job fails.
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
    # For manifests without a namespace; all others keep theirs. Change it if trainc.yaml sets no namespace.
    namespace: training
  syncPolicy:
    automated:
      prune: true
      # Self-heal would recreate a JobSet that was deleted by hand, and train again.
      selfHeal: false
    # No PruneLast: pruning would be a separate sync wave, and wait until the new run ends.
    syncOptions:
      - ServerSideApply=true
      - RespectIgnoreDifferences=true
      - ApplyOutOfSyncOnly=true
  # Fields that Kueue and the JobSet controller set on a running job.
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
# A Kustomization for the rendered manifests of one cluster; `training` is the GitRepository of this repository.
# It is Ready when all jobs in `healthChecks` have completed; `trainc flux deploy/flux.yaml` writes that list.
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: training-{cluster}
  namespace: flux-system
spec:
  interval: 10m
  # Just longer than applying takes: newer commits wait until the health checks end.
  timeout: 2m
  retryInterval: 2m
  path: ./{below}rendered/{cluster}
  prune: true
  # With `wait: true`, a failed job would be Ready: Flux skips objects that it created earlier.
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
    label, queue = QUEUES.get(scheduler, ("", ""))
    words = {
        "version": __version__,
        "cluster": cluster,
        "below": below,
        "delivery": f"  delivery: {delivery}\n" if delivery else UNDELIVERED,
        "rules": errors_as_warnings(levels),
        "label": label,
        "scheduler": f"      scheduler: {scheduler}\n{queue}" if scheduler else "",
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
# The runtimes that the jobs of a namespace may use. trainc evaluates this policy for each TrainJob; the cluster gets only JobSets.
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
# The runtimes of each namespace, separated by spaces; `others` is for namespaces that are not listed.
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
# Allowed image registries, for every container of every pod, in Git and in the cluster.
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
      "image " + variables.others[0].image + " must start with one of: " + variables.registries.join(", ")
"""
_REGISTRIES_PARAMS = """\
---
# Image prefixes, separated by spaces, each with its slash. An image must name docker.io/ to match it.
apiVersion: v1
kind: ConfigMap
metadata:
  name: allowed-registries
  namespace: default
data:
  registries: docker.io/pytorch/ pytorch/ ghcr.io/kubeflow/ registry.example.com/
"""
_ACCELERATORS = """\
# The number of accelerators that a job of a namespace may have, over all its pods.
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
      "the job has " + string(variables.accelerators) + " accelerators; the limit of namespace "
      + object.metadata.namespace + " is " + string(variables.most)
"""
_ACCELERATORS_PARAMS = """\
---
# The number of accelerators that a job may have, by namespace; `others` is for namespaces that are not listed.
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
# Labels that every job must have: its owner, and who pays for it. They are not copied to the JobSet: to label pods, set
# the labels in the runtime.
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
    messageExpression: '"missing labels: " + variables.missing.join(", ")'
"""


_NAMESPACE = "  namespace: training\n"


def with_labels(job: str) -> str:
    """The first job of a repository with the labels that one of the policies asks for."""
    labels = "    owner: me\n    cost-centre: research\n"
    head, key, rest = job.partition("  labels:\n")
    return f"{head}{key}{labels}{rest}" if key else job.replace(_NAMESPACE, f"{_NAMESPACE}  labels:\n{labels}", 1)


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
