"""Mistakes of a pod by hand: each as small edits of one healthy pod template, and the rule that finds it."""

from tests.matrix.kinds import Node
from tests.matrix.matrix import REMOVED, Mistake, edited

SHARED = "/dev/shm"  # noqa: S108 (a path of the pod)
HEALTHY: Node = {
    "metadata": {"labels": {"team": "nlp"}, "annotations": {"acme.example.com/owner": "nlp"}},
    "spec": {
        "restartPolicy": "Never",
        "nodeSelector": {"acme.example.com/pool": "train"},
        "tolerations": [{"key": "acme.example.com/train", "operator": "Exists", "effect": "NoSchedule"}],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "settings", "configMap": {"name": "settings"}},
            {"name": "keys", "secret": {"secretName": "keys"}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        ],
        "initContainers": [
            {
                "name": "fetch",
                "image": "registry.example.com/ml/fetch:1.0",
                "command": ["fetch", "--out=/data"],
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            }
        ],
        "containers": [
            {
                "name": "node",
                "image": "registry.example.com/ml/train:1.0",
                "command": ["python", "train.py", "--data=/data"],
                "env": [
                    {"name": "LR", "value": "0.1"},
                    {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
                    {"name": "HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
                ],
                "ports": [{"name": "metrics", "containerPort": 9090}],
                "resources": {"limits": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 1}},
                "volumeMounts": [
                    {"name": "data", "mountPath": "/data"},
                    {"name": "settings", "mountPath": "/etc/settings"},
                    {"name": "keys", "mountPath": "/etc/keys"},
                    {"name": "shm", "mountPath": SHARED},
                ],
            }
        ],
    },
}
_NODE = "containers 0"
_LIMITS = f"{_NODE} resources limits"
_ENV = f"{_NODE} env"
_MOUNTS = f"{_NODE} volumeMounts"
_P5: dict[str, Node] = {"nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"}}
_PROBE: Node = {"exec": {"command": ["test", "-f", "alive"]}}

# A name, the rule that must find it, and the edits.
MISTAKES: tuple[tuple[str, str, dict[str, Node]], ...] = (
    # Nothing stands for nothing.
    ("null-gpu", "null-resource", {f"{_LIMITS} nvidia.com/gpu": None}),
    ("null-memory", "null-resource", {f"{_LIMITS} memory": None}),
    ("null-cpu", "null-resource", {f"{_LIMITS} cpu": None}),
    ("null-request", "null-resource", {f"{_NODE} resources requests": {"memory": None}}),
    ("null-limits", "null-field", {_LIMITS: None}),
    ("null-command", "null-field", {f"{_NODE} command": None}),
    ("null-word", "null-field", {f"{_NODE} command 2": None}),
    ("null-env-value", "null-field", {f"{_ENV} 0 value": None}),
    ("null-value-from", "null-field", {f"{_ENV} 1 valueFrom": None}),
    ("null-claim", "null-field", {"volumes 0 persistentVolumeClaim": None}),
    ("null-config-map", "null-field", {"volumes 1 configMap": None}),
    ("null-secret", "null-field", {"volumes 2 secret": None}),
    ("null-host-path", "null-field", {"volumes 0": {"name": "data", "hostPath": None}}),
    ("null-csi", "null-field", {"volumes 0": {"name": "data", "csi": None}}),
    ("null-nfs", "null-field", {"volumes 0": {"name": "data", "nfs": None}}),
    ("null-ephemeral", "null-field", {"volumes 0": {"name": "data", "ephemeral": None}}),
    ("null-projected", "null-field", {"volumes 0": {"name": "data", "projected": None}}),
    ("null-node-label", "null-field", {"nodeSelector acme.example.com/pool": None}),
    ("null-in-env-from", "pod-template-refused", {f"{_NODE} envFrom": [{"secretRef": None}]}),
    ("null-image", "missing-image", {f"{_NODE} image": None}),
    ("null-env-name", "bad-env-name", {f"{_ENV} 0 name": None}),
    ("null-secret-key-ref", "pod-template-refused", {f"{_ENV} 1 valueFrom secretKeyRef": None}),
    ("null-field-ref", "pod-template-refused", {f"{_ENV} 2 valueFrom fieldRef": None}),
    ("null-secret-key", "bad-env-source", {f"{_ENV} 1 valueFrom secretKeyRef key": None}),
    ("null-container", "bad-container-name", {"containers 1": None}),
    ("null-containers", "invalid-field", {"containers": None}),
    ("null-claim-name", "pod-template-refused", {"volumes 0 persistentVolumeClaim claimName": None}),
    ("null-config-map-name", "pod-template-refused", {"volumes 1 configMap name": None}),
    ("null-secret-name", "pod-template-refused", {"volumes 2 secret secretName": None}),
    ("null-volumes", "mount-without-volume", {"volumes": None}),
    ("null-volume-mounts", "unused-volume", {_MOUNTS: None}),
    ("null-mount-path", "bad-mount", {f"{_MOUNTS} 0 mountPath": None}),
    ("null-mount-name", "mount-without-volume", {f"{_MOUNTS} 0 name": None}),
    ("null-port", "bad-port", {f"{_NODE} ports 0 containerPort": None}),
    ("null-init-image", "missing-image", {"initContainers 0 image": None}),
    ("null-container-name", "bad-container-name", {f"{_NODE} name": None}),
    (
        "null-resource-claim",
        "pod-template-refused",
        {
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": None}],
            f"{_NODE} resources claims": [{"name": "gpu"}],
        },
    ),
    # Amounts.
    ("gpu-in-words", "refused-by-webhook", {f"{_LIMITS} nvidia.com/gpu": "one"}),
    ("gpu-half", "fractional-device", {f"{_LIMITS} nvidia.com/gpu": "0.5"}),
    ("gpu-negative", "negative-quantity", {f"{_LIMITS} nvidia.com/gpu": -1}),
    ("gpu-plain", "unknown-resource", {f"{_LIMITS} nvidia.com/gpu": REMOVED, f"{_LIMITS} gpu": 1}),
    ("gpu-plural", "misspelt-resource", {f"{_LIMITS} nvidia.com/gpu": REMOVED, f"{_LIMITS} nvidia.com/gpus": 1}),
    (
        "gpu-requests-alone",
        "request-not-limit",
        {_LIMITS: {"cpu": 8, "memory": "64Gi"}, f"{_NODE} resources requests": {"nvidia.com/gpu": 1}},
    ),
    ("gpu-beside-tpu", "mixed-accelerators", {f"{_LIMITS} google.com/tpu": 4}),
    ("gpu-beside-gaudi", "mixed-accelerators", {f"{_LIMITS} habana.ai/gaudi": 8}),
    ("gpu-beside-amd", "mixed-accelerators", {f"{_LIMITS} amd.com/gpu": 1}),
    ("gpu-beside-intel", "mixed-accelerators", {f"{_LIMITS} gpu.intel.com/i915": 1}),
    ("gpu-beside-neuron", "mixed-accelerators", {f"{_LIMITS} aws.amazon.com/neuron": 1}),
    ("cpu-over-machine", "larger-than-machine", {**_P5, f"{_LIMITS} cpu": 500}),
    ("cpu-of-whole-machine", "larger-than-machine", {**_P5, f"{_LIMITS} cpu": 192}),
    ("memory-over-machine", "larger-than-machine", {**_P5, f"{_LIMITS} memory": "3Ti"}),
    ("memory-gb", "refused-by-webhook", {f"{_LIMITS} memory": "64GB"}),
    ("memory-lower-case", "refused-by-webhook", {f"{_LIMITS} memory": "64gi"}),
    ("memory-blank", "refused-by-webhook", {f"{_LIMITS} memory": "64 Gi"}),
    ("memory-milli", "amount-in-wrong-unit", {f"{_LIMITS} memory": "512m"}),
    ("memory-bytes", "amount-in-wrong-unit", {f"{_LIMITS} memory": 64}),
    ("memory-negative", "negative-quantity", {f"{_LIMITS} memory": "-1Gi"}),
    ("cpu-gibi", "amount-in-wrong-unit", {f"{_LIMITS} cpu": "8Gi"}),
    ("cpu-in-words", "refused-by-webhook", {f"{_LIMITS} cpu": "four"}),
    ("cpu-over-limit", "request-over-limit", {f"{_NODE} resources requests": {"cpu": 16}}),
    ("memory-over-limit", "request-over-limit", {f"{_NODE} resources requests": {"memory": "128Gi"}}),
    ("limits-list", "unknown-field", {_LIMITS: [{"cpu": 8}]}),
    (
        "limits-misspelt",
        "unknown-field",
        {f"{_NODE} resources": {"limit": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 1}}},
    ),
    ("resources-misspelt", "unknown-field", {f"{_NODE} resouces": {"limits": {"cpu": 8}}}),
    ("hugepages-alone", "hugepages-alone", {f"{_NODE} resources": {"limits": {"hugepages-2Mi": "4Gi"}}}),
    ("shared-memory-too-large", "tmpfs-over-memory", {"volumes 3 emptyDir sizeLimit": "128Gi"}),
    # Types.
    ("replicas-in-env", "refused-by-webhook", {f"{_ENV} 0 value": 8}),
    ("env-true", "refused-by-webhook", {f"{_ENV} 0 value": True}),
    ("env-map", "unknown-field", {_ENV: {"LR": "0.1"}}),
    ("env-text", "refused-by-webhook", {f"{_ENV} 0": "LR=0.1"}),
    ("env-name-with-equals", "bad-env-name", {f"{_ENV} 0 name": "LR=0"}),
    ("env-twice", "duplicate-item", {f"{_ENV} 3": {"name": "LR", "value": "0.2"}}),
    ("env-value-and-source", "env-value-and-source", {f"{_ENV} 1 value": "x"}),
    ("env-two-sources", "pod-template-refused", {f"{_ENV} 1 valueFrom fieldRef": {"fieldPath": "metadata.name"}}),
    ("env-field-path", "bad-field-path", {f"{_ENV} 2 valueFrom fieldRef fieldPath": "status.nodeIP"}),
    ("env-label-path", "bad-field-path", {f"{_ENV} 2 valueFrom fieldRef fieldPath": "metadata.labels"}),
    ("env-secret-without-key", "bad-env-source", {f"{_ENV} 1 valueFrom": {"secretKeyRef": {"name": "hub"}}}),
    ("env-secret-misspelt", "unknown-field", {f"{_ENV} 1 valueFrom": {"secretRef": {"name": "hub", "key": "token"}}}),
    (
        "env-value-from-misspelt",
        "unknown-field",
        {f"{_ENV} 1": {"name": "TOKEN", "valuefrom": {"secretKeyRef": {"name": "hub", "key": "token"}}}},
    ),
    (
        "env-resource-of-no-container",
        "resource-of-no-container",
        {f"{_ENV} 2 valueFrom": {"resourceFieldRef": {"containerName": "main", "resource": "limits.cpu"}}},
    ),
    (
        "secret-in-env",
        "secret-in-text",
        {f"{_ENV} 0": {"name": "HF_TOKEN", "value": "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"}},
    ),
    ("secret-placeholder", "secret-placeholder", {f"{_ENV} 0": {"name": "HF_TOKEN", "value": "${HF_TOKEN}"}}),
    ("command-text", "refused-by-webhook", {f"{_NODE} command": "python train.py"}),
    ("args-variable", "variable-without-shell", {f"{_NODE} args": ["--out", "$OUTPUT_DIR"]}),
    (
        "command-variable",
        "variable-without-shell",
        {f"{_NODE} command": ["torchrun", "--nproc_per_node=$NGPU", "train.py"]},
    ),
    ("root-of-the-pod", "root-where-non-root", {"securityContext": {"runAsNonRoot": True, "runAsUser": 0}}),
    (
        "root-of-a-container",
        "root-where-non-root",
        {f"{_NODE} securityContext": {"runAsNonRoot": True, "runAsUser": 0}},
    ),
    ("args-text", "refused-by-webhook", {f"{_NODE} args": "--epochs 10"}),
    ("args-number", "refused-by-webhook", {f"{_NODE} args": ["--epochs", 10]}),
    ("args-true", "refused-by-webhook", {f"{_NODE} args": ["--bf16", True]}),
    ("args-map", "unknown-field", {f"{_NODE} args": [{"--run-name": "exp1"}]}),
    ("command-one-word", "command-in-one-word", {f"{_NODE} command": ["python train.py"]}),
    ("command-misspelt", "unknown-field", {f"{_NODE} comand": ["python", "train.py"]}),
    ("containers-map", "unknown-field", {"containers": {"name": "node", "image": "registry.example.com/ml/train:1.0"}}),
    ("volumes-map", "unknown-field", {"volumes": {"name": "data", "emptyDir": {}}}),
    ("host-network-text", "refused-by-webhook", {"hostNetwork": "yes"}),
    ("grace-period-text", "refused-by-webhook", {"terminationGracePeriodSeconds": "60s"}),
    ("port-text", "refused-by-webhook", {f"{_NODE} ports 0 containerPort": "9090"}),
    ("label-true", "refused-by-webhook", {"metadata labels gpu": True}),
    ("annotation-number", "refused-by-webhook", {"metadata annotations acme.example.com/weight": 1}),
    ("node-selector-true", "refused-by-webhook", {"nodeSelector acme.example.com/gpu": True}),
    ("node-selector-list", "refused-by-webhook", {"nodeSelector acme.example.com/pool": ["train"]}),
    ("toleration-seconds-text", "refused-by-webhook", {"tolerations 0 tolerationSeconds": "60"}),
    # Images.
    ("image-missing", "missing-image", {f"{_NODE} image": REMOVED}),
    ("image-empty", "missing-image", {f"{_NODE} image": ""}),
    ("image-https", "bad-image", {f"{_NODE} image": "https://registry.example.com/ml/train:1.0"}),
    ("image-upper-case", "bad-image", {f"{_NODE} image": "registry.example.com/ml/Train:1.0"}),
    ("image-two-tags", "bad-image", {f"{_NODE} image": "registry.example.com/ml/train:1.0:gpu"}),
    ("image-digest-short", "bad-image", {f"{_NODE} image": "registry.example.com/ml/train@sha256:abc"}),
    ("image-blank", "bad-image", {f"{_NODE} image": "registry.example.com/ml/tr ain:1.0"}),
    ("image-space-behind", "image-with-space", {f"{_NODE} image": "registry.example.com/ml/train:1.0 "}),
    ("init-image-missing", "missing-image", {"initContainers 0 image": REMOVED}),
    ("init-image-https", "bad-image", {"initContainers 0 image": "https://registry.example.com/ml/fetch:1.0"}),
    ("image-latest", "moving-tag", {f"{_NODE} image": "registry.example.com/ml/train:latest"}),
    ("image-without-tag", "moving-tag", {f"{_NODE} image": "registry.example.com/ml/train"}),
    ("pull-policy-misspelt", "bad-pull-policy", {f"{_NODE} imagePullPolicy": "Allways"}),
    ("pull-policy-lower-case", "bad-pull-policy", {f"{_NODE} imagePullPolicy": "always"}),
    # Mounts and volumes.
    ("mount-nowhere", "mount-without-volume", {f"{_MOUNTS} 0 name": "datas"}),
    ("mount-relative", "relative-mount-path", {f"{_MOUNTS} 0 mountPath": "data"}),
    ("mount-twice", "duplicate-item", {f"{_MOUNTS} 1 mountPath": "/data"}),
    ("mount-path-misspelt", "unknown-field", {f"{_MOUNTS} 0": {"name": "data", "mountpath": "/data"}}),
    ("mount-sub-path-out", "bad-mount", {f"{_MOUNTS} 0 subPath": "../other"}),
    ("mount-init-nowhere", "mount-without-volume", {"initContainers 0 volumeMounts 0 name": "datas"}),
    ("volume-without-name", "bad-volume-name", {"volumes 0": {"persistentVolumeClaim": {"claimName": "data"}}}),
    (
        "volume-name-bad",
        "bad-volume-name",
        {
            "volumes 0 name": "my_data",
            f"{_MOUNTS} 0 name": "my_data",
            "initContainers 0 volumeMounts 0 name": "my_data",
        },
    ),
    ("volume-twice", "duplicate-item", {"volumes 4": {"name": "data", "emptyDir": {}}}),
    ("volume-two-sources", "bad-volume-source", {"volumes 0 emptyDir": {}}),
    (
        "volume-of-misspelt-kind",
        "unknown-field",
        {"volumes 0": {"name": "data", "persistentVolumClaim": {"claimName": "data"}}},
    ),
    ("volume-claim-field-misspelt", "unknown-field", {"volumes 0 persistentVolumeClaim": {"claim": "data"}}),
    ("volume-medium-misspelt", "unknown-medium", {"volumes 3 emptyDir medium": "memory"}),
    ("volume-unused", "unused-volume", {"volumes 4": {"name": "scratch", "emptyDir": {}}}),
    ("volume-host-root", "sensitive-host-path", {"volumes 0": {"name": "data", "hostPath": {"path": "/"}}}),
    (
        "shared-memory-of-host",
        "shared-memory-of-host",
        {"volumes 3": {"name": "shm", "hostPath": {"path": SHARED}}},
    ),
    (
        "checkpoints-in-container",
        "checkpoints-in-container",
        {f"{_NODE} command": ["python", "train.py", "--checkpoint_dir=./ckpt"]},
    ),
    (
        "output-read-only",
        "output-on-read-only-mount",
        {f"{_MOUNTS} 0 readOnly": True, f"{_NODE} command": ["python", "train.py", "--output_dir=/data/out"]},
    ),
    # Names, ports and probes.
    ("port-out-of-range", "bad-port", {f"{_NODE} ports 0 containerPort": 99999}),
    ("port-name-long", "pod-template-refused", {f"{_NODE} ports 0 name": "a-name-of-too-many-letters"}),
    ("port-protocol", "pod-template-refused", {f"{_NODE} ports 0 protocol": "tcp"}),
    ("port-twice", "bad-port", {f"{_NODE} ports 1": {"name": "metrics", "containerPort": 9091}}),
    ("init-name-bad", "bad-container-name", {"initContainers 0 name": "Fetch_Data"}),
    (
        "init-name-twice",
        "duplicate-item",
        {"initContainers 1": {"name": "fetch", "image": "registry.example.com/ml/fetch:1.0", "command": ["fetch"]}},
    ),
    (
        "sidecar-name-bad",
        "bad-container-name",
        {
            "containers 1": {
                "name": "Log_Shipper",
                "image": "registry.example.com/ml/ship:1.0",
                "command": ["ship", "--once"],
            }
        },
    ),
    (
        "sidecar-endless",
        "endless-sidecar",
        {
            "containers 1": {
                "name": "tail",
                "image": "registry.example.com/ml/ship:1.0",
                "command": ["tail", "-f", "/dev/null"],
            }
        },
    ),
    ("init-endless", "endless-init-container", {"initContainers 0 command": ["sleep", "infinity"]}),
    ("probe-without-handler", "bad-probe", {f"{_NODE} startupProbe": {"periodSeconds": 10}}),
    (
        "probe-negative",
        "pod-template-refused",
        {f"{_NODE} livenessProbe": {**_PROBE, "failureThreshold": -1}, f"{_NODE} startupProbe": _PROBE},
    ),
    ("probe-early", "liveness-without-startup", {f"{_NODE} livenessProbe": _PROBE}),
    ("label-key-bad", "bad-label", {"metadata labels": {"team": "nlp", "my team": "nlp"}}),
    ("label-value-bad", "bad-label", {"metadata labels team": "nlp/vision"}),
    ("annotation-key-bad", "bad-label", {"metadata annotations": {"acme.example.com/owner": "nlp", "my owner": "nlp"}}),
    # Placement.
    ("node-selector-key-bad", "bad-label", {"nodeSelector": {"my pool": "train"}}),
    ("node-selector-value-bad", "bad-label", {"nodeSelector acme.example.com/pool": "train me"}),
    ("toleration-operator", "bad-toleration", {"tolerations 0 operator": "Exist"}),
    ("toleration-effect", "bad-toleration", {"tolerations 0 effect": "NoScheduled"}),
    ("toleration-value", "bad-toleration", {"tolerations 0 value": "true"}),
    (
        "toleration-misspelt",
        "unknown-field",
        {"tolerations 0": {"keys": "acme.example.com/train", "operator": "Exists"}},
    ),
    (
        "affinity-operator",
        "pod-template-refused",
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "acme.example.com/pool", "operator": "Is", "values": ["train"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ),
    (
        "affinity-without-values",
        "pod-template-refused",
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "acme.example.com/pool", "operator": "In"}]}
                        ]
                    }
                }
            }
        },
    ),
    (
        "affinity-contradicts",
        "selector-contradicts-affinity",
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "acme.example.com/pool", "operator": "In", "values": ["infer"]}
                                ]
                            }
                        ]
                    }
                }
            }
        },
    ),
    (
        "affinity-without-topology",
        "empty-topology-key",
        {
            "affinity": {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": {"matchLabels": {"team": "nlp"}}, "topologyKey": ""}
                    ]
                }
            }
        },
    ),
    (
        "affinity-weight",
        "pod-template-refused",
        {
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 200, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
                    ]
                }
            }
        },
    ),
    (
        "spread-zero",
        "pod-template-refused",
        {
            "topologySpreadConstraints": [
                {"maxSkew": 0, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}
            ]
        },
    ),
    (
        "spread-misspelt",
        "pod-template-refused",
        {
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "Never"}
            ]
        },
    ),
    ("selector-misspelt", "unknown-field", {"nodeselector": {"acme.example.com/pool": "train"}}),
    # The pod.
    ("restart-always", "restart-policy-always", {"restartPolicy": "Always"}),
    ("restart-lower-case", "unknown-pod-setting", {"restartPolicy": "never"}),
    ("grace-period-negative", "negative-grace-period", {"terminationGracePeriodSeconds": -1}),
    ("deadline-zero", "bad-pod-deadline", {"activeDeadlineSeconds": 0}),
    ("dns-none", "pod-template-refused", {"dnsPolicy": "None"}),
    ("dns-policy", "unknown-pod-setting", {"dnsPolicy": "ClusterFirstHostNet"}),
    ("host-network", "host-network-without-dns-policy", {"hostNetwork": True}),
    ("host-alias-bad", "bad-host-alias", {"hostAliases": [{"ip": "10.0.0", "hostnames": ["store"]}]}),
    ("host-name-bad", "bad-pod-name-field", {"hostname": "My_Host"}),
    ("priority-class-bad", "bad-pod-name-field", {"priorityClassName": "High Priority"}),
    ("service-account-bad", "pod-template-refused", {"serviceAccountName": "My_Account"}),
    ("service-account-misspelt", "unknown-field", {"serviceAcountName": "trainer"}),
    ("privileged", "privileged-pod", {f"{_NODE} securityContext": {"privileged": True}}),
    (
        "privileged-without-escalation",
        "pod-template-refused",
        {f"{_NODE} securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
    ),
    ("user-negative", "pod-template-refused", {"securityContext": {"runAsUser": -1}}),
    ("user-in-words", "refused-by-webhook", {"securityContext": {"runAsUser": "root"}}),
    ("capability-misspelt", "unknown-field", {f"{_NODE} securityContext": {"capabilites": {"add": ["IPC_LOCK"]}}}),
    ("share-and-host-process", "pod-template-refused", {"hostPID": True, "shareProcessNamespace": True}),
    ("overhead-negative", "pod-template-refused", {"overhead": {"cpu": "-1"}}),
    ("gate-twice", "duplicate-item", {"schedulingGates": [{"name": "a.example.com/b"}, {"name": "a.example.com/b"}]}),
    ("claim-of-no-device", "claim-unknown", {f"{_NODE} resources claims": [{"name": "gpu"}]}),
    # Commands.
    (
        "shell-and",
        "shell-words-without-shell",
        {f"{_NODE} command": ["pip", "install", "x==1", "&&", "python", "train.py"]},
    ),
    ("shell-pipe", "shell-words-without-shell", {f"{_NODE} command": ["python", "train.py", "|", "tee", "log"]}),
    ("shell-redirect", "shell-words-without-shell", {f"{_NODE} command": ["python", "train.py", ">", "log"]}),
    ("variable-undefined", "undefined-variable", {f"{_NODE} command": ["python", "train.py", "$(DATA_DIR)"]}),
    ("variable-without-shell", "variable-without-shell", {f"{_NODE} command": ["python", "train.py", "--lr=$LR"]}),
    (
        "variable-misspelt-in-launcher",
        "undefined-variable",
        {f"{_NODE} command": ["sh", "-c", "deepspeed --num_gpus 1 --node_rank $PET_NODE_RNK train.py"]},
    ),
    ("variable-too-late", "undefined-variable", {f"{_ENV} 0 value": "$(HOST_IP)"}),
    ("variable-of-shell-in-env", "shell-variable-in-env", {f"{_ENV} 0": {"name": "PATH", "value": "/opt/bin:$PATH"}}),
    ("exit-code-masked", "masked-exit-code", {f"{_NODE} command": ["sh", "-c", "python train.py; echo done"]}),
    ("sleep", "endless-sleep", {f"{_NODE} command": ["sleep", "infinity"]}),
    (
        "install-at-start",
        "install-at-start",
        {f"{_NODE} command": ["sh", "-c", "pip install torch && python train.py"]},
    ),
    ("nccl-interface", "wrong-socket-interface", {f"{_ENV} 0": {"name": "NCCL_SOCKET_IFNAME", "value": "lo"}}),
    ("nccl-misspelt", "misspelt-variable", {f"{_ENV} 0": {"name": "NCCL_DEBUGG", "value": "WARN"}}),
)


def mistakes() -> list[Mistake]:
    """All of the list."""
    return [Mistake(name, rule, HEALTHY, edited(HEALTHY, edits)) for name, rule, edits in MISTAKES]
