"""Jobs with a domain each beside roles without: every order of the roles is tried, and what none can do is no."""

from typing import Any

from tests.cluster.capacity.clusters import ask, node

RACK = "example.com/rack"
EXCLUSIVE = {"alpha.jobset.sigs.k8s.io/exclusive-topology": RACK}


def role(name: str, jobs: int, pods: int, cpu: int, *, alone: bool = False, **pod: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "r.example/t:1", "resources": {"requests": {"cpu": cpu}}}
    spec = {
        "parallelism": pods,
        "completions": pods,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container], **pod}},
    }
    metadata = {"metadata": {"annotations": EXCLUSIVE}} if alone else {}
    return {"name": name, "replicas": jobs, "template": {**metadata, "spec": spec}}


def jobset(*roles: dict[str, Any]) -> dict[str, Any]:
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    return {**head, "metadata": {"name": "j", "namespace": "lab"}, "spec": {"replicatedJobs": list(roles)}}


def racks(count: int, nodes: int = 6) -> list[dict[str, Any]]:
    """Nodes whose neighbours stand in different racks."""
    return [node(f"n{index}", labels={RACK: f"r{index % count}"}) for index in range(nodes)]


DRIVER, WORKER = role("driver", 1, 2, 1), role("worker", 2, 2, 8, alone=True)


def test_the_pods_of_another_role_take_no_racks_away_in_every_order() -> None:
    """In the order of the roles the two pods of the driver stand in two racks, and one is left for two Jobs."""
    assert ask(jobset(DRIVER, WORKER), *racks(3)).status == "fits"
    assert ask(jobset(WORKER, DRIVER), *racks(3)).status == "fits"


def test_too_few_racks_are_a_certain_no() -> None:
    found = ask(jobset(DRIVER, role("worker", 3, 2, 4, alone=True)), *racks(3))
    assert found.status == "needs nodes"
    assert "3 Jobs of `worker` need a `example.com/rack` each" in found.reason
    assert "4 are needed, and the nodes have 3" in found.reason
    assert ask(jobset(DRIVER, role("worker", 3, 2, 4, alone=True)), *racks(4)).status == "fits"


def test_a_node_outside_all_racks_takes_the_others() -> None:
    outside = node("m")
    assert ask(jobset(DRIVER, role("worker", 3, 2, 4, alone=True)), *racks(3), outside).status == "fits"


def test_pods_of_another_priority_may_stand_beside() -> None:
    lower = role("driver", 1, 2, 1, priorityClassName="low")
    assert ask(jobset(lower, role("worker", 3, 2, 4, alone=True)), *racks(3)).status != "fits"
    assert "are needed" not in ask(jobset(lower, role("worker", 3, 2, 4, alone=True)), *racks(3)).reason


def test_a_node_that_is_not_ready_takes_no_pods() -> None:
    """A dump may leave out the taint that the node lifecycle controller sets."""
    down = node("n9")
    down["status"]["conditions"][0]["status"] = "False"
    silent = node("n9")
    del silent["status"]["conditions"]
    work = jobset(role("worker", 1, 2, 8))
    found = ask(work, node("n1"), down)
    assert found.status == "needs nodes"
    assert "not-ready" not in found.change
    assert ask(work, node("n1"), silent).status == "fits"
    lost = node("n9", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}])
    lost["status"]["conditions"][0]["status"] = "Unknown"
    assert ask(work, node("n1"), lost).status == "needs nodes"
