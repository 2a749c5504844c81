"""Random older jobs, migrated: the objects stay but for what is explained, and a second time changes nothing."""

import random
import re

import pytest

from tests.repository import Repository
from trainc.changes.migrate import migrate
from trainc.changes.migrate.compared import UNEXPLAINED, compiled
from trainc.yaml.comments import comments

PARTS = {
    "PyTorchJob": ("v1", "pytorchReplicaSpecs", "pytorch", ("Master", "Worker")),
    "TFJob": ("v1", "tfReplicaSpecs", "tensorflow", ("Chief", "PS", "Worker")),
    "JAXJob": ("v1", "jaxReplicaSpecs", "jax", ("Worker",)),
    "XGBoostJob": ("v1", "xgbReplicaSpecs", "xgboost", ("Master", "Worker")),
    "PaddleJob": ("v1", "paddleReplicaSpecs", "paddle", ("Worker",)),
    "MPIJob": ("v2beta1", "mpiReplicaSpecs", "mpi", ("Launcher", "Worker")),
}
UNLIKE, SERVERS = "its roles have different pods", "several pods would serve the rendezvous"  # what no policy wires
SCRIPT = "- |\n  # inside {n}\n  set -e\n  torchrun train.py --seed={n}\n# after the script {n}\n"


def indented(text: str, width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in text.splitlines())


def role(chance: random.Random, name: str, container: str, *, one: bool) -> str:
    """One role with a container, comments around a block scalar and inside lists."""
    count = 1 if one else chance.randint(1, 4)
    script = indented("command:\n- sh\n- -c\n" + SCRIPT.format(n=chance.randint(1, 9)), 14)
    env = indented('env:\n# first\n- {name: A, value: "1"}  # beside\n- name: B\n  value: "$(A)"\n', 14)
    memory = chance.choice(("1Gi", "0.5Gi", "1073741824"))
    return (
        f"    {name}:\n      replicas: {count}  # as many\n      template:\n        spec:\n          containers:\n"
        f"            # the one\n            - name: {container}\n              image: registry.example/train:1\n"
        + (script if chance.random() < 0.6 else "")
        + (env if chance.random() < 0.5 else "")
        + (f"              resources: {{limits: {{memory: {memory}}}}}\n" if chance.random() < 0.5 else "")
    )


def older(seed: int) -> str:
    """The text of a random older job."""
    chance = random.Random(seed)  # noqa: S311 (the same job on every run)
    kind = chance.choice(sorted(PARTS))
    version, field, container, roles = PARTS[kind]
    chosen = [
        name
        for name in roles
        if name in {"Worker", "Launcher", "Chief"} or kind == "XGBoostJob" or chance.random() < 0.6
    ]
    meta = "  namespace: team\n" if chance.random() < 0.5 else ""
    meta += '  clusterName: ""\n' if chance.random() < 0.2 else ""
    meta += '  annotations: {trainc.dev/run: "2"}\n' if chance.random() < 0.2 else ""
    policy = "  runPolicy:\n    # how often\n    backoffLimit: 3\n" if chance.random() < 0.3 else ""
    body = "".join(role(chance, name, container, one=name in {"Master", "Launcher", "Chief"}) for name in chosen)
    text = f"# about it\napiVersion: kubeflow.org/{version}\nkind: {kind}\nmetadata:\n  name: demo{meta and ''}\n{meta}"
    text += f"spec:\n{policy}  {field}:\n{body}# the end\n"
    return text.replace("\n", "\r\n") if chance.random() < 0.25 else text


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 120, 20))
def test_the_objects_stay(first: int) -> None:
    for seed in range(first, first + 20):
        text = older(seed)
        done = migrate(text)
        assert not done.problems, (seed, [one.message for one in done.problems])
        assert done.touched
        # Unexplained differences were written, with a remark.
        assert not [one for one in done.differences if one.reason == UNEXPLAINED], seed
        before, after = compiled(text)[0], compiled(done.text)[0]
        assert {one["kind"] for one in before} == {one["kind"] for one in after}, seed
        assert migrate(done.text).text == done.text
        assert all(one.policy or one.reason.startswith((UNLIKE, SERVERS)) for one in done.outcomes), seed
        assert ("\r\n" in done.text) == ("\r\n" in text)
        assert not re.search(r"(?<!\r)\n", done.text) if "\r\n" in text else True
        lost = set(comments(text.encode())) - set(comments(done.text.encode()))
        assert not lost, (seed, lost)
        for script in re.findall(r"# inside \d\r?\n +set -e\r?\n +torchrun train.py --seed=\d\r?\n(.*)", done.text):
            assert "after" not in script or script.lstrip(" ").startswith("#")


ELASTIC = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: bert
spec:
  elasticPolicy: {minReplicas: 1, maxReplicas: 2}
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example/train:1
"""
CLUSTERS = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters:\n    eu: {namespace: team}\n"


def test_a_runtime_is_found_in_the_namespace_of_the_cluster(repository: Repository) -> None:
    """The runtime had no namespace, the cluster gave the job one, and nothing compiled any more."""
    repository.write("trainc.yaml", CLUSTERS)
    repository.write("jobs/bert.yaml", ELASTIC)
    assert repository.run("migrate", "-w", "jobs").code == 0
    assert "  name: bert\n  namespace: team\n" in repository.read("jobs/bert.yaml")
    done = repository.run("validate", "jobs")
    assert done.code == 0, done.err


@pytest.fixture
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("repository"))
