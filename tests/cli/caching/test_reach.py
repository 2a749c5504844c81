"""What is changed beside a job reaches it, whatever is known of it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import RUNTIME, Repository

JOBS = 12
COMPONENT = """\
apiVersion: trainc.dev/v1alpha1
kind: RuntimeComponent
metadata:
  name: quiet
spec:
  job:
    spec:
      template:
        spec:
          terminationGracePeriodSeconds: {seconds}
          containers: [{{name: node, volumeMounts: [{{name: shared, mountPath: /shared}}]}}]
          volumes: [{{name: shared, persistentVolumeClaim: {{claimName: shared}}}}]
"""
SHARED = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: shared}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Ti}}
"""
CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: research}\nspec: {}\n"


@pytest.fixture
def repository(tmp_path: Path, cache: Path, settled: None) -> Repository:
    """Similar jobs, rendered and known."""
    del cache, settled
    folder = tmp_path / "repository"
    folder.mkdir()
    made = Repository(folder, *[f"bert-{number}" for number in range(JOBS)])
    made.setting("clusters: {main: {components: [quiet]}}")
    made.write("runtimes/components/quiet.yaml", COMPONENT.format(seconds=60))
    made.write("storage/shared.yaml", SHARED)
    for words in (("validate",), ("build", "-w"), ("build", "-w"), ("build", "-o", "out")):
        assert made.run(*words).code == 0
    return made


def test_most_jobs_are_known(repository: Repository) -> None:
    """Otherwise nothing is tested here."""
    repository.change("jobs/bert-7.yaml", "namespace:", "labels: {team: x}\n  namespace:")
    run = repository.run("build", "-w")
    assert f"wrote 1, removed 0, unchanged {JOBS}" in run.err
    assert len(run.bundles) <= 3  # those of which something is said are compiled each time


def _typo(made: Repository) -> None:
    made.change("jobs/bert-9.yaml", "numNodes", "numnodes")


def _number(made: Repository) -> None:
    made.change("jobs/bert-9.yaml", "line:1.0.0", "line:1.0.1")


def _runtime(made: Repository) -> None:
    made.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 4")


def _broken_runtime(made: Repository) -> None:
    made.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: many")


def _component(made: Repository) -> None:
    made.write("runtimes/components/quiet.yaml", COMPONENT.format(seconds=90))


def _broken_component(made: Repository) -> None:
    made.change("runtimes/components/quiet.yaml", "  job:", "  jobs:")


def _nearer_runtime(made: Repository) -> None:
    made.write("jobs/runtimes/torch.yaml", RUNTIME.replace("torch:2.8.0", "torch:2.7.0"))


def _runtime_among_jobs(made: Repository) -> None:
    made.write("jobs/own.yaml", RUNTIME.replace("torch:2.8.0", "torch:2.7.0"))


def _twin(made: Repository) -> None:
    made.write("jobs/copy.yaml", made.read("jobs/bert-11.yaml"))


def _removed(made: Repository) -> None:
    (made.folder / "jobs" / "bert-11.yaml").unlink()


def _renamed(made: Repository) -> None:
    (made.folder / "jobs" / "bert-11.yaml").rename(made.folder / "jobs" / "bert-99.yaml")


def _project(made: Repository) -> None:
    made.setting("rules: {moving-tag: error}")


def _silenced(made: Repository) -> None:
    made.write("jobs/bert-3.yaml", "# trainc: allow[no-such-rule] a reason\n" + made.read("jobs/bert-3.yaml"))


def _emptied(made: Repository) -> None:
    made.write("jobs/bert-3.yaml", "")


def _zeros(made: Repository) -> None:
    made.change("jobs/bert-3.yaml", "name: bert-3", "name: bert-003")


def _renumbered(made: Repository) -> None:
    made.change("jobs/bert-3.yaml", "name: bert-3", "name: bert-4711")


def _huge(made: Repository) -> None:
    made.change("jobs/bert-3.yaml", "name: bert-3", f"name: bert-{'9' * 60}")


def _claim(made: Repository) -> None:
    made.write("jobs/claim.yaml", CLAIM)


def _claim_for_one_node(made: Repository) -> None:
    made.change("storage/shared.yaml", "ReadWriteMany", "ReadWriteOnce")


def _nearer_claim(made: Repository) -> None:
    made.write("jobs/storage/shared.yaml", SHARED.replace("ReadWriteMany", "ReadWriteOnce"))


def _claim_with_a_job(made: Repository) -> None:
    one_node = SHARED.replace("ReadWriteMany", "ReadWriteOnce")
    made.write("jobs/bert-3.yaml", f"{made.read('jobs/bert-3.yaml')}---\n{one_node}")


def _second_cluster(made: Repository) -> None:
    made.change("trainc.yaml", "quiet]}}", "quiet]}, west: {paths: [jobs]}}")


EDITS = (
    *(
        _typo,
        _number,
        _runtime,
        _broken_runtime,
        _component,
        _broken_component,
        _nearer_runtime,
        _runtime_among_jobs,
        _twin,
        _removed,
    ),
    *(_renamed, _project, _silenced, _emptied, _zeros, _renumbered, _huge, _claim, _second_cluster),
    *(_claim_for_one_node, _nearer_claim, _claim_with_a_job),
)


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__.strip("_"))
def test_an_edit_is_seen(repository: Repository, edit: Callable[[Repository], None], tmp_path: Path) -> None:
    """Twice, for what the first run keeps must not hide it from the second."""
    edit(repository)
    alone = tmp_path / "alone"
    shutil.copytree(repository.folder, alone)
    for words in (("validate",), ("build", "-o", "out"), ("build", "--check"), ("build", "-w")):
        for _ in range(2):
            heeding = repository.run(*words)
            plain = compile_in(alone, *words, "--no-cache")
            assert (heeding.code, heeding.out, heeding.err) == (plain.code, plain.out, plain.err), words
            assert contents(repository.folder) == contents(alone)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
