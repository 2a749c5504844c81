"""Jobs of thousands of roles, or of huge numbers of pods: each command's time grows with the file alone."""

from pathlib import Path

import pytest

from tests.effort import below, cpu, within
from trainc.cli import main

pytestmark = pytest.mark.slow

_ROLE = """
  - name: {name}
    replicas: 1{waits}
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - {{name: main, image: "registry.example.com/a:1", command: [python, train.py]}}"""
_TASK = """
  - name: {name}
    replicas: 1{waits}
    template:
      spec:
        restartPolicy: Never
        containers:
        - {{name: main, image: "registry.example.com/a:1", command: [python, train.py]}}"""
_JOBSET = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: big, namespace: team}\nspec:\n  replicatedJobs:"
_VOLCANO = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: big, namespace: team}\nspec:\n  tasks:"
_GROWTH = 4  # times the roles
_MARGIN = 3  # times the time that linear growth would take


def _job(kind: str, order: str, count: int) -> str:
    """A job of so many roles, of which each waits for the one before it, for none, or for two of the row before."""
    head, role = (_JOBSET, _ROLE) if kind == "JobSet" else (_VOLCANO, _TASK)
    text = head
    for at in range(count):
        before = [other for other in _before(order, at) if other >= 0]
        if kind == "JobSet":
            entries = ", ".join(f"{{name: r{other}, status: Ready}}" for other in before)
            text += role.format(name=f"r{at}", waits=f"\n    dependsOn: [{entries}]" if before else "")
        else:
            names = ", ".join(f"r{other}" for other in before)
            text += role.format(name=f"r{at}", waits=f"\n    dependsOn: {{name: [{names}]}}" if before else "")
    return text + "\n"


def _before(order: str, at: int) -> list[int]:
    if order == "rows":
        return [at // 2 * 2 - 2, at // 2 * 2 - 1]
    return [at - 1] if order == "chain" else []


def _seconds(command: list[str]) -> float:
    return cpu(lambda: _ended(main(command)))


def _ended(code: int) -> None:
    assert code in {0, 1, 2}


def _growth(command: list[str], file: Path, few: str, many: str) -> float:
    """How many times longer the larger job takes; what takes no time at all counts as a little."""
    seconds = []
    for text in (few, many):
        file.write_text(text)
        seconds.append(_seconds([*command[:1], "job.yaml", *command[1:]]))
    return seconds[1] / (seconds[0] + 0.02)


@pytest.mark.parametrize("order", ["chain", "rows"])
@pytest.mark.parametrize("kind", ["JobSet", "Volcano"])
@pytest.mark.parametrize("command", [["validate"], ["show"], ["show", "--lifecycle"], ["fit"]], ids=" ".join)
def test_time_grows_with_the_number_of_roles(
    command: list[str], kind: str, order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Chains of 2,500 roles took minutes.
    monkeypatch.chdir(tmp_path)
    few, many = (_job(kind, order, count) for count in (150, 150 * _GROWTH))
    below(_GROWTH * _MARGIN, lambda: _growth(command, tmp_path / "job.yaml", few, many))


@pytest.mark.parametrize("kind", ["JobSet", "Volcano"])
def test_time_of_a_question_grows_with_the_number_of_roles(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A word that is in no field was looked for in each of 3,500 patches, for each of 77,000 values: 47 s.
    monkeypatch.chdir(tmp_path)
    few, many = (_job(kind, "none", count) for count in (150, 150 * _GROWTH))
    below(_GROWTH * _MARGIN, lambda: _growth(["why", "nothing"], tmp_path / "job.yaml", few, many))


_COUNTS = {
    "pods one after another": ("replicas: 1", "parallelism: 2", "completions: 2147483647"),
    "pods by a success policy": (
        "replicas: 1",
        "parallelism: 2",
        "completions: 2147483647",
        'successPolicy: {rules: [{succeededIndexes: "0-2147483646"}]}',
    ),
    "jobs without pods": ("replicas: 2147483647", "parallelism: 0", "completions: 0"),
}


@pytest.mark.parametrize("counts", list(_COUNTS.values()), ids=list(_COUNTS))
@pytest.mark.parametrize("command", [["validate"], ["show", "--lifecycle"], ["fit"]], ids=" ".join)
def test_huge_counts_cost_nothing(
    command: list[str], counts: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The indexes of two thousand million pods were written down one by one.
    monkeypatch.chdir(tmp_path)
    replicas, *fields = counts
    head = "template:\n      spec:"
    spec = "".join(f"\n        {field}" for field in fields)
    role = _ROLE.format(name="r0", waits="").replace("replicas: 1", replicas).replace(head, f"{head}{spec}", 1)
    (tmp_path / "job.yaml").write_text(f"{_JOBSET}{role}\n")
    within(5, lambda: _seconds([*command, "job.yaml"]))
