"""Objects beside jobs in `trainc diff`: in files of their own, named by jobs or passed through. It said nothing of them."""

import json
from pathlib import Path

import pytest

from tests.repository import job
from tests.sampling import sampled
from tests.working_tree import WorkingTree

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: research}\ndata: {a: one}\n"
KEYS = "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: research}\nstringData: {a: sesame-one}\n"
CLAIM = (
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: research}\n"
    "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}\n"
)
PLAIN = (
    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: prep, namespace: research, annotations: {trainc.dev/keep: job}}\n"
    "spec:\n  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n"
    "      containers: [{name: prep, image: 'registry.example.com/prep:1', command: [prepare]}]\n"
)
MODES = ("specs", "prune", "keep")


def naming(name: str, config: str) -> str:
    """A job one of whose variables comes of a ConfigMap."""
    entry = f"    env: [{{name: A, valueFrom: {{configMapKeyRef: {{name: {config}, key: a}}}}}}]\n"
    return job(name).replace("    numNodes", f"{entry}    numNodes")


@pytest.fixture(params=sampled(MODES, quick=("specs",)))
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> WorkingTree:
    """A job that names a ConfigMap of another file, one with its own beside it, and objects that nobody names."""
    tree = WorkingTree(tmp_path)
    tree.write("jobs/bert.yaml", naming("bert", "shared"))
    tree.write("jobs/t5.yaml", f"{naming('t5', 'own')}---\n{CONFIG % 'own'}")
    tree.write("jobs/prep.yaml", PLAIN)
    tree.write("config/shared.yaml", CONFIG % "shared")
    tree.write("config/claim.yaml", CLAIM)
    if request.param != "specs":
        tree.setting(f"oldRun: {request.param}")
        assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("diff", "--exit-code").out == "nothing changes since HEAD\n"
    return tree


def test_an_object_that_a_job_names(tree: WorkingTree) -> None:
    tree.change("config/shared.yaml", "one", "two")
    done = tree.run("diff", "--exit-code")
    assert done.code == 1
    assert "~   research/configmap/shared  config/shared.yaml\n      data.a: one -> two  (" in done.out
    assert "bert" not in done.out
    (other,) = json.loads(tree.run("diff", "--report", "json").out)["objects"]
    assert (other["state"], other["name"], other["causes"]) == ("edited", "configmap/shared", ["config/shared.yaml"])
    assert (
        "| edited | `research/configmap/shared` | data.a: `one` -> `two` | `config/shared.yaml` |"
        in tree.run("diff", "--report", "markdown").out
    )


@pytest.mark.slow
def test_an_object_in_the_file_of_its_job(tree: WorkingTree) -> None:
    tree.change("jobs/t5.yaml", "one", "two")
    out = tree.run("diff").out
    keeps = "keep" in tree.read("trainc.yaml")
    head = "~   research/configmap/own  jobs/t5.yaml\n" if keeps else "~   research/t5  because of jobs/t5.yaml\n"
    assert out.startswith(head)
    assert ("      data.a: one -> two  (" if keeps else "      configmap/own data.a: one -> two  (") in out


@pytest.mark.slow
def test_a_job_that_stays_a_job(tree: WorkingTree) -> None:
    tree.change("jobs/prep.yaml", "prep:1", "prep:2")
    out = tree.run("diff").out
    assert out.startswith("-/+ research/prep  because of jobs/prep.yaml\n      image of node/prep: ")
    # Both said that it changes in place, and `build -w` wrote what a server refuses.
    assert "run `prep` cannot change 1 field" in tree.run("validate", "--against", "HEAD").err
    if "oldRun" in tree.read("trainc.yaml"):
        assert "run `prep` cannot change 1 field" in tree.run("build", "-w").err


@pytest.mark.slow
def test_what_may_change_of_a_job_that_stays_one(tree: WorkingTree) -> None:
    tree.change("jobs/prep.yaml", "backoffLimit: 0", "backoffLimit: 2\n  suspend: true")
    # It said that the server refuses another number of retries, as that of a JobSet's Job.
    assert tree.run("diff").out.startswith("~   research/prep  because of jobs/prep.yaml\n")
    assert tree.run("validate", "--against", "HEAD").code == 0
    assert tree.run("build", "-w", "-q").code == 0


@pytest.mark.slow
def test_an_object_that_no_job_names_any_more(tree: WorkingTree) -> None:
    tree.write("jobs/bert.yaml", naming("bert", "own"))
    done = tree.run("diff")
    assert "-   research/configmap/shared  config/shared.yaml  because of jobs/bert.yaml\n" in done.out


@pytest.mark.slow
def test_an_object_that_is_named_now(tree: WorkingTree) -> None:
    tree.write("config/more.yaml", CONFIG % "more")
    assert tree.run("diff").out == "nothing changes since HEAD\n"
    tree.write("jobs/new.yaml", naming("new", "more"))
    # Without its own file it would not be; the edit of the job is not needed for that.
    assert "+   research/configmap/more  config/more.yaml\n" in tree.run("diff").out


@pytest.mark.slow
def test_values_of_secrets_are_not_shown(tree: WorkingTree) -> None:
    tree.write("config/token.yaml", KEYS)
    entry = "    env: [{name: A, valueFrom: {secretKeyRef: {name: token, key: a}}}]\n"
    tree.write("jobs/vit.yaml", job("vit").replace("    numNodes", f"{entry}    numNodes"))
    assert "research/secret/token" in tree.run("diff").out
    tree.run("build", "-w", "-q")
    assert tree.commit().returncode == 0
    tree.change("config/token.yaml", "sesame-one", "sesame-two")
    for form in ("text", "json", "markdown"):
        out = tree.run("diff", "--report", form).out
        assert "secret/token" in out
        assert "sesame" not in out


@pytest.mark.slow
def test_objects_passed_through_count_where_they_are_asked_for(tree: WorkingTree) -> None:
    assert tree.run("build", "-w", "-q", "--include-other").code == 0
    assert tree.commit().returncode in (0, 1)
    tree.change("config/claim.yaml", "10Gi", "20Gi")
    out = tree.run("diff", "--include-other").out
    assert out.startswith("~   research/persistentvolumeclaim/data  config/claim.yaml\n")
    assert "spec.resources.requests.storage: 10Gi -> 20Gi" in out


@pytest.mark.slow
def test_another_place_for_the_objects_of_a_job_changes_nothing(tree: WorkingTree) -> None:
    """With `oldRun: keep` what outlives a run has a file of its own; what is applied is the same."""
    text = tree.read("trainc.yaml")
    other = (
        text.replace("keep", "prune") if "keep" in text else f"{text.replace('  oldRun: prune', '')}  oldRun: keep\n"
    )
    tree.write("trainc.yaml", other)
    assert tree.run("diff").out == "nothing changes since HEAD\n"


@pytest.mark.slow
@pytest.mark.parametrize("rendered", [True, False])
def test_a_setting_counts_on_both_sides(rendered: bool, tmp_path: Path) -> None:
    """`--set` was not there; a base without renderings is built with it, and a committed one is what is applied."""
    tree = WorkingTree(tmp_path, "bert")
    if rendered:
        assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    tree.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    out = tree.run("diff", "--set", "scheduler=volcano").out
    assert "metadata.labels.owner: platform -> research" in out
    assert ("schedulerName" in out) == rendered
    against = tree.run("validate", "--against", "HEAD", "--set", "scheduler=volcano")
    # Without renderings it said that every job changes its scheduler, which nobody had edited.
    assert "schedulerName" not in against.err
