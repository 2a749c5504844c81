"""Kinds of objects that decide whether a job starts on a cluster; an inventory lists those it knows completely."""

INVENTORY = "Inventory"
DECISIVE = (
    "AdmissionCheck", "ClusterQueue", "Cohort", "Configuration", "LimitRange", "LocalQueue", "Namespace", "Node",
    "PriorityClass", "Queue", "ResourceFlavor", "ResourceQuota", "RuntimeClass", "Topology", "Workload",
    "WorkloadPriorityClass",
)  # fmt: skip
RUNNING = ("DaemonSet", "Pod")  # what takes its share of the nodes
# Of these, what a server reports decides as well.
REPORTED = frozenset({"AdmissionCheck", "Node", "PersistentVolumeClaim", "Pod", "Queue", "ResourceQuota", "Workload"})
# Any of these says something about how much fits.
CAPACITY = frozenset({"ClusterQueue", INVENTORY, "LimitRange", "Node", "Queue", "ResourceQuota"})
