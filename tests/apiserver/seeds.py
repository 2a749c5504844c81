"""Objects that use much of their schemas, to start mutations from."""

from typing import Any

import yaml

SEEDS = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: nlp, labels: {team: nlp}}
spec:
  runtimeRef: {name: torch-distributed, kind: ClusterTrainingRuntime}
  initializer:
    dataset: {storageUri: "s3://bucket/data", env: [{name: A, value: b}], secretRef: {name: creds}}
    model: {storageUri: "hf://org/model"}
  trainer:
    image: registry.example.org/bert:1
    command: [torchrun, train.py]
    args: ["--lr", "1e-4"]
    numNodes: 4
    numProcPerNode: 8
    env:
    - {name: EPOCHS, value: "3"}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
    resourcesPerNode: {limits: {cpu: 4, memory: 16Gi}, requests: {nvidia.com/gpu: "8"}, claims: [{name: nic}]}
  runtimePatches:
  - manager: acme.dev/team
    trainingRuntimeSpec:
      template:
        metadata: {labels: {a: b}}
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    nodeSelector: {pool: blue}
                    tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 5}]
                    terminationGracePeriodSeconds: 30
                    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
                    containers:
                    - name: node
                      volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
  suspend: false
  activeDeadlineSeconds: 3600
  managedBy: trainer.kubeflow.org/trainjob-controller
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed, labels: {trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy: {numNodes: 2, torch: {envInjection: {targets: [{jobName: node, containerNames: [a, b]}]}}}
  podGroupPolicy: {coscheduling: {scheduleTimeoutSeconds: 120}}
  template:
    spec:
      successPolicy: {operator: All, targetReplicatedJobs: [node]}
      replicatedJobs:
      - name: node
        replicas: 1
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                containers: [{name: node, image: "torch:2.9"}]
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: ring, annotations: {note: free text}}
spec:
  network: {enableDNSHostnames: true, subdomain: ring, publishNotReadyAddresses: true}
  successPolicy: {operator: Any, targetReplicatedJobs: [workers]}
  startupPolicy: {startupPolicyOrder: AnyOrder}
  failurePolicy:
    maxRestarts: 3
    restartStrategy: Recreate
    rules:
    - {name: lost, action: RestartJobSet, onJobFailureReasons: [PodFailurePolicy], targetReplicatedJobs: [workers]}
  coordinator: {replicatedJob: workers, jobIndex: 0, podIndex: 0}
  ttlSecondsAfterFinished: 600
  volumeClaimPolicies:
  - retentionPolicy: {whenDeleted: Retain}
    templates:
    - metadata: {name: scratch}
      spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 20Gi}}}
  replicatedJobs:
  - name: data
    groupName: default
    replicas: 1
    template:
      spec:
        completionMode: Indexed
        completions: 1
        parallelism: 1
        template: {spec: {restartPolicy: Never, containers: [{name: load, image: "loader:1"}]}}
  - name: workers
    groupName: default
    replicas: 2
    dependsOn: [{name: data, status: Complete}]
    template:
      metadata: {labels: {app: ring}, annotations: {x: y}}
      spec:
        completionMode: Indexed
        completions: 4
        parallelism: 4
        backoffLimit: 2
        podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [1, 2]}}]}
        template:
          metadata: {labels: {app: ring}}
          spec:
            restartPolicy: Never
            nodeSelector: {pool: blue}
            affinity:
              nodeAffinity:
                requiredDuringSchedulingIgnoredDuringExecution:
                  nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]
            topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
            volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}, {name: cfg, configMap: {name: cfg}}]
            containers:
            - name: trainer
              image: registry.example.org/trainer:3
              command: [python, train.py]
              ports: [{containerPort: 29500, protocol: TCP}, {containerPort: 80}]
              env: [{name: A, value: "1"}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}]
              envFrom: [{configMapRef: {name: env}}]
              resources: {limits: {cpu: "4", memory: 16Gi}, requests: {cpu: 500m}}
              livenessProbe: {httpGet: {path: /ok, port: 8080}, periodSeconds: 5}
              volumeMounts: [{name: scratch, mountPath: /scratch}, {name: shm, mountPath: /dev/shm}]
              securityContext: {capabilities: {add: [IPC_LOCK]}, runAsUser: 1000}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang}
spec:
  minMember: 4
  queue: default
  minResources: {cpu: "4", memory: 1Gi}
  networkTopology: {mode: hard, highestTierAllowed: 1}
  subGroupPolicy: [{name: a, subGroupSize: 2, labelSelector: {matchLabels: {a: b}}, matchLabelKeys: [x]}]
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 4, scheduleTimeoutSeconds: 60, minResources: {cpu: 4}}
"""


def seeds() -> list[dict[str, Any]]:
    """One object of each kind, fresh."""
    return list(yaml.load_all(SEEDS, yaml.CSafeLoader))


def explicit_jobset() -> dict[str, Any]:
    """The JobSet: every default that its webhook would write stands in it."""
    return seeds()[2]
