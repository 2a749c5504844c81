"""What a live API server, JobSet's controller and the Job controller did, and what the command line says of the same."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.archives import members
from tests.conformance.test_jobset import comparable
from tests.sampling import sampled
from trainc.cli import main

CREATED, UPDATED, PODS, LIVES = (members("live", group) for group in ("create", "updates", "pods", "lifecycle"))
MOST = 16  # pods of a JobSet that were recorded
GATES = "gates=GenericWorkload"  # on at the recorded server, off by default
BELOW = re.compile(r"^spec\.replicatedJobs\[\d+\]\.template\.")
# Where the messages of a recording are not what the server said of the JobSet's own Job, but of a bare one.
OTHERWISE = {
    "t-label-64": "the event has one line alone: a Job of a JobSet has labels of its own, so none is copied from the pods",
    "t-label-bad": "as t-label-64",
    "t-label-key-bad": "as t-label-64",
    "s-vcp-badpvc": "the event is about the claim; the bare Job lacks the volume that JobSet adds",
}
CLAIM = (
    'spec.volumeClaimPolicies[0].templates[0].spec.accessModes: Unsupported value: "Nope": supported values: '
    '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"'
)


def cases(texts: dict[str, str]) -> list[str]:
    return sorted(name.removesuffix(".verdict.yaml") for name in texts if name.endswith(".verdict.yaml"))


def run(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the JSON report of a command."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*arguments, "--report", "json"])
    return code, json.loads(out.getvalue())


def drawn(file: Path, *arguments: str) -> list[dict[str, Any]]:
    """What `show` says of the jobs in a file."""
    views: Any
    code, views = run("show", str(file), *arguments)
    assert code == 0
    return list(views)


# The API server takes these pods, and the kubelet never starts them.
FAILS_LATER = {
    "c-env-resfield-container": ["resource-of-no-container"],
    "c-image-inner-space": ["bad-image"],  # the kubelet: InvalidImageName
}


def errors(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for finding in report["findings"] if finding["level"] == "error"]


def lines(findings: list[dict[str, Any]]) -> set[str]:
    """The server's words in findings."""
    return {line for each in findings if "admission" in each for line in each["admission"]["message"].split("\n")}


def refusal(case: str, recorded: dict[str, Any]) -> tuple[str, set[str]]:
    """Which object was refused, and the lines of the refusal with paths below that object."""
    if recorded["verdict"] == "rejected":
        return "jobset", set(recorded["messages"])
    if recorded["jobs"]["verdict"] == "rejected":
        if case == "s-vcp-badpvc":
            return "claim", {CLAIM}
        own = "spec." if case in OTHERWISE else ""
        return "job", {message for message in recorded["jobs"]["messages"] if message.startswith(own)}
    if recorded.get("pods", {}).get("verdict") == "rejected":
        return "pod", {line for message in recorded["pods"]["messages"] for line in of_pod(message)}
    return "", set()


def of_pod(message: str) -> list[str]:
    """The lines of what was said of one pod; those about its fields are said without its name."""
    _, found, rest = message.partition(" is invalid: ")
    if not found:
        return [message]
    return rest.removeprefix("[").removesuffix("]").split(", ") if rest.startswith("[") else [rest]


@pytest.mark.parametrize(
    "case", sampled(cases(CREATED), quick=("c-env-dot", "j-backofflimit-over-int32", "p-sc-sysctl-dup"))
)
def test_creation(case: str, tmp_path: Path) -> None:
    recorded = yaml.safe_load(CREATED[f"{case}.verdict.yaml"])
    file = tmp_path / "jobset.yaml"
    file.write_text(CREATED[f"{case}.yaml"], "utf-8")
    code, report = run("validate", str(file), "--set", GATES)
    found, (refused, expected) = errors(report), refusal(case, recorded)
    said = lines(found)
    if refused in ("job", "pod"):
        said = {BELOW.sub("", line) for line in said}
    if refused == "pod":
        said = {line.removeprefix("spec.template.") for line in said}
    assert said == expected
    if refused:
        assert code == 1
    elif recorded["pods"]["verdict"] == "accepted":
        assert [finding["rule"] for finding in found] == FAILS_LATER.get(case, [])
        assert code == (1 if found else 0)


@pytest.mark.parametrize("operation", ["put", "server-side-apply-files", "server-side-apply"])
@pytest.mark.parametrize("case", sampled(cases(UPDATED), every=40))
def test_update(case: str, operation: str, tmp_path: Path) -> None:
    recorded = yaml.safe_load(UPDATED[f"{case}.verdict.yaml"])
    answer = {
        "put": recorded,
        "server-side-apply-files": recorded["serverSideApply"],
        "server-side-apply": {"verdict": recorded.get("ofBuilds", {}).get("serverSideApply", "")},
    }[operation]
    if not answer["verdict"]:
        pytest.skip("not asked of what trainc builds")
    text = UPDATED[f"{case}.yaml"]
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    first, _, second = text.partition("\n---\n")
    old.write_text(first, "utf-8")
    new.write_text(second, "utf-8")
    gates = re.findall(r"featureGates: (.*)", text)
    settings = ["--set", f"gates={gates[0].replace(' ', '')}"] if gates else []
    code, report = run("validate", str(new), "--against", str(old), "--as", operation, *settings)
    refused = [finding for finding in errors(report) if finding["rule"] == "immutable-change"]
    assert bool(refused) == (answer["verdict"] == "rejected"), report["findings"]
    assert code == (1 if refused else 0)
    if "messages" in answer:
        assert comparable(sorted(lines(refused))) == comparable(answer["messages"])


@pytest.mark.parametrize(
    "case",
    sampled(sorted(name[: -len(".timeline.yaml")] for name in LIVES if ".timeline." in name), every=20),
)
def test_lifecycle(case: str, tmp_path: Path) -> None:
    recorded = yaml.safe_load(LIVES[f"{case}.timeline.yaml"])
    file = tmp_path / "jobset.yaml"
    file.write_text(LIVES[f"{case}.yaml"], "utf-8")
    events = [word for step in recorded["timeline"][1:] for word in ("--after", step["after"])]
    (view,) = drawn(file, "--lifecycle", *events)
    assert view["timeline"] == recorded["timeline"]
    assert view["services"] == recorded["services"]


KINDS = ("jobs", "pods", "services")


@pytest.mark.parametrize(
    "case", sampled(sorted({name.partition("/")[0] for name in PODS}), quick=("ex-deepspeed.zero3",))
)
def test_pods(case: str, tmp_path: Path) -> None:
    jobs, pods, services = (list(yaml.safe_load_all(PODS.get(f"{case}/{kind}.yaml", ""))) for kind in KINDS)
    file = tmp_path / "jobset.yaml"
    file.write_text(PODS[f"{case}/jobset.yaml"], "utf-8")
    code, report = run("validate", str(file), "--only", "admission")
    assert (code, errors(report)) == (0, [])
    (life,) = drawn(file, "--lifecycle")
    first = life["timeline"][0]
    assert {words.partition(":")[0] for words in first["jobs"]} <= names(jobs)  # the recording went on from there
    assert {service["name"] for service in life["services"]} <= names(services)  # those of its neighbours are there too
    (view,) = drawn(file)
    shown = {f"{view['name']}-{role['name']}-{at}": role for role in view["roles"] for at in range(role["jobs"])}
    assert names(jobs) == set(shown)
    hosts = {f"{job}-{index}-<random>" for job, role in shown.items() for index in range(role["podsPerJob"])}
    assert names(pods) <= hosts
    assert names(pods) == hosts or len(pods) == MOST
    agree_on_ranks(file, view, pods)


def names(objects: list[Any]) -> set[str]:
    """The names of the objects in a stream, an empty one among them."""
    return {each["metadata"]["name"] for each in objects if each}


def agree_on_ranks(file: Path, view: dict[str, Any], pods: list[Any]) -> None:
    """Every pod that has a rank is called, is found and has variables as it was recorded."""
    recorded = {pod["spec"]["hostname"]: pod["spec"] for pod in pods if pod and "hostname" in pod["spec"]}
    ranked = [rank for role in view["roles"] if role["ranks"] for rank in range(role["ranks"][0], role["ranks"][1] + 1)]
    for rank in ranked[:MOST]:
        (pod,) = drawn(file, "--rank", str(rank))
        spec = recorded.get(pod["host"])
        if spec is None:  # it waits for another, or is one of more than were recorded
            continue
        assert pod["address"] == ".".join(part for part in (spec["hostname"], spec.get("subdomain")) if part)
        for container in [*spec.get("initContainers", ()), *spec["containers"]]:
            (shown,) = (each for each in pod["containers"] if each["name"] == container["name"])
            assert shown["image"] == container["image"]
            for variable in container.get("env", ()):
                if "$(" not in variable.get("value", "$("):
                    assert shown["env"][variable["name"]] == variable["value"]
