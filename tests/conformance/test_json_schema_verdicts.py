"""The JSON Schemas refuse what the API server's schema refuses, and nothing that it accepts.

Left to others, because JSON Schema has no word for it: CEL rules, duplicates in keyed lists, object metadata.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.compiling import ROOT
from tests.conformance.archives import groups, members
from tests.conformance.harness import cases
from trainc.api import kinds
from trainc.apiserver.shipped import json_path
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.yaml import reader as yaml

KINDS = {(kind.NAMES.api_version, kind.NAMES.kind): kind for kind in kinds()}

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


def read(text: str) -> list[dict[str, Any]]:
    documents = yaml.read(text, "input.yaml", Report(), duplicates="ignore")
    return [tree for document in documents if (tree := plain(document.tree))]


def jobset_cases() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, request and verdict of every case that becomes an object of some kind."""
    for files in (members("jobset", group) for group in groups("jobset")):
        for name in sorted(file.removesuffix(".verdict.yaml") for file in files if file.endswith(".verdict.yaml")):
            (verdict,) = read(files[f"{name}.verdict.yaml"])
            if verdict.get("by") != "decode":
                yield name, read(files[f"{name}.yaml"])[-1], verdict


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


@pytest.mark.slow
def test_trainer_cases(capsys: pytest.CaptureFixture[str]) -> None:
    seen: Counter[str] = Counter()
    for case in cases():
        said = "".join([*case.refusals, case.warnings])
        for document in read(case.text):
            if head(document) in KINDS:
                name = f"{document['kind']}/{document['metadata'].get('name', '')}"
                seen[check(case.id, document, name, said)] += 1
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


@pytest.mark.slow
def test_every_recorded_manifest_survives_the_models(capsys: pytest.CaptureFixture[str]) -> None:
    seen: Counter[str] = Counter()
    manifests = [(case.id, document) for case in cases() for document in read(case.text)]
    manifests += [(name, document) for name, document, _ in jobset_cases()]
    for name, document in manifests:
        kind = KINDS.get(head(document))
        if kind is None or name in NOT_FOR_MODELS or errors(document):
            continue
        seen[kind.NAMES.kind] += 1
        assert kind.model_validate(document).to_dict() == document
    report(capsys, f"round trips of recorded manifests: {dict(seen)}")
