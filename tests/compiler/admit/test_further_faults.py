"""One mistake hides no other: what a server would say next is told with what it says first."""

from pathlib import Path

from tests.compiling import compile_in

JOBSET = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm, namespace: ml}
spec:
  replicatedJobs:
  - ROLE
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - name: node
              image: registry.example.com/train:1.0
              resources: RESOURCES
"""


def told(folder: Path, role: str, resources: str) -> set[tuple[str, int]]:
    """The rules of the errors about a JobSet, each with its line."""
    (folder / "job.yaml").write_text(JOBSET.replace("ROLE", role).replace("RESOURCES", resources), "utf-8")
    run = compile_in(folder, "validate", "job.yaml")
    return {(one.rule.name, one.labels[0].span.line) for one in run.findings if one.level == "error"}


def test_an_unknown_field_hides_no_quantity(tmp_path: Path) -> None:
    assert told(tmp_path, "name: node", "{limit: {}, limits: {memory: 64 gi}}") == {
        ("unknown-field", 15),
        ("refused-by-webhook", 15),
    }


def test_what_follows_from_an_unknown_field_is_not_told(tmp_path: Path) -> None:
    """The name that is missing is the title."""
    assert told(tmp_path, "title: node", "{}") == {("unknown-field", 6)}


def test_the_place_in_the_verdict_is_what_the_server_says_first(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        JOBSET.replace("ROLE", "name: node").replace("RESOURCES", "{limit: {}, limits: {memory: 64 gi}}"), "utf-8"
    )
    run = compile_in(tmp_path, "validate", "job.yaml", "--only", "admission")
    assert {one.rule.name for one in run.findings if one.refusal is not None} == {"unknown-field"}
