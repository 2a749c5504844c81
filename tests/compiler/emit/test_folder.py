"""The output folder: what is ours is kept up to date, what is not is left alone."""

from pathlib import Path

import pytest

from tests.repository import Repository, commit_all, job
from tests.sampling import sampled
from trainc.compiler.emit.spool.disk import Staged

BERT, LINE = "research/bert.yaml", "research/line.yaml"


@pytest.fixture
def built(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path, "bert", "line")
    assert repository.run("build", "-w").code == 0
    return repository


def test_a_file_for_each_job(built: Repository) -> None:
    assert list(built.rendered()) == [BERT, LINE]
    first = built.rendered()[BERT].splitlines()[0]
    assert first.startswith("# trainc: from jobs/bert.yaml job=")
    assert first.endswith("; do not edit")
    assert built.run("build", "--check").code == 0


def test_unchanged_files_are_not_touched(built: Repository) -> None:
    before = {path: (built.folder / "rendered" / path).stat().st_mtime_ns for path in built.rendered()}
    built.job("curve")
    assert built.run("build", "-w").code == 0
    assert {path: (built.folder / "rendered" / path).stat().st_mtime_ns for path in before} == before


def test_comments_and_order_change_nothing(built: Repository) -> None:
    before = built.rendered()
    built.change("jobs/bert.yaml", "    numNodes: 2\n", "")
    built.change("jobs/bert.yaml", "  trainer:\n", "  # a word\n  trainer:\n    numNodes: 2\n")
    assert built.run("build", "--check").code == 0
    assert built.run("build", "-w").code == 0
    assert built.rendered() == before


def test_a_deleted_job_takes_its_file_along(built: Repository) -> None:
    (built.folder / "jobs/bert.yaml").unlink()
    check = built.run("build", "--check")
    assert check.code == 1
    assert "is left over: `jobs/bert.yaml` no longer contains the job" in check.err
    assert list(built.rendered()) == [BERT, LINE]
    assert built.run("build", "-w").code == 0
    assert list(built.rendered()) == [LINE]


def test_the_last_job_may_go(built: Repository) -> None:
    for name in ("bert", "line"):
        (built.folder / f"jobs/{name}.yaml").unlink()
    assert built.run("build", "-w").code == 0
    assert built.rendered() == {}
    assert built.run("build", "-w").code == 1


def test_only_what_is_selected_is_removed(built: Repository) -> None:
    (built.folder / "jobs/bert.yaml").unlink()
    assert built.run("build", "-w", "jobs/line.yaml").code == 0
    assert list(built.rendered()) == [BERT, LINE]
    assert built.run("build", "-w", "jobs").code == 0
    assert list(built.rendered()) == [LINE]


def test_an_error_of_the_settings_hides_what_differs_by_them(built: Repository) -> None:
    built.change("trainc.yaml", "output:", "clusters: {east: {namespace: research}}\n  output:")
    built.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 4")
    assert built.run("build", "--check").err.count("error[out-of-date]") > 1
    built.change("trainc.yaml", "clusters:", "cluster:")
    check = built.run("build", "--check")
    assert (check.code, "unknown setting `cluster`" in check.err, "out-of-date" in check.err) == (1, True, False)


def test_one_error_and_nothing_is_written(built: Repository) -> None:
    before = built.rendered()
    built.job("curve")
    built.change("jobs/line.yaml", "numNodes: 2", "numNodes: many")
    (built.folder / "jobs/bert.yaml").unlink()
    assert built.run("build", "-w").code == 1
    assert built.rendered() == before


@pytest.mark.parametrize("flag", ["-w", "--check"])
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("completions: 2", "completions: 3", "changed by hand"),
        ("# trainc: from", "# from", "did not write it"),
    ],
)
def test_nothing_of_others_is_overwritten(built: Repository, old: str, new: str, words: str, flag: str) -> None:
    built.change(f"rendered/{BERT}", old, new)
    before = built.rendered()
    done = built.run("build", flag)
    assert done.code == 1
    assert words in done.err
    assert built.rendered() == before


def test_a_foreign_file_beside_ours_stays(built: Repository) -> None:
    built.write("rendered/research/queue.yaml", "kind: LocalQueue\n")
    assert built.run("build", "-w").code == 0
    assert "research/queue.yaml" in built.rendered()


def test_line_ends_of_a_checkout_do_not_count(built: Repository) -> None:
    for path, text in built.rendered().items():
        (built.folder / "rendered" / path).write_bytes(text.replace("\n", "\r\n").encode())
    assert built.run("build", "--check").code == 0


def test_no_link_is_followed(built: Repository, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.yaml"
    target.write_text("mine\n")
    (built.folder / "rendered" / BERT).unlink()
    (built.folder / "rendered" / BERT).symlink_to(target)
    done = built.run("build", "-w")
    assert done.code == 2
    assert "symbolic link" in done.err
    assert target.read_text() == "mine\n"


def test_a_check_shows_a_difference_and_writes_nothing(built: Repository) -> None:
    before = built.rendered()
    built.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    done = built.run("build", "--check")
    assert done.code == 1
    assert "-    owner: platform\n+    owner: research" in done.err
    assert built.rendered() == before
    assert built.run("build", "-w").code == 0
    assert built.run("build", "--check").code == 0


@pytest.mark.slow
def test_a_check_tells_an_edit_of_the_job_from_one_around_it(built: Repository) -> None:
    built.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    assert "the job is unchanged, but something that it uses changed" in built.run("build", "--check").err
    assert built.run("build", "-w").code == 0
    built.change("jobs/bert.yaml", "  name: bert\n", "  name: bert\n  labels: {kueue.x-k8s.io/queue-name: small}\n")
    done = built.run("build", "--check")
    assert "`rendered/research/bert.yaml` is not what `jobs/bert.yaml` compiles to now\n" in done.err


def test_many_differences_are_cut(tmp_path: Path) -> None:
    repository = Repository(tmp_path, *(f"job-{number:03}" for number in range(120)))
    done = repository.run("build", "--check")
    assert done.code == 1
    assert [finding.rule.name for finding in done.findings].count("out-of-date") == 50
    assert done.err.count("[out-of-date]") == 1
    assert "and 49 more in 49 other files" in done.err
    assert "and 70 more files" in done.err


def test_a_file_has_a_name_of_any_length_that_the_disk_takes(tmp_path: Path) -> None:
    """Its temporary file lay beside it under a longer one."""
    names = [f"{first}{'n' * 249}.yaml" for first in "ab"]
    with Staged() as staged:
        for name in names:
            staged.put(str(tmp_path / name), name.encode())
        staged.move()
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {name: name for name in names}


def test_leftovers_of_a_killed_build_go(built: Repository) -> None:
    built.write(f"rendered/{BERT}.trainc-999999999", "# trainc: from jobs/be")
    built.write(f"rendered/{LINE}.trainc-999999999", "# tra")
    assert built.run("build", "-w").code == 0
    assert list(built.rendered()) == [BERT, LINE]


@pytest.mark.parametrize("name", ["notes.trainc-999999999", f"{BERT}.trainc-999999999", f"{BERT}.trainc-1x"])
def test_files_that_only_look_like_leftovers_stay(built: Repository, name: str) -> None:
    built.write(f"rendered/{name}", "notes of somebody else")
    assert built.run("build", "-w").code == 0
    assert (built.folder / "rendered" / name).read_text("utf-8") == "notes of somebody else"


LOST = {
    "empty": "",
    "blank": "\n---\n \n",
    "a pointer of Git LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 12\n",
    "merge conflict": "<<<<<<< HEAD\nmetadata: {name: bert}\n=======\n>>>>>>> other\n",
    "kind misspelt": "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: Trainjob\nmetadata: {name: bert}\n",
    "kind far off": "apiVersion: kubeflow.org/v1\nkind: PytorchJobs\nmetadata: {name: bert}\n",
    "no such kind": "apiVersion: trainer.kubeflow.com/v1alpha1\nkind: TrainJob\nmetadata: {name: bert}\n",
    "no kind": "metadata: {name: bert}\nspec: {}\n",
    "this is not YAML": "metadata: {name: bert\n",
}


@pytest.mark.parametrize("text", sampled(LOST.values(), LOST, every=4))
def test_a_job_that_only_seems_to_be_gone_is_an_error_at_its_source(built: Repository, text: str) -> None:
    before = built.rendered()
    built.write("jobs/bert.yaml", text)
    done = built.run("build", "-w")
    assert (done.code, built.rendered()) == (1, before), done.err
    assert "jobs/bert.yaml:" in done.err


def test_a_job_that_is_gone_from_a_source_that_can_be_read_is_removed_by_name(built: Repository) -> None:
    built.write("jobs/bert.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bert}\n")
    done = built.run("build", "-w")
    assert list(built.rendered()) == [LINE]
    assert f"removed rendered/{BERT}: jobs/bert.yaml no longer contains the job\n" in done.err
    (built.folder / "jobs/line.yaml").unlink()
    built.write("jobs/other.yaml", job("other"))
    assert f"removed rendered/{LINE}: jobs/line.yaml is gone\n" in built.run("build", "-w").err


def test_the_rendered_file_is_not_an_input(built: Repository) -> None:
    done = built.run("validate", f"rendered/{BERT}", "jobs/bert.yaml")
    assert done.code == 0, done.err
    assert "1 job" in done.err


def test_a_moved_job_keeps_its_file(built: Repository) -> None:
    (built.folder / "jobs/bert.yaml").rename(built.folder / "jobs/words.yaml")
    check = built.run("build", "--check")
    assert check.code == 1
    assert "needs another first line: its job moved to" in check.err
    assert check.err.endswith("2 jobs, 1 error\n")
    assert "rendered: wrote 1, removed 0, unchanged 1\n" in built.run("build", "-w").err
    assert built.rendered()[BERT].startswith("# trainc: from jobs/words.yaml ")


@pytest.mark.parametrize(("old", "new"), [("", ""), ("numNodes: 2", "numNodes: 4")], ids=["same", "other"])
@pytest.mark.parametrize("selected", [["jobs/copies"], []], ids=["alone", "both"])
def test_a_job_of_the_same_name_elsewhere_takes_nothing(
    built: Repository, old: str, new: str, selected: list[str]
) -> None:
    before = built.rendered()
    built.write("jobs/copies/bert.yaml", built.read("jobs/bert.yaml").replace(old, new))
    done = built.run("build", "-w", *selected)
    assert done.code == 1
    assert [finding.rule.name for finding in done.findings] == ["same-name"]
    assert {label.span.file for label in done.findings[0].labels} == {"jobs/bert.yaml", "jobs/copies/bert.yaml"}
    assert built.rendered() == before


def test_a_job_may_leave_a_file_of_several(built: Repository) -> None:
    both = f"{built.read('jobs/bert.yaml')}---\n{built.read('jobs/line.yaml')}"
    for name in ("bert", "line"):
        (built.folder / f"jobs/{name}.yaml").unlink()
    built.write("jobs/both.yaml", both)
    assert built.run("build", "-w").code == 0
    built.write("jobs/bert.yaml", both.partition("---\n")[0])
    built.write("jobs/both.yaml", both.partition("---\n")[2])
    assert built.run("build", "-w", "jobs/bert.yaml").code == 0
    assert built.rendered()[BERT].startswith("# trainc: from jobs/bert.yaml ")
    assert built.run("build", "--check").code == 0


RING = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: line
  namespace: research
spec:
  network: {subdomain: SUBDOMAIN}
  replicatedJobs:
    - name: node
      template:
        spec:
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers: [{name: node, image: registry.example.com/ml/torch:2.8.0, command: [python, line.py]}]
"""


@pytest.mark.parametrize(("former", "now", "said"), [("ring", "ring", True), ("ring", "wheel", False)])
def test_an_earlier_run_that_stays_and_this_one_cannot_have_one_service(
    former: str, now: str, said: bool, tmp_path: Path
) -> None:
    """The Service selects the pods of one of them alone."""
    repository = Repository(tmp_path)
    repository.setting("oldRun: keep")
    repository.write("jobs/line.yaml", RING.replace("SUBDOMAIN", former))
    assert repository.run("build", "-w").code == 0
    commit_all(repository.folder)
    text = RING.replace("SUBDOMAIN", now).replace(
        "  name: line\n", '  name: line\n  annotations: {trainc.dev/run: "2"}\n'
    )
    repository.write("jobs/line.yaml", text)
    done = repository.run("build", "-w")
    assert ("this run and the earlier run `line`, which is kept, share the Service `ring`" in done.err) is said
    assert done.code == said
    assert ("research/line-r2.yaml" in repository.rendered()) is not said


def test_a_plain_job_and_an_object_never_share_a_file(tmp_path: Path) -> None:
    """Only a plain Job that stays one may have dots in its name, as files of objects have."""
    project = Repository(tmp_path, "bert")
    project.change("jobs/bert.yaml", "    numNodes", f"    env: [{{name: A, {FROM_SHARED}}}]\n    numNodes")
    project.write("jobs/plain.yaml", DOTTED)
    project.write("config/shared.yaml", CONFIG)
    assert project.run("build", "-w").code == 0
    names = [path.rpartition("/")[2] for path in project.rendered()]
    assert names == ["bert.yaml", "configmap.shared.yaml", "configmap_shared.yaml"]
    assert project.run("build", "--check").code == 0
    assert project.run("build", "-w").err.splitlines()[-1].endswith("wrote 0, removed 0, unchanged 3")


FROM_SHARED = "valueFrom: {configMapKeyRef: {name: shared, key: a}}"
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: research}\ndata: {a: one}\n"
DOTTED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: configmap.shared, namespace: research, annotations: {trainc.dev/keep: job}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: a, image: "registry.example.com/a:1", command: [python, a.py]}]
"""
