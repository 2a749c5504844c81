"""A job that several clusters run is judged once for all of them whose servers are alike."""

from pathlib import Path
from typing import Any

import pytest

from tests.repository import PROJECT, Repository
from trainc.apiserver.verdict import verdict

BOUND = "  annotations: {trainc.dev/cluster: 'one,two,three'}\n  namespace: research\n"


@pytest.mark.parametrize(("settings", "verdicts"), [("{}", 1), ("{kubernetes: v1.33.0}", 2)])
def test_servers_that_are_alike_judge_a_job_once(
    settings: str, verdicts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path, "bert")
    clusters = f"  clusters:\n    one: {{}}\n    two: {{}}\n    three: {settings}\n"
    repository.write("trainc.yaml", PROJECT + clusters)
    repository.change("jobs/bert.yaml", "  namespace: research\n", BOUND)
    judged: list[str] = []

    def counted(tree: Any, *rest: Any, **more: Any) -> Any:
        judged.append(tree["kind"].value)
        return verdict(tree, *rest, **more)

    monkeypatch.setattr("trainc.apiserver.admission.verdict", counted)
    run = repository.run("build", "-w")
    assert (run.code, len(run.bundles)) == (0, 3), run.err
    assert judged.count("TrainJob") == verdicts


def test_what_a_server_says_of_a_job_is_said_for_each_cluster(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert")
    repository.write("trainc.yaml", PROJECT + "  clusters: {one: {}, two: {}, three: {}}\n")
    repository.change("jobs/bert.yaml", "  namespace: research\n", BOUND)
    repository.change("jobs/bert.yaml", "spec:\n", "spec:\n  suspended: true\n")
    run = repository.run("build", "-w")
    assert run.code == 1
    assert run.report is not None
    refused = {name: len(list(run.report.account.refused(name))) for name in ("one", "two", "three")}
    assert refused == {"one": 1, "two": 1, "three": 1}, run.err
