"""What each operator refuses, in its own words."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.kinds.samples.jobs import Compiled
from tests.kinds.samples.texts import FIELDS, entry, job, old, role
from trainc.kinds.shared.job import LegacyOptions

V2 = "kubeflow.org/v2beta1"
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
SHARED = ("JAXJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob")
WITH_MASTER = {"XGBoostJob"}


def whole(kind: str, *roles: tuple[str, str], **more: str) -> str:
    return job(kind, *((role("Master"),) if kind in WITH_MASTER else ()), *roles, **more)


@pytest.mark.parametrize("kind", FIELDS)
def test_a_valid_job_is_legal(kind: str) -> None:
    roles = (role("Launcher"), role("Worker", 2)) if kind == "MPIJob" else (role("Worker", 2),)
    assert Compiled(whole(kind, *roles)).refusals == []


@pytest.mark.parametrize("kind", SHARED)
def test_a_name_must_be_a_label(kind: str) -> None:
    text = f'metadata.name: Invalid value: "0-test": should match: {LABEL}'
    assert Compiled(whole(kind, role("Worker"), name="0-test")).refusals == [text]


@pytest.mark.parametrize("kind", SHARED)
def test_a_role_needs_containers(kind: str) -> None:
    field, main = FIELDS[kind]
    at = f"spec.{field}[Worker].template.spec.containers"
    shown = f'"{main}"' if kind == "PaddleJob" else main
    text = whole(kind, role("Worker")).replace(f"containers: [{{name: {main}, image: img}}]", "containers: []")
    found = [t for t in Compiled(text).refusals if "[Worker]" in t]
    assert sorted(found) == [
        f"{at}: Required value: must be specified",
        f"{at}: Required value: must have at least one container with name {shown}",
    ]


@pytest.mark.parametrize("kind", SHARED)
def test_a_container_needs_an_image(kind: str) -> None:
    field, main = FIELDS[kind]
    text = whole(kind, role("Worker", 1, "", f"{{name: {main}, image: ''}}"))
    assert Compiled(text).refusals == [
        f"spec.{field}[Worker].template.spec.containers[0].image: Required value: must be required"
    ]


@pytest.mark.parametrize("kind", SHARED)
def test_a_role_needs_its_main_container(kind: str) -> None:
    field, main = FIELDS[kind]
    shown = f'"{main}"' if kind == "PaddleJob" else main
    compiled = Compiled(whole(kind, role("Worker", 1, "", "{name: other, image: img}")))
    at = f"spec.{field}[Worker].template.spec.containers"
    assert compiled.refusals == [f"{at}: Required value: must have at least one container with name {shown}"]
    (edit,) = compiled.report.findings[0].fix
    assert (edit.path[-3:], edit.value) == (("containers", 0, "name"), main)


@pytest.mark.parametrize("kind", SHARED)
def test_the_replica_specs_must_be_there(kind: str) -> None:
    field = FIELDS[kind][0]
    text = f"apiVersion: kubeflow.org/v1\nkind: {kind}\nmetadata: {{name: demo}}\nspec: {{runPolicy: {{}}}}\n"
    master = [f"spec.{field}[Master]: Required value: must be present"] if kind == "XGBoostJob" else []
    assert sorted(Compiled(text).refusals) == sorted([f"spec.{field}: Required value: must be required", *master])


@pytest.mark.parametrize("kind", SHARED)
def test_a_foreign_manager_is_refused_where_it_is_looked_at(kind: str) -> None:
    text = (
        'spec.runPolicy.managedBy: Unsupported value: "other-job-controller": supported values: '
        '"kueue.x-k8s.io/multikueue", "kubeflow.org/training-operator"'
    )
    found = Compiled(whole(kind, role("Worker"), spec="runPolicy: {managedBy: other-job-controller}")).refusals
    assert found == ([] if kind == "JAXJob" else [text])


@pytest.mark.parametrize("kind", ["JAXJob", "PyTorchJob", "XGBoostJob", "PaddleJob"])
def test_role_names_are_exact_unless_lenient(kind: str) -> None:
    field = FIELDS[kind][0]
    text = whole(kind, role("worker", 2))
    known = '"Worker"' if kind == "JAXJob" else '"Master", "Worker"'
    assert Compiled(text).refusals == [f'spec.{field}[worker]: Unsupported value: "worker": supported values: {known}']
    lenient = Compiled(text, LegacyOptions(lenient=True))
    assert (lenient.refusals, "role-case" in lenient.rules) == ([], True)
    assert (
        "worker" in [r.name.value for r in lenient.plan.roles]
        or "leader" in [r.name.value for r in lenient.plan.roles]
        or "node" in [r.name.value for r in lenient.plan.roles]
    )


PT = "spec.pytorchReplicaSpecs"
M = "MPIReplicaSpec is not valid"
ROWS = {
    "two masters": (
        job("PyTorchJob", role("Master", 2)),
        [f"{PT}[Master].replicas: Forbidden: must be 1"],
    ),
    "a master without replicas": (
        job("PyTorchJob", role("Master", None)),
        [f"{PT}[Master].replicas: Forbidden: must be 1"],
    ),
    "no workers": (
        job("PyTorchJob", role("Master"), role("Worker", 0)),
        [f"{PT}[Worker].replicas: Forbidden: must be at least 1"],
    ),
    "elastic without workers": (
        job("PyTorchJob", role("Master"), spec="elasticPolicy: {}"),
        [f"{PT}[Worker]: Required value: must be configured if elastic policy is used"],
    ),
    "processes said twice": (
        job("PyTorchJob", role("Worker"), spec='nprocPerNode: "2"\nelasticPolicy: {nProcPerNode: 2}'),
        ["spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with spec.nprocPerNode"],
    ),
    "chief and master": (
        job("TFJob", role("Chief"), role("Master")),
        ["spec.tfReplicaSpecs: Forbidden: must not have more than 1 Chief or Master role"],
    ),
    "two xgboost masters": (
        job("XGBoostJob", role("Master", 2), role("Worker")),
        ["spec.xgbReplicaSpecs[Master].replicas: Forbidden: must be 1"],
    ),
    "no xgboost master": (
        job("XGBoostJob", role("Worker")),
        ["spec.xgbReplicaSpecs[Master]: Required value: must be present"],
    ),
    "M1": (
        "apiVersion: kubeflow.org/v1\nkind: MPIJob\nmetadata: {name: demo}\nspec: {}\n",
        ["MPIReplicaSpecs is not valid"],
    ),
    "M2": (
        job("MPIJob", role("Launcher")).replace("{name: mpi, image: img}", ""),
        ["MPIReplicaSpecs is not valid: containers definition expected in Launcher"],
    ),
    "M3": (job("MPIJob", role("Chief")), ["MPIReplicaType is Chief but must be one of [Launcher Worker]"]),
    "M4": (
        job("MPIJob", role("Launcher", 1, "", "{name: mpi}")),
        [f"{M}: Image is undefined in the container of Launcher"],
    ),
    "M5": (
        job("MPIJob", role("Launcher", 1, "", "{image: img}")),
        [f"{M}: ImageName is undefined in the container of Launcher"],
    ),
    "M6": (job("MPIJob", role("Launcher", 2)), [f"{M}: There must be only 1 launcher replica"]),
    "M7": (job("MPIJob", role("Worker", 2)), [f"{M}: Master ReplicaSpec must be present"]),
    "ssh: no specs": (
        f"apiVersion: {V2}\nkind: MPIJob\nmetadata: {{name: demo}}\nspec: {{}}\n",
        ["spec.mpiReplicaSpecs: Required value: must have replica specs"],
    ),
    "ssh: no launcher": (
        job("MPIJob", role("Worker", 2), api=V2),
        ["spec.mpiReplicaSpecs[Launcher]: Required value: must have Launcher replica spec"],
    ),
    "ssh: empty roles": (
        f"apiVersion: {V2}\nkind: MPIJob\nmetadata: {{name: demo}}\nspec: {{mpiReplicaSpecs: {{Launcher: {{}}, Worker: {{}}}}}}\n",
        [
            "spec.mpiReplicaSpecs[Launcher].template.spec.containers: Required value: must define at least one container",
            "spec.mpiReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to 1",
            "spec.mpiReplicaSpecs[Worker].template.spec.containers: Required value: must define at least one container",
        ],
    ),
    "ssh: policies": (
        job("MPIJob", role("Launcher", 2, "Always"), role("Worker", 0, "Invalid"), api=V2),
        [
            'spec.mpiReplicaSpecs[Launcher].restartPolicy: Unsupported value: "Always": supported values: "Never", "OnFailure"',
            "spec.mpiReplicaSpecs[Launcher].replicas: Invalid value: 2: must be 1",
            "spec.mpiReplicaSpecs[Worker].replicas: Invalid value: 0: must be greater than or equal to 1",
            'spec.mpiReplicaSpecs[Worker].restartPolicy: Unsupported value: "Invalid": supported values: "Never", "OnFailure"',
        ],
    ),
    "ssh: numbers and choices": (
        job(
            "MPIJob",
            role("Launcher"),
            role("Worker", 2),
            api=V2,
            spec="runPolicy: {cleanPodPolicy: x, ttlSecondsAfterFinished: -1, activeDeadlineSeconds: -1, backoffLimit: -1, managedBy: other}\nmpiImplementation: z",
        ),
        [
            "spec.runPolicy.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0",
            "spec.runPolicy.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
            "spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0",
            'spec.runPolicy.cleanPodPolicy: Unsupported value: "x": supported values: "All", "None", "Running"',
            'spec.runPolicy.managedBy: Unsupported value: "other": supported values: "kubeflow.org/mpi-operator", "kueue.x-k8s.io/multikueue"',
            'spec.mpiImplementation: Unsupported value: "z": supported values: "Intel", "MPICH", "OpenMPI"',
        ],
    ),
    "ssh: a name for which even one worker is too many": (
        job("MPIJob", role("Launcher"), api=V2, name="a" * 55),
        [
            (
                f'metadata.name: Invalid value: "{"a" * 55}": will not able to create pod and service with invalid DNS '
                f'label "{"a" * 55}-worker-0": must be no more than 63 characters'
            )
        ],
    ),
    "ssh: empty choices": (
        job("MPIJob", role("Launcher"), api=V2, spec='runPolicy: {cleanPodPolicy: "", managedBy: ""}'),
        ['spec.runPolicy.cleanPodPolicy: Unsupported value: "": supported values: "All", "None", "Running"'],
    ),
    "ssh: roles in lower case": (
        job("MPIJob", role("launcher"), role("worker"), api=V2),
        ["spec.mpiReplicaSpecs[Launcher]: Required value: must have Launcher replica spec"],
    ),
    "M4 or M5, whichever container comes first": (
        job("MPIJob", role("Launcher", 1, "", "{name: a, image: x}, {image: x}, {name: b}")),
        [f"{M}: ImageName is undefined in the container of Launcher"],
    ),
    "ssh: name": (
        job("MPIJob", role("Launcher"), role("Worker", 2), api=V2, name="1-foo"),
        [
            (
                'metadata.name: Invalid value: "1-foo": will not able to create pod and service with invalid DNS label '
                f'"1-foo-worker-1": {LABEL}'
            )
        ],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_refusals_of_one_kind(name: str) -> None:
    text, expected = ROWS[name]
    assert sorted(Compiled(text).refusals) == sorted(expected)


def test_a_master_without_replicas_is_one_when_lenient() -> None:
    compiled = Compiled(job("PyTorchJob", role("Master", None), role("Worker")), LegacyOptions(lenient=True))
    assert "master-replicas" in compiled.rules
    assert compiled.plan.roles[0].count.value == 2


def test_a_deprecated_number_of_processes_is_a_warning() -> None:
    compiled = Compiled(job("PyTorchJob", role("Worker"), spec="elasticPolicy: {nProcPerNode: 2}"))
    assert ("deprecated-nproc" in compiled.rules, compiled.refusals) == (True, [])


@pytest.mark.parametrize(
    ("api", "kind", "rule"),
    [
        ("kubeflow.org/v1", "MXJob", "removed-kind"),
        ("kubeflow.org/v1alpha2", "MPIJob", "removed-kind"),
        ("kubeflow.org/v9", "PyTorchJob", "unsupported-version"),
    ],
)
def test_what_nobody_reconciles_any_more(api: str, kind: str, rule: str) -> None:
    compiled = Compiled(f"apiVersion: {api}\nkind: {kind}\nmetadata: {{name: demo}}\nspec: {{}}\n")
    assert (compiled.rules, compiled.found) == ([rule], None)


@pytest.mark.parametrize(
    ("text", "refusals"),
    [
        (old(entry("MASTER")), []),
        (old(entry("WORKER")), ["invalid job spec: Missing ReplicaSpec for chief: MASTER"]),
        (old(entry("WORKER"), spec="  terminationPolicy: {chief: {replicaName: WORKER, replicaIndex: 0}}\n"), []),
        (old(entry("MASTER", 2)), ["The MASTER must have Replicas = 1"]),
        (old(entry("MASTER", 1, "x")), ["Replica type MASTER is missing a container named tensorflow"]),
        (
            old(entry("MASTER"), spec="  tensorboard: {}\n"),
            ["invalid job spec: tbReplicaSpec.LogDir must be specified"],
        ),
        (old(entry("MASTER"), "  - {tfReplicaType: PS, replicas: 2}\n"), []),
        (old(entry("MASTER"), entry("MASTER")), ["invalid job spec: more than one entry of type MASTER"]),
    ],
)
def test_refusals_of_the_first_operator(text: str, refusals: list[str]) -> None:
    assert Compiled(text).refusals == refusals


def test_a_version_that_never_shipped_is_read_as_the_one_that_did() -> None:
    compiled = Compiled(old(entry("MASTER"), api="mlkube.io/v1alpha1"))
    assert "api-alias" in compiled.rules
    assert compiled.plan.name.value == "demo"


@pytest.mark.parametrize("kind", FIELDS)
def test_a_role_that_is_null_is_one_without_containers(kind: str, tmp_path: Path) -> None:
    field, main = FIELDS[kind]
    role_ = "Launcher" if kind == "MPIJob" else "Worker"
    first = role("Worker") if kind == "MPIJob" else role("Master")
    text = job(kind, *(() if kind == "JAXJob" else (first,)), (role_, "")).replace(
        f"    {role_}:\n", f"    {role_}: null\n"
    )
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    found = [f.refusal.text for f in compile_in(tmp_path, "build", "job.yaml").findings if f.refusal]
    at = f"spec.{field}[Worker].template.spec.containers: Required value"
    shown = f'"{main}"' if kind == "PaddleJob" else main
    expected = [f"{at}: must be specified", f"{at}: must have at least one container with name {shown}"]
    if kind == "MPIJob":
        expected = ["MPIReplicaSpecs is not valid: containers definition expected in Launcher"]
    assert sorted(found) == sorted(expected)


V1, OPERATOR = "kubeflow.org/v1", "kubeflow.org/v2beta1"
ROLE = """\
    {role}:
      replicas: ${{NUMBER}}
      template:
        spec:
          containers:
            - name: {container}
              image: registry.example.com/research/train:1.0.0
              command: [python, train.py]
"""


@pytest.mark.parametrize(
    ("version", "kind", "field", "container", "roles"),
    [
        (V1, "JAXJob", "jaxReplicaSpecs", "jax", ["Worker"]),
        (V1, "PyTorchJob", "pytorchReplicaSpecs", "pytorch", ["Master", "Worker"]),
        (V1, "TFJob", "tfReplicaSpecs", "tensorflow", ["Chief", "PS", "Worker"]),
        (V1, "XGBoostJob", "xgbReplicaSpecs", "xgboost", ["Master", "Worker"]),
        (V1, "PaddleJob", "paddleReplicaSpecs", "paddle", ["Master", "Worker"]),
        (V1, "MPIJob", "mpiReplicaSpecs", "mpi", ["Launcher", "Worker"]),
        (OPERATOR, "MPIJob", "mpiReplicaSpecs", "mpi", ["Launcher", "Worker"]),
    ],
)
def test_only_the_number_is_missed(
    version: str, kind: str, field: str, container: str, roles: list[str], tmp_path: Path
) -> None:
    head = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: bert, namespace: nlp}}\nspec:\n  {field}:\n"
    text = head + "".join(ROLE.format(role=role, container=container) for role in roles)
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert run.code == 1
    errors = [finding.message for finding in run.findings if finding.level == "error"]
    assert errors == [f"the number of pods of `{role}` is unknown" for role in roles]


def test_a_listed_master(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: bert, namespace: nlp}\nspec:\n  replicaSpecs:\n"
        "    - replicas: ${NUMBER}\n      tfReplicaType: MASTER\n      template:\n        spec:\n          containers:\n"
        "            - {name: tensorflow, image: registry.example.com/research/train:1.0.0}\n",
        "utf-8",
    )
    run = compile_in(tmp_path, "build", "job.yaml")
    assert [f.rule.name for f in run.findings if f.level == "error"] == ["unknown-size"]


def test_roles_that_are_no_map(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: kubeflow.org/v1beta1\nkind: TFJob\nmetadata: {name: bert, namespace: nlp}\n"
        "spec:\n  tfReplicaSpecs: three\n",
        "utf-8",
    )
    run = compile_in(tmp_path, "build", "job.yaml")
    assert [f.rule.name for f in run.findings if f.level == "error"] == ["invalid-field"]
