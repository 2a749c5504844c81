"""A number of pods that envsubst fills in later: kept where it stands, without quotes, or refused; never another number."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.matrix.kinds import KINDS, Kind, Node
from tests.matrix.mistakes import HEALTHY
from trainc.yaml.writer import dump

SIZES = ("replicas", "parallelism", "completions", "numNodes", "size", "armadaproject.io/gangCardinality")
PLACEHOLDER = "${NODES}"


def with_placeholders(node: Node, key: str, filled: list[str]) -> Node:
    """Documents with the placeholder in each field of that name, which `filled` counts."""
    if isinstance(node, list):
        return [with_placeholders(child, key, filled) for child in node]
    if not isinstance(node, dict):
        return node
    out = {name: with_placeholders(child, key, filled) for name, child in node.items()}
    if isinstance(out.get(key), int | str):
        out[key] = PLACEHOLDER
        filled.append(key)
    return out


def sizes() -> Iterator[tuple[Kind, str]]:
    for kind in KINDS:
        # What stands alone is a runtime, from which nothing is built.
        if kind.family.endswith("TrainingRuntime"):
            continue
        documents = kind.documents(HEALTHY, HEALTHY, 4)
        # The number of pods of a TrainJob is its number of nodes, whatever the runtime's Job says.
        for key in SIZES[-3:] if kind.family == "TrainJob" else SIZES:
            filled: list[str] = []
            with_placeholders(copy.deepcopy(documents), key, filled)
            if filled:
                yield kind, key


@pytest.mark.parametrize(("kind", "key"), [pytest.param(*size, id=f"{size[0].name}-{size[1]}") for size in sizes()])
def test_a_size_is_kept_or_refused(kind: Kind, key: str, tmp_path: Path) -> None:
    documents = with_placeholders(kind.documents(HEALTHY, HEALTHY, 4), key, [])
    run = compile_in(tmp_path, "build", "-", stdin="---\n".join(map(dump, documents)))
    if run.code:
        refusals = [finding for finding in run.findings if finding.level == "error"]
        assert any(
            refusal.rule.name == "unknown-size"
            or "is a placeholder" in refusal.message
            or PLACEHOLDER in refusal.message
            for refusal in refusals
        )
        return
    written = re.findall(r"(\w+): \$\{NODES\}$", run.out, re.MULTILINE)
    assert written
    assert f'"{PLACEHOLDER}"' not in run.out


def test_the_pods_of_a_placeholder_keep_their_host_names(tmp_path: Path) -> None:
    """The host of a pod whose index may exist is renamed as it is where the number is known."""
    (indexed,) = [kind for kind in KINDS if kind.name == "Job"]
    template = copy.deepcopy(HEALTHY)
    template["spec"]["subdomain"] = "of-an-indexed-job"
    template["spec"]["containers"][0]["command"] += ["--master=of-an-indexed-job-0.of-an-indexed-job"]
    documents = indexed.documents(template, template, 4)
    for size in ("parallelism", "completions"):
        documents = with_placeholders(documents, size, [])
    run = compile_in(tmp_path, "build", "-", stdin="---\n".join(map(dump, documents)))
    assert run.code == 0, run.err
    assert "--master=of-an-indexed-job-node-0-0.of-an-indexed-job" in run.out
