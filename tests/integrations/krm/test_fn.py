"""`trainc fn`: the objects of `build` in the places of the jobs, everything else as it was, and results."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.apiserver.policy.judging import binding, policy
from tests.compiling import ROOT, compile_in
from tests.integrations.krm.resource_lists import Answer, ConfigMap, listed, objects, package
from tests.repository import RUNTIME, Repository, job
from tests.sampling import sampled
from trainc.integrations.krm import read_list, write_list

CONFIG = {**ConfigMap, "metadata": {"name": "function-input"}}
BUILD = {"apiVersion": "trainc.dev/v1alpha1", "kind": "Build", "metadata": {"name": "trainc"}}
OTHER = {**ConfigMap, "metadata": {"name": "other", "annotations": {"note": "kept"}}, "data": {"a": "1.10"}}
EXAMPLES = ("torch-ddp", "jaxjob", "jobsets", "mpi", "indexed-job", "volcanojob", "initializers")


@pytest.mark.parametrize("name", sampled(EXAMPLES, every=3))
def test_a_package_becomes_what_build_prints(name: str, tmp_path: Path) -> None:
    """Also with the project's trainc.yaml, and with the notes that kpt makes on every object."""
    example = ROOT / "examples" / name
    items = [item for item in package(example) if not _is_output(item)]
    built = compile_in(example, "build", ".")
    answer = Answer(tmp_path, listed(items))
    assert (answer.code, built.code) == (0, 0), answer.err
    made = [yaml.safe_dump(item) for item in answer.plain()]
    assert sorted(made) == sorted(yaml.safe_dump(one) for one in built.objects)


def _is_output(item: dict[str, dict[str, dict[str, str]]]) -> bool:
    return item["metadata"]["annotations"]["config.kubernetes.io/path"].startswith("output/")


def test_the_text_of_each_object_is_that_of_build(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert")
    built = repository.run("build", "jobs").out
    answer = Answer(
        tmp_path, listed([*objects(job("bert", image="registry.example.com/ml/line:1.0.0")), *objects(RUNTIME)])
    )
    for text in built.split("---\n"):
        first, *rest = text.splitlines()
        assert "\n".join([f"- {first}", *[f"  {line}" for line in rest]]) + "\n" in answer.text


SCALARS = st.text() | st.integers(-(2**63), 2**63 - 1) | st.none() | st.booleans()
KEYS = st.text(max_size=80)  # YAML ends a key on one line at 1024 characters, and JSON may write 12 for one
TREES = st.recursive(SCALARS, lambda inner: st.dictionaries(KEYS, inner) | st.lists(inner), max_leaves=6)


@pytest.mark.slow
@given(st.lists(TREES, max_size=3))
@settings(max_examples=40, deadline=None)
def test_what_is_handed_back_reads_as_what_was_given(contents: list[object]) -> None:
    """Whatever a list holds, in block style and as JSON."""
    items = [{**ConfigMap, "metadata": {"name": f"c{number}"}, "x": x} for number, x in enumerate(contents)]
    text = listed(items, BUILD)
    for spelling in (text, json.dumps(yaml.safe_load(text))):
        read = read_list(spelling.encode())
        written = write_list(read, [item.text for item in read.items], [])
        assert yaml.safe_load(written) == yaml.safe_load(text)


def test_other_items_keep_their_place_and_their_text(tmp_path: Path) -> None:
    comment = (
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
        "- # what the team reads\n  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: first # by hand\n"
        "  data:\n    script: |+\n      one\n        two\n\n"
        + "".join(f"{'  ' if number else '- '}{line}\n" for number, line in enumerate(job("bert").splitlines()))
        + "".join(f"{'  ' if number else '- '}{line}\n" for number, line in enumerate(RUNTIME.splitlines()))
        + '- {apiVersion: v1, kind: ConfigMap, metadata: {name: last}, data: {a: "1e3"}}\n'
    )
    answer = Answer(tmp_path, comment)
    assert answer.code == 0, answer.err
    assert answer.kinds == ["ConfigMap", "Service", "JobSet", "ConfigMap"]
    first = comment.split("items:\n")[1].split("- apiVersion: trainer")[0]
    assert f"items:\n{first}- apiVersion: v1\n" in answer.text
    assert answer.items[-1]["data"] == {"a": "1e3"}


def test_an_error_changes_nothing_and_says_where_it_is(tmp_path: Path) -> None:
    broken = objects(job("bert").replace("numNodes: 2", "numNodes: two"), "jobs/bert.yaml")
    items = [*broken, *objects(RUNTIME), OTHER]
    answer = Answer(tmp_path, listed(items))
    assert answer.code == 1
    assert answer.items == items
    error = next(result for result in answer.results if result["severity"] == "error")
    assert error["field"] == {"path": "spec.trainer.numNodes", "currentValue": "two"}
    assert error["file"] == {"path": "jobs/bert.yaml", "index": 0}
    assert error["resourceRef"] == {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": "bert",
        "namespace": "research",
    }
    assert error["tags"] == {"rule": "invalid-field"}
    assert answer.err.startswith("jobs/bert.yaml: spec.trainer.numNodes: error[invalid-field] ")


def test_validate_judges_and_changes_nothing(tmp_path: Path) -> None:
    items = [*objects(job("bert", image="line:latest")), *objects(RUNTIME), OTHER]
    config = {**BUILD, "kind": "Validate"}
    answer = Answer(tmp_path, listed(items, config))
    assert (answer.code, answer.items) == (0, items)
    assert any(result["tags"]["rule"] == "moving-tag" for result in answer.results)
    assert Answer(tmp_path, listed(items, {**config, "spec": {"failOn": "warning"}})).code == 1
    data = {**CONFIG, "data": {"command": "validate", "failOn": "warning"}}
    assert Answer(tmp_path, listed(items, data)).code == 1


def test_options_are_those_of_build(tmp_path: Path) -> None:
    items = [*objects(job("bert").replace("  namespace: research\n", "")), *objects(RUNTIME)]
    config = {**CONFIG, "data": {"namespace": "team", "scheduler": "coscheduling"}}
    answer = Answer(tmp_path, listed(items, config))
    assert answer.kinds == ["PodGroup", "Service", "JobSet"]
    assert {item["metadata"]["namespace"] for item in answer.items} == {"team"}


def test_objects_under_resources_are_compiled_for_generators(tmp_path: Path) -> None:
    """kustomize hands the configuration of a generator on as an item as well."""
    config = {**BUILD, "spec": {"resources": [*objects(job("bert")), *objects(RUNTIME), OTHER]}}
    answer = Answer(tmp_path, listed([config], config))
    assert answer.kinds == ["Build", "Service", "JobSet", "ConfigMap"], answer.err


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({**CONFIG, "data": {"schedular": "kueue"}}, "unknown option `schedular`; did you mean `scheduler`?"),
        ({**CONFIG, "data": {"command": "apply"}}, "`command` must be build or validate, not `apply`"),
        ({**CONFIG, "data": {"failOn": "note"}}, "`failOn` must be one of error, warning, not `note`"),
        ({**BUILD, "spec": {"closedWorld": "maybe"}}, "`closedWorld` must be true or false, not `maybe`"),
        ({**CONFIG, "data": ["scheduler"]}, "`data` is not a map of options"),
        ({**BUILD, "spec": {"scheduler": ["kueue"]}}, "`scheduler` must be one value, not a list"),
        ({**BUILD, "spec": {"cluster": {"name": "eu"}}}, "`cluster` must be one value, not a map"),
        ({**BUILD, "spec": {"resources": {"a": "b"}}}, "is not a list of objects"),
        (objects(job("bert"))[0], "put jobs under `spec.resources` of Build"),
    ],
)
def test_a_configuration_that_nobody_can_follow_is_refused(
    config: dict[str, object], words: str, tmp_path: Path
) -> None:
    answer = Answer(tmp_path, listed([], config))
    assert (answer.code, answer.text) == (2, "")
    assert words in answer.err


@pytest.mark.parametrize("text", ["", "a: 1\n", "a: [\n", "apiVersion: v1\nkind: ResourceList\nitems: {}\n", "[]\n"])
def test_what_is_not_a_resource_list_is_refused(text: str, tmp_path: Path) -> None:
    answer = Answer(tmp_path, text)
    assert (answer.code, answer.text) == (2, "")
    assert answer.err.startswith("trainc: ")


@pytest.mark.parametrize(
    "path", ["../out.yaml", "/etc/job.yaml", ".hidden/job.yaml", "job", "a/../../b.yaml", "trainc.yaml", "a//b.yaml"]
)
def test_no_path_of_an_item_leads_anywhere(path: str, tmp_path: Path) -> None:
    items = [*objects(job("bert"), path), *objects(RUNTIME, "runtimes/torch.yaml")]
    work = tmp_path / "a" / "b"
    work.mkdir(parents=True)
    answer = Answer(work, listed(items))
    assert answer.code == 0, answer.err
    assert answer.kinds == ["Service", "JobSet"]
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == []


@pytest.mark.parametrize("path", ["", "policies/all.yaml"])
def test_policies_among_the_items_are_judged(path: str, tmp_path: Path) -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["jobsets"]}
    written = yaml.safe_dump_all([policy("false", constraints={"resourceRules": [rule]}), binding()])
    items = [*objects(job("bert")), *objects(RUNTIME, "runtimes/torch.yaml")]
    policies = objects(written, path) if path else objects(written)
    answer = Answer(tmp_path, listed([*items, *policies]))
    assert answer.code == 1
    assert "policy-denied" in {result["tags"]["rule"] for result in answer.results}
    assert answer.kinds.count("ValidatingAdmissionPolicy") == 1  # with an error, nothing changes


def test_nothing_around_it_is_read(tmp_path: Path) -> None:
    """A runtime or a trainc.yaml of the folder that the function happens to run in does not count."""
    Repository(tmp_path).setting("namespace: [")
    answer = Answer(tmp_path, listed(objects(job("bert"))))
    assert answer.code == 1
    assert "missing-runtime" in {result["tags"]["rule"] for result in answer.results}


def test_a_project_below_the_package_is_refused(tmp_path: Path) -> None:
    project = {"apiVersion": "trainc.dev/v1alpha1", "kind": "Project", "metadata": {"name": "p"}}
    items = [*objects(yaml.safe_dump(project), "team/trainc.yaml"), *objects(job("bert"), "team/jobs/bert.yaml")]
    answer = Answer(tmp_path, listed(items))
    assert answer.code == 2
    assert "team/trainc.yaml: a trainc.yaml below the package is another project" in answer.err


def test_jobs_of_another_cluster_are_left_out(tmp_path: Path) -> None:
    clusters = {"eu": {"paths": ["jobs/eu"]}, "us": {"paths": ["jobs/us"]}}
    spec = {"clusters": clusters, "runtimes": ["runtimes"]}
    project = {"apiVersion": "trainc.dev/v1alpha1", "kind": "Project", "metadata": {"name": "p"}, "spec": spec}
    items = [
        *objects(yaml.safe_dump(project), "trainc.yaml"),
        *objects(f"{job('bert')}---\n{yaml.safe_dump(OTHER)}", "jobs/eu/bert.yaml"),
        *objects(job("gpt"), "jobs/us/gpt.yaml"),
        *objects(RUNTIME, "runtimes/torch.yaml"),
    ]
    several = Answer(tmp_path, listed(items))
    assert several.code == 2
    assert "mix the clusters eu, us" in several.err
    answer = Answer(tmp_path, listed(items, {**CONFIG, "data": {"cluster": "us"}}))
    assert answer.code == 0, answer.err
    assert [item["metadata"]["name"] for item in answer.items] == ["other", "gpt", "gpt"]
