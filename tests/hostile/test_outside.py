"""Nothing outside of a project is read into an answer, nothing outside of a scratch folder is written."""

import os
from pathlib import Path

import pytest

from tests.hostile.attempts import attempt
from tests.repository import Repository

COMMANDS = (("build",), ("validate",), ("show",), ("diff", "old"), ("why", "jobs/good.yaml:5"))
THEIRS = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: theirs}
spec: {template: {spec: {replicatedJobs: []}}, hidden: tenant-secret}
"""


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    (tmp_path / "mine" / "old").mkdir(parents=True)
    found = Repository(tmp_path / "mine", "good")
    (found.folder / "clusters").mkdir()
    found.setting("clusters: {eu: {folder: clusters}}")
    (tmp_path / "tenant.yaml").write_text(THEIRS, "utf-8")
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dump_that_is_a_link_to_another_tenants_file(command: tuple[str, ...], project: Repository) -> None:
    (project.folder / "clusters" / "runtimes.yaml").symlink_to("../../tenant.yaml")
    found = attempt(project.folder, *command)
    assert (found.code, "outside the project" in found.err) == (2, True), found.err
    assert "tenant-secret" not in found.out + found.err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("target", ["/proc/self/environ", "../tenant.yaml"])
def test_a_project_file_that_is_a_link_to_something_else(
    target: str, command: tuple[str, ...], project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "tenant-secret")
    (project.folder / "trainc.yaml").unlink()
    (project.folder / "trainc.yaml").symlink_to(target)
    found = attempt(project.folder, *command)
    assert (found.code, "outside its folder" in found.err) == (2, True), found.err
    assert "tenant-secret" not in found.out + found.err


def test_a_link_to_a_folder_of_dumps_of_its_own_is_followed(project: Repository) -> None:
    (project.folder / "clusters").rmdir()
    (project.folder / "dumps").mkdir()
    (project.folder / "clusters").symlink_to("dumps")
    assert attempt(project.folder, "validate").code == 0


@pytest.mark.parametrize("kind", ["pipe", "dangling link", "device"])
def test_a_dump_that_cannot_be_read_is_missed(kind: str, project: Repository) -> None:
    dump = project.folder / "clusters" / "queues.yaml"
    match kind:
        case "pipe":
            os.mkfifo(dump)
        case "dangling link":
            dump.symlink_to("nowhere.yaml")
        case _:
            dump.symlink_to("/dev/zero")
    found = attempt(project.folder, "build")
    assert (found.code, "clusters/queues.yaml" in found.err) == (2, True), found.err


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("jobs/pipe.yaml", ("validate", "jobs/pipe.yaml")),
        ("jobs/pipe.yaml", ("why", "jobs/pipe.yaml")),
        ("jobs/pipe.yaml", ("why", "jobs/pipe.yaml:3")),
        ("trainc.yaml", ("validate", "trainc.yaml")),
        ("rendered/eu/research/good.yaml", ("build", "-w")),
        ("rendered/eu/research/good.yaml", ("build", "--check")),
    ],
)
def test_a_pipe_is_refused_and_not_waited_for(place: str, command: tuple[str, ...], project: Repository) -> None:
    path = project.folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found = attempt(project.folder, *command)
    assert (found.code, "ordinary file" in found.err) == (2, True), found.err


@pytest.mark.parametrize("command", [("diff", "old"), ("diff", "old", "."), ("validate", "--against", "old")])
def test_a_pipe_among_older_renderings_is_not_waited_for(command: tuple[str, ...], project: Repository) -> None:
    os.mkfifo(project.folder / "old" / "pipe.yaml")
    (project.folder / "old" / "link.yaml").symlink_to("/proc/self/environ")
    attempt(project.folder, *command)


ESCAPING = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: good, namespace: ns}
spec:
  runtimeRef: {name: deepspeed-distributed}
  trainer: {image: registry.example.com/x:1, numNodes: 2, command: ["true"]}
  runtimePatches:
    - manager: example.com/x
      trainingRuntimeSpec:
        template:
          spec:
            replicatedJobs:
              - name: launcher
                template:
                  spec:
                    template:
                      spec:
                        containers: [{name: node, volumeMounts: [{name: mpi-hostfile, mountPath: MOUNT}]}]
                        volumes: [{name: mpi-hostfile, configMap: {name: good-mpi-hostfile}}]
"""


@pytest.mark.parametrize("mount", ["/../../../../../../../..{tmp}/marker", "..{tmp}", "{tmp}/../marker", '"/a\\0b"'])
def test_a_rehearsal_mounts_nothing_above_its_scratch_folder(mount: str, tmp_path: Path) -> None:
    text = ESCAPING.replace("MOUNT", mount.format(tmp=tmp_path))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "job.yaml").write_text(text, "utf-8")
    attempt(tmp_path / "project", "rehearse", "job.yaml", "--yes", "--timeout", "5")
    assert [path.name for path in tmp_path.rglob("*")] == ["project", "job.yaml"]


def test_what_a_rehearsal_mounts_lies_in_its_scratch_folder(tmp_path: Path) -> None:
    text = ESCAPING.replace("MOUNT", "/../../etc/mpi").replace('["true"]', '["cat", "/../../etc/mpi/hostfile"]')
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    found = attempt(
        tmp_path, "rehearse", "job.yaml", "--yes", "--timeout", "5", "--command", "cat /../../etc/mpi/hostfile"
    )
    assert (found.code, "127.0.0.1" in found.out) == (0, True), found.err + found.out
    assert not Path("/etc/mpi").exists()


@pytest.mark.parametrize("folder", [".git", ".git/hooks", "x/../.git", ".GIT/hooks"])
def test_nothing_is_rendered_into_git_itself(folder: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path, "good")
    (tmp_path / ".git").mkdir()
    repository.change("trainc.yaml", "output: rendered", f"output: {folder}")
    done = attempt(tmp_path, "build", "-w")
    assert done.code == 1
    assert "is Git's own folder" in done.err
    assert list((tmp_path / ".git").iterdir()) == []


@pytest.mark.parametrize("folder", ["gitlink", "gitlink/refs", "inner/x"])
def test_nothing_is_rendered_through_a_link(folder: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path, "good")
    (tmp_path / ".git/refs").mkdir(parents=True)
    (tmp_path / "gitlink").symlink_to(".git")
    (tmp_path / "inner").symlink_to("jobs")
    before = sorted(tmp_path.rglob("*"))
    repository.change("trainc.yaml", "output: rendered", f"output: {folder}")
    done = attempt(tmp_path, "build", "-w")
    assert done.code == 1
    assert f"`{folder}` is behind a symbolic link" in done.err
    assert sorted(tmp_path.rglob("*")) == before
