"""MPI: counts, slots, hostfile, keys."""

import pytest

from tests.frameworks.planning import env, heard, lowered, patches, plan, role, said
from trainc.model.plan import Plan
from trainc.model.tree import plain

GPUS = "{name: node, resources: {limits: {nvidia.com/gpu: 4}}}"


def mpi(policy: str = "", job: str = "{}", roles: str = "", keys: str = "", container: str = "{name: node}") -> Plan:
    both = f"{role('node', container, trainer=False)}, {role('launcher')}"
    return plan(f"{{mpi: {{{policy}}}}}", roles or both, job, secrets={"mpi": keys} if keys else None)


def hostfile(planned: Plan) -> str:
    tree = next(tree for tree in lowered(planned).objects if tree["kind"].value == "ConfigMap")
    return str(tree["data"]["hostfile"].value)


@pytest.mark.parametrize(
    ("policy", "job", "nodes"),
    [
        ("", "{numNodes: 4}", 4),
        ("", "{}", None),
        ("", "{numNodes: 0}", 0),
        ("runLauncherAsNode: true", "{numNodes: 4}", 3),
        ("runLauncherAsNode: true", "{numNodes: 1}", 1),
        ("runLauncherAsNode: true", "{numNodes: 0}", 1),
    ],
)
def test_number_of_nodes(policy: str, job: str, nodes: int | None) -> None:
    assert {index: count.value for index, count in lowered(mpi(policy, job)).counts.items()} == (
        {} if nodes is None else {0: nodes}
    )


@pytest.mark.parametrize(
    ("policy", "job", "container", "slots"),
    [
        ("", "{}", "{name: node}", "1"),
        ("numProcPerNode: 1", "{}", GPUS, "4"),
        ("numProcPerNode: 2", "{}", GPUS, "2"),
        ("numProcPerNode: 2", "{numProcPerNode: 3}", GPUS, "3"),
        ("numProcPerNode: 1", "{resourcesPerNode: {limits: {custom.com/gpu: 5}}}", GPUS, "5"),
    ],
)
def test_slots(policy: str, job: str, container: str, slots: str) -> None:
    planned = mpi(policy, job, container=container)
    assert env(planned, "launcher")["OMPI_MCA_orte_set_default_slots"] == slots
    assert hostfile(planned) == f"run-node-0-0.run slots={slots}\n"


def test_the_hostfile_lists_pods_in_the_runtimes_order() -> None:
    assert hostfile(mpi("runLauncherAsNode: true", "{numNodes: 3}")).splitlines() == [
        "run-node-0-0.run slots=1",
        "run-node-0-1.run slots=1",
        "run-launcher-0-0.run slots=1",
    ]


def test_the_default_secret_is_the_controllers_and_a_note_says_how_to_make_it() -> None:
    planned = mpi()
    volume = plain(next(patch.volumes[0] for patch in patches(planned, "node") if patch.volumes))
    assert volume["secret"]["secretName"] == "run-mpi-ssh-auth"
    assert said(planned) == ["secret-needed"]
    assert "kubectl create secret generic run-mpi-ssh-auth" in heard(planned).findings[0].help
    assert heard(planned).findings[0].help.endswith("-n team")


def test_a_project_names_one_secret_for_all_jobs() -> None:
    planned = mpi(keys="existing:cluster-ssh")
    volume = plain(next(patch.volumes[0] for patch in patches(planned, "launcher") if patch.volumes))
    assert volume["secret"]["secretName"] == "cluster-ssh"
    assert [tree["kind"].value for tree in lowered(planned).objects] == ["ConfigMap"]


def test_external_secrets_make_the_keys_in_the_cluster() -> None:
    planned = mpi(keys="external-secrets")
    generator, filled, _ = (plain(tree) for tree in lowered(planned).objects)
    assert (generator["kind"], filled["kind"]) == ("SSHKey", "ExternalSecret")
    assert filled["spec"]["refreshPolicy"] == "CreatedOnce"
    assert filled["spec"]["target"]["template"]["data"]["ssh-privatekey"] == "{{ .privateKey }}"
    assert filled["spec"]["dataFrom"][0]["sourceRef"]["generatorRef"]["name"] == generator["metadata"]["name"]
    assert said(planned) == []


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (role("node"), ["no-launcher"]),
        (role("launcher"), ["no-launcher"]),
        (f"{role('node')}, {role('launcher', '{name: main}')}", ["no-node-container"]),
    ],
)
def test_roles_that_are_missing(roles: str, expected: list[str]) -> None:
    assert [name for name in said(mpi(roles=roles)) if name != "secret-needed"] == expected


def test_an_init_container_is_no_node() -> None:
    both = f"{role('node', '{name: main}], initContainers: [{name: node}', trainer=False)}, {role('launcher')}"
    assert [patch.role for patch in lowered(mpi(roles=both)).patches if patch.container] == [1, 1]


def test_several_launchers() -> None:
    both = f"{role('node', trainer=False)}, {role('launcher')}"
    assert "several-launchers" in said(plan("{numNodes: 3, mpi: {}}", both))


def test_a_hostfile_that_fits_no_object_is_refused_and_never_written() -> None:
    planned = mpi(job="{numNodes: 2000000000}")
    assert "too-many-hosts" in said(planned)
    assert lowered(planned).objects == ()


def test_an_empty_implementation_cannot_be_built() -> None:
    assert "unbuildable" in said(mpi("mpiImplementation: ''"))


def test_slots_that_do_not_match_the_gpus() -> None:
    assert said(mpi("numProcPerNode: 2", container=GPUS)) == ["secret-needed", "slots-gpus-mismatch"]
    assert said(mpi("numProcPerNode: 4", container=GPUS)) == ["secret-needed"]
