"""Several projects in one repository: every command finds them from its root, each with settings of its own."""

import json
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import PROJECT, RUNTIME, job
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

NLP = PROJECT.replace("rendered", "out") + "  clusters:\n    east:\n      namespace: research\n"
VISION = PROJECT + "  delivery: flux\n  oldRun: keep\n"
PROJECTS = {"teams/nlp": (NLP, "bert"), "teams/vision": (VISION, "clip"), "vision/deep/er": (PROJECT, "sam")}
BROKEN = ("numNodes: 2", "numNodes: many")


class Several(WorkingTree):
    """A Git work tree with three projects, none of which starts at its root."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("trainc.yaml", "runtimes/torch.yaml"):
            (self.folder / name).unlink()
        for project, (settings, name) in PROJECTS.items():
            self.write(f"{project}/trainc.yaml", settings)
            self.write(f"{project}/runtimes/torch.yaml", RUNTIME)
            self.write(f"{project}/jobs/{name}.yaml", job(name, image="registry.example.com/ml/line:1.0.0"))


@pytest.fixture
def tree(tmp_path: Path) -> Several:
    return Several(tmp_path)


def test_each_has_its_own_output_clusters_and_delivery(tree: Several) -> None:
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert (tree.folder / "teams/nlp/out/east/research/bert.yaml").exists()
    assert "kustomize.toolkit.fluxcd.io/ssa" in tree.read("teams/vision/rendered/research/clip.yaml")
    assert "fluxcd" not in tree.read("vision/deep/er/rendered/research/sam.yaml")
    for name in PROJECTS:
        assert f"{name}: 1 job, no errors" in done.err
    assert tree.run("build", "--check").code == 0
    for name in PROJECTS:
        assert tree.run("build", "--check", name).code == 0


def test_a_mistake_in_one_stops_no_other(tree: Several) -> None:
    tree.change("teams/nlp/jobs/bert.yaml", *BROKEN)
    done = tree.run("build", "-w")
    assert done.code == 1
    assert "teams/nlp: 1 job, 1 error" in done.err
    assert (tree.folder / "teams/vision/rendered/research/clip.yaml").exists()
    assert not (tree.folder / "teams/nlp/out").exists()


def test_a_stream_is_of_one_project(tree: Several) -> None:
    done = tree.run("build")
    assert (done.code, done.out) == (2, "")
    assert "standard output cannot mix the projects teams/nlp, teams/vision, vision/deep/er; name one" in done.err
    assert tree.run("build", "-o", "all").code == 2
    assert "name: clip" in tree.run("build", "teams/vision").out
    assert "name: sam" in tree.run("build", "vision").out


def test_an_outer_project_leaves_inner_ones_alone(tree: Several) -> None:
    tree.write("trainc.yaml", PROJECT)
    tree.write("runtimes/torch.yaml", RUNTIME)
    tree.job("own")
    assert tree.run("build", "-w").code == 0
    assert list(tree.rendered()) == ["research/own.yaml"]
    assert "name: own" in tree.run("build", "jobs").out
    tree.change("teams/nlp/jobs/bert.yaml", "name: bert", "name: own")
    assert tree.run("validate").code == 0


def test_machines_get_one_answer(tree: Several) -> None:
    for project, (_, name) in PROJECTS.items():
        tree.change(f"{project}/jobs/{name}.yaml", *BROKEN)
    answer = json.loads(tree.run("validate", "--report", "json").out)
    assert [f["labels"][0]["file"] for f in answer["findings"]] == [
        f"{p}/jobs/{n}.yaml" for p, (_, n) in PROJECTS.items()
    ]
    assert answer["version"] == 1
    assert answer["failed"] is True
    log = json.loads(tree.run("validate", "--report", "sarif").out)
    assert (log["version"], len(log["runs"])) == ("2.1.0", 3)
    assert tree.run("validate", "--report", "github").out.count("::error") == 3


def test_every_command_finds_them(tree: Several) -> None:
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    shown = tree.run("show").out
    assert [name for name in PROJECTS if f"{name}:\n" in shown] == list(PROJECTS)
    assert tree.run("fix").code == 0
    assert tree.run("migrate").code == 0
    tree.change("teams/vision/jobs/clip.yaml", "numNodes: 2", "numNodes: 4")
    said = tree.run("diff", "--report", "markdown").out
    assert "## `teams/vision`" in said
    assert "4" in said.partition("teams/vision")[2].partition("vision/deep")[0]
    assert tree.run("validate", "--against", "HEAD").code == 1
    assert tree.run("build", "--check", "--changed-since", "HEAD").code == 1
    assert "jobs/clip.yaml" in tree.run("why", "teams/vision/jobs/clip.yaml", "parallelism").out
    assert tree.run("why", "teams/nlp/out/east/research/bert.yaml:20").code == 0


def test_a_cluster_that_one_project_has(tree: Several) -> None:
    assert tree.run("validate", "--cluster", "east").code == 0
    assert tree.run("validate", "--cluster", "west").code == 2


def test_the_hooks_pass_and_fail(tree: Several) -> None:
    assert tree.trainc("build", "-w").returncode == 0
    tree.hooks()
    done = tree.commit()
    assert done.returncode == 0, done.stdout
    tree.change("teams/nlp/jobs/bert.yaml", *BROKEN)
    tree.write("teams/vision/jobs/new.yaml", job("new", image="registry.example.com/ml/line:1.0.0"))
    done = tree.commit()
    assert done.returncode == 1
    assert done.stdout.count("error[invalid-field]") == 1
    assert "--> teams/nlp/jobs/bert.yaml:11:15" in done.stdout
    assert "`teams/vision/rendered/research/new.yaml` has not been rendered" in done.stdout


def test_an_application_is_of_one_project(tree: Several) -> None:
    done = tree.run("cmp", "generate")
    assert (done.code, done.out) == (2, "")
    assert "teams/nlp, teams/vision, vision/deep/er: a trainc.yaml there" in done.err


def test_without_a_trainc_yaml_runtimes_leaves_the_rest_of_a_checkout_alone(tmp_path: Path) -> None:
    """The project is the checkout, which is said; what is outside of the folder and of its runtimes is not read."""
    (tmp_path / ".git").mkdir()
    elsewhere, here, serving = (tmp_path / name for name in ("other/x", "ml/jobs", "ml/runtimes"))
    for folder, name in ((elsewhere, "far"), (serving, "near")):
        folder.mkdir(parents=True)
        (folder / "runtime.yaml").write_text(
            f"apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata:\n  name: {name}\nspec:\n  extends: torch-distributed\n"
        )
    here.mkdir()
    done = compile_in(here, "runtimes")
    assert done.code == 0
    assert f"no trainc.yaml here: the project is the Git checkout {tmp_path}" in done.err
    assert "near  Runtime, ml/runtimes/runtime.yaml; used by no job" in done.out
    assert "far " not in done.out.partition("shipped with")[0]
    (tmp_path / "trainc.yaml").write_text("apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {}\n")
    marked = compile_in(here, "runtimes")
    assert "far  " in marked.out
    assert "no trainc.yaml" not in marked.err
