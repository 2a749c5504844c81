"""The environment of older jobs beyond the plain tables: elastic and dynamic jobs, aliases, the user's own variables."""

import pytest

from tests.kinds.samples.jobs import Compiled
from tests.kinds.samples.texts import job, role
from trainc.kinds.shared.environment import names, quotable, rewritten

W3 = role("Worker", 3)


def test_elastic_workers_meet_at_a_short_name_that_is_searched_for() -> None:
    spec = "elasticPolicy: {minReplicas: 1, maxReplicas: 2, maxRestarts: 100, rdzvConf: [{key: a, value: b}, {key: c, value: d}]}"
    compiled = Compiled(job("PyTorchJob", role("Worker", 2), spec=spec))
    assert compiled.env("worker", "pytorch", 1) == {
        "PYTHONUNBUFFERED": "1",
        "PET_NPROC_PER_NODE": "auto",
        "PET_RDZV_ENDPOINT": "demo-worker-0-0:23456",
        "PET_RDZV_BACKEND": "c10d",
        "PET_NNODES": "1:2",
        "PET_MAX_RESTARTS": "100",
        "PET_RDZV_CONF": "a=b,c=d",
    }
    searched = [patch.pod["dnsConfig"] for patch in compiled.contribution.patches if "dnsConfig" in patch.pod]
    assert [config["searches"][0].value for config in searched] == ["demo.ns1.svc.cluster.local"]


@pytest.mark.parametrize(
    ("policy", "range_"),
    [
        ("{}", "2:2"),
        ("{maxReplicas: 1}", "1:1"),
        ("{minReplicas: 1}", "1:1"),
        ("{minReplicas: 1, maxReplicas: 3}", "1:3"),
    ],
)
def test_an_elastic_range_fills_itself_in(policy: str, range_: str) -> None:
    compiled = Compiled(job("PyTorchJob", role("Worker", 2), spec=f"elasticPolicy: {policy}"))
    assert compiled.env("worker", "pytorch")["PET_NNODES"] == range_


def test_an_elastic_rendezvous_of_its_own_is_kept() -> None:
    spec = "elasticPolicy: {rdzvBackend: c10d, rdzvHost: localhost, rdzvPort: 1234, rdzvId: rdzv-id, standalone: true, nProcPerNode: 4}"
    env = Compiled(job("PyTorchJob", role("Worker", 2), spec=spec)).env("worker", "pytorch")
    assert env["PET_RDZV_ENDPOINT"] == "localhost:1234"
    assert (env["PET_RDZV_ID"], env["PET_STANDALONE"], env["PET_NPROC_PER_NODE"]) == ("rdzv-id", "", "4")


def test_with_a_master_an_elastic_job_still_meets_at_worker_zero() -> None:
    env = Compiled(job("PyTorchJob", role("Master"), W3, spec="elasticPolicy: {}")).env("node", "pytorch", 2)
    assert (env["PET_RDZV_ENDPOINT"], env["RANK"], env["PET_NNODES"]) == ("demo-node-0-1:23456", "2", "3:3")


def test_dynamic_workers_see_only_themselves() -> None:
    compiled = Compiled(job("TFJob", role("PS", 2), role("Worker", 2), spec="enableDynamicWorker: true"))
    both = '"demo-ps-0-0.demo.ns1.svc:2222","demo-ps-0-1.demo.ns1.svc:2222"'
    own = '{"1":"demo-worker-0-1.demo.ns1.svc:2222"}'
    worker = f'{{"cluster":{{"worker":{own},"ps":[{both}]}},"task":{{"type":"worker","index":1}}}}'
    server = '{"cluster":{"worker":{},"ps":["demo-ps-0-1.demo.ns1.svc:2222"]},"task":{"type":"ps","index":1}}'
    assert compiled.env("worker", "tensorflow", 1)["TF_CONFIG"] == worker
    assert compiled.env("ps", "tensorflow", 1)["TF_CONFIG"] == server


def test_a_tensorflow_job_of_one_process_needs_no_cluster() -> None:
    assert Compiled(job("TFJob", role("Worker"))).env("worker", "tensorflow") == {}


def test_an_empty_role_stays_in_the_cluster() -> None:
    compiled = Compiled(job("TFJob", role("Chief"), role("Worker"), role("PS", 0)))
    assert '"ps":[]' in compiled.env("chief", "tensorflow")["TF_CONFIG"]
    assert [r.name.value for r in compiled.plan.roles] == ["chief", "worker"]


def test_the_names_of_the_operator_are_kept_when_asked_for() -> None:
    meta = ', annotations: {trainc.dev/compat-names: "true"}'
    compiled = Compiled(job("PyTorchJob", role("Master"), W3, meta=meta))
    assert compiled.env("node", "pytorch", 3)["MASTER_ADDR"] == "demo-master-0"
    services = compiled.objects("Service")
    assert [s["metadata"]["name"] for s in services] == ["demo-master-0", *(f"demo-worker-{i}" for i in range(3))]
    assert services[3]["spec"]["selector"] == {
        "jobset.sigs.k8s.io/jobset-name": "demo",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "jobset.sigs.k8s.io/job-index": "0",
        "batch.kubernetes.io/job-completion-index": "3",
    }
    assert services[0]["spec"]["ports"] == [{"name": "pytorchjob-port", "port": 23456}]


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("demo-worker-0", "demo-node-0-1"),
        ("demo-worker-2", "demo-node-0-3"),
        ("demo-master-0.ns1.svc", "demo-node-0-0"),
        ("demo-master-0.ns1.svc.cluster.local", "demo-node-0-0"),
        ("demo-worker-3", "demo-worker-3"),
        ("demo-worker-0.other.svc", "demo-worker-0.other.svc"),
        ("demo-worker-00", "demo-worker-00"),
        ("etcd", "etcd"),
    ],
)
def test_a_rendezvous_at_an_old_name_moves_with_its_pod(host: str, found: str) -> None:
    compiled = Compiled(
        job("PyTorchJob", role("Master"), role("Worker", 3), spec=f"elasticPolicy: {{rdzvHost: {host}}}")
    )
    assert compiled.env("node", "pytorch")["PET_RDZV_ENDPOINT"] == f"{found}:23456"
    assert ("rendezvous-host-renamed" in compiled.rules) == (host != found)


def test_a_rendezvous_at_a_master_that_is_not_there_stays_as_it_is() -> None:
    compiled = Compiled(job("PyTorchJob", role("Worker", 2), spec="elasticPolicy: {rdzvHost: demo-master-0}"))
    assert compiled.env("worker", "pytorch")["PET_RDZV_ENDPOINT"] == "demo-master-0:23456"


def test_jax_names_can_be_had_beside_the_operators() -> None:
    meta = ', annotations: {trainc.dev/jax-variables: "true"}'
    env = Compiled(job("JAXJob", role("Worker", 4), meta=meta)).env("worker", "jax", 3)
    own = {"JAX_COORDINATOR_ADDRESS": "demo-worker-0-0.demo:6666", "JAX_NUM_PROCESSES": "4", "JAX_PROCESS_ID": "3"}
    assert env == {**env, **own}


USER = "{name: jax, image: img, env: [{name: NUM_PROCESSES, value: '7'}, {name: SAID, value: 'n=$(NUM_PROCESSES) $$(X) $(Y'}]}"


def test_a_replaced_variable_lives_on_where_it_was_referred_to() -> None:
    compiled = Compiled(job("JAXJob", role("Worker", 4, "", USER)))
    env = compiled.env("worker", "jax")
    assert (env["SAID"], env["NUM_PROCESSES"]) == ("n=7 $(X) $(Y", "4")
    assert "env-overridden" in compiled.rules


def test_a_reference_to_a_replaced_secret_is_an_error() -> None:
    first = "{name: RANK, valueFrom: {configMapKeyRef: {name: s, key: k}}}"
    container = f"{{name: pytorch, image: img, env: [{first}, {{name: SAID, value: $(RANK)}}]}}"
    compiled = Compiled(job("PyTorchJob", role("Master", 1, "", container), role("Worker", 3, "", container)))
    assert "env-reference-lost" in compiled.rules


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$(A)", "1"),
        ("$$(A)", "$$(A)"),
        ("$(JOB_COMPLETION_INDEX)", "$$(JOB_COMPLETION_INDEX)"),
        ("$(B) $A $( $", "$(B) $A $( $"),
    ],
)
def test_values_are_rewritten_as_kubernetes_reads_them(text: str, found: str) -> None:
    assert rewritten(text, {"A": "1"}, ("JOB_COMPLETION_INDEX",)) == found


@pytest.mark.parametrize(
    ("text", "found"), [("a$b", "a$$b"), ("$(", "$$("), ("$$(A)", "$$(A)"), ("$(A)", "1"), ("$(B)", "$(B)")]
)
def test_values_are_put_into_others_without_making_new_references(text: str, found: str) -> None:
    assert quotable(text, {"A": "1"}) == found


def test_a_text_names_what_it_refers_to() -> None:
    assert names("$(A) $$(B) $$$(C) $(D $E") == {"A", "C"}


@pytest.mark.parametrize(("workers", "level"), [(1000, ""), (3000, "warning"), (6000, "error")])
def test_long_lists_of_hosts_are_named_in_time(workers: int, level: str) -> None:
    found = [f.level for f in Compiled(job("TFJob", role("Worker", workers))).report.findings if "KiB" in f.message]
    assert found == ([level] if level else [])


def test_every_regular_container_is_wired_and_no_init_container() -> None:
    two = "{name: jax, image: img}, {name: helper, image: img}"
    compiled = Compiled(job("JAXJob", role("Worker", 2, "", two, initContainers="[{name: init, image: img}]")))
    assert compiled.env("worker", "helper", 1)["PROCESS_ID"] == "1"
    assert {patch.container for patch in compiled.contribution.patches} == {"jax", "helper"}


def test_a_cluster_that_no_variable_holds_is_an_error() -> None:
    compiled = Compiled(job("TFJob", role("Chief"), role("Worker", 10000)))
    assert "long-variable" in compiled.rules


def test_a_job_of_many_pods_is_one_job() -> None:
    compiled = Compiled(job("PyTorchJob", role("Master"), role("Worker", 9999)))
    assert compiled.env("node", "pytorch", 9999)["WORLD_SIZE"] == "10000"
