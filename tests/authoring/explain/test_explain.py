"""`trainc explain` finds every field of every kind, and its examples are what the schemas admit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.compiling import compile_in
from tests.sampling import sampled
from trainc.apiserver import shipped
from trainc.authoring.explain import READ_FROM, SINCE, Field, find, root_of, sample

KINDS = shipped.listed()


def fields(field: Field) -> Iterator[Field]:
    """Every field below one, but for what lies inside of Kubernetes' own shapes."""
    for _, child in field.children():
        yield child
        if not child.is_foreign:
            yield from fields(child)


def relaxed(schema: Any) -> Any:
    """A schema in which nothing is required: an example shows one field alone."""
    if isinstance(schema, dict):
        return {
            key: relaxed(inner) for key, inner in schema.items() if key != "required" or not isinstance(inner, list)
        }
    return [relaxed(item) for item in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize(
    "kind",
    sampled(
        KINDS, [f"{one.group}-{one.kind}-{one.version}" for one in KINDS], quick=("batch.volcano.sh-Job-v1alpha1",)
    ),
)
def test_the_example_of_every_field_is_admitted(kind: shipped.Shipped) -> None:
    schema = relaxed(json.loads((shipped.folder() / kind.json).read_text("utf-8")))
    validator = jsonschema.Draft202012Validator(schema)
    every = list(fields(root_of(kind)))
    assert len(every) > 20
    for field in every:
        faults = [fault.message for fault in validator.iter_errors(yaml.safe_load(sample(field)))]
        assert faults == [], (field.name, sample(field))


@pytest.mark.parametrize(
    "kind",
    sampled(
        KINDS, [f"{one.group}-{one.kind}-{one.version}" for one in KINDS], quick=("batch.volcano.sh-Job-v1alpha1",)
    ),
)
def test_every_field_is_found_and_described(kind: shipped.Shipped) -> None:
    for field in [one for one in fields(root_of(kind)) if not one.is_foreign]:
        assert field.name in {found.name for found in find(field.name)}
        assert field.about, field.name
        assert field.type
        assert field.since


def test_versions_are_of_fields_that_exist() -> None:
    assert {kind.group for kind in KINDS} >= set(READ_FROM)
    assert all(find(name) for name in SINCE)


@pytest.mark.parametrize(
    "asked",
    ["TrainJob.spec.trainer.env", "trainjob.spec.trainer.ENV", "trainjobs.spec.trainer.env.name", "trainc.yaml.spec.rules",
     "jobset.spec.replicatedJobs[0].template", "PodGroup.scheduling.volcano.sh.spec.queue", "Project"],
)  # fmt: skip
def test_spellings_that_people_use(asked: str, tmp_path: Path) -> None:
    run = compile_in(tmp_path, "explain", asked)
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("KIND:")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("TrainJb", "did you mean `TrainJob`?"),
        ("TrainJob.spec.trainr", "TrainJob.spec has no field `trainr`; did you mean `trainer`?"),
        ("trainc.dev/rum", "did you mean `trainc.dev/run`?"),
    ],
)
def test_what_was_meant(asked: str, said: str, tmp_path: Path) -> None:
    run = compile_in(tmp_path, "explain", asked)
    assert run.code == 2
    assert said in run.err


def test_a_page_has_rules_default_and_example(tmp_path: Path) -> None:
    page = compile_in(tmp_path, "explain", "TrainJob.spec.managedBy").out
    assert "DEFAULT:  trainer.kubeflow.org/trainjob-controller" in page
    assert "at most 253 characters" in page
    assert "READ IN:  Kubeflow Trainer v2.3" in page
    assert "EXAMPLE:\n  spec:\n    managedBy: trainer.kubeflow.org/trainjob-controller" in page


@pytest.mark.parametrize("reference", ["valueFrom.secretKeyRef", "valueFrom.configMapKeyRef"])
def test_the_example_of_a_reference_names_the_object_and_the_key(reference: str, tmp_path: Path) -> None:
    run = compile_in(tmp_path, "explain", f"TrainJob.spec.trainer.env.{reference}")
    example = yaml.safe_load(run.out.partition("EXAMPLE:\n")[2])
    entry = example["spec"]["trainer"]["env"][0]["valueFrom"][reference.partition(".")[2]]
    assert set(entry) == {"name", "key"}
    assert all(entry.values())


@pytest.mark.parametrize("asked", ["checkpoints.trainc.dev/claim", "TrainJob.metadata.annotations.trainc.dev/run"])
def test_an_annotation_is_found_by_its_name(asked: str, tmp_path: Path) -> None:
    done = compile_in(tmp_path, "explain", asked)
    assert (done.code, done.out.splitlines()[0]) == (
        0,
        f"ANNOTATION:  {asked.removeprefix('TrainJob.metadata.annotations.')}",
    )


def test_json_and_recursion(tmp_path: Path) -> None:
    (entry,) = json.loads(compile_in(tmp_path, "explain", "TrainJob.spec.trainer.numNodes", "--report", "json").out)
    assert entry["type"] == "integer"
    tree = compile_in(tmp_path, "explain", "TrainJob.spec", "--recursive").out
    assert "\n    numNodes <integer>\n" in tree


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["annotations"],
        ["trainc.dev/run"],
        ["TrainJob"],
        ["TrainJob.spec", "--recursive"],
        ["JobSet", "--recursive"],
    ],
)
def test_every_answer_is_also_json(argv: list[str], tmp_path: Path) -> None:
    entries = json.loads(compile_in(tmp_path, "explain", *argv, "--report", "json").out)
    assert entries
    assert len(entries) == 1 or "--recursive" in argv or not argv or argv == ["annotations"]
