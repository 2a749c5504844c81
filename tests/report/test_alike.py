"""One mistake in many jobs is told once, with the places of the others; each job is told of where that is asked for."""

from pathlib import Path

from tests.compiling import compile_in

JOB = """apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: {name}}}
spec:
  replicatedJobs:
    - name: node
      template:
        spec:
          backoffLimit: 0
          parallelism: 2
          completions: 2
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: node
                  image: registry.example.com/train:1.0
                  command: [python, train.py, --master={host}]
                  resources: {{limits: {{nvidia.com/gpu: 8, cpu: 64, memory: 512Gi}}}}
"""


def _write(folder: Path, count: int, host: str = "elsewhere") -> None:
    for number in range(count):
        name = f"bert-{number}"
        (folder / f"{name}.yaml").write_text(JOB.format(name=name, host=host.replace("NAME", name)))


def test_one_cause_is_one_finding(tmp_path: Path) -> None:
    _write(tmp_path, 40)
    run = compile_in(tmp_path, "validate", ".")
    assert run.err.count("warning[no-shared-memory]") == 1
    assert "and 39 more in 39 other files: bert-1.yaml:16, bert-10.yaml:16" in run.err
    assert len([finding for finding in run.findings if finding.rule.name == "no-shared-memory"]) == 40
    assert "40 warnings" in run.err


def test_each_is_told_where_that_is_asked_for(tmp_path: Path) -> None:
    _write(tmp_path, 10)
    assert compile_in(tmp_path, "validate", "-v", ".").err.count("warning[no-shared-memory]") == 10


def test_a_few_alike_stand_alone(tmp_path: Path) -> None:
    _write(tmp_path, 3)
    assert compile_in(tmp_path, "validate", ".").err.count("warning[no-shared-memory]") == 3


def test_names_of_the_jobs_do_not_tell_causes_apart(tmp_path: Path) -> None:
    """A message with the job's own name in it is the same in each job."""
    _write(tmp_path, 12, "NAME-node-0-7.NAME")
    run = compile_in(tmp_path, "validate", ".")
    assert run.err.count("`bert-0-node-0-7.bert-0`") == 1
    assert "and 11 more in 11 other files" in run.err


def test_numbers_tell_causes_apart(tmp_path: Path) -> None:
    _write(tmp_path, 10)
    for number in range(5):
        path = tmp_path / f"bert-{number}.yaml"
        path.write_text(path.read_text().replace("gpu: 8", "gpu: 4"))
    err = compile_in(tmp_path, "validate", ".").err
    assert "`node` has 8 accelerators" in err
    assert "`node` has 4 accelerators" in err


def test_annotations_of_github_are_grouped(tmp_path: Path) -> None:
    _write(tmp_path, 40)
    run = compile_in(tmp_path, "validate", "--report", "github", ".")
    assert run.out.count("::warning title=trainc (no-shared-memory)") == 1
    assert "and 39 more in 39 other files" in run.out
