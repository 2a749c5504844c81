"""The JSON Schemas refuse what the API server's schema refuses, and nothing that it accepts.

Left to others, because JSON Schema has no word for it: CEL rules, duplicates in keyed lists, object metadata.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from trainc.api import kinds
from trainc.api.shipped import json_path
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml import reader as yaml

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "conformance"
KINDS = {(kind.NAMES.api_version, kind.NAMES.kind): kind for kind in kinds()}

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases lie beside the checkout")

# JobSet's mutating webhook decodes the object and writes it anew, with empty names and repaired quantities, before
# the schema is looked at; alone, without that webhook, the schema refuses these.
REPAIRED_BY_WEBHOOK = {
    "rule-name-generated-other-index": "name",
    "rule-name-omitted": "name",
    "rule-name-omitted-explicit": "name",
    "replicatedjob-without-name-minimal": "name",
    "quantity-float-minimal": "0.5",
}

# To the server 2.0 is an integer, to the models it is a float.
NOT_FOR_MODELS = {"replicas-float-integral"}


@cache
def validator(head: tuple[str, str]) -> Draft202012Validator:
    return Draft202012Validator(json.loads((ROOT / "schemas" / json_path(KINDS[head].NAMES)).read_text("utf-8")))


def errors(document: dict[str, Any]) -> list[str]:
    return [error.message for error in validator(head(document)).iter_errors(document)]


def head(document: dict[str, Any]) -> tuple[str, str]:
    return (document["apiVersion"], document["kind"])


def read(path: Path) -> list[dict[str, Any]]:
    found = yaml.read(path.read_bytes(), path.name, Report(), duplicates="ignore")
    return [tree for document in found if (tree := plain(document.tree))]


def jobset_cases() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, request and verdict of every case that becomes an object of some kind."""
    for path in sorted(CASES.glob("jobset/*/*.verdict.yaml")):
        (verdict,) = read(path)
        if verdict.get("by") != "decode":
            yield path.name.removesuffix(".verdict.yaml"), read(path.with_suffix("").with_suffix(".yaml"))[-1], verdict


def report(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line} ")


def test_jobset_cases(capsys: pytest.CaptureFixture[str]) -> None:
    seen: Counter[str] = Counter()
    for name, document, verdict in jobset_cases():
        found = errors(document)
        by_schema = verdict.get("by") in {"schema", "unknown-field"}
        only_metadata = all(message.startswith("metadata.") for message in verdict.get("messages", ()))
        if name in REPAIRED_BY_WEBHOOK:
            seen["repaired"] += 1
            assert len(found) == 1, name
            assert REPAIRED_BY_WEBHOOK[name] in found[0], name
        elif verdict["verdict"] == "accepted":
            seen["accepted"] += 1
            assert found == [], name
        elif by_schema and not only_metadata:
            seen["refused"] += 1
            assert found, name
    assert seen["repaired"] == len(REPAIRED_BY_WEBHOOK)
    report(capsys, f"JobSet and PodGroup cases against JSON Schema: {dict(seen)}")


def test_trainer_cases(capsys: pytest.CaptureFixture[str]) -> None:
    seen: Counter[str] = Counter()
    for path in sorted(CASES.glob("trainer/*/*/input.yaml")):
        said = "".join(file.read_text("utf-8") for file in sorted(path.parent.glob("expected-*.txt")))
        for document in read(path):
            if head(document) in KINDS:
                name = f"{document['kind']}/{document['metadata'].get('name', '')}"
                seen[check(path.parent.name, document, name, said)] += 1
    report(capsys, f"Trainer documents against JSON Schema: {dict(seen)}")


def check(case: str, document: dict[str, Any], name: str, said: str) -> str:
    duplicate_in_a_set = r'listtype: \S+ Duplicate value: "'
    refused = re.search(rf"API schema {re.escape(name)}: (schema: (?!metadata)|{duplicate_in_a_set})", said)
    unknown = "unknown field" in said
    found = errors(document)
    if unknown and found:
        return "unknown field"
    assert bool(found) == bool(refused), (case, found)
    return "refused" if found else "accepted"


def test_every_recorded_manifest_survives_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    seen: Counter[str] = Counter()
    inputs = sorted(CASES.glob("trainer/*/*/input.yaml"))
    manifests = [(path.parent.name, document) for path in inputs for document in read(path)]
    manifests += [(name, document) for name, document, _ in jobset_cases()]
    for name, document in manifests:
        kind = KINDS.get(head(document))
        if kind is None or name in NOT_FOR_MODELS or errors(document):
            continue
        seen[kind.NAMES.kind] += 1
        assert kind.model_validate(document).to_dict() == document
    report(capsys, f"round trips of recorded manifests: {dict(seen)}")
