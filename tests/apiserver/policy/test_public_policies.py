"""Policies as the documentation of Kubernetes and public libraries have them, in our words: the server's verdicts.

The subjects are those of kubernetes.io (Validating Admission Policy) and of the policy libraries of Gatekeeper and
Kyverno. Each has an object that it lets pass and one that it refuses, with the words of the refusal.
"""

from typing import Any

import pytest
import yaml

from tests.apiserver.policy.judging import Judged, binding

POLICIES = """
name: at most five replicas (documentation)
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]}
  validations: [{expression: "object.spec.replicas <= 5"}]
passes: {kind: Deployment, spec: {replicas: 5}}
fails: {kind: Deployment, spec: {replicas: 6}}
says: "failed expression: object.spec.replicas <= 5"
---
name: replicas by a parameter (documentation)
spec:
  paramKind: {apiVersion: rules.example.com/v1, kind: ReplicaLimit}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: object.spec.replicas <= params.maxReplicas, reason: Invalid}]
paramRef: {name: limit, namespace: default, parameterNotFoundAction: Deny}
params: [{apiVersion: rules.example.com/v1, kind: ReplicaLimit, metadata: {name: limit, namespace: default}, maxReplicas: 3}]
passes: {kind: Deployment, spec: {replicas: 3}}
fails: {kind: Deployment, spec: {replicas: 4}}
says: "failed expression: object.spec.replicas <= params.maxReplicas"
---
name: a message with numbers (documentation)
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations:
  - expression: object.spec.replicas > int(params.data.min)
    messageExpression: "'object.spec.replicas must be greater than ' + params.data.min"
paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny}
params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: shop}, data: {min: "2"}}]
passes: {kind: Deployment, spec: {replicas: 3}}
fails: {kind: Deployment, spec: {replicas: 1}}
says: object.spec.replicas must be greater than 2
---
name: images of one registry with exemptions by condition (documentation)
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]}
  matchConditions:
  - {name: exclude-leases, expression: "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')"}
  - {name: no-roles, expression: "request.resource.group != 'rbac.authorization.k8s.io'"}
  validations: [{expression: "!object.metadata.name.contains('demo') || object.metadata.namespace == 'demo'", message: demo stays in demo}]
passes: {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: demo, namespace: shop}}
fails: {kind: Deployment, metadata: {name: demo, namespace: shop}}
says: demo stays in demo
---
name: variables, and the environment of the namespace (documentation)
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  variables:
  - {name: environment, expression: "'env' in namespaceObject.metadata.labels ? namespaceObject.metadata.labels['env'] : 'prod'"}
  - {name: exempt, expression: "'exempt' in object.metadata.?labels.orValue({}) && object.metadata.labels['exempt'] == 'true'"}
  - {name: containers, expression: object.spec.template.spec.containers}
  - {name: containersToCheck, expression: "variables.containers.filter(c, c.image.contains('example.com/'))"}
  validations:
  - expression: variables.exempt || variables.containersToCheck.all(c, c.image.startsWith(variables.environment + '.'))
    messageExpression: "'only ' + variables.environment + ' images are allowed in namespace ' + namespaceObject.metadata.name"
passes: {kind: Deployment, spec: {template: {spec: {containers: [{image: "prod.example.com/a"}, {image: "redis"}]}}}}
fails: {kind: Deployment, spec: {template: {spec: {containers: [{image: "dev.example.com/a"}]}}}}
says: only prod images are allowed in namespace shop
---
name: an annotation for the audit log beside a refusal (documentation)
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: object.spec.replicas > 50, messageExpression: "'Deployment spec.replicas set to ' + string(object.spec.replicas)"}]
  auditAnnotations: [{key: high-replica-count, valueExpression: "'Deployment spec.replicas set to ' + string(object.spec.replicas)"}]
passes: {kind: Deployment, spec: {replicas: 51}}
fails: {kind: Deployment, spec: {replicas: 2}}
says: Deployment spec.replicas set to 2
---
name: labels that must be there
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  variables: [{name: missing, expression: "['owner', 'team'].filter(l, !(l in object.metadata.?labels.orValue({})))"}]
  validations: [{expression: size(variables.missing) == 0, messageExpression: "'you must provide labels: ' + variables.missing.join(', ')"}]
passes: {kind: Deployment, metadata: {name: a, namespace: shop, labels: {owner: x, team: y}}}
fails: {kind: Deployment, metadata: {name: a, namespace: shop, labels: {owner: x}}}
says: "you must provide labels: team"
---
name: labels that match a pattern
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations: [{expression: "object.metadata.?labels[?'owner'].orValue('').matches('^[a-z]+@example[.]com$')", message: owner is an address}]
passes: {kind: Deployment, metadata: {name: a, namespace: shop, labels: {owner: "ada@example.com"}}}
fails: {kind: Deployment, metadata: {name: a, namespace: shop, labels: {owner: Ada}}}
says: owner is an address
---
name: allowed repositories
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [pods]}]}
  variables:
  - {name: all, expression: "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : []) + (has(object.spec.ephemeralContainers) ? object.spec.ephemeralContainers : [])"}
  - {name: bad, expression: "variables.all.filter(c, !['a.example.com/', 'b.example.com/'].exists(r, c.image.startsWith(r)))"}
  validations: [{expression: variables.bad.size() == 0, messageExpression: "'container <' + variables.bad[0].name + '> has an invalid image repo <' + variables.bad[0].image + '>'"}]
passes: {kind: Pod, spec: {containers: [{name: c, image: a.example.com/x}]}}
fails: {kind: Pod, spec: {initContainers: [{name: i, image: docker.io/x}], containers: [{name: c, image: a.example.com/x}]}}
says: container <i> has an invalid image repo <docker.io/x>
---
name: no latest tag
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations:
  - {expression: "object.spec.containers.all(c, c.image.contains(':'))", message: an image tag is required}
  - {expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))", message: using a mutable image tag is not allowed}
passes: {kind: Pod, spec: {containers: [{image: "a:1"}]}}
fails: {kind: Pod, spec: {containers: [{image: "a:latest"}]}}
says: using a mutable image tag is not allowed
---
name: digests alone
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.containers.all(c, c.image.find('@sha256:[a-f0-9]{64}$') != '')", message: images need a digest}]
passes: {kind: Pod, spec: {containers: [{image: "a@sha256:6f2c1c0f9e6d1d5f0b1b7e3a5a0c9a4a8d2e7f60b1c3d4e5f60718293a4b5c6d"}]}}
fails: {kind: Pod, spec: {containers: [{image: "a:1"}]}}
says: images need a digest
---
name: no privileged containers
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  variables: [{name: all, expression: "object.spec.containers + object.spec.?initContainers.orValue([])"}]
  validations: [{expression: "variables.all.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)", message: privileged containers are not allowed}]
passes: {kind: Pod, spec: {containers: [{image: a, securityContext: {}}]}}
fails: {kind: Pod, spec: {containers: [{image: a}, {image: b, securityContext: {privileged: true}}]}}
says: privileged containers are not allowed
---
name: capabilities of a list
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  variables: [{name: allowed, expression: "['CHOWN', 'NET_BIND_SERVICE']"}]
  validations: [{expression: "object.spec.containers.all(c, c.?securityContext.capabilities.add.orValue([]).all(cap, cap in variables.allowed))", message: a capability is not allowed}]
passes: {kind: Pod, spec: {containers: [{image: a, securityContext: {capabilities: {add: [CHOWN]}}}]}}
fails: {kind: Pod, spec: {containers: [{image: a, securityContext: {capabilities: {add: [CHOWN, SYS_ADMIN]}}}]}}
says: a capability is not allowed
---
name: no namespaces of the host
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "(!has(object.spec.hostNetwork) || !object.spec.hostNetwork) && (!has(object.spec.hostPID) || !object.spec.hostPID) && (!has(object.spec.hostIPC) || !object.spec.hostIPC)", message: sharing the host namespaces is disallowed}]
passes: {kind: Pod, spec: {containers: []}}
fails: {kind: Pod, spec: {hostPID: true, containers: []}}
says: sharing the host namespaces is disallowed
---
name: no volumes of the host
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))", messageExpression: "'HostPath volumes are forbidden: ' + object.spec.volumes.filter(v, has(v.hostPath)).map(v, v.name).join(', ')"}]
passes: {kind: Pod, spec: {volumes: [{name: a, emptyDir: {}}]}}
fails: {kind: Pod, spec: {volumes: [{name: a, emptyDir: {}}, {name: root, hostPath: {path: /}}]}}
says: "HostPath volumes are forbidden: root"
---
name: limits of containers
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations:
  - {expression: "object.spec.containers.all(c, has(c.resources) && has(c.resources.limits) && has(c.resources.limits.memory))", message: memory limits are required}
  - {expression: "object.spec.containers.all(c, !quantity(c.resources.limits.memory).isGreaterThan(quantity('2Gi')))", message: memory limit over 2Gi}
passes: {kind: Pod, spec: {containers: [{resources: {limits: {memory: 2048Mi}}}]}}
fails: {kind: Pod, spec: {containers: [{resources: {limits: {memory: 3G}}}]}}
says: memory limit over 2Gi
---
name: limits close to requests
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.containers.all(c, quantity(c.resources.limits.cpu).asApproximateFloat() <= 2.0 * quantity(c.resources.requests.cpu).asApproximateFloat())", message: cpu is overcommitted}]
passes: {kind: Pod, spec: {containers: [{resources: {limits: {cpu: "1"}, requests: {cpu: 500m}}}]}}
fails: {kind: Pod, spec: {containers: [{resources: {limits: {cpu: "4"}, requests: {cpu: 500m}}}]}}
says: cpu is overcommitted
---
name: root file systems that are read only
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.containers.all(c, c.?securityContext.readOnlyRootFilesystem.orValue(false))", message: only a read-only root filesystem is allowed}]
passes: {kind: Pod, spec: {containers: [{securityContext: {readOnlyRootFilesystem: true}}]}}
fails: {kind: Pod, spec: {containers: [{securityContext: {readOnlyRootFilesystem: true}}, {name: b}]}}
says: only a read-only root filesystem is allowed
---
name: users that are not root
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.?securityContext.runAsNonRoot.orValue(false) || object.spec.containers.all(c, c.?securityContext.runAsUser.orValue(0) > 0)", message: running as root is not allowed}]
passes: {kind: Pod, spec: {containers: [{securityContext: {runAsUser: 1000}}]}}
fails: {kind: Pod, spec: {containers: [{securityContext: {runAsUser: 0}}]}}
says: running as root is not allowed
---
name: services without ports of nodes
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}]}
  validations: [{expression: "object.spec.?type.orValue('ClusterIP') != 'NodePort'", message: services of type NodePort are not allowed}]
passes: {kind: Service, spec: {clusterIP: None}}
fails: {kind: Service, spec: {type: NodePort}}
says: services of type NodePort are not allowed
---
name: external addresses of a range
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}]}
  validations: [{expression: "object.spec.?externalIPs.orValue([]).all(a, isIP(a) && cidr('203.0.113.0/24').containsIP(a))", message: an external IP is not allowed}]
passes: {kind: Service, spec: {externalIPs: [203.0.113.7]}}
fails: {kind: Service, spec: {externalIPs: [203.0.113.7, 198.51.100.1]}}
says: an external IP is not allowed
---
name: nothing in the default namespace
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}]
  validations: [{expression: "object.metadata.namespace != 'default'", message: using the default namespace is not allowed}]
passes: {kind: Pod, metadata: {name: a, namespace: shop}}
fails: {kind: Pod, metadata: {name: a, namespace: default}}
says: using the default namespace is not allowed
---
name: tokens that are not mounted
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "has(object.spec.automountServiceAccountToken) && object.spec.automountServiceAccountToken == false", message: automounting the token is disallowed}]
passes: {kind: Pod, spec: {automountServiceAccountToken: false}}
fails: {kind: Pod, spec: {}}
says: automounting the token is disallowed
---
name: classes of priority by namespace
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.?priorityClassName.orValue('') in params.data[request.namespace].split(',')", messageExpression: "'priority classes of ' + request.namespace + ': ' + params.data[request.namespace]"}]
paramRef: {selector: {matchLabels: {policy: priority}}, namespace: shop, parameterNotFoundAction: Deny}
params: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: shop, labels: {policy: priority}}, data: {shop: "low,mid"}}]
passes: {kind: Pod, spec: {priorityClassName: low}}
fails: {kind: Pod, spec: {priorityClassName: high}}
says: "priority classes of shop: low,mid"
---
name: unique names of environment variables
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "object.spec.containers.all(c, c.?env.orValue([]).all(e, c.env.exists_one(o, o.name == e.name)))", message: a variable is set twice}]
passes: {kind: Pod, spec: {containers: [{env: [{name: A}, {name: B}]}]}}
fails: {kind: Pod, spec: {containers: [{env: [{name: A}, {name: A}]}]}}
says: a variable is set twice
---
name: probes, and not the same ones
spec:
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}
  validations:
  - expression: object.spec.template.spec.containers.all(c, has(c.livenessProbe) && has(c.readinessProbe) && c.livenessProbe != c.readinessProbe)
    message: liveness and readiness probes are required, and differ
passes: {kind: Deployment, spec: {template: {spec: {containers: [{livenessProbe: {exec: {command: [a]}}, readinessProbe: {exec: {command: [b]}}}]}}}}
fails: {kind: Deployment, spec: {template: {spec: {containers: [{livenessProbe: {exec: {command: [a]}}, readinessProbe: {exec: {command: [a]}}}]}}}}
says: liveness and readiness probes are required, and differ
"""
CASES = list(yaml.safe_load_all(POLICIES))
_GROUPS = {"Deployment": "apps/v1"}


def test_there_are_as_many_as_promised() -> None:
    assert len([case for case in CASES if "documentation" in case["name"]]) >= 6
    assert len([case for case in CASES if "documentation" not in case["name"]]) >= 20


def judged(case: dict[str, Any], which: str) -> Judged:
    metadata = {"name": "a", "namespace": "shop"}
    of = {"apiVersion": _GROUPS.get(case[which]["kind"], "v1"), "metadata": metadata, "spec": {}, **case[which]}
    written = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": case["spec"],
    }
    more = {"paramRef": case["paramRef"]} if "paramRef" in case else {}
    return Judged(written, binding(**more), *case.get("params", []), of=of)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_passes_and_what_fails(case: dict[str, Any]) -> None:
    passing = judged(case, "passes")
    assert passing.verdict == "admit", [*passing.report.findings, passing.report.unknown]
    failing = judged(case, "fails")
    assert failing.messages == [case["says"]], [*failing.report.findings, failing.report.unknown]
