"""The SDK's own cases, held against both backends: what it would send to a cluster is what lands in the file."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import extras
from tests.compiling import ROOT
from tests.repository import Repository
from trainc.kubeflow import trainer_client

with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    sdk = extras.package("kubeflow.trainer")
    options = extras.package("kubeflow.trainer.options")
    from tests.integrations.kubeflow.calls import FINDINGS, REFUSED, RUNTIMES, TORCH, TRAIN, TUNE, learn
    from tests.integrations.kubeflow.server import Server, ServerBackend
    from trainc.integrations.kubeflow.client import ExistingJobError, JobError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::UserWarning"),
]  # what trainc warns of is tested elsewhere


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    for name in RUNTIMES:
        repository.write(f"runtimes/{name}.yaml", (ROOT / f"runtimes/{name}.yaml").read_text("utf-8"))
    return repository


@pytest.fixture
def client(repository: Repository) -> Any:
    return trainer_client(repository.folder, namespace="research")


@pytest.fixture
def server(repository: Repository) -> Server:
    return Server(amounts_as_texts(yaml.safe_load(repository.read(f"runtimes/{name}.yaml"))) for name in RUNTIMES)


def amounts_as_texts(tree: Any, *, within: str = "") -> Any:
    """A tree as a server gives it: quantities are texts there."""
    if isinstance(tree, dict):
        return {
            key: amounts_as_texts(value, within=key if within not in ("limits", "requests") else within)
            for key, value in tree.items()
        }
    if isinstance(tree, list):
        return [amounts_as_texts(value) for value in tree]
    return str(tree) if within in ("limits", "requests") else tree


@pytest.mark.parametrize("case", TRAIN)
def test_what_lands_in_the_file_is_what_the_sdk_sends(
    case: str, client: Any, server: Server, repository: Repository
) -> None:
    given, expected = TRAIN[case]
    asked = {**given, "options": [*given.get("options", ()), options.Name("bert")]}
    assert client.train(**asked) == ServerBackend(server, "research").train(**asked) == "bert"
    sent = server.objects["trainjobs", "bert"]
    job = yaml.safe_load(repository.read("jobs/bert.yaml"))
    created = {name: value for name, value in sent["metadata"].items() if name != "creationTimestamp"}
    assert job == {**sent, "metadata": created}
    spec = dict(job["spec"])
    reference = spec.pop("runtimeRef")
    runtime = given.get("runtime", TORCH)
    assert reference == {"kind": "ClusterTrainingRuntime", "name": runtime}
    program = spec["trainer"].pop("command")[-1] if _runs_a_function(given) else ""
    assert spec == expected
    assert ("Hello World" in program or "learn_with(**{'learning_rate': 0.001" in program) is _runs_a_function(given)


def _runs_a_function(given: dict[str, Any]) -> bool:
    return isinstance(given.get("trainer"), sdk.CustomTrainer)


def test_packages_are_installed_before_the_function_runs(client: Any, repository: Repository) -> None:
    given, _ = TRAIN["a function with arguments, packages, variables and an image"]
    client.train(**given, options=[options.Name("bert")])
    program = yaml.safe_load(repository.read("jobs/bert.yaml"))["spec"]["trainer"]["command"][-1]
    assert "PACKAGES=(numpy 'transformers[torch]>=4')" in program
    assert "--index-url https://pypi.example.com/simple --extra-index-url https://more.example.com/simple" in program
    assert program.index("PACKAGES=(") < program.index("def learn_with")


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_sdk_refuses_is_refused_in_its_words(
    case: str, client: Any, server: Server, repository: Repository
) -> None:
    given, error = REFUSED[case]
    with pytest.raises(error) as here:
        client.train(**given)
    with pytest.raises(error) as there:
        ServerBackend(server, "research").train(**given)
    assert str(here.value).partition("Runtime(")[0] == str(there.value).partition("Runtime(")[0]
    assert not (repository.folder / "jobs").exists()


@pytest.mark.parametrize("case", FINDINGS)
def test_what_no_repository_can_keep_is_a_finding(case: str, client: Any, repository: Repository) -> None:
    given, rule = FINDINGS[case]
    with pytest.raises(JobError, match=rf"error\[{rule}\]"):
        client.train(**given)
    assert not (repository.folder / "jobs").exists()


@pytest.mark.parametrize("name", RUNTIMES)
def test_a_runtime_is_read_as_the_sdk_reads_it(name: str, client: Any, server: Server) -> None:
    here, there = client.get_runtime(name), ServerBackend(server, "research").get_runtime(name)
    assert here == there
    assert here.trainer.command == there.trainer.command


def test_jobs_are_read_as_the_sdk_reads_them(client: Any, server: Server) -> None:
    backend = ServerBackend(server, "research")
    for name, runtime in (("bert", TORCH), ("gpt", TUNE), ("llama", TUNE)):
        for one in (client, backend):
            one.train(runtime=runtime, options=[options.Name(name)])
    here, there = client.list_jobs(), backend.list_jobs()
    for one in (*here, *there):
        one.creation_timestamp = None  # the time of a file, and one that the server made up
    assert here == there
    only = client.list_jobs(client.get_runtime(TUNE))
    assert [job.name for job in only] == ["gpt", "llama"]


def test_a_runtime_of_the_namespace_comes_before_that_of_the_cluster(client: Any, repository: Repository) -> None:
    own = repository.read(f"runtimes/{TORCH}.yaml").replace("ClusterTrainingRuntime", "TrainingRuntime")
    own = own.replace(f"  name: {TORCH}\n", f"  name: {TORCH}\n  namespace: research\n").replace("pytorch:", "own:")
    repository.write("runtimes/own.yaml", own)
    runtime = client.get_runtime(TORCH)
    assert (runtime.kind, ":" in runtime.trainer.image) == (sdk.RuntimeKind.TRAINING_RUNTIME, True)
    assert "/own:" in runtime.trainer.image
    kinds = {one.name: one.kind for one in client.list_runtimes()}
    assert len(kinds) == len(RUNTIMES) + 1  # with the one that every repository of the tests has
    assert kinds[TORCH] == sdk.RuntimeKind.TRAINING_RUNTIME
    assert kinds[TUNE] == sdk.RuntimeKind.CLUSTER_TRAINING_RUNTIME
    client.train(runtime=runtime, options=[options.Name("bert")])
    assert "kind: TrainingRuntime\n" in repository.read("jobs/bert.yaml")
    assert client.get_job("bert").runtime == runtime
    elsewhere = trainer_client(repository.folder, namespace="elsewhere")
    with pytest.raises(RuntimeError, match=f"Failed to get Runtime: {TORCH}") as caught:
        elsewhere.get_runtime(TORCH)
    assert "error[duplicate-runtime]" in str(caught.value.__cause__)


def test_a_second_job_of_that_name_is_an_error_of_the_sdks_kind(client: Any, server: Server) -> None:
    backend = ServerBackend(server, "research")
    for one in (client, backend):
        one.train(options=[options.Name("bert")])
        with pytest.raises(RuntimeError) as caught:
            one.train(options=[options.Name("bert")])
        assert isinstance(caught.value, ExistingJobError) is (one is client)


WAITS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "logs": (
        lambda client: list(client.get_job_logs("nobody")),
        RuntimeError,
        "Failed to get TrainJob: research/nobody",
    ),
    "events": (lambda client: client.get_job_events("nobody"), RuntimeError, "Failed to get TrainJob: research/nobody"),
    "status": (
        lambda client: client.wait_for_job_status("nobody"),
        RuntimeError,
        "Failed to get TrainJob: research/nobody",
    ),
    "job": (lambda client: client.get_job("nobody"), RuntimeError, "Failed to get TrainJob: research/nobody"),
    "a status that is none": (
        lambda client: client.wait_for_job_status("bert", {"Invalid"}),
        ValueError,
        "must be a subset",
    ),
    "an interval over the timeout": (
        lambda client: client.wait_for_job_status("bert", timeout=1, polling_interval=2),
        ValueError,
        "strictly less than timeout",
    ),
    "no interval": (lambda client: client.wait_for_job_status("bert", polling_interval=0), ValueError, "positive"),
    "packages of torchtune": (
        lambda client: client.get_runtime_packages(client.get_runtime(TUNE)),
        ValueError,
        "BuiltinTrainer",
    ),
}


@pytest.mark.parametrize("case", WAITS)
def test_questions_that_the_sdk_refuses_are_refused_alike(case: str, client: Any, server: Server) -> None:
    ask, error, words = WAITS[case]
    for one in (client, ServerBackend(server, "research")):
        one.train(options=[options.Name("bert")])
        with pytest.raises(error, match=words):
            ask(one)


def test_a_job_is_created_as_soon_as_it_is_written(client: Any) -> None:
    client.train(options=[options.Name("bert")])
    seen: list[str] = []
    job = client.wait_for_job_status("bert", {"Created"}, callbacks=[lambda one: seen.append(one.status)])
    assert (job.name, job.status, job.steps, seen) == ("bert", "Created", [], ["Created"])
    with pytest.raises(NotImplementedError, match=r"wait jobset/bert --for=condition=Completed --timeout=60s`"):
        client.wait_for_job_status("bert", timeout=60)


@pytest.mark.parametrize(
    ("runtime", "step", "role", "container"),
    [
        (TORCH, "node-1", "replicatedjob-name=node,batch.kubernetes.io/job-completion-index=1", "node"),
        (TUNE, "dataset-initializer", "replicatedjob-name=dataset-initializer", "dataset-initializer"),
        ("deepspeed-distributed", "node-0", "replicatedjob-name=launcher", "node"),
        (
            "deepspeed-distributed",
            "node-2",
            "replicatedjob-name=node,batch.kubernetes.io/job-completion-index=1",
            "node",
        ),
    ],
)
def test_logs_are_those_of_the_pod_that_the_sdk_means(
    runtime: str, step: str, role: str, container: str, client: Any
) -> None:
    client.train(runtime=runtime, options=[options.Name("bert")])
    words = (
        rf"`kubectl --namespace research logs --selector jobset\.sigs\.k8s\.io/jobset-name=bert,"
        rf"jobset\.sigs\.k8s\.io/{role} --container {container} --tail=-1 --follow`"
    )
    with pytest.raises(NotImplementedError, match=words):
        client.get_job_logs("bert", step=step, follow=True)


def test_runtimes_without_what_the_sdk_takes_for_granted_are_served(client: Any, repository: Repository) -> None:
    """A label of the framework, a policy and a device; one that cannot be read does not hide the others."""
    text = repository.read("runtimes/torch.yaml")
    label = "  labels:\n    trainer.kubeflow.org/framework: torch\n"
    bare = text.replace(label, "").replace("name: torch\n", "name: bare\n", 1).replace('              cpu: "4"\n', "")
    assert bare.count("\n") == text.count("\n") - 3
    repository.write("runtimes/bare.yaml", bare)
    none = bare.replace("name: bare\n", "name: none\n", 1)
    repository.write("runtimes/none.yaml", none.replace("  mlPolicy:\n    numNodes: 1\n    torch: {}\n", ""))
    repository.write(
        "runtimes/wrong.yaml", bare.replace("name: bare\n", "name: wrong\n", 1).replace("numNodes: 1", "numNodes: a")
    )
    with pytest.warns(UserWarning, match=r"not read: .*wrong\.yaml:\d+:\d+: error\[invalid-field\]"):
        runtimes = {one.name: one.trainer for one in client.list_runtimes()}
    assert (runtimes["bare"].framework, runtimes["bare"].device) == ("torch", "Unknown")
    assert runtimes["none"].framework == "plain"
    assert "wrong" not in runtimes
    client.train(runtime="bare", options=[options.Name("bert")])
    assert [one.name for one in client.list_jobs()] == ["bert"]


def test_a_job_without_its_runtime_does_not_hide_the_others(client: Any, repository: Repository) -> None:
    client.train(options=[options.Name("bert")])
    for name, runtime in (("lost", "nobody"), ("wrong", "wrong")):
        repository.job(name)
        repository.change(f"jobs/{name}.yaml", "name: torch\n", f"name: {runtime}\n")
    for name, reference in (("illegal", "name: [a]"), ("empty", "names: torch")):
        repository.job(name)
        repository.change(f"jobs/{name}.yaml", "    name: torch", f"    {reference}")
    text = repository.read("runtimes/torch.yaml").replace("name: torch\n", "name: wrong\n", 1)
    repository.write("runtimes/wrong.yaml", text.replace("numNodes: 1", "numNodes: a"))
    with pytest.warns(UserWarning, match="not listed") as warned:
        assert [one.name for one in client.list_jobs()] == ["bert"]
    assert "not listed: job `lost` in jobs/lost.yaml: unknown runtime `nobody`" in [str(one.message) for one in warned]
    with pytest.raises(RuntimeError, match="Failed to get Runtime: nobody"):
        client.get_job("lost")


def test_a_folder_within_a_project_is_that_project(client: Any, repository: Repository) -> None:
    client.train(options=[options.Name("bert")])
    inner = trainer_client(repository.folder / "jobs", folder="team", namespace="research")
    assert inner.get_job("bert").name == "bert"
    inner.train(options=[options.Name("gpt")])
    assert "name: gpt\n" in repository.read("jobs/team/gpt.yaml")
    assert [one.name for one in client.list_jobs()] == ["bert", "gpt"]
    with pytest.raises(ExistingJobError, match=r"^jobs/bert\.yaml: a job `bert` already exists"):
        inner.train(options=[options.Name("bert")])
    with pytest.raises(JobError):
        inner.train(trainer=sdk.CustomTrainer(func=learn, env={"PET_NNODES": "2"}))
    assert sorted(path.name for path in (repository.folder / "jobs").rglob("*.yaml")) == ["bert.yaml", "gpt.yaml"]


def test_the_platform_example_is_read_and_written(tmp_path: Path) -> None:
    import shutil  # noqa: PLC0415 (one test alone)

    platform = shutil.copytree(ROOT / "examples/platform", tmp_path / "platform")
    here = trainer_client(platform, folder="jobs/llm", namespace="llm")
    assert {"llm", "torch-gpu"} <= {one.name for one in here.list_runtimes()}
    assert "base-7b" in [one.name for one in trainer_client(platform).list_jobs()]
