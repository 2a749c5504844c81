"""The annotations that trainc reads from jobs, each with what it says and a value."""

from __future__ import annotations

ANNOTATIONS = {
    "trainc.dev/run": ('"2"', "The number of the run: a new one starts a new run."),
    "trainc.dev/cluster": ("eu,us", "The clusters that run the job, whatever their `paths` say."),
    "trainc.dev/components": ("shm,spot", "The components that it switches on."),
    "checkpoints.trainc.dev/claim": (
        "bert-data",
        "A value for a parameter of a component that is on: `<component>.trainc.dev/<parameter>`.",
    ),
    "trainc.dev/compile": (
        '"true"',
        'A plain job (`batch/v1`): it is training, and is compiled; with `"false"` it is left alone.',
    ),
    "trainc.dev/keep": (
        "job",
        "A plain Job stays one: it is checked, and a PodGroup stands beside it where the cluster has a gang scheduler.",
    ),
    "trainc.dev/rank-layout": (
        "merged",
        "PyTorchJob: one Job of master and workers, or with `per-job` one Job for each worker.",
    ),
    "trainc.dev/run-to-completion": (
        '"true"',
        "A LeaderWorkerSet: its pods end with their program, and it is compiled.",
    ),
    "trainc.dev/compat-names": (
        '"true"',
        "An older kind: Services under the names that its operator gave to pods.",
    ),
    "trainc.dev/cluster-domain": (
        "cluster.local",
        "An older kind: the DNS domain of the cluster, where its host names hold it.",
    ),
    "trainc.dev/keep-ttl": ('"true"', "An older kind: its time to live stays."),
    "trainc.dev/lenient": (
        '"true"',
        "An older kind: a role in lower case, or a Master without `replicas`, is a warning.",
    ),
    "trainc.dev/jax-variables": ('"true"', "A JAXJob: the variables that JAX itself reads are set too."),
}
