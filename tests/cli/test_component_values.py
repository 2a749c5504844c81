"""A job gives values to the parameters of components, in annotations of its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.repository import Repository, job
from trainc.compiler.load.shipped import catalogue

BERT = "jobs/bert.yaml"
NODE = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata: {name: kept}
spec:
  extends: torch
  components: [{name: checkpoints, with: {claim: shared, path: /data}}]
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    made = Repository(tmp_path / "repository", "bert")
    with open(f"{catalogue()}/components/checkpoints.yaml", encoding="utf-8") as stream:
        made.write("runtimes/components/checkpoints.yaml", stream.read())
    return made


def annotated(*lines: str, runtime: str = "torch", name: str = "bert") -> str:
    text = "".join(f"    {line}\n" for line in lines)
    return (
        job(name).replace("spec:\n", f"  annotations:\n{text}spec:\n", 1).replace("name: torch\n", f"name: {runtime}\n")
    )


def pod(repository: Repository, *words: str) -> tuple[Any, Any]:
    """The JobSet's spec and that of its pods."""
    done = repository.run("build", *words)
    assert done.code == 0, done.err
    jobset = next(one for one in done.objects if one["kind"] == "JobSet")
    return jobset["spec"], jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


def mounts(spec: Any) -> list[str]:
    return [one["mountPath"] for one in spec["containers"][0].get("volumeMounts", ())]


def test_every_type_of_parameter(repository: Repository) -> None:
    lines = (
        "trainc.dev/components: checkpoints",
        "checkpoints.trainc.dev/claim: bert-data",
        "checkpoints.trainc.dev/path: /ckpt",
        'checkpoints.trainc.dev/grace: "300"',
        'checkpoints.trainc.dev/restarts: "5"',
    )
    repository.write(BERT, annotated(*lines))
    spec, inner = pod(repository)
    assert inner["volumes"][0]["persistentVolumeClaim"]["claimName"] == "bert-data"
    assert (mounts(inner), inner["terminationGracePeriodSeconds"]) == (["/ckpt"], 300)
    assert spec["failurePolicy"]["maxRestarts"] == 5


def test_a_component_of_the_runtime_keeps_the_values_that_the_job_does_not_give(repository: Repository) -> None:
    repository.write("runtimes/kept.yaml", NODE)
    repository.write(BERT, annotated("checkpoints.trainc.dev/claim: mine", runtime="kept"))
    _, inner = pod(repository)
    assert (inner["volumes"][0]["persistentVolumeClaim"]["claimName"], mounts(inner)) == ("mine", ["/data"])
    repository.write(BERT, annotated("checkpoints.trainc.dev/path: /elsewhere", runtime="kept"))
    _, inner = pod(repository)
    # What is put elsewhere is not left where it was as well.
    assert (inner["volumes"][0]["persistentVolumeClaim"]["claimName"], mounts(inner)) == ("shared", ["/elsewhere"])


def test_two_jobs_of_one_runtime_have_their_own_values_and_places(repository: Repository) -> None:
    repository.write("runtimes/kept.yaml", NODE)
    for name in ("bert", "gpt"):
        repository.write(
            f"jobs/{name}.yaml", annotated(f"checkpoints.trainc.dev/claim: {name}-data", runtime="kept", name=name)
        )
    for name in ("bert", "gpt"):
        done = repository.run("why", f"jobs/{name}.yaml", "claimName")
        assert done.out.endswith(
            f'claimName: "{name}-data"\n  set by components (checkpoints) at jobs/{name}.yaml:7:35\n'
            '  over   components (checkpoints) at runtimes/kept.yaml:6:50: "shared"\n'
        )
    whole = repository.run("build", "-o", "out")
    assert whole.code == 0
    texts = {path.stem: path.read_text() for path in (repository.folder / "out").rglob("*.yaml")}
    assert {name for name, text in texts.items() if f"claimName: {name}-data" in text} == {"bert", "gpt"}
    assert "lands in JobSet/bert" in repository.run("why", f"{BERT}:7").out


@pytest.mark.parametrize(
    ("line", "finding", "place", "help_"),
    [
        ("checkpoint.trainc.dev/claim: a", "component-not-on", "8:5", "did you mean `checkpoints`?"),
        ("spot.trainc.dev/claim: a", "component-not-on", "8:5", "enable it, too: `trainc.dev/components: spot`"),
        ("checkpoints.trainc.dev/clam: a", "unknown-parameter", "8:5", "did you mean `claim`?"),
        ("checkpoints.trainc.dev/grace: soon", "bad-parameter", "8:35", "write a whole number in quotes"),
        ('checkpoints.trainc.dev/grace: ""', "bad-parameter", "8:35", "write a whole number in quotes"),
        ("checkpoints.trainc.dev/claim: 7", "undecodable", "8:35", "quotes"),
        ("checkpoints.trainc.dev/claim: {a: b}", "undecodable", "8:35", ""),
    ],
)
def test_bad_values_are_found_at_their_place(
    repository: Repository, line: str, finding: str, place: str, help_: str
) -> None:
    repository.write(BERT, annotated("trainc.dev/components: checkpoints", line))
    done = repository.run("validate", BERT)
    assert (done.code, done.err.count("error[")) == (1, 1)
    assert f"error[{finding}]" in done.err
    assert f"--> {BERT}:{place}\n" in done.err
    assert help_ in done.err


def test_a_required_value_is_asked_for_where_a_job_writes_it(repository: Repository) -> None:
    text = repository.read("runtimes/components/checkpoints.yaml").replace(
        "      default: checkpoints\n", "      required: true\n"
    )
    repository.write("runtimes/components/checkpoints.yaml", text)
    repository.write(BERT, annotated("trainc.dev/components: checkpoints"))
    done = repository.run("validate", BERT)
    assert "error[bad-parameter]: component `checkpoints` needs a value for its parameter `claim`" in done.err
    assert "help: annotate the job with `checkpoints.trainc.dev/claim`" in done.err


def test_a_lock_holds_against_a_value(repository: Repository) -> None:
    locked = NODE + (
        "  locks:\n  - path: template.spec.replicatedJobs[node].template.spec.template.spec.volumes[checkpoints]\n"
        "    reason: one file system\n"
    )
    repository.write("runtimes/kept.yaml", locked)
    repository.write(BERT, annotated("checkpoints.trainc.dev/claim: mine", runtime="kept"))
    done = repository.run("validate", BERT)
    assert (done.code, done.err.count("error[")) == (1, 1)
    assert "error[locked-field]" in done.err
    assert f"--> {BERT}:7:35\n" in done.err


def test_a_patch_gives_a_cluster_its_own_value(repository: Repository) -> None:
    repository.write("trainc.yaml", repository.read("trainc.yaml") + "  clusters: {staging: {}, prod: {}}\n")
    lines = (
        'trainc.dev/cluster: "staging,prod"',
        "trainc.dev/components: checkpoints",
        "checkpoints.trainc.dev/claim: small",
    )
    patch = (
        "---\napiVersion: trainc.dev/v1alpha1\nkind: TrainJobPatch\nmetadata:\n  name: bert\n  namespace: research\n"
        "  annotations: {trainc.dev/cluster: prod, checkpoints.trainc.dev/claim: large}\n"
    )
    repository.write(BERT, annotated(*lines) + patch)
    for cluster, claim in (("staging", "small"), ("prod", "large")):
        _, inner = pod(repository, "--cluster", cluster)
        assert inner["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim
    assert f"at {BERT}:{(annotated(*lines) + patch).count(chr(10))}:73" in repository.run("why", BERT, "claimName").out


def test_a_job_without_a_runtime_has_no_components(repository: Repository) -> None:
    jobset = next(text for text in repository.run("build", BERT).out.split("---\n") if "kind: JobSet" in text)
    annotation = "metadata:\n  annotations:\n    checkpoints.trainc.dev/claim: a\n"
    repository.write("jobs/set.yaml", jobset.replace("metadata:\n", annotation, 1).replace("name: bert", "name: set"))
    done = repository.run("validate", "jobs/set.yaml")
    assert "warning[components-without-runtime]" in done.err
