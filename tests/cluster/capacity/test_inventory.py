"""Inventories: what they keep, that they answer as the dump does, and dumps that are broken."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.compiling import ROOT, compile_in
from tests.conformance.archives import members
from trainc.cluster.capacity.answers import verdict_data
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.kueue import Kueue
from trainc.cluster.inventory import Dump, inventory
from trainc.compiler.project.dumps import read_dump
from trainc.model.report import Report
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

pytestmark = pytest.mark.slow

CASES = sorted(name.removesuffix(".json") for name in members("admission", "topology") if name.endswith(".json"))


def written(texts: list[Any], **options: Any) -> str:
    return dump(inventory(Dump(texts), **options))


@pytest.mark.parametrize("case", CASES)
def test_an_inventory_answers_as_its_dump_does(case: str) -> None:
    text = members("admission", "topology")[f"{case}.yaml"]
    jobs = [document.tree for document in read(text, "case.yaml", Report()) if document.kind == "JobSet"]
    report = Report()
    verdicts = []
    for content in (text, written(list(yaml.safe_load_all(text)), is_complete=True)):
        facts = ClusterFacts(read_dump(content.encode(), "dump.yaml", report), closed=True)
        verdicts.append([verdict_data(Kueue(facts).judge(job)) for job in jobs])
    assert verdicts[0] == verdicts[1]
    assert not report.failed


def node(name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": "1",
            "annotations": {"a": "b"},
            "labels": {"kubernetes.io/hostname": name, "pool": "a"},
        },
        "spec": {"podCIDR": "10.0.0.0/24", **more},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
            "images": [{"names": ["x"]}],
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-08-22T08:00:00Z"}],
        },
    }


def test_it_keeps_what_decides_and_nothing_else() -> None:
    pod = {"kind": "Pod", "metadata": {"name": "p", "namespace": "kube-system"}}
    pod["spec"] = {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "500m"}}}]}
    secret = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"key": "aGk="}}
    found = Dump([{"kind": "List", "items": [node("n1"), node("n2"), [pod], {"kind": "List", "items": [secret]}]}])
    assert inventory(found) == {
        "apiVersion": "trainc.dev/v1alpha1",
        "kind": "Inventory",
        "spec": {
            "date": "2026-08-22T08:00:00Z",
            "kinds": ["Node"],
            "nodes": [
                {
                    "names": ["n1"],
                    "labels": {"pool": "a"},
                    "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
                    "system": {"cpu": "500m", "pods": "1"},
                },
                {
                    "names": ["n2"],
                    "labels": {"pool": "a"},
                    "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
                },
            ],
        },
    }
    assert found.left_out == {"Secret": 1}
    assert found.faults == []


def test_daemon_sets_take_their_share_where_no_pods_are_known() -> None:
    template = {"spec": {"nodeSelector": {"pool": "a"}, "containers": [{"resources": {"requests": {"cpu": "1"}}}]}}
    daemon = {"kind": "DaemonSet", "metadata": {"name": "d", "namespace": "x"}, "spec": {"template": template}}
    made = inventory(Dump([node("n1"), node("n2", unschedulable=True), daemon]))
    assert [group["system"] for group in made["spec"]["nodes"]] == [{"cpu": "1", "pods": "1"}] * 2


def test_equal_nodes_stand_together() -> None:
    made = inventory(Dump([node(f"n{index}") for index in range(2_000)]))
    assert len(made["spec"]["nodes"]) == 1


@pytest.mark.parametrize("odd", [1, "text", {}, {"kind": "Node"}, {"metadata": {"name": "x"}}, {"kind": "List"}])
def test_odd_items_are_said_and_left_out(odd: Any) -> None:
    found = Dump([[node("n1"), odd]])
    assert len(inventory(found)["spec"]["nodes"]) == 1
    assert bool(found.faults) or found.left_out == {"List": 1}


BROKEN = {
    "an amount": {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "ten"}}},
    "truncated": {"kind": "List", "metadata": {"continue": "x"}, "items": [node("a")]},
    "an Inventory": {"kind": "Inventory", "spec": {"nodes": []}},
    "not an object": {"kind": "List", "items": [node("a"), 7]},
    "`1 cpu`": {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"nodeName": "a", "containers": [{"resources": {"requests": {"cpu": "1 cpu"}}}]},
    },
}


@pytest.mark.parametrize("words", BROKEN)
def test_an_inventory_with_something_missing_is_not_written(tmp_path: Path, words: str) -> None:
    (tmp_path / "dump.json").write_text(json.dumps([node("n1"), BROKEN[words]]))
    done = compile_in(tmp_path, "inventory", "dump.json")
    assert (done.code, done.out) == (1, "")
    assert words in done.err
    assert "nothing was written" in done.err


def test_inventories_are_what_the_schema_says() -> None:
    schema = json.loads((ROOT / "schemas/json/trainc.dev/inventory_v1alpha1.json").read_text("utf-8"))
    validator = Draft202012Validator(schema)
    found = [*ROOT.glob("examples/**/inventory.yaml"), *ROOT.glob("tests/cases/**/inventory.yaml")]
    texts = [path.read_text("utf-8") for path in found]
    texts += [written(list(yaml.safe_load_all(members("admission", "topology")[f"{case}.yaml"]))) for case in CASES]
    assert len(found) > 5
    for text in texts:
        validator.validate(yaml.safe_load(text))
    wrong = {"apiVersion": "trainc.dev/v1alpha1", "kind": "Inventory", "spec": {"nodes": [{"name": "n1"}]}}
    assert not validator.is_valid(wrong)


@pytest.mark.parametrize("text", ["{", "[[[[", "[" * 100_000, "", "a: [", "kind: Secret\nmetadata: {name: a}\n"])
def test_broken_dumps_are_trouble(tmp_path: Path, text: str) -> None:
    (tmp_path / "dump.json").write_text(text)
    done = compile_in(tmp_path, "inventory", "dump.json")
    assert done.code == 2
    assert done.err.startswith("trainc: ")


def test_the_command_reads_json_and_yaml_alike(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"kind": "List", "items": [node("n1")]}))
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"kind": "List", "items": [node("n1")]}))
    first, second = (compile_in(tmp_path, "inventory", name) for name in ("a.json", "a.yaml"))
    assert (first.code, first.out) == (0, second.out)
