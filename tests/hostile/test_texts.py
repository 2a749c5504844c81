"""Files that hold anything but a healthy job: every command says what is wrong, at its place, and writes nothing."""

from pathlib import Path

import pytest

from tests.hostile.attempts import attempt
from tests.repository import Repository

pytestmark = pytest.mark.slow

JOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: bert\n"
    "spec:\n  runtimeRef:\n    name: torch\n"
)
OLDER = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: bert\nspec:\n"
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: bert\nspec: "
MARK = "# trainer.kubeflow.org\n"  # by which a file is taken for one of ours
COMMANDS = (
    ("build",),
    ("validate",),
    ("validate", "--report", "json"),
    ("validate", "--only", "admission"),
    ("validate", "--field-validation", "ignore"),
    ("show",),
    ("migrate",),
    ("fix",),
)
TEXTS: dict[str, str | bytes] = {
    "half a flow": f"{MARK}a: [1, 2\n",
    "bad indentation": f"{MARK}a:\n  b: 1\n c: 2\n",
    "tab": f"{MARK}a:\n\tb: 1\n",
    "open quote": f'{MARK}a: "b\n',
    "unknown alias": f"{JOB}  labels: *nowhere\n",
    "alias in itself": f"{JOB}  labels: &a\n    x: *a\n",
    "alias of everything": f"&a\n{JOB}  labels: *a\n",
    "hundred thousand brackets": f"{HEAD}{'[' * 100_000}\n",
    "hundred thousand braces": f"{HEAD}{'{a: ' * 100_000}\n",
    "hundred thousand dashes": f"{MARK}{'- ' * 100_000}\n",
    "brackets as one key": f"{JOB}? {'[' * 5000}\n: 1\n",
    "line of two megabytes": f"{JOB}  labels: {{a: {'x' * 2_000_000}}}\n",
    "key of two megabytes": f"{JOB}  {'x' * 2_000_000}: 1\n",
    "many keys": JOB + "".join(f"  k{n}: 1\n" for n in range(1000)),
    "not UTF-8": JOB.encode() + b"  labels: {a: \xff\xfe}\n",
    "UTF-16": JOB.encode("utf-16"),
    "NUL": f"{JOB}  labels: {{a: \0}}\n",
    "control characters": f"{JOB}  labels: {{a: \x07\x1b[31m}}\n",
    "surrogate in JSON": '{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "\\ud800"}}',
    "surrogate in YAML": f'{JOB}  labels: {{a: "\\ud800"}}\n',
    "empty": "",
    "one mark": "---\n",
    "only marks": "---\n" * 1000,
    "only comments": f"{MARK}# nothing\n",
    "null": f"{MARK}null\n",
    "a scalar": f"{MARK}trainer\n",
    "a list": f"{MARK}- 1\n- 2\n",
    "a list of lists": f"{MARK}- []\n- [[]]\n",
    "carriage returns": JOB.replace("\n", "\r"),
    "byte order mark": "\ufeff" + JOB,
    "line separators": JOB.replace("spec:", "\u2028spec:"),
    "directive": f"%YAML 1.2\n---\n{JOB}",
    "unknown directive": f"%FOO bar\n---\n{JOB}",
    "tags": f"{JOB}  labels: !!python/object/apply:os.system [ls]\n",
    "tagged kind": JOB.replace("kind: TrainJob", "kind: !!int TrainJob"),
    "binary": f"{JOB}  labels: {{a: !!binary AAAA}}\n",
    "infinite": f"{JOB}  trainer:\n    numNodes: .inf\n",
    "huge number": f"{JOB}  trainer:\n    numNodes: {'9' * 10_000}\n",
    "huge exponent": f"{JOB}  trainer:\n    numNodes: 1e999999999\n",
    "huge quantity": f"{JOB}  trainer:\n    resourcesPerNode:\n      limits: {{cpu: 1e99999, memory: {'9' * 5000}Ei}}\n",
    "many nodes": f"{JOB}  trainer:\n    numNodes: 2147483647\n",
    "many older pods": f"{OLDER}  pytorchReplicaSpecs:\n    Worker:\n      replicas: 2147483647\n      template: {{spec: {{containers: [{{name: pytorch, image: a/b:1}}]}}}}\n",
    "keys that are not text": f"{JOB}  ? [a, b]\n  : 1\n  ? {{}}\n  : 2\n  null: 3\n",
    "merge of a scalar": f"{JOB}  labels:\n    <<: 5\n",
    "duplicate keys": f"{JOB}spec:\n  runtimeRef:\n    name: other\n",
    "kind list": JOB.replace("kind: TrainJob", "kind: [TrainJob]"),
    "kind number": JOB.replace("kind: TrainJob", "kind: 5"),
    "version map": JOB.replace("trainer.kubeflow.org/v1alpha1", "{trainer.kubeflow.org/v1alpha1: 1}"),
    "unknown kind": JOB.replace("TrainJob", "TrainJop"),
    "unknown version": JOB.replace("v1alpha1", "v9"),
    "no metadata": JOB.replace("metadata:\n  name: bert\n", ""),
    "null metadata": JOB.replace("metadata:\n  name: bert\n", "metadata:\n"),
    "list metadata": JOB.replace("metadata:\n  name: bert\n", "metadata: []\n"),
    "null spec": HEAD + "\n",
    "scalar spec": HEAD + "5\n",
    "list spec": HEAD + "[]\n",
    "empty spec": HEAD + "{}\n",
    "List of nothing": f"{MARK}apiVersion: v1\nkind: List\nitems: []\n",
    "List of rubbish": f"{MARK}apiVersion: v1\nkind: List\nitems: [1, null, [], {{}}, {{kind: List, items: [5]}}]\n",
    "List of no list": f"{MARK}apiVersion: v1\nkind: List\nitems: 5\n",
    "nested Lists": MARK + "{apiVersion: v1, kind: List, items: [" * 60 + "]}" * 60 + "\n",
    "a thousand documents": f"{MARK}---\na: 1\n" + "---\nb: 1\n" * 1000,
    "a thousand lists": MARK + "---\n- trainer\n" * 1000,
    "a thousand broken documents": "---\ntrainer.kubeflow.org: a: b\n" * 1000,
    "template": "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: {{ .Values.name }}\n",
    "template block": f"{{{{- if .Values.trainer }}}}\n{JOB}{{{{- end }}}}\n",
    "placeholders": JOB.replace("bert", "${NAME}") + "  trainer: ${TRAINER}\n",
    "allow without end": f"{JOB}  # trainc: allow[\n  labels: {{}} # trainc: allow[] x\n",
    "header alone": "# trainc: from jobs/bert.yaml job=1 body=2; do not edit\n",
    "older without roles": f"{OLDER}  pytorchReplicaSpecs: {{}}\n",
    "older of scalars": f"{OLDER}  pytorchReplicaSpecs: {{Worker: 5, Master: []}}\n",
    "older list": "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: a}\nspec: {replicaSpecs: [5, null, [], {tfReplicaType: 7}]}\n",
    "runtime of scalars": JOB.replace("TrainJob", "ClusterTrainingRuntime").partition("spec:")[0] + "spec: {mlPolicy: 5, template: []}\n",
    "component of scalars": "apiVersion: trainc.dev/v1alpha1\nkind: RuntimeComponent\nmetadata: {name: a}\nspec: {parameters: 5, patch: []}\n",
    "runtime of its own": "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata: {name: torch}\nspec: {extends: torch}\n---\n" + JOB,
    "JobSet of nothing": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n",
    "JobSet of scalars": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: [5]}\n",
    "JobSet of many pods": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJobs: [{name: b, replicas: 2147483647, template: {spec: {parallelism: 2147483647, template: {spec: {restartPolicy: Never, containers: [{name: c, image: a/b:1}]}}}}}]}\n",
}  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "jobs").mkdir()
    return Repository(tmp_path)


def put(repository: Repository, name: str, text: str | bytes) -> None:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    (repository.folder / name).write_bytes(data)


@pytest.mark.parametrize("name", TEXTS)
def test_as_a_job(name: str, repository: Repository) -> None:
    put(repository, "jobs/bad.yaml", TEXTS[name])
    for command in COMMANDS:
        attempt(repository.folder, *command, "jobs/bad.yaml")


@pytest.mark.parametrize("name", TEXTS)
def test_on_standard_input(name: str, repository: Repository) -> None:
    text = TEXTS[name]
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    attempt(repository.folder, "build", "-", stdin=data)


@pytest.mark.parametrize("name", TEXTS)
def test_beside_healthy_ones(name: str, repository: Repository) -> None:
    """What is wrong in a runtimes folder, in trainc.yaml or in a cluster's folder reaches healthy jobs."""
    repository.job("good")
    put(repository, "runtimes/bad.yaml", TEXTS[name])
    attempt(repository.folder, "build", "jobs", "-o", "out")
    attempt(repository.folder, "why", "jobs/good.yaml", "image")
    attempt(repository.folder, "runtimes", "flatten", "bert")


@pytest.mark.parametrize("name", TEXTS)
def test_as_a_cluster(name: str, repository: Repository) -> None:
    repository.job("good")
    (repository.folder / "clusters").mkdir()
    repository.setting("clusters: {eu: {folder: clusters}}")
    put(repository, "clusters/bad.yaml", TEXTS[name])
    attempt(repository.folder, "build", "-w")
    attempt(repository.folder, "diff", ".", "jobs")


@pytest.mark.parametrize("name", TEXTS)
def test_as_a_project(name: str, repository: Repository) -> None:
    repository.job("good")
    put(repository, "trainc.yaml", TEXTS[name])
    attempt(repository.folder, "build", "-w")
    attempt(repository.folder, "show", "jobs")


@pytest.mark.parametrize("name", TEXTS)
def test_in_place_of_a_rendered_file(name: str, repository: Repository) -> None:
    repository.job("good")
    (repository.folder / "rendered/research").mkdir(parents=True)
    put(repository, "rendered/research/good.yaml", TEXTS[name])
    for argv in (("build", "-w"), ("build", "--check"), ("why", "rendered/research/good.yaml:3")):
        attempt(repository.folder, *argv)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_names_of_projects_are_no_commands(form: str, tmp_path: Path) -> None:
    for name in ("::error::x", "a`b|c"):
        (tmp_path / name / "jobs").mkdir(parents=True)
        Repository(tmp_path / name, "good")
    done = attempt(tmp_path, "show", "::error::x/jobs", "a`b|c/jobs", "--report", form)
    assert done.code == 0, done.err
    assert not any(line.startswith("::") for line in done.out.splitlines())
    assert ("## `a`b" in done.out) is False
    assert done.out.count("research/good") == 2
