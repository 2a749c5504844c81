"""`validate --report json`: for each document the server's answer, beside trainc's own findings."""

import json
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import RUNTIME, job, write


@pytest.mark.parametrize(
    ("text", "verdict", "by", "words"),
    [
        (job("bert"), "accepted", "", ""),
        (job("Bert"), "rejected", "schema", "metadata.name"),
        (
            job("bert").replace("numNodes", "numnodes"),
            "rejected",
            "unknown-field",
            'unknown field "spec.trainer.numnodes"',
        ),
        (
            job("bert").replace("name: torch", "name: troch"),
            "rejected",
            "webhook",
            'clustertrainingruntimes.trainer.kubeflow.org "troch"',
        ),
        (
            job("bert").replace("name: torch", "{name: torch, kind: Runtime, apiGroup: ''}"),
            "rejected",
            "webhook",
            "unsupported runtime: Runtime",
        ),
    ],
)
def test_each_document_has_its_answer(tmp_path: Path, text: str, verdict: str, by: str, words: str) -> None:
    write(tmp_path, {"runtimes/torch.yaml": RUNTIME, "jobs/job.yaml": text})
    done = compile_in(tmp_path, "validate", "--report", "json", "--only", "admission")
    answers = {answer["kind"]: answer for answer in json.loads(done.out)["documents"]}
    assert answers["ClusterTrainingRuntime"]["admission"] == {"verdict": "accepted", "by": "", "messages": []}
    said = answers["TrainJob"]["admission"]
    assert (said["verdict"], said["by"]) == (verdict, by)
    assert words in "".join(said["messages"])
    assert answers["TrainJob"]["place"]["file"] == "jobs/job.yaml"
    assert done.code == (1 if by else 0)


@pytest.mark.parametrize(
    ("old", "new", "by", "messages"),
    [
        (
            "kind: JobSet",
            "kind: Jobset",
            "decode",
            ['no matches for kind "Jobset" in version "jobset.x-k8s.io/v1alpha2"'],
        ),
        (
            "operator: All",
            "operator: Most",
            "schema",
            [
                'spec.successPolicy.operator: Unsupported value: "Most": supported values: "All", "Any"',
                (
                    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation"
                ),
            ],
        ),
    ],
)
def test_an_answer_is_what_the_server_says(tmp_path: Path, old: str, new: str, by: str, messages: list[str]) -> None:
    text = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {successPolicy: {operator: All}}\n"
    write(tmp_path, {"job.yaml": text.replace(old, new)})
    done = compile_in(tmp_path, "validate", "job.yaml", "--report", "json", "--only", "admission")
    (answer,) = json.loads(done.out)["documents"]
    assert answer["admission"] == {"verdict": "rejected", "by": by, "messages": messages}


WRONG = """\
  initializer:
    dataset:
      storageUri: hf://example/corpus
  runtimePatches:
    - manager: alone
"""


def test_the_webhook_says_all_that_it_has_against_a_job(tmp_path: Path) -> None:
    env = "  trainer:\n    env:\n      - {name: PET_NNODES, value: '1'}\n"
    text = job("bert").replace("  trainer:\n", env)
    write(tmp_path, {"runtimes/torch.yaml": RUNTIME, "jobs/job.yaml": text + WRONG})
    done = compile_in(tmp_path, "validate", "--only", "admission")
    assert [finding.rule.name for finding in done.findings] == [
        "reserved-env",
        "initializer-without-home",
        "patch-manager",
    ]


def test_a_job_that_is_refused_cannot_be_impossible_to_build(tmp_path: Path) -> None:
    text = job("bert").partition("  trainer:\n")[0]
    runtime = RUNTIME.replace("torch: {}", "flux: {}")
    for added, rules in (("", ["unbuildable"]), (WRONG, ["initializer-without-home", "patch-manager"])):
        write(tmp_path, {"runtimes/torch.yaml": runtime, "jobs/job.yaml": text + added})
        done = compile_in(tmp_path, "validate", "--only", "admission")
        assert [finding.rule.name for finding in done.findings] == rules
