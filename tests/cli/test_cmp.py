"""The plugin of Argo CD behind its protocol: a client as the repo-server is one, and a server that keeps the contract.

Where a real `argocd-cmp-server` is on the PATH, the same tests run against it as well.
"""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.integrations.plugin_server.client import Client
from tests.integrations.plugin_server.wire import text
from tests.repository import Repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    return Repository(tmp_path / "repository", "bert", "line")


def objects(client: Client, repository: Repository, inner: str = "jobs", **environment: str) -> list[Any]:
    manifests = client.generate(repository.folder, inner, {"ARGOCD_APP_SOURCE_PATH": inner, **environment})
    return [json.loads(manifest) for manifest in manifests]


def refusal(client: Client, repository: Repository, **environment: str) -> str:
    with pytest.raises(grpc.RpcError) as raised:
        objects(client, repository, **environment)
    return str(raised.value.details())


def parameters(*entries: object) -> str:
    return json.dumps(entries)


@pytest.mark.slow
def test_the_same_bytes_as_a_build(client: Client, repository: Repository) -> None:
    repository.setting("delivery: argocd")
    built = repository.run("build", "jobs").out
    assert objects(client, repository) == list(yaml.safe_load_all(built))
    assert objects(client, repository, KUBE_VERSION="", KUBE_API_VERSIONS="") == list(yaml.safe_load_all(built))


@pytest.mark.slow
def test_no_discovery(client: Client) -> None:
    assert client.discovers() is False


@pytest.mark.parametrize("inner", ["jobs", pytest.param(".", marks=pytest.mark.slow)])
def test_parameters_are_announced(client: Client, repository: Repository, inner: str) -> None:
    found = client.announcements(repository.folder, inner, {"ARGOCD_APP_SOURCE_PATH": inner})
    assert [text(entry[1]) for entry in found] == ["cluster", "paths"]
    assert [text(entry[6]) for entry in found] == ["string", "array"]


@pytest.mark.slow
def test_wrong_parameters_are_said_where_the_form_is_shown(client: Client, repository: Repository) -> None:
    repository.setting("clusters: {east: {paths: [jobs/line.yaml]}, west: {paths: [jobs/bert.yaml]}}")
    for given, words in {
        parameters(
            {"name": "cluster", "string": "wets"}
        ): "unknown cluster `wets`; did you mean `west`? clusters of this project: east, west",
        parameters({"name": "clutser", "string": "west"}): "unknown parameter `clutser`; did you mean `cluster`?",
        parameters({"name": "paths", "array": ["gone.yaml"]}): "gone.yaml: no such file or directory",
    }.items():
        with pytest.raises(grpc.RpcError) as raised:
            client.announcements(
                repository.folder, "jobs", {"ARGOCD_APP_SOURCE_PATH": "jobs", "ARGOCD_APP_PARAMETERS": given}
            )
        assert words in str(raised.value.details())
    repository.setting("no-such-setting: 1")
    with pytest.raises(grpc.RpcError) as raised:
        client.announcements(repository.folder, "jobs", {"ARGOCD_APP_SOURCE_PATH": "jobs"})
    assert "unknown setting `no-such-setting`" in str(raised.value.details())


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", ["", "null", "[]", '[{"name": "paths", "array": []}]', '[{"name": "cluster", "string": ""}]']
)
def test_nothing_is_asked_for(client: Client, repository: Repository, given: str) -> None:
    assert len(objects(client, repository, ARGOCD_APP_PARAMETERS=given)) == 4


@pytest.mark.slow
def test_paths_choose(client: Client, repository: Repository) -> None:
    given = parameters({"name": "paths", "array": ["line.yaml"]})
    names = {tree["metadata"]["name"] for tree in objects(client, repository, ARGOCD_APP_PARAMETERS=given)}
    assert names == {"line"}


@pytest.mark.slow
def test_a_cluster_is_chosen(client: Client, repository: Repository) -> None:
    repository.setting(
        "clusters: {east: {namespace: east, paths: [jobs/line.yaml]}, west: {namespace: west, paths: [jobs/bert.yaml]}}"
    )
    repository.change("jobs/bert.yaml", "  namespace: research\n", "")
    given = parameters({"name": "cluster", "string": "west"}, {"name": "paths", "array": ["bert.yaml"]})
    found = objects(client, repository, ARGOCD_APP_PARAMETERS=given)
    assert {tree["metadata"]["namespace"] for tree in found} == {"west"}
    said = refusal(client, repository)
    assert said.endswith("set the parameter `cluster` of this application to one of them: east, west")
    given = parameters({"name": "cluster", "string": "east"}, {"name": "paths", "array": ["bert.yaml"]})
    said = refusal(client, repository, ARGOCD_APP_PARAMETERS=given)
    assert said.endswith("no TrainJob, JobSet or job of another operator under the paths given that runs on `east`")
    given = parameters({"name": "cluster", "string": "wets"})
    assert "did you mean `west`?" in refusal(client, repository, ARGOCD_APP_PARAMETERS=given)


def test_the_namespace_of_the_application(client: Client, repository: Repository) -> None:
    for name in ("bert", "line"):
        repository.change(f"jobs/{name}.yaml", "  namespace: research\n", "")
    found = objects(client, repository, ARGOCD_APP_NAMESPACE="team-a")
    assert {tree["metadata"]["namespace"] for tree in found} == {"team-a"}
    assert all("namespace" not in tree["metadata"] for tree in objects(client, repository, ARGOCD_APP_NAMESPACE=""))


@pytest.mark.slow
def test_paths_of_clusters_hold_in_every_namespace(client: Client, repository: Repository, destination: str) -> None:
    repository.setting("clusters: {east: {paths: [jobs/line.yaml]}, west: {paths: [jobs/bert.yaml]}}")
    repository.change("jobs/bert.yaml", "  namespace: research\n", "")
    given = parameters({"name": "cluster", "string": "west"})
    found = objects(client, repository, ARGOCD_APP_PARAMETERS=given)
    assert {(tree["metadata"]["name"], tree["metadata"].get("namespace", "")) for tree in found} == {
        ("bert", destination)
    }


@pytest.mark.slow
def test_the_example_of_a_platform_loses_nothing(client: Client, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/platform", tmp_path / "platform")
    names = yaml.safe_load((tmp_path / "platform/trainc.yaml").read_text("utf-8"))["spec"]["clusters"]
    for cluster in names:
        built = compile_in(tmp_path / "platform", "build", "jobs", "--cluster", cluster)
        assert len(built.objects) > 20
        given = parameters({"name": "cluster", "string": cluster})
        found = client.generate(
            tmp_path / "platform", "jobs", {"ARGOCD_APP_SOURCE_PATH": "jobs", "ARGOCD_APP_PARAMETERS": given}
        )
        assert [key(json.loads(manifest)) for manifest in found] == [key(tree) for tree in built.objects]


def key(tree: Any) -> tuple[str, str]:
    return tree["kind"], tree["metadata"]["name"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("{", "is not valid JSON"),
        ("{}", "is not a list"),
        ('"paths"', "is not a list"),
        ("[1]", "has no name"),
        ('[{"string": "x"}]', "has no name"),
        ('[{"name": "path", "array": []}]', "unknown parameter `path`; did you mean `paths`?"),
        ('[{"name": "profile", "string": "x"}]', "parameters: cluster, paths"),
        ('[{"name": "paths", "string": "line.yaml"}]', "given as string; it takes `array`"),
        ('[{"name": "cluster", "map": {"a": "b"}}]', "given as map; it takes `string`"),
        ('[{"name": "cluster", "array": ["a"]}]', "given as array; it takes `string`"),
        ('[{"name": "cluster", "string": 1}]', "is not a string"),
        ('[{"name": "paths", "array": "line.yaml"}]', "is not a list of strings"),
        ('[{"name": "paths", "array": [1]}]', "is not a path"),
        ('[{"name": "paths", "array": ["../runtimes"]}]', "is not a path"),
        ('[{"name": "paths", "array": ["/etc"]}]', "is not a path"),
        ('[{"name": "paths", "array": ["gone.yaml"]}]', "no such file or directory"),
        ('[{"name": "paths", "array": ["a.yaml"]}, {"name": "paths", "array": []}]', "given twice"),
    ],
)
def test_bad_parameters(client: Client, repository: Repository, given: str, words: str) -> None:
    said = refusal(client, repository, ARGOCD_APP_PARAMETERS=given)
    assert "`trainc cmp generate` failed exit status 2: trainc: " in said
    assert words in said


@pytest.mark.slow
def test_one_bad_job_and_nothing_is_deployed(client: Client, repository: Repository) -> None:
    repository.change("jobs/line.yaml", "numNodes: 2", "numNodes: many")
    said = refusal(client, repository)
    assert "failed exit status 1: line.yaml:11:15: error[invalid-field]" in said
    assert "\x1b" not in said
    assert len(said.splitlines()) <= 45


@pytest.mark.slow
def test_many_mistakes_are_cut(client: Client, repository: Repository) -> None:
    for number in range(40):
        repository.job(f"job-{number}")
        repository.change(f"jobs/job-{number}.yaml", "numNodes: 2", "numNodes: many")
    said = refusal(client, repository)
    assert said.count("error[invalid-field]") == 20
    assert "and 20 more" in said


@pytest.mark.slow
def test_no_job_is_no_success(client: Client, repository: Repository) -> None:
    for name in ("bert", "line"):
        (repository.folder / f"jobs/{name}.yaml").unlink()
    repository.write("jobs/.keep", "")
    assert "nothing to compile here" in refusal(client, repository)


@pytest.mark.slow
def test_an_unreadable_file_is_no_success(client: Client, repository: Repository) -> None:
    repository.write("jobs/broken.yaml", "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: [\n")
    assert "broken.yaml:" in refusal(client, repository)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this file is empty"),
        ("---\n", "this file is empty"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 400\n", "this file is a pointer of Git LFS"),
        ("<<<<<<< ours\nkind: TrainJob\n=======\nkind: JobSet\n>>>>>>> theirs\n", "merge conflict"),
    ],
)
def test_a_source_that_was_lost_is_no_removal(client: Client, repository: Repository, text: str, words: str) -> None:
    repository.write("jobs/bert.yaml", text)
    said = refusal(client, repository)
    assert "bert.yaml:" in said
    assert words in said
    repository.write("jobs/bert.yaml", "# The run is over.\n")
    assert {one["metadata"]["name"] for one in objects(client, repository)} == {"line"}


@pytest.mark.slow
def test_what_a_job_names_is_applied_and_nothing_else(client: Client, repository: Repository) -> None:
    init = compile_in(repository.folder, "init", "elsewhere", "--delivery", "argocd")
    assert init.code == 0
    shutil.copy(repository.folder / "elsewhere/deploy/argocd.yaml", repository.folder / "jobs/application.yaml")
    shutil.rmtree(repository.folder / "elsewhere")
    patch = (
        "spec:\n  runtimePatches:\n  - manager: example.com/a\n    trainingRuntimeSpec: {template: {spec: {replicatedJobs: "
        "[{name: node, template: {spec: {template: {spec: {serviceAccountName: trainer, volumes: "
        "[{name: data, persistentVolumeClaim: {claimName: data}}, {name: words, configMap: {name: words}}, "
        "{name: keys, secret: {secretName: keys}}]}}}}}]}}}\n"
    )
    repository.change("jobs/line.yaml", "spec:\n", patch)
    named = {
        "PersistentVolumeClaim": "v1",
        "ConfigMap": "v1",
        "ServiceAccount": "v1",
        "SealedSecret": "bitnami.com/v1alpha1",
    }
    names = {"PersistentVolumeClaim": "data", "ConfigMap": "words", "ServiceAccount": "trainer", "SealedSecret": "keys"}
    for kind, version in named.items():
        for name in (names[kind], "other"):
            repository.write(
                f"jobs/{kind}-{name}.yaml", f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\n"
            )
    found = objects(client, repository)
    assert sorted(tree["kind"] for tree in found) == sorted([*named, "JobSet", "JobSet", "Service", "Service"])
    assert {tree["kind"]: tree["metadata"]["name"] for tree in found if tree["kind"] in names} == names
    (claim,) = [tree for tree in found if tree["kind"] == "PersistentVolumeClaim"]
    assert claim["metadata"]["annotations"] == {
        "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }


@pytest.mark.slow
def test_another_trainc_is_required(client: Client, repository: Repository) -> None:
    repository.setting('requires: "trainc>=99"')
    assert "error[other-trainc]" in refusal(client, repository)


@pytest.mark.slow
def test_a_project_above_the_repository_does_not_count(client: Client, repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "trainc.yaml").unlink()
    for above in (tmp_path / "trainc.yaml", tmp_path / "server/_cmp_server/trainc.yaml"):
        above.parent.mkdir(parents=True, exist_ok=True)
        above.write_text("kind: Project\n")
    assert len(objects(client, repository)) == 4


@pytest.mark.slow
def test_too_much_for_one_answer(client: Client, repository: Repository) -> None:
    text = repository.read("jobs/line.yaml")
    repository.write(
        "jobs/line.yaml",
        f"{text}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {{a: {'x' * 3_000_000}}}\n",
    )
    assert "the manifests are 2 MiB" in refusal(client, repository, ARGOCD_GRPC_MAX_SIZE_MB="1")


@pytest.mark.slow
def test_two_requests_at_once(client: Client, repository: Repository) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: objects(client, repository), range(2))
    assert first == second


@pytest.mark.slow
def test_a_deadline(client: Client, repository: Repository) -> None:
    with pytest.raises(grpc.RpcError) as raised:
        client.generate(repository.folder, "jobs", {"ARGOCD_APP_SOURCE_PATH": "jobs"}, timeout=0.12)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
