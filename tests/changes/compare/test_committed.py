"""Runs: what may change under a name, what needs a new one, and who keeps the old rendering."""

import re
from pathlib import Path

import pytest

from tests.repository import Repository
from tests.working_tree import WorkingTree

BERT = "research/bert.yaml"


@pytest.fixture
def built(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    return tree


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("line:1.0.0", "line:1.1.0", "containers[node].image"),
        ("numNodes: 2", "numNodes: 3", "parallelism"),
        ("[torchrun, /opt/line.py]", "[torchrun, /opt/other.py]", "containers[node].command"),
    ],
)
def test_an_edit_of_a_run_needs_a_new_run(built: WorkingTree, old: str, new: str, field: str) -> None:
    before = built.rendered()
    built.change("jobs/bert.yaml", old, new)
    for flag in ("-w", "--check"):
        done = built.run("build", flag)
        assert done.code == 1
        assert "error[immutable-change]" in done.err
        assert field in done.err
        assert 'to start a new run set `trainc.dev/run: "2"`' in done.err
    assert built.rendered() == before
    built.change("jobs/bert.yaml", "  namespace:", '  annotations: {trainc.dev/run: "2"}\n  namespace:')
    assert built.run("build", "-w").code == 0
    assert "name: bert-r2\n" in built.rendered()[BERT]
    assert "bert-r2-node-0-0.bert-r2" in built.rendered()[BERT]
    assert built.run("build", "--check").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("maxRestarts: 3", "maxRestarts: 4"),
        ("memory: 16Gi", "memory: 32Gi"),
        ("backoffLimit: 0", "backoffLimit: 1"),
        (
            "- name: node\n          template",
            "- name: node\n          replicas: 1\n          groupName: other\n          template",
        ),
    ],
)
def test_a_run_keeps_its_rendering(built: WorkingTree, old: str, new: str) -> None:
    before = built.rendered()
    built.change("runtimes/torch.yaml", old, new)
    done = built.run("build", "-w")
    assert done.code == 0
    assert "run `bert` keeps its rendering (runtimes/torch.yaml changed)" in done.err
    assert built.rendered() == before
    assert built.run("build", "--check").code == 0
    assert built.run("build", "-w", "--rerender", "bert").code == 0
    assert built.rendered() != before


@pytest.mark.slow
@pytest.mark.parametrize("flag", ["-w", "--check"])
def test_without_a_base_no_run_keeps_its_rendering(built: WorkingTree, flag: str) -> None:
    (built.folder / ".git").rename(built.folder.parent / "git")
    built.change("runtimes/torch.yaml", "memory: 16Gi", "memory: 32Gi")
    before = built.rendered()
    done = built.run("build", flag)
    assert (done.code, built.rendered()) == (1, before)
    assert "error[immutable-change]" in done.err
    assert "  --> runtimes/torch.yaml:" in done.err
    assert "; this folder is in no Git repository, so nothing proves a rendering" in done.err
    assert built.run("build", "-w", "--rerender", "bert").code == 0


@pytest.mark.slow
def test_what_may_change_does(built: WorkingTree) -> None:
    built.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    assert built.run("build", "-w").code == 0
    assert "owner: research" in built.rendered()[BERT]


@pytest.mark.slow
def test_runs_that_keep_their_rendering_are_counted(built: WorkingTree) -> None:
    built.job("line")
    assert built.run("build", "-w").code == 0
    assert built.commit().returncode == 0
    built.change("runtimes/torch.yaml", "16Gi", "32Gi")
    assert "2 runs keep their rendering (runtimes/torch.yaml changed)" in built.run("build", "-w").err
    assert built.run("build", "-w", "--rerender", "all").code == 0
    assert "keep" not in built.run("build", "-w").err


@pytest.mark.slow
def test_a_run_that_was_never_applied_may_change(built: WorkingTree) -> None:
    built.change("jobs/bert.yaml", "line:1.0.0", "line:1.1.0")
    assert built.run("build", "-w", "--rerender", "bert").code == 0
    assert "line:1.1.0" in built.rendered()[BERT]


@pytest.mark.slow
def test_a_job_to_rerender_must_be_there(built: WorkingTree) -> None:
    done = built.run("build", "-w", "--rerender", "bart")
    assert done.code == 2
    assert "did you mean `bert`?" in done.err


@pytest.mark.slow
def test_another_version_of_trainc_says_so(built: WorkingTree) -> None:
    """The committed file holds what an older trainc wrote: no file is to blame."""
    from trainc.compiler.emit.digest import body_digest  # noqa: PLC0415 (the test forges one header)

    text = built.rendered()[BERT].replace("completionMode: Indexed", "completionMode: NonIndexed")
    head, _, body = text.partition("\n")
    head = head.rpartition(" body=")[0] + f" body={body_digest(body.encode())}; do not edit"
    built.write(f"rendered/{BERT}", f"{head}\n{body}")
    assert built.commit().returncode == 0
    built.write("note.yaml", "kind: Note\n")
    assert "keeps its rendering (trainc or a setting of its cluster changed)" in built.run("build", "-w").err


@pytest.mark.slow
def test_a_runtime_in_the_file_of_its_job_is_to_blame(tmp_path: Path) -> None:
    """The file is that of the job, whose digest leaves the runtime out: neither trainc nor a setting changed."""
    repository = WorkingTree(tmp_path)
    runtime = repository.read("runtimes/torch.yaml")
    (repository.folder / "runtimes/torch.yaml").unlink()
    repository.job("bert")
    repository.write("jobs/bert.yaml", f"{repository.read('jobs/bert.yaml')}---\n{runtime}")
    assert repository.run("build", "-w").code == 0
    assert repository.commit().returncode == 0
    repository.change("jobs/bert.yaml", "maxRestarts: 3", "maxRestarts: 9")
    said = repository.run("build", "-w").err
    assert "run `bert` keeps its rendering (the runtime in jobs/bert.yaml changed): `spec.failurePolicy" in said


@pytest.mark.slow
def test_the_old_run_is_pruned(built: WorkingTree) -> None:
    built.job("bert", run="2")
    assert built.run("build", "-w").code == 0
    assert list(built.rendered()) == [BERT]


@pytest.mark.slow
def test_the_old_run_is_kept_where_the_project_says_so(built: WorkingTree) -> None:
    built.setting("oldRun: keep")
    old = built.rendered()[BERT]
    for number in ("2", "3"):
        built.job("bert", run=number, image=f"registry.example.com/ml/line:{number}.0.0")
        assert built.run("build", "-w").code == 0
        assert built.commit().returncode == 0
    assert list(built.rendered()) == ["research/bert-r2.yaml", "research/bert-r3.yaml", BERT]
    assert built.rendered()[BERT] == old
    assert built.run("build", "--check").code == 0
    (built.folder / "jobs/bert.yaml").unlink()
    assert built.run("build", "-w").code == 0
    assert built.rendered() == {}


@pytest.mark.slow
def test_a_run_keeps_its_rendering_when_the_project_keeps_or_prunes_runs_from_now_on(built: WorkingTree) -> None:
    """The present run has another file then; it is no earlier run, and what cannot change in place stays."""
    run_2 = "research/bert-r2.yaml"
    built.job("bert", run="2")
    assert built.run("build", "-w").code == 0
    assert built.commit().returncode == 0
    rendered = built.rendered()[BERT].partition("\n")[2]
    built.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    built.setting("oldRun: prune")
    for policy, before, now in (("keep", BERT, run_2), ("prune", run_2, BERT)):
        built.write("trainc.yaml", re.sub(r"oldRun: \w+", f"oldRun: {policy}", built.read("trainc.yaml")))
        checked = built.run("build", "--check")
        assert f"`rendered/{before}` is left over: `oldRun` changed, and the run has another file now" in checked.err
        done = built.run("build", "-w")
        assert (done.code, f"rendered/{before} to {now}: `oldRun` changed" in done.err) == (0, True), done.err
        assert list(built.rendered()) == [now]
        assert built.rendered()[now].partition("\n")[2] == rendered
        assert built.run("build", "--check").code == 0


@pytest.mark.slow
def test_a_rendering_that_was_edited_stays_when_the_project_keeps_runs_from_now_on(built: WorkingTree) -> None:
    built.job("bert", run="2")
    assert built.run("build", "-w").code == 0
    built.change(f"rendered/{BERT}", "maxRestarts: 3", "maxRestarts: 4")
    edited = built.rendered()
    built.setting("oldRun: keep")
    refused = built.run("build", "-w")
    assert (refused.code, f"`rendered/{BERT}` was changed by hand" in refused.err) == (1, True), refused.err
    assert built.rendered() == edited


@pytest.mark.slow
def test_runs_are_rendered_anew_by_glob(tmp_path: Path) -> None:
    names = [f"nlp-{number:03}" for number in range(300)]
    repository = WorkingTree(tmp_path, "vision", *names)
    assert repository.run("build", "-w").code == 0
    assert repository.commit().returncode == 0
    repository.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    would = repository.run("build", "--check", "--rerender", "nlp-*")
    assert would.code == 1
    said = "--rerender: runs `nlp-000`, `nlp-001`, `nlp-002`, `nlp-003`, `nlp-004` and 295 more"
    assert f"{said} would get a new rendering; a server on which one of them exists" in would.err
    done = repository.run("build", "-w", "--jobs", "2", "--rerender", "nlp-*")
    assert done.code == 0
    assert f"{said} get a new rendering" in done.err
    assert "run `vision` keeps its rendering" in done.err
    assert "wrote 300, removed 0, unchanged 1" in done.err
    assert "run `vision` gets a new rendering" in repository.run("build", "-w", "--rerender", "all").err
    assert repository.run("build", "-w", "--rerender", "audio-*").code == 2


@pytest.mark.slow
def test_a_lower_number_of_the_run_is_a_warning(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.job("bert", run="3")
    assert repository.run("build", "-w").code == 0
    repository.change("jobs/bert.yaml", 'trainc.dev/run: "3"', 'trainc.dev/run: "2"')
    for flag in ("--check", "-w"):
        said = repository.run("build", flag).err
        assert "warning[bad-run]: run 2 of `bert` follows run 3" in said
        assert "jobs/bert.yaml:7:21" in said
    assert "name: bert-r2\n" in repository.rendered()[BERT]
    repository.change("jobs/bert.yaml", 'trainc.dev/run: "2"', 'trainc.dev/run: "4"')
    assert "bad-run" not in repository.run("build", "-w").err
