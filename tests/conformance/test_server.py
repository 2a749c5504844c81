"""What trainc emits for the examples and cases, with every Job and pod it becomes, put to a server of your own.

Nothing is written to the cluster: every object is created with `--dry-run=server`, in the namespace `default`.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.conformance.children import child_jobs, first_pods
from tests.conformance.test_live import errors, lines, run
from trainc.text.placeholders import is_placeholder

RENDERED = sorted((*ROOT.glob("examples/*/output/**/*.yaml"), *ROOT.glob("tests/cases/**/expected/manifests.yaml")))
KUBECTL = ("kubectl", "create", "--dry-run=server", "--validate=strict", "--output=name", "--filename=-")
# Answers that say what the cluster lacks or holds, and nothing of the object.
ABOUT_THE_CLUSTER = re.compile(
    r"no matches for kind|AlreadyExists|namespaces? \"[^\"]*\" not found|error looking up service account"
    r"|no PriorityClass with name|RuntimeClass \"[^\"]*\" not found|leader pod not yet scheduled|follower pod node selector"
)
NO_ANSWER = re.compile(r"connection refused|was refused|Unable to connect|no such host|must be logged in|i/o timeout")
NEXT = re.compile(r"^(?=Error from server|error: |resource mapping not found|The \S+ \")", re.MULTILINE)


def rendered(file: Path) -> list[Any]:
    """The documents of a rendered file, all in one namespace."""
    found = [document for document in yaml.safe_load_all(file.read_text("utf-8")) if document]
    for document in found:
        if "namespace" in document["metadata"]:
            document["metadata"]["namespace"] = "default"
    return found


def expanded(found: list[Any]) -> list[Any]:
    """Documents, then the Jobs of the JobSets among them, then the pods of these once nothing suspends them."""
    jobs = [job for document in found if document["kind"] == "JobSet" for job in child_jobs(document)]
    return [*found, *jobs, *(pod for job in jobs for pod in first_pods(job))]


def asked(documents: list[Any], kubeconfig: str) -> list[str]:
    """What a server says against some of the objects, none where it takes all of them.

    Raises:
        ConnectionError: the server did not answer.
    """
    result = subprocess.run(
        KUBECTL,
        input="\n---\n".join(map(json.dumps, documents)),
        env={**os.environ, "KUBECONFIG": kubeconfig},
        capture_output=True,
        text=True,
        check=False,
    )
    if NO_ANSWER.search(result.stderr):
        raise ConnectionError(result.stderr)
    said = [words.strip() for words in NEXT.split(result.stderr) if words.strip() and not words.startswith("Warning:")]
    if result.returncode and not said:
        raise ConnectionError(f"kubectl ended with {result.returncode} and said nothing")
    return [words for words in said if not ABOUT_THE_CLUSTER.search(words)]


def has_placeholder(tree: Any) -> bool:
    """Whether some value is filled in later, so that no server can judge it yet."""
    if isinstance(tree, dict | list):
        return any(map(has_placeholder, tree.values() if isinstance(tree, dict) else tree))
    return isinstance(tree, str) and is_placeholder(tree)


@pytest.mark.skipif("KUBECONFIG" not in os.environ, reason="asks a real server: KUBECONFIG is not set")
@pytest.mark.parametrize(
    "file", RENDERED if "KUBECONFIG" in os.environ else [], ids=lambda file: str(file.relative_to(ROOT))
)
def test_the_server_says_what_trainc_says(file: Path) -> None:
    documents = rendered(file)
    if has_placeholder(documents):
        pytest.skip("a value is filled in later")
    refusals = asked(expanded(documents), os.environ["KUBECONFIG"]) if documents else []
    has_jobs = any(document["kind"] == "JobSet" for document in documents)
    own = lines(errors(run("validate", str(file))[1])) if has_jobs else set()
    assert bool(refusals) == bool(own), (refusals, own)


@pytest.mark.slow
def test_every_rendered_jobset_becomes_jobs_and_pods() -> None:
    files = [documents for file in RENDERED if (documents := rendered(file)) and not has_placeholder(documents)]
    whole = [expanded(documents) for documents in files]
    kinds = [{each["kind"] for each in objects} for objects in whole]
    assert sum("Pod" in each for each in kinds) > 200
    assert [each for each in kinds if "JobSet" in each and not each >= {"Job", "Pod"}] == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_a_server_that_does_not_answer_has_no_verdict(tmp_path: Path) -> None:
    config = tmp_path / "config"
    cluster = {"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "none", "context": {"cluster": "none", "user": ""}}
    document = {"apiVersion": "v1", "kind": "Config", "current-context": "none"}
    config.write_text(json.dumps({**document, "clusters": [cluster], "contexts": [context]}), "utf-8")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}, "spec": {"containers": []}}
    with pytest.raises(ConnectionError, match="refused"):
        asked([pod], str(config))
