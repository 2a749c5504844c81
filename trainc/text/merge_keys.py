"""Which lists merge, and by which key; generated from Kubernetes 1.36 by `python -m trainc.apiserver.generate`.

An empty key marks a list of scalars that merges as a set; a list of any other name is replaced whole.
"""

MERGE_KEYS: dict[str, str] = {
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "finalizers": "",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ports": "containerPort",
    "replicatedJobs": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
