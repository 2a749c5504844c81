"""The names by which PodGroups and their pods know each other."""

from __future__ import annotations

COSCHEDULING_LABEL = "scheduling.x-k8s.io/pod-group"
# The prefix is historical: this annotation belongs to Volcano, not to Kubernetes' own groups.
VOLCANO_GROUP = "scheduling.k8s.io/group-name"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
VOLCANO_TASK = "volcano.sh/task-spec"
NATIVE_FIELD = "schedulingGroup"
API_GROUPS = {
    "scheduling.x-k8s.io": "coscheduling",
    "scheduling.volcano.sh": "volcano",
    "scheduling.k8s.io": "native",
}
