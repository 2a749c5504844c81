"""The admission policies that `trainc init --policies` writes, ready to be edited."""

from __future__ import annotations

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
