"""Answers: what decides is looked at, and what the dump does not tell is unknown."""

from typing import Any

import pytest

from tests.cluster.capacity.clusters import HOSTNAME, ask, job, node, queue, thing, topology

MANAGED = {"matchLabels": {"team": "yes"}}
CHECKED: dict[str, Any] = {"admissionChecksStrategy": {"admissionChecks": [{"name": "gate"}]}}
ACTIVE = {"conditions": [{"type": "Active", "status": "True"}]}
RACK = "example.com/rack"


def configuration(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", **fields}


def check(controller: str, **fields: Any) -> dict[str, Any]:
    return thing("AdmissionCheck", "gate", spec={"controllerName": controller}, **fields)


def test_a_queued_job_in_a_namespace_that_kueue_passes_over_stays_suspended() -> None:
    found = ask(job(queued=True), *queue(), node("n1"), configuration(managedJobsNamespaceSelector=MANAGED))
    assert found.status == "never"
    assert "not opted in" in found.reason


def test_a_namespace_whose_labels_are_not_known_decides_nothing() -> None:
    objects = [one for one in queue(namespaceSelector=MANAGED) if one["kind"] != "Namespace"]
    assert ask(job(queued=True), *objects, node("n1")).status == "unknown"
    assert ask(job(queued=True), *objects, node("n1"), closed=True).status == "never"


def test_a_selector_of_names_needs_no_labels() -> None:
    keys = [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}]
    objects = [one for one in queue() if one["kind"] != "Namespace"]
    selector = {"matchExpressions": keys}
    found = ask(job(queued=True), *objects, node("n1"), configuration(managedJobsNamespaceSelector=selector))
    assert found.status == "fits"


def test_a_prebuilt_workload_is_missing_only_where_workloads_are_listed() -> None:
    tree = job(queued=True, annotations={"kueue.x-k8s.io/prebuilt-workload-name": "made"})
    assert ask(tree, *queue(), node("n1")).status == "unknown"
    assert ask(tree, *queue(), node("n1"), thing("Workload", "other", "lab")).status == "never"
    assert ask(tree, *queue(), node("n1"), thing("Workload", "made", "lab")).status == "fits"


@pytest.mark.parametrize(
    ("gate", "status"),
    [
        ({"TopologyAwareScheduling": False}, "unknown"),
        ({"FlavorFungibility": False}, "unknown"),
        ({"SchedulerLibraryIntegration": True}, "unknown"),
        ({"TopologyAwareScheduling": True, "LocalQueueMetrics": True}, "fits"),
    ],
)
def test_feature_gates_that_are_not_modelled(gate: dict[str, bool], status: str) -> None:
    assert ask(job(queued=True), *queue(), node("n1"), configuration(featureGates=gate)).status == status


def test_a_default_priority_class_counts_where_its_gate_is_on() -> None:
    known = [*queue(), node("n1"), thing("WorkloadPriorityClass", "default", value=7)]
    off = configuration(featureGates={"WorkloadPriorityClassDefaulting": False})
    for objects, priority in ((known, 7), ([*known, off], 0)):
        verdict = ask(job(queued=True), *objects).verdict
        assert verdict is not None
        assert verdict.priority == priority


def test_devices_that_are_claimed_are_unknown() -> None:
    claims: dict[str, Any] = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    assert ask(job(queued=True, **claims), *queue(), node("n1")).status == "unknown"
    assert ask(job(**claims), node("n1")).status == "unknown"


def test_a_job_that_is_gated_waits_and_one_that_never_fits_does_not() -> None:
    gate = {"kueue.x-k8s.io/admission-gated-by": "example.com/approval"}
    assert ask(job(queued=True, annotations=gate), *queue(), node("n1")).status == "waits"
    assert ask(job(queued=True, annotations=gate), *queue(4), node("n1")).status == "never"


@pytest.mark.parametrize(
    ("controller", "fields", "status"),
    [
        ("example.com/approval", {"status": ACTIVE}, "needs nodes"),
        ("example.com/approval", {}, "unknown"),
        ("kueue.x-k8s.io/provisioning-request", {"status": ACTIVE}, "admitted"),
        ("kueue.x-k8s.io/multikueue", {"status": ACTIVE}, "admitted"),
    ],
)
def test_checks_that_bring_nodes_and_those_that_do_not(controller: str, fields: dict[str, Any], status: str) -> None:
    found = ask(job(queued=True, pods=3), *queue(**CHECKED), check(controller, **fields), node("n1"))
    assert found.status == status


def test_without_nodes_nobody_knows_whether_pods_start() -> None:
    found = ask(job(queued=True), *queue())
    assert (found.status, "no nodes" in found.reason) == ("admitted", True)


def test_a_rack_that_holds_a_pod_only_in_pieces_holds_none() -> None:
    flavor = {"topologyName": "tree", "nodeLabels": {"pool": "a"}}
    racks = [node(f"n{at}", labels={"pool": "a", RACK: "r1"}) for at in range(2)]
    found = ask(job(queued=True, pods=1, cpu=12), *queue(flavor=flavor), topology(RACK), *racks)
    assert found.status == "needs nodes"


def test_pods_stay_in_the_rack_that_the_queue_chose() -> None:
    flavor = {"topologyName": "tree", "nodeLabels": {"pool": "a"}}
    small = [node(f"a{at}", labels={"pool": "a", RACK: "r1"}) for at in range(2)]
    large = [node(f"b{at}", cpu=16, labels={"pool": "a", RACK: "r2"}) for at in range(2)]
    wanted = {"kueue.x-k8s.io/podset-required-topology": RACK}
    tree = job(queued=True, pods=1, cpu=12, pod_annotations=wanted)
    assert ask(tree, *queue(flavor=flavor), topology(RACK), *large).status == "fits"
    # Kueue takes the smallest rack that is large enough in sum.
    assert ask(tree, *queue(flavor=flavor), topology(RACK), *small, *large).status == "needs nodes"


def test_a_quota_counts_for_pods_that_kueue_places_itself() -> None:
    flavor = {"topologyName": "tree"}
    full = thing("ResourceQuota", "q", "lab", spec={"hard": {"requests.cpu": "4"}})
    placed = [*queue(flavor=flavor), topology(HOSTNAME), node("n1")]
    assert ask(job(queued=True), *placed).status == "fits"
    found = ask(job(queued=True), *placed, full)
    assert (found.status, "exceeded quota: q" in found.reason) == ("never", True)


def test_a_quota_that_others_use_up_is_waited_for() -> None:
    status = {"hard": {"requests.cpu": "10"}, "used": {"requests.cpu": "6"}}
    used = thing("ResourceQuota", "q", "lab", spec={"hard": status["hard"]}, status=status)
    assert ask(job(), node("n1"), used).status == "waits"
    assert ask(job(pods=1), node("n1"), used).status == "fits"


@pytest.mark.parametrize(
    ("hard", "status"),
    [
        ({"count/jobsets.jobset.x-k8s.io": "0"}, "never"),
        ({"services": "0"}, "never"),
        ({"count/jobs.batch": "1"}, "never"),
        ({"count/jobs.batch": "2", "services": "1", "count/jobsets.jobset.x-k8s.io": "1"}, "fits"),
    ],
)
def test_a_quota_counts_the_objects_of_a_job(hard: dict[str, str], status: str) -> None:
    quota = thing("ResourceQuota", "q", "lab", spec={"hard": hard})
    assert ask(job(jobs=2, pods=1), node("n1"), quota).status == status


def test_what_a_quota_wants_to_be_stated_may_come_from_a_limit_range_that_nobody_dumped() -> None:
    quota = thing("ResourceQuota", "q", "lab", spec={"hard": {"limits.cpu": "40"}})
    other = thing("LimitRange", "l", "other", spec={"limits": []})
    assert ask(job(), node("n1"), quota).status == "fits"
    found = ask(job(), node("n1"), quota, other)
    assert (found.status, "must specify limits.cpu" in found.reason) == ("never", True)


def test_pods_without_a_class_get_the_default_class_and_its_quota() -> None:
    scope = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["low"]}]}
    quota = thing("ResourceQuota", "q", "lab", spec={"hard": {"pods": "1"}, "scopeSelector": scope})
    default = thing("PriorityClass", "low", value=1, globalDefault=True)
    other = thing("PriorityClass", "low", value=1)
    assert ask(job(), node("n1"), quota, other).status == "fits"
    assert ask(job(), node("n1"), quota, default).status == "never"


def test_a_limit_range_of_pods_takes_what_the_pod_states_as_a_whole() -> None:
    limits = thing("LimitRange", "l", "lab", spec={"limits": [{"type": "Pod", "max": {"cpu": "6"}}]})
    whole: dict[str, Any] = {"resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "5"}}}
    assert ask(job(cpu=None, **whole), node("n1"), limits).status == "fits"
    assert ask(job(cpu=4), node("n1"), limits).status == "never"  # no limit is stated


def test_a_runtime_class_adds_its_overhead_and_its_nodes() -> None:
    plain = thing("RuntimeClass", "kata", overhead={"podFixed": {"cpu": "1"}})
    assert ask(job(runtimeClassName="kata"), node("n1"), plain).status == "needs nodes"
    assert ask(job(pods=1, runtimeClassName="kata"), node("n1"), plain).status == "fits"
    chosen = {"nodeSelector": {"pool": "kata"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}
    scheduling = thing("RuntimeClass", "kata", scheduling=chosen)
    taints = [{"key": "kata", "value": "yes", "effect": "NoSchedule"}]
    assert ask(job(runtimeClassName="kata"), node("n1"), scheduling).status == "needs nodes"
    own = node("n1", labels={"pool": "kata"}, taints=taints)
    assert ask(job(), own).status == "needs nodes"
    assert ask(job(runtimeClassName="kata"), own, scheduling).status == "fits"
    found = ask(job(runtimeClassName="kata", nodeSelector={"pool": "a"}), own, scheduling)
    assert (found.status, "conflict" in found.reason) == ("never", True)


def test_an_overhead_that_is_not_that_of_the_runtime_class_is_refused() -> None:
    runtime = thing("RuntimeClass", "kata", overhead={"podFixed": {"cpu": "1"}})
    found = ask(job(pods=1, runtimeClassName="kata", overhead={"cpu": "2"}), node("n1"), runtime)
    assert (found.status, "doesn't match" in found.reason) == ("never", True)
    assert ask(job(pods=1, runtimeClassName="kata", overhead={"cpu": "1000m"}), node("n1"), runtime).status == "fits"


def test_a_node_that_a_pod_names_has_to_be_there() -> None:
    assert ask(job(nodeName="n1"), node("n1")).status == "fits"
    found = ask(job(nodeName="gone"), node("n1"))
    assert (found.status, "`gone`" in found.reason) == ("needs nodes", True)


def test_scheduling_gates_hold_pods_back() -> None:
    found = ask(job(schedulingGates=[{"name": "example.com/later"}]), node("n1"))
    assert (found.status, "scheduling gates" in found.reason) == ("unknown", True)


def apart(**term: Any) -> dict[str, Any]:
    listed = [{"topologyKey": HOSTNAME, **term}]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": listed}}


@pytest.mark.parametrize(
    "term",
    [
        {"labelSelector": {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "run"}}},
        {"labelSelector": {"matchLabels": {"jobset.sigs.k8s.io/replicatedjob-name": "node"}}},
        {"labelSelector": {}, "matchLabelKeys": ["batch.kubernetes.io/job-name"]},
    ],
)
def test_pods_that_keep_apart_by_labels_that_controllers_write(term: dict[str, Any]) -> None:
    assert ask(job(affinity=apart(**term)), node("n1")).status == "unknown"
    assert ask(job(affinity=apart(**term)), node("n1"), node("n2")).status == "fits"


def test_labels_that_must_differ_do_not_keep_pods_of_one_job_apart() -> None:
    term = {"labelSelector": {}, "mismatchLabelKeys": ["batch.kubernetes.io/job-name"]}
    assert ask(job(affinity=apart(**term)), node("n1")).status == "fits"
    assert ask(job(pods=1, jobs=2, affinity=apart(**term)), node("n1")).status == "unknown"


def racks(*sizes: int) -> list[dict[str, Any]]:
    return [
        node(f"r{rack}-{at}", cpu=4, labels={RACK: f"r{rack}"}) for rack, size in enumerate(sizes) for at in range(size)
    ]


EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}


def test_an_exclusive_job_is_sure_of_its_domain_only_where_all_are_large_enough() -> None:
    assert ask(job(annotations=EXCLUSIVE), *racks(2, 2)).status == "fits"
    found = ask(job(annotations=EXCLUSIVE), *racks(2, 1))
    assert (found.status, "may land in" in found.reason) == ("unknown", True)
    assert ask(job(jobs=3, annotations=EXCLUSIVE), *racks(2, 2)).status != "fits"


def test_nodes_that_a_script_labels_are_unknown() -> None:
    scripted = {**EXCLUSIVE, "alpha.jobset.sigs.k8s.io/node-selector": "true"}
    assert ask(job(annotations=scripted), *racks(2, 2)).status == "unknown"
