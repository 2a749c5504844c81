"""One mistake in a job of 40 lines: one finding, at the right place, that says what to write instead."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.sampling import sampled

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert
  namespace: nlp
  labels:
    team: nlp
  annotations:
    owner: ada
spec:
  runtimeRef:
    name: torch-distributed
    kind: ClusterTrainingRuntime
  suspend: false
  initializer:
    model:
      storageUri: hf://acme/model
  trainer:
    numNodes: 2
    image: ghcr.io/acme/bert:1.2
    command: [python, train.py]
    args:
    - --epochs=3
    env:
    - name: MODE
      value: fast
    resourcesPerNode:
      limits:
        cpu: "4"
  runtimePatches:
  - manager: acme.io/platform
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    nodeSelector: {pool: a100}
"""
OF_THE_JOB = "initializer-without-home"  # its one mistake, of another kind
PATCHES = "`runtimePatches`: one entry per manager, target jobs by name below it"
IN_PATCH = (
    "`spec.runtimePatches[].trainingRuntimeSpec.template.spec.replicatedJobs[].template.spec.template.spec.tolerations`"
)
NAMED = "write `bert-v2`: lower-case letters, digits and `-`"
MISTAKES = [
    # Fields that an older API had.
    ("  trainer:", "  podSpecOverrides: []\n  trainer:", "18:3", f"since v2.2 it is {PATCHES}"),
    ("  trainer:", "  podTemplateOverrides: []\n  trainer:", "18:3", f"since v2.2 it is {PATCHES}"),
    ("runtimeRef", "trainingRuntimeRef", "11:3", "since October 2024 it is `runtimeRef`"),
    ("  trainer:", "  datasetConfig: {}\n  trainer:", "18:3", "since March 2025 it is `spec.initializer.dataset`"),
    ("  trainer:", "  mlSpec: {}\n  trainer:", "18:3", "it belongs in the runtime: there it is `spec.mlPolicy`"),
    ("numNodes", "replicas", "19:5", "the number of pods is `numNodes`"),
    # Typos.
    ("numNodes", "numnodes", "19:5", "did you mean `numNodes`?"),
    ("  trainer:", "  traner:", "18:3", "did you mean `trainer`?"),
    ("limits", "limit", "28:7", "did you mean `limits`?"),
    ("storageUri", "storageURI", "17:7", "did you mean `storageUri`?"),
    ("trainingRuntimeSpec", "runtimeSpec", "32:5", "did you mean `trainingRuntimeSpec`?"),
    ("kind: TrainJob", "kind: Trainjob", "2:7", "did you mean `TrainJob`?"),
    ("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v1", "1:13", "write `apiVersion: trainer.kubeflow.org/v1alpha1`"),
    ("v1alpha1", "v1", "1:13", "write `apiVersion: trainer.kubeflow.org/v1alpha1`"),
    # Wrong nesting.
    ("  trainer:\n    numNodes: 2", "  numNodes: 2\n  trainer:", "18:3", "write it as `spec.trainer.numNodes`"),
    ("a100}\n", "a100}\ntrainer: {}\n", "42:1", "write it as `spec.trainer`"),
    ("  trainer:", "  image: a:1\n  trainer:", "18:3", "write it as `spec.trainer.image`"),
    ("  initializer:\n", "  dataset: {}\n  initializer:\n", "15:3", "write it as `spec.initializer.dataset`"),
    ("    numNodes", "    tolerations: []\n    numNodes", "19:5", f"write it as {IN_PATCH}"),
    ("  trainer:", "  mlPolicy: {}\n  trainer:", "18:3", "it belongs in the runtime: there it is `spec.mlPolicy`"),
    ("      limits:\n        cpu:", "      cpu:", "28:7", "write it below `limits` or `requests`"),
    (
        "    - name: MODE\n      value: fast",
        "      MODE: fast",
        "25:7",
        '`env` is a list: write `- {name: MODE, value: "fast"}`',
    ),
    ("    - name: MODE\n      value: fast", "    - MODE=fast", "25:7", 'write a map: `{name: MODE, value: "fast"}`'),
    ("--epochs=3", "--epochs: 3", "23:7", "write one word: `--epochs=3`"),
    (
        "                  spec:\n                    node",
        "                  metadata: {creationTimestamp: null}\n                  spec:\n                    node",
        "40:30",
        "remove it: only a server writes it",
    ),
    # Values of another type.
    ("[python, train.py]", "python train.py", "21:14", 'write a list: `["python", "train.py"]`'),
    ("numNodes: 2", 'numNodes: "2"', "19:15", "write 2, without quotes"),
    ("numNodes: 2", "numNodes: two", "19:15", "write a number"),
    ("suspend: false", 'suspend: "false"', "14:12", "write false, without quotes"),
    ("value: fast", "value: 1", "26:14", 'put it in quotes: `"1"`'),
    ("value: fast", "value: 0x1F", "26:14", "put it in quotes"),
    ('cpu: "4"', "memory: 64 GB", "29:17", "write `64Gi` (powers of 1024) or `64G` (powers of 1000)"),
    ('cpu: "4"', "cpu: 8 cores", "29:14", "write a quantity such as `500m`, `4` or `64Gi`"),
    ("name: bert", "name: Bert.v2", "4:9", NAMED),
    ("name: bert", "name: 3d", "4:9", "lower-case letters, digits and `-` make a name, and a letter begins it"),
    ("name: bert", f"name: {'b' * 70}", "4:9", "shorten it from 70 to at most 63 characters"),
    ("kind: TrainJob", "kind:", "2:6", "write `kind:` and one of ClusterTrainingRuntime, TrainJob, TrainingRuntime"),
    ("team: nlp", "team: true", "7:11", 'put it in quotes: `"true"`'),
    ("team: nlp", "team: 7", "7:11", 'put it in quotes: `"7"`'),
    (
        ":\n    name: torch-distributed\n    kind: ClusterTrainingRuntime",
        ": torch",
        "11:15",
        "write a map: `{name: torch}`",
    ),
]


@pytest.mark.parametrize(
    ("before", "after", "place", "help_"), sampled(MISTAKES, [after.strip() for _, after, _, _ in MISTAKES], every=3)
)
def test_one_mistake_one_finding(before: str, after: str, place: str, help_: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace(before, after, 1), "utf-8")
    run = compile_in(tmp_path, "validate", "job.yaml")
    said = [finding for finding in run.findings if finding.level != "note" and finding.rule.name != OF_THE_JOB]
    told = dict.fromkeys((str(finding.span), finding.help) for finding in said)
    assert list(told) == [(f"job.yaml:{place}", help_)], run.err


def test_the_job_itself_has_no_mistake_of_this_kind(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB, "utf-8")
    run = compile_in(tmp_path, "validate", "job.yaml")
    assert {finding.rule.name for finding in run.findings if finding.level == "error"} == {OF_THE_JOB}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('numNodes: "2"', "numNodes: 2"),
        ('suspend: "false"', "suspend: false"),
        ("value: 0.5", 'value: "0.5"'),
        ("value: true", 'value: "true"'),
        ("team: 7", 'team: "7"'),
    ],
)
def test_quotes_are_a_safe_edit(wrong: str, right: str, tmp_path: Path) -> None:
    field = right.partition(":")[0]
    line = next(one for one in JOB.splitlines() if one.strip().startswith(f"{field}:"))
    text = JOB.replace(line, line.partition(field)[0] + wrong)
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    assert "1 fixed, " in compile_in(tmp_path, "fix", "-w", "job.yaml").err
    assert (tmp_path / "job.yaml").read_text("utf-8") == text.replace(wrong, right)


@pytest.mark.parametrize("value", ["yes", "0x1F", "1_000", "1.50"])
def test_what_is_spelled_in_another_way_is_left_to_a_person(value: str, tmp_path: Path) -> None:
    text = JOB.replace("value: fast", f"value: {value}")
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    assert "0 fixed, " in compile_in(tmp_path, "fix", "-w", "job.yaml").err
    assert (tmp_path / "job.yaml").read_text("utf-8") == text


@pytest.mark.parametrize("api", ["v1", "/v1", "/v1alpha2"])
@pytest.mark.parametrize("kind", ["JobSet", "TrainJob"])
def test_a_kind_of_no_group_is_an_error(tmp_path: Path, api: str, kind: str) -> None:
    """With a slash before its version the job was left out with a warning, and a JobSet was taken for the next one's."""
    other = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: b, namespace: ml}\n"
    pod = '{restartPolicy: Never, containers: [{name: c, image: "r:1", command: [a]}]}'
    spec = f"spec:\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{template: {{spec: {pod}}}}}}}\n"
    text = f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: a, namespace: ml}}\nspec: {{}}\n---\n{other}{spec}"
    (tmp_path / "jobs.yaml").write_text(text, "utf-8")
    said = compile_in(tmp_path, "validate", "jobs.yaml")
    assert said.code == 1
    assert [(one.rule.name, one.level, one.span.line) for one in said.findings] == [("unknown-kind", "error", 1)]


@pytest.mark.parametrize(
    ("api", "kind", "edits"),
    [
        ("trainer.kubeflow.org/v1alpha1", "Trainjob", {"kind": "TrainJob"}),
        ("kubeflow.org/v1", "TrainJob", {"apiVersion": "trainer.kubeflow.org/v1alpha1"}),
        ("trainer.kubeflow.org/v1", "TrainJob", {"apiVersion": "trainer.kubeflow.org/v1alpha1"}),
        ("trainer.kubeflow.org/v1", "Trainjob", {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}),
        ("jobset.x-k8s.io/v1", "Jobset", {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}),
        ("trainr.kubeflow.org/v1alpha1", "TrainJob", {"apiVersion": "trainer.kubeflow.org/v1alpha1"}),
        ("trainc.dev/v1", "Runtime", {"apiVersion": "trainc.dev/v1alpha1"}),
        ("kubeflow.org/v1", "TFjob", {"kind": "TFJob"}),
        ("kubeflow.org/v1", "MPIJob2", {"kind": "MPIJob"}),
        # Nothing is near, or nothing is written that could be edited.
        ("trainer.kubeflow.org/v1alpha1", "Foo", {}),
        ("", "TrainJob", {}),
        ("trainer.kubeflow.org/v1alpha1", "", {}),
    ],
)
def test_the_edit_that_an_unknown_kind_offers(api: str, kind: str, edits: dict[str, str], tmp_path: Path) -> None:
    lines = [f"{key}: {text}\n" for key, text in (("apiVersion", api), ("kind", kind)) if text]
    (tmp_path / "job.yaml").write_text("".join(lines) + "metadata: {name: a, namespace: ml}\nspec: {}\n", "utf-8")
    (found,) = compile_in(tmp_path, "validate", "job.yaml").findings
    assert found.rule.name == "unknown-kind"
    assert {str(edit.path[0]): edit.value for edit in found.fix} == edits


def test_a_jobset_of_another_operator_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    """Its fields were judged in the place of those of the job."""
    pod = '{restartPolicy: Never, containers: [{name: c, image: "r:1", command: [a], env: [{name: MASTER_ADDR, value: peers}]}]}'
    spec = f"spec:\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{template: {{spec: {pod}}}}}}}\n"
    meta = "kind: JobSet\nmetadata: {{name: {}, namespace: ml}}\n"
    other = f"apiVersion: other.example/v1\n{meta.format('a')}spec:\n  replicatedJobs:\n  - [{{name: x}}]\n"
    ours = f"apiVersion: jobset.x-k8s.io/v1alpha2\n{meta.format('b')}{spec}"
    service = "apiVersion: v1\nkind: Service\nmetadata: {name: peers, namespace: ml}\n"
    (tmp_path / "jobs.yaml").write_text(f"{other}---\n{ours}---\n{service}", "utf-8")
    said = compile_in(tmp_path, "validate")
    assert said.code == 0
    assert [one.rule.name for one in said.findings if one.level != "note"] == ["kind-not-compiled"]


def test_a_foreign_job_that_goes_out_with_another_or_is_passed_on_is_not_said_to_vanish(tmp_path: Path) -> None:
    """One that stands in the file of a job is output with it."""
    foreign = "apiVersion: other.example/v1\nkind: JobSet\nmetadata: {name: a, namespace: ml}\n"
    pod = '{restartPolicy: Never, containers: [{name: c, image: "r:1", command: [a]}]}'
    spec = f"spec:\n  replicatedJobs:\n  - name: w\n    template: {{spec: {{template: {{spec: {pod}}}}}}}\n"
    ours = f"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: b, namespace: ml}}\n{spec}"
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "jobs.yaml").write_text(f"{foreign}---\n{ours}", "utf-8")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "jobs.yaml").write_text(foreign, "utf-8")
    for folder, options, goes_out in (
        ("beside", (), True),
        ("alone", (), False),
        ("alone", ("--include-other",), True),
    ):
        said = compile_in(tmp_path / folder, "build", ".", *options)
        (finding,) = [one for one in said.findings if one.rule.name == "kind-not-compiled"]
        assert goes_out == ("name: a" in said.out)
        assert finding.effect.endswith("it is written unchanged" if goes_out else "no manifest is written for it")
