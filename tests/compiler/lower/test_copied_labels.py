"""`copyLabels`: labels of jobs on what reports of a cluster look at."""

from pathlib import Path

from tests.repository import Repository


def labelled(folder: Path, keys: str) -> Repository:
    repository = Repository(folder, "bert")
    repository.change("jobs/bert.yaml", "metadata:\n", "metadata:\n  labels: {owner: ada, cost-centre: r1, other: x}\n")
    repository.setting(f"copyLabels: {keys}")
    return repository


def test_labels_reach_the_jobset_and_its_pods(tmp_path: Path) -> None:
    repository = labelled(tmp_path, "[owner, cost-centre, absent]")
    jobset = repository.run("build").objects[-1]
    (role,) = jobset["spec"]["replicatedJobs"]
    pod = role["template"]["spec"]["template"]["metadata"]["labels"]
    for labels in (jobset["metadata"]["labels"], pod):
        assert {key: labels.get(key) for key in ("owner", "cost-centre", "other")} == {
            "owner": "ada",  # the runtime has `owner: platform` on the JobSet
            "cost-centre": "r1",
            "other": None,
        }
    why = repository.run("why", "jobs/bert.yaml", "owner")
    assert "set by identity (copyLabels) at jobs/bert.yaml:" in why.out


def test_a_label_that_a_controller_reads_is_not_copied(tmp_path: Path) -> None:
    done = labelled(tmp_path, "[kueue.x-k8s.io/queue-name]").run("validate")
    assert done.code == 1
    assert "`kueue.x-k8s.io/queue-name` is a label that Kubernetes or a controller reads" in done.err
