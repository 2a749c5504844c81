"""Plans of older jobs: layouts, success, restarts, policies, and what is said about them."""

from typing import Any

import pytest

from tests.kinds.samples.jobs import Compiled
from tests.kinds.samples.texts import entry, job, old, role
from trainc.kinds.shared.job import LegacyOptions
from trainc.model.tree import plain

V2 = "kubeflow.org/v2beta1"
W3 = role("Worker", 3)
MASTER = "training.kubeflow.org/job-role"
FOREVER = 2147483647


def child(compiled: Compiled, name: str) -> Any:
    return next(r["template"]["spec"] for r in compiled.jobset["replicatedJobs"] if r["name"] == name)


def shape(compiled: Compiled) -> list[tuple[str, int, int]]:
    return [(r.name.value, r.replicas.value, r.count.value) for r in compiled.plan.roles]


@pytest.mark.parametrize(
    ("text", "expected", "deciding", "rules"),
    [
        (job("JAXJob", W3), [("worker", 1, 3)], None, None),
        (job("PyTorchJob", role("Master"), W3), [("node", 1, 4)], ["node"], {"succeededIndexes": "0"}),
        (job("PyTorchJob", role("Master", 1, "Never"), W3), [("master", 1, 1), ("worker", 3, 1)], ["master"], None),
        (job("PyTorchJob", role("Master")), [("master", 1, 1)], ["master"], None),
        (job("PyTorchJob", W3), [("worker", 1, 3)], None, None),
        (job("PyTorchJob", W3, spec="elasticPolicy: {}"), [("worker", 1, 3)], ["worker"], {"succeededCount": 1}),
        (job("TFJob", W3, role("Chief")), [("chief", 1, 1), ("worker", 1, 3)], ["chief"], None),
        (job("TFJob", W3, role("PS")), [("ps", 1, 1), ("worker", 1, 3)], ["worker"], {"succeededIndexes": "0"}),
        (job("TFJob", W3, spec="successPolicy: AllWorkers"), [("worker", 1, 3)], ["worker"], None),
        (job("XGBoostJob", role("Master"), W3), [("node", 1, 4)], ["node"], {"succeededIndexes": "0"}),
        (job("PaddleJob", W3), [("leader", 1, 1), ("worker", 1, 2)], None, None),
        (job("PaddleJob", role("Worker")), [("worker", 1, 1)], None, None),
        (
            job("PaddleJob", role("Master", 2), W3),
            [("master", 1, 1), ("master-rest", 1, 1), ("worker", 1, 3)],
            ["master", "master-rest"],
            None,
        ),
        (job("MPIJob", role("Launcher"), W3), [("worker", 1, 3), ("launcher", 1, 1)], ["launcher"], None),
        (job("MPIJob", role("Launcher")), [("launcher", 1, 1)], ["launcher"], None),
        (job("MPIJob", role("Launcher"), W3, api=V2), [("worker", 1, 3), ("launcher", 1, 1)], ["launcher"], None),
        (
            old(entry("WORKER"), entry("MASTER"), entry("PS", 2)),
            [("master", 1, 1), ("ps", 1, 2), ("worker", 1, 1)],
            ["master"],
            None,
        ),
    ],
)
def test_shapes(text: str, expected: list[tuple[str, int, int]], deciding: list[str] | None, rules: Any) -> None:
    compiled = Compiled(text)
    assert shape(compiled) == expected
    success = compiled.jobset.get("successPolicy")
    assert success == ({"operator": "All", "targetReplicatedJobs": deciding} if deciding else None)
    own = [child(compiled, name).get("successPolicy") for name, _, _ in expected]
    assert [rule for rule in own if rule] == ([{"rules": [rules]}] if rules else [])


def test_unequal_templates_stand_apart() -> None:
    text = job("PyTorchJob", role("Master"), role("Worker", 3, "", "{name: pytorch, image: other}"))
    compiled = Compiled(text)
    assert shape(compiled) == [("master", 1, 1), ("worker", 3, 1)]
    assert plain(compiled.plan.template)["metadata"]["annotations"] == {"trainc.dev/rank-layout": "per-job"}


@pytest.mark.parametrize(("asked", "found"), [("per-job", 2), ("merged", 1)])
def test_a_layout_can_be_asked_for(asked: str, found: int) -> None:
    meta = f", annotations: {{trainc.dev/rank-layout: {asked}}}"
    assert len(shape(Compiled(job("PyTorchJob", role("Master"), W3, meta=meta)))) == found


@pytest.mark.parametrize("asked", ["merged", "x"])
def test_a_layout_that_cannot_be_had_is_an_error(asked: str) -> None:
    meta = f", annotations: {{trainc.dev/rank-layout: {asked}}}"
    compiled = Compiled(job("PyTorchJob", role("Master", 1, "Never"), W3, meta=meta))
    assert "unknown-layout" in compiled.rules


@pytest.mark.parametrize(
    ("policy", "limit", "restart", "budget"),
    [
        ("OnFailure", None, "OnFailure", FOREVER),
        ("OnFailure", 3, "OnFailure", 3),
        ("Never", None, "Never", 0),
        ("Never", 3, "Never", 0),
        ("ExitCode", None, "Never", FOREVER),
        ("ExitCode", 3, "Never", FOREVER),
        ("ExitCode", 0, "Never", 0),
    ],
)
def test_restart_policies(policy: str, limit: int | None, restart: str, budget: int) -> None:
    spec = f"runPolicy: {{backoffLimit: {limit}}}" if limit is not None else ""
    found = child(Compiled(job("JAXJob", role("Worker", 2, policy), spec=spec)), "worker")
    assert (found["template"]["spec"]["restartPolicy"], found["backoffLimit"]) == (restart, budget)


@pytest.mark.parametrize(
    ("limit", "actions"), [("", ["FailJob", "Ignore", "Ignore"]), ("runPolicy: {backoffLimit: 0}", ["FailJob"])]
)
def test_exit_codes_below_128_are_final(limit: str, actions: list[str]) -> None:
    found = child(Compiled(job("JAXJob", role("Worker", 2, "ExitCode"), spec=limit)), "worker")
    rules = found["podFailurePolicy"]["rules"]
    assert [rule["action"] for rule in rules] == actions
    assert rules[0]["onExitCodes"] == {"containerName": "jax", "operator": "In", "values": list(range(1, 128))}
    assert found["podReplacementPolicy"] == "Failed"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (job("JAXJob", role("Worker", 2, "Always")), "error"),
        (job("TFJob", role("Chief"), role("PS", 1, "Always")), "warning"),
    ],
)
def test_always_is_refused_where_it_decides(text: str, level: str) -> None:
    found = next(f for f in Compiled(text).report.findings if f.rule.name == "restart-always")
    assert found.level == level


def test_the_chief_of_a_dynamic_job_may_outlive_its_workers() -> None:
    compiled = Compiled(job("TFJob", role("Chief"), W3, spec="enableDynamicWorker: true"))
    assert child(compiled, "worker")["backoffLimitPerIndex"] == 0
    assert "backoffLimit" not in child(compiled, "worker")
    assert {"failure-not-tolerated", "workers-not-resizable"} <= set(compiled.rules)


def test_a_job_that_nothing_ends_is_an_error() -> None:
    assert "nothing-decides-success" in Compiled(job("TFJob", role("PS", 2))).rules


POLICIES = [
    ("runPolicy: {suspend: true}", "suspend", True, ""),
    ("runPolicy: {suspend: false}", "suspend", None, ""),
    ("runPolicy: {managedBy: kueue.x-k8s.io/multikueue}", "managedBy", "kueue.x-k8s.io/multikueue", ""),
    ("runPolicy: {managedBy: kubeflow.org/training-operator}", "managedBy", None, "managed-by-dropped"),
    ("runPolicy: {ttlSecondsAfterFinished: 60}", "ttlSecondsAfterFinished", None, "ttl-under-gitops"),
]


@pytest.mark.parametrize(("spec", "field", "expected", "rule"), POLICIES)
def test_run_policies_of_the_jobset(spec: str, field: str, expected: Any, rule: str) -> None:
    compiled = Compiled(job("PyTorchJob", role("Master"), W3, spec=spec))
    assert compiled.jobset.get(field) == expected
    assert not rule or rule in compiled.rules


def test_a_time_to_live_can_be_kept() -> None:
    meta = ', annotations: {trainc.dev/keep-ttl: "true"}'
    compiled = Compiled(job("JAXJob", W3, spec="runPolicy: {ttlSecondsAfterFinished: 60}", meta=meta))
    assert (compiled.jobset["ttlSecondsAfterFinished"], "ttl-under-gitops" in compiled.rules) == (60, True)


def test_a_deadline_and_a_limit_go_to_every_child() -> None:
    spec = "runPolicy: {activeDeadlineSeconds: 60, backoffLimit: 2}"
    compiled = Compiled(job("PyTorchJob", role("Master", 1, "Never"), W3, spec=spec))
    assert [child(compiled, name)["activeDeadlineSeconds"] for name in ("master", "worker")] == [60, 60]
    assert {"deadline-per-job", "backoff-per-job"} <= set(compiled.rules)


@pytest.mark.parametrize(
    ("policy", "level"),
    [("", "note"), ("None", "warning"), ("All", "warning"), ("Running", None)],
)
def test_clean_up_policies(policy: str, level: str | None) -> None:
    spec = f"runPolicy: {{cleanPodPolicy: {policy}}}" if policy else ""
    compiled = Compiled(job("JAXJob", W3, spec=spec))
    assert [f.level for f in compiled.report.findings if f.rule.name == "clean-up-differs"] == (
        [level] if level else []
    )


@pytest.mark.parametrize("spec", ["runPolicy: {cleanPodPolicy: Some}"])
def test_unknown_policies_are_errors(spec: str) -> None:
    assert "unknown-policy" in Compiled(job("JAXJob", W3, spec=spec)).rules
    assert "unknown-policy" in Compiled(job("JAXJob", role("Worker", 1, "Sometimes"))).rules


def test_policies_at_the_root_of_an_early_job_are_read_and_named() -> None:
    compiled = Compiled(job("TFJob", W3, spec="activeDeadlineSeconds: 60"))
    assert "moved-field" in compiled.rules
    assert child(compiled, "worker")["activeDeadlineSeconds"] == 60


def test_ports_are_named_rather_than_doubled() -> None:
    container = "{name: jax, image: img, ports: [{containerPort: 6666}]}"
    compiled = Compiled(job("JAXJob", role("Worker", 2, "", container)))
    (main,) = child(compiled, "worker")["template"]["spec"]["containers"]
    assert main["ports"] == [{"containerPort": 6666, "name": "jaxjob-port"}]
    assert "port-renamed" in compiled.rules


@pytest.mark.parametrize("ports", ["", ", ports: [{name: x, containerPort: 1}]"])
def test_the_default_port_is_appended(ports: str) -> None:
    compiled = Compiled(job("TFJob", role("Worker", 2, "", f"{{name: tensorflow, image: img{ports}}}")))
    (main,) = child(compiled, "worker")["template"]["spec"]["containers"]
    assert main["ports"][-1] == {"name": "tfjob-port", "containerPort": 2222, "protocol": "TCP"}


def test_labels_of_the_operator_stay_where_all_pods_share_them() -> None:
    compiled = Compiled(job("PyTorchJob", role("Master", 1, "Never"), W3))
    prefix = "training.kubeflow.org/"
    assert child(compiled, "master")["template"]["metadata"]["labels"] == {
        f"{prefix}operator-name": "pytorchjob-controller",
        f"{prefix}job-name": "demo",
        f"{prefix}replica-type": "master",
        f"{prefix}replica-index": "0",
        f"{prefix}job-role": "master",
    }
    assert f"{prefix}replica-index" not in child(compiled, "worker")["template"]["metadata"]["labels"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (job("JAXJob", role("Worker", 1)), {"worker": "0 master"}),
        (job("JAXJob", role("Worker", 2)), {"worker": "- -"}),
        (job("PyTorchJob", role("Worker", 1)), {"worker": "0 master"}),
        (job("XGBoostJob", role("Master", 1)), {"master": "0 master"}),
        (job("TFJob", role("Worker", 1), role("PS", 1)), {"ps": "0 -", "worker": "0 master"}),
        (job("TFJob", role("Worker", 1), role("Chief", 1)), {"chief": "0 master", "worker": "0 -"}),
        (job("PaddleJob", role("Worker", 2)), {"leader": "0 -", "worker": "1 -"}),
        (job("PaddleJob", role("Master", 2)), {"master": "0 -", "master-rest": "1 -"}),
        (job("MPIJob", role("Launcher", 1), role("Worker", 1)), {"worker": "- -", "launcher": "- master"}),
        (
            job("MPIJob", role("Launcher", 1), role("Worker", 1), api="kubeflow.org/v2beta1"),
            {"worker": "0 worker", "launcher": "- launcher"},
        ),
        (
            job(
                "MPIJob",
                role("Launcher", 1),
                role("Worker", 1),
                api="kubeflow.org/v2beta1",
                spec="runLauncherAsWorker: true",
            ),
            {"worker": "1 worker", "launcher": "0 launcher"},
        ),
    ],
)
def test_the_labels_of_a_single_pod_are_all_there(text: str, found: dict[str, str]) -> None:
    prefix = "training.kubeflow.org/"
    kept = {}
    for rj in Compiled(text).jobset["replicatedJobs"]:
        labels = rj["template"]["spec"]["template"]["metadata"]["labels"]
        kept[rj["name"]] = f"{labels.get(prefix + 'replica-index', '-')} {labels.get(prefix + 'job-role', '-')}"
    assert kept == found


def test_strays_of_a_template_are_dropped() -> None:
    text = job("JAXJob", role("Worker", 2, hostname="h", restartPolicy="Always"))
    text = text.replace("template: {spec", "template: {apiVersion: v1, metadata: {creationTimestamp: null}, spec")
    compiled = Compiled(text)
    assert {"hostname-ignored", "template-restart-policy", "stray-template-field"} <= set(compiled.rules)
    assert "hostname" not in child(compiled, "worker")["template"]["spec"]


@pytest.mark.parametrize(("length", "fits"), [(46, True), (47, False)])
def test_long_names_are_refused_with_a_shorter_one(length: int, fits: bool) -> None:
    compiled = Compiled(job("JAXJob", W3, name="a" * length))
    assert (compiled.found is not None) == fits
    assert fits or any(
        finding.help.startswith(f"rename it, for example to `{'a' * 40}-") for finding in compiled.report.findings
    )


def test_an_elastic_job_needs_no_namespace() -> None:
    compiled = Compiled(job("PyTorchJob", W3, spec="elasticPolicy: {}").replace(", namespace: ns1", ""))
    assert not compiled.report.failed


def test_waiting_for_workers_deadlocks_a_whole_gang() -> None:
    text = job("MPIJob", role("Launcher"), W3, api=V2, spec="launcherCreationPolicy: WaitForWorkersReady")
    assert Compiled(text).jobset["replicatedJobs"][1]["dependsOn"] == [{"name": "worker", "status": "Ready"}]
    assert "gang-waits-for-itself" in Compiled(text, LegacyOptions(gang="volcano")).rules


def test_an_mpi_launcher_retries_six_times_unless_told_otherwise() -> None:
    compiled = Compiled(job("MPIJob", role("Launcher"), W3, api=V2))
    assert (child(compiled, "launcher")["backoffLimit"], child(compiled, "worker")["backoffLimit"]) == (6, FOREVER)


def test_a_worker_can_be_the_chief_of_an_early_job() -> None:
    text = old(entry("WORKER", 2), spec="  terminationPolicy: {chief: {replicaName: WORKER, replicaIndex: 0}}\n")
    assert child(Compiled(text), "worker")["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}


def test_a_gang_without_a_scheduler_is_named() -> None:
    text = job("JAXJob", W3, spec="runPolicy: {schedulingPolicy: {minAvailable: 2}}")
    assert "scheduling-policy-unused" in Compiled(text).rules
    assert plain(Compiled(text, LegacyOptions(gang="volcano")).plan.gang) == {
        "older": {"scheduler": "volcano", "minAvailable": 2, "annotations": {}}
    }
