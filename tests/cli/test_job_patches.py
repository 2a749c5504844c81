"""One TrainJob on two clusters: a TrainJobPatch beside it says what is different."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import compile_in
from tests.repository import RUNTIME, job
from tests.sampling import sampled
from tests.working_tree import WorkingTree

JOB = "jobs/bert.yaml"
BESIDE = "jobs/bert.prod.yaml"
CLUSTERS = "  clusters:\n    staging: {}\n    prod: {}\n"
ON_BOTH = '  namespace: research\n  annotations: {trainc.dev/cluster: "staging,prod"}\n'
PATCH = """\
apiVersion: trainc.dev/v1alpha1
kind: TrainJobPatch
metadata:
  name: bert
  namespace: research
  annotations: {trainc.dev/cluster: prod}
spec:
  trainer:
    numNodes: 16
"""


def both(name: str) -> str:
    """The text of a job that both clusters run."""
    return job(name).replace("  namespace: research\n", ON_BOTH)


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    tree = WorkingTree(tmp_path_factory.mktemp("committed"))
    tree.write("trainc.yaml", tree.read("trainc.yaml") + CLUSTERS)
    tree.write(JOB, both("bert"))
    tree.write(BESIDE, PATCH)
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    return tree


@pytest.fixture
def tree(committed: WorkingTree, tmp_path: Path) -> WorkingTree:
    return committed.copy(tmp_path)


def nodes(text: str) -> int:
    """How many nodes a rendered JobSet has."""
    jobset = next(tree for tree in yaml.safe_load_all(text) if tree["kind"] == "JobSet")
    count: int = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"]
    return count


@pytest.mark.parametrize(
    ("where", "paths"),
    sampled(
        list(product(["beside", "inside"], [(JOB,), (BESIDE,), (JOB, BESIDE), ("jobs",), (".",), ()])),
        lambda row: " ".join([row[0], *row[1]]),
        quick=("beside", f"beside {JOB}", "inside jobs"),
    ),
)
def test_every_entry_point_finds_it(tree: WorkingTree, where: str, paths: tuple[str, ...]) -> None:
    if where == "inside":
        (tree.folder / BESIDE).unlink()
        tree.write(JOB, f"{both('bert')}---\n{PATCH}")
        paths = tuple(path for path in paths if path != BESIDE) or (JOB,)
    for cluster, count in (("staging", 2), ("prod", 16)):
        assert nodes(tree.run("build", "--cluster", cluster, *paths).out) == count
        view = json.loads(tree.run("show", "--report", "json", "--cluster", cluster, *paths).out)
        assert [one["pods"] for one in view] == [count]
    assert tree.run("validate", *paths).code == 0


def test_both_places_compile_to_the_same_bytes(tree: WorkingTree) -> None:
    beside = tree.rendered()
    (tree.folder / BESIDE).unlink()
    tree.write(JOB, f"{both('bert')}---\n{PATCH}")
    assert tree.run("build", "-w").code == 0
    assert tree.rendered() == beside


def test_standard_input_may_hold_it(tree: WorkingTree) -> None:
    done = compile_in(tree.folder, "build", "--cluster", "prod", "-", stdin=f"{both('bert')}---\n{PATCH}")
    assert (done.code, nodes(done.out)) == (0, 16)


def test_maps_and_keyed_lists_are_merged_and_null_removes(tree: WorkingTree) -> None:
    tree.change(JOB, "  trainer:\n", "  trainer:\n    env: [{name: A, value: a}, {name: B, value: b}]\n")
    patch = "labels: {kueue.x-k8s.io/queue-name: big}\n  annotations: {trainc.dev/run: '3', "
    tree.change(BESIDE, "annotations: {", patch)
    tree.change(BESIDE, "numNodes: 16", "numNodes: null\n    image: r:2\n    env: [{name: B, value: c}]")
    done = tree.run("build", "--cluster", "prod")
    jobset = next(one for one in done.objects if one["kind"] == "JobSet")
    assert jobset["metadata"]["name"] == "bert-r3"
    assert jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "big"
    spec = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    container = spec["template"]["spec"]["containers"][0]
    assert (spec["parallelism"], container["image"]) == (1, "r:2")
    assert {"A": "a", "B": "c"}.items() <= {one["name"]: one.get("value") for one in container["env"]}.items()
    other = next(one for one in tree.run("build", "--cluster", "staging").objects if one["kind"] == "JobSet")
    assert other["metadata"]["name"] == "bert"


def test_why_names_the_patch_and_what_it_beats(tree: WorkingTree) -> None:
    done = tree.run("why", "rendered/prod/research/bert.yaml", "parallelism")
    assert done.out == (
        "JobSet/bert spec.replicatedJobs[node].template.spec.parallelism: 16\n"
        "  set by TrainJobPatch (prod) at jobs/bert.prod.yaml:9:15\n"
        "  over   overrides (spec.trainer, spec.initializer) at jobs/bert.yaml:11:15: 2\n"
        "  over   runtime (torch) at runtimes/torch.yaml:9:15: 1\n"
    )
    assert "lands in JobSet/bert" in tree.run("why", f"{BESIDE}:9").out
    assert "by TrainJobPatch (prod) at jobs/bert.prod.yaml:9:15: 16" in tree.run("why", f"{JOB}:11").out


def test_a_runtime_patch_of_a_patch_has_its_place_as_well(tree: WorkingTree) -> None:
    selector = (
        "spec:\n  runtimePatches:\n  - manager: example.com/a\n    trainingRuntimeSpec: {template: {spec: {replicatedJobs: "
        "[{name: node, template: {spec: {template: {spec: {nodeSelector: {pool: %s}}}}}}]}}}\n"
    )
    tree.change(JOB, "spec:\n", selector % "small")
    tree.change(BESIDE, "spec:\n", selector % "large")
    done = tree.run("why", f"{JOB}", "nodeSelector")
    assert (
        'pool: "large"\n  set by TrainJobPatch (prod) at jobs/bert.prod.yaml:10:132\n'
        '  over   patches (example.com/a) at jobs/bert.yaml:10:132: "small"\n'
    ) in done.out


def test_a_promotion_is_one_line_of_a_diff(tree: WorkingTree) -> None:
    tree.change(BESIDE, "    numNodes: 16\n", "    numNodes: 16\n    image: r:2\n")
    done = tree.run("diff")
    assert done.out.startswith("-/+ prod/research/bert  because of jobs/bert.prod.yaml\n")
    assert "staging" not in done.out
    assert done.out.count("image of node/node") == done.out.count("-> jobs/bert.prod.yaml:10)") == 1


@pytest.mark.slow
def test_a_refused_edit_of_a_patch_is_one_error_at_its_line(tree: WorkingTree) -> None:
    tree.hooks()
    tree.change(BESIDE, "numNodes: 16", "numNodes: 12")
    done = tree.commit()
    assert done.returncode == 1
    assert done.stdout.count("error[") == done.stdout.count("error[immutable-change]") == 1
    assert "--> jobs/bert.prod.yaml:9:15" in done.stdout
    assert "`trainc run bert --cluster prod`" in done.stdout


def test_a_cluster_gets_a_new_run_of_its_own(tree: WorkingTree) -> None:
    tree.change(BESIDE, "numNodes: 16", "numNodes: 12")
    before = tree.read(JOB)
    done = tree.run("run", "bert", "--cluster", "prod")
    assert done.code == 0, done.err
    assert done.out.startswith("run 2 of bert follows bert  jobs/bert.prod.yaml\n      nodes of node: 16 -> 12")
    assert tree.read(JOB) == before
    assert 'annotations: {trainc.dev/cluster: prod, trainc.dev/run: "2"}' in tree.read(BESIDE)
    assert tree.run("build", "-w").code == 0
    assert sorted(tree.rendered()) == ["prod/research/bert.yaml", "staging/research/bert.yaml"]
    assert "\n  name: bert-r2\n" in tree.rendered()["prod/research/bert.yaml"]
    assert "\n  name: bert\n" in tree.rendered()["staging/research/bert.yaml"]
    # Its number is its own now.
    assert "stays" not in tree.run("run", "bert", "--cluster", "staging").err
    assert 'trainc.dev/run: "2"' in tree.read(JOB)


def test_the_other_clusters_keep_their_run_by_their_patch(tree: WorkingTree) -> None:
    done = tree.run("run", "bert", "--cluster", "staging")
    assert done.code == 0, done.err
    assert "bert stays in run 1 on prod  jobs/bert.prod.yaml\n" in done.err
    assert 'trainc.dev/run: "2"' in tree.read(JOB)
    assert 'trainc.dev/run: "1"' in tree.read(BESIDE)
    assert tree.run("build", "-w").code == 0
    assert "\n  name: bert-r2\n" in tree.rendered()["staging/research/bert.yaml"]
    assert "\n  name: bert\n" in tree.rendered()["prod/research/bert.yaml"]


def test_clusters_without_a_number_of_their_own_get_a_run_together(tree: WorkingTree) -> None:
    (tree.folder / BESIDE).unlink()
    refused = tree.run("run", "bert", "--cluster", "staging")
    assert refused.code == 2
    assert "bert has one run for staging and prod" in refused.err
    tree.write(BESIDE, PATCH.replace("cluster: prod", "cluster: 'prod,staging'"))
    assert "bert has one run for staging and prod" in tree.run("run", "bert", "--cluster", "staging").err
    tree.write(BESIDE, PATCH)
    assert "unknown cluster `dev`" in tree.run("run", "bert", "--cluster", "dev").err
    assert tree.run("run", "bert").code == 0
    assert all('trainc.dev/run: "2"' in tree.read(file) for file in (JOB, BESIDE))


def test_fix_writes_the_run_into_the_patch(tree: WorkingTree) -> None:
    tree.change(BESIDE, "numNodes: 16", "numNodes: 12")
    assert tree.run("fix", "-w", "--unsafe", "jobs").code == 0
    assert 'trainc.dev/run: "2"' in tree.read(BESIDE)
    assert "trainc.dev/run" not in tree.read(JOB)


def test_a_lock_holds_against_it(tree: WorkingTree) -> None:
    child = (
        "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata: {name: locked}\nspec:\n  extends: torch\n"
        "  mlPolicy: {numNodes: 2}\n  locks: [{path: mlPolicy.numNodes, reason: two machines}]\n"
    )
    tree.write("runtimes/locked.yaml", child)
    tree.change(JOB, "name: torch\n", "name: locked\n")
    done = tree.run("validate", JOB)
    assert done.code == 1
    assert "error[locked-field]" in done.err
    assert "--> jobs/bert.prod.yaml:9:15" in done.err
    assert done.err.count("error[") == 1


@pytest.mark.parametrize(
    ("old", "new", "finding", "place"),
    sampled(
        [
            ("name: bert", "name: bret", "error[patch-without-job]", "4:9"),
            ("namespace: research", "namespace: nlp", "error[patch-without-job]", "4:9"),
            ("cluster: prod", "cluster: prd", "error[unknown-cluster]", "6:37"),
            ("  annotations: {trainc.dev/cluster: prod}\n", "", "error[unknown-cluster]", "4:9"),
            ("numNodes: 16", "numNode: 16", "error[unknown-field]", "9:5"),
            ("numNodes: 16", "numNodes: many", "error[invalid-field]", "9:15"),
            ("  trainer:\n    numNodes: 16", "  trainer: [16]", "error[", "8:12"),
            ("kind: TrainJobPatch", "kind: TrainJobsPatch", "error[unknown-kind]", "2:7"),
            ("kind: TrainJobPatch", "kind: JobSetPatch", "error[unknown-kind]", "2:7"),
            ("v1alpha1", "v1beta1", "error[", "1:13"),
            ("annotations: {", "labels: {$patch: merge}\n  annotations: {", "error[invalid-field]", "6:12"),
            ("name: bert", "name: 7", "error[", "4:9"),
        ],
        lambda row: row[1] or "no cluster",
        quick=("name: bret", "cluster: prd", "numNode: 16", "kind: JobSetPatch"),
    ),
)
def test_bad_patches_are_found_at_their_line(tree: WorkingTree, old: str, new: str, finding: str, place: str) -> None:
    tree.change(BESIDE, old, new)
    for paths in ([], ["jobs"], [BESIDE]):
        done = tree.run("validate", *paths)
        assert finding in done.err, (paths, done.err)
        is_lost = "patch-without-job" in finding or "kind" in old or "beta" in new or "7" in new
        assert done.err.count("error[") == 1 or is_lost, done.err
        assert f"--> {BESIDE}:{place}\n" in done.err, (paths, done.err)
        assert done.code == 1
    before = tree.rendered()
    assert tree.run("build", "-w").code == 1
    assert tree.rendered() == before


def test_a_patch_that_changes_nothing(tree: WorkingTree) -> None:
    tree.change(JOB, "numNodes: 2", "numNodes: 16")
    for paths in ([JOB], [BESIDE], []):
        done = tree.run("validate", "--cluster", "prod", *paths)
        assert (done.code, done.err.count("[")) == (0, 1)
        assert (
            "warning[patch-without-effect]: the patch of `bert` changes nothing: the job already has these values"
            in done.err
        )


@pytest.mark.parametrize("spec", ["", "spec: null\n"])
def test_a_job_that_is_whole_with_its_patch_alone(tree: WorkingTree, spec: str) -> None:
    head, _, rest = both("bert").partition("spec:\n")
    tree.write(JOB, head + spec)
    tree.write(BESIDE, PATCH.partition("spec:\n")[0] + "spec:\n" + rest)
    assert nodes(tree.run("build", "--cluster", "prod").out) == 2
    assert "set by TrainJobPatch (prod) at jobs/bert.prod.yaml:11:15" in tree.run("why", JOB, "parallelism").out
    assert tree.run("build", "--cluster", "staging").code == 1


def test_a_cluster_that_does_not_run_the_job(tree: WorkingTree) -> None:
    tree.change(JOB, '"staging,prod"', "staging")
    done = tree.run("validate")
    assert "warning[patch-without-effect]: the patch of `bert` changes nothing: `prod` does not run the job" in done.err


def test_only_a_trainjob_has_patches(tree: WorkingTree) -> None:
    jobset = next(one for one in tree.run("build", "--cluster", "staging").objects if one["kind"] == "JobSet")
    jobset["metadata"]["annotations"] = {"trainc.dev/cluster": "staging,prod"}
    tree.write(JOB, yaml.safe_dump(jobset))
    done = tree.run("validate")
    assert "error[patch-without-job]" in done.err
    assert "the JobSet of that name does not support patches: write it once for each cluster" in done.err


def test_a_patch_that_cannot_be_read_is_not_passed_over(tree: WorkingTree) -> None:
    tree.change(BESIDE, "numNodes: 16", "numNodes: [")
    for path in (JOB, "jobs", BESIDE):
        done = tree.run("build", "--cluster", "prod", path)
        assert done.code == 1
        assert "error[yaml-syntax]" in done.err


def test_a_repeated_run_sees_the_edit_and_the_removal(tree: WorkingTree) -> None:
    assert tree.run("build", "--check").code == 0
    tree.change(BESIDE, "numNodes: 16", "numNodes: 12")
    assert tree.run("build", "--check").code == 1
    tree.change(BESIDE, "numNodes: 12", "numNodes: 16")
    assert tree.run("build", "--check").code == 0
    (tree.folder / BESIDE).unlink()
    assert tree.run("build", "--check").code == 1
    assert nodes(tree.run("build", "--cluster", "prod").out) == 2


@pytest.mark.slow
def test_many_similar_jobs_and_one_patch(tree: WorkingTree) -> None:
    for number in range(60):
        tree.write(f"many/job-{number}.yaml", both(f"job-{number}"))
    tree.write("many/patch.yaml", PATCH.replace("name: bert", "name: job-37"))
    for words in ((), ("--jobs", "2")):
        assert tree.run("build", "-o", "out", "many", *words).code == 0
        texts = {path.stem: path.read_text() for path in (tree.folder / "out/prod/research").iterdir()}
        assert {name for name, text in texts.items() if nodes(text) == 16} == {"job-37"}
    # Files by name, their folder is not given.
    files = [f"many/job-{number}.yaml" for number in range(60)]
    assert tree.run("build", "-o", "out", *files).code == 0
    assert nodes((tree.folder / "out/prod/research/job-37.yaml").read_text()) == 16


def test_a_kustomize_function_takes_it_away(tree: WorkingTree) -> None:
    project = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nmetadata: {name: p}\nspec:\n" + CLUSTERS
    items: list[Any] = [yaml.safe_load(text) for text in (project, both("bert"), PATCH, RUNTIME)]
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"cluster": "prod"}}
    source = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items, "functionConfig": config}
    done = compile_in(tree.folder, "fn", stdin=yaml.safe_dump(source))
    assert done.code == 0, done.out
    made = yaml.safe_load(done.out)["items"]
    assert sorted(one["kind"] for one in made) == ["JobSet", "Service"]
    assert nodes(yaml.safe_dump_all(made)) == 16
