"""The plugin's memory of runs: what is committed in the folder of rendered files stays as `build -w` keeps it."""

import json
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.integrations.plugin_server.client import Client
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

OLD, NEW = "registry.example.com/ml/torch:2.8.0", "registry.example.com/ml/torch:2.9.0"


@pytest.fixture(params=["research", ""], ids=["named", "unnamed"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> WorkingTree:
    """Two jobs with the image of their runtime, in a namespace of their own or in the application's."""
    made = WorkingTree(tmp_path)
    made.setting("delivery: argocd")
    for name in ("bert", "line"):
        made.job(name, image="")
        if not request.param:
            made.change(f"jobs/{name}.yaml", "  namespace: research\n", "")
    return made


RING = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: line
spec:
  network: {subdomain: ring}
  failurePolicy: {maxRestarts: 1}
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


def objects(client: Client, repository: WorkingTree) -> list[Any]:
    client.excluded = ()  # Argo CD sends the history unless its operator excludes it
    return [json.loads(text) for text in client.generate(repository.folder, "jobs", {"ARGOCD_APP_SOURCE_PATH": "jobs"})]


def images(trees: list[Any]) -> dict[str, str]:
    jobsets = {
        tree["metadata"]["name"]: tree["spec"]["replicatedJobs"][0] for tree in trees if tree["kind"] == "JobSet"
    }
    return {
        name: one["template"]["spec"]["template"]["spec"]["containers"][0]["image"] for name, one in jobsets.items()
    }


def refusal(client: Client, repository: WorkingTree) -> str:
    with pytest.raises(grpc.RpcError) as raised:
        objects(client, repository)
    return str(raised.value.details())


def build(repository: WorkingTree) -> None:
    """Render and commit, and something else behind it: each commit is judged by the one before."""
    done = repository.run("build", "-w")
    assert done.code == 0, done.err
    assert repository.commit().returncode in (0, 1)
    repository.git("commit", "-q", "--allow-empty", "-m", "next")


def test_a_shared_runtime_changes_no_committed_run(client: Client, repository: WorkingTree) -> None:
    build(repository)
    before = objects(client, repository)
    repository.change("runtimes/torch.yaml", OLD, NEW)
    assert objects(client, repository) == before
    repository.job("fresh", image="")
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD, "fresh": NEW}
    build(repository)
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD, "fresh": NEW}
    assert repository.run("build", "--check").code == 0


def test_without_rendered_files_there_is_no_memory(client: Client, repository: WorkingTree) -> None:
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD}
    repository.change("runtimes/torch.yaml", OLD, NEW)
    assert images(objects(client, repository)) == {"bert": NEW, "line": NEW}


def test_a_new_run_takes_the_new_runtime(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("runtimes/torch.yaml", OLD, NEW)
    repository.change("jobs/line.yaml", "spec:\n", '  annotations: {trainc.dev/run: "2"}\nspec:\n')
    assert images(objects(client, repository)) == {"bert": OLD, "line-r2": NEW}


def test_a_change_that_a_server_takes_goes_out_at_once(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    found = [tree["metadata"]["labels"]["owner"] for tree in objects(client, repository) if tree["kind"] == "JobSet"]
    assert found == ["research", "research"]


def test_an_edit_that_no_server_takes_is_refused(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("jobs/line.yaml", "numNodes: 2", "numNodes: 3")
    assert "error[immutable-change]" in refusal(client, repository)


def test_an_edit_of_a_rendered_file_is_not_applied(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("runtimes/torch.yaml", OLD, NEW)
    build(repository)
    (file,) = [path for path in repository.rendered() if path.endswith("/line.yaml")]
    repository.change(f"rendered/{file}", OLD, "registry.example.com/other:1")
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD}
    repository.commit()
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD}


def test_without_history_no_run_keeps_its_rendering(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("runtimes/torch.yaml", OLD, NEW)
    (repository.folder / ".git").rename(repository.folder.parent / "git")
    assert "error[immutable-change]" in refusal(client, repository)


def test_earlier_runs_stay_where_the_project_keeps_them(client: Client, repository: WorkingTree) -> None:
    repository.setting("oldRun: keep")
    assert "`oldRun: keep` needs the rendered files of earlier runs" in refusal(client, repository)
    build(repository)
    repository.change("jobs/line.yaml", "spec:\n", '  annotations: {trainc.dev/run: "2"}\nspec:\n')
    repository.change("runtimes/torch.yaml", OLD, NEW)
    build(repository)
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD, "line-r2": NEW}
    (file,) = [path for path in repository.rendered() if path.endswith("/line.yaml")]
    (repository.folder / "rendered" / file).unlink()
    assert images(objects(client, repository)) == {"bert": OLD, "line-r2": NEW}


def test_the_present_run_is_no_earlier_one_when_the_project_keeps_runs_from_now_on(
    client: Client, repository: WorkingTree
) -> None:
    """Run 2 is rendered in the job's own file, as `oldRun: prune` has it."""
    repository.change("jobs/line.yaml", "spec:\n", '  annotations: {trainc.dev/run: "2"}\nspec:\n')
    build(repository)
    before = objects(client, repository)
    repository.setting("oldRun: keep")
    repository.change("runtimes/torch.yaml", OLD, NEW)
    assert objects(client, repository) == before
    build(repository)
    assert objects(client, repository) == before


def test_two_runs_of_one_service_are_refused(client: Client, repository: WorkingTree) -> None:
    """A subdomain that the job itself names is that of every run: the Service can select the pods of one alone."""
    repository.setting("oldRun: keep")
    (repository.folder / "jobs/line.yaml").unlink()
    repository.write("jobs/line.yaml", RING)
    build(repository)
    repository.change("jobs/line.yaml", "spec:\n  network", '  annotations: {trainc.dev/run: "2"}\nspec:\n  network')
    before = repository.rendered()
    done = repository.run("build", "-w")
    assert (done.code, repository.rendered()) == (1, before)
    message = "this run and the earlier run `line`, which is kept, share the Service `ring`"
    assert [finding.message for finding in done.findings] == [message]
    assert message in repository.run("build", "--check").err
    assert message in refusal(client, repository)


def test_a_moved_job_keeps_its_run(client: Client, repository: WorkingTree) -> None:
    build(repository)
    repository.change("runtimes/torch.yaml", OLD, NEW)
    (repository.folder / "jobs/line.yaml").rename(repository.folder / "jobs/lines.yaml")
    assert images(objects(client, repository)) == {"bert": OLD, "line": OLD}


def test_what_argo_cd_needs_is_in_it_whatever_the_project_says(client: Client, repository: WorkingTree) -> None:
    for said in ("delivery: flux", ""):
        repository.change("trainc.yaml", "  delivery: argocd\n" if said else "  delivery: flux\n", f"  {said}\n")
        marks = [tree["metadata"].get("annotations", {}) for tree in objects(client, repository)]
        assert [found for found in marks if found] == [{"argocd.argoproj.io/sync-options": "ServerSideApply=true"}] * 2
