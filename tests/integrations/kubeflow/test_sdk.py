"""The Kubeflow SDK over a repository: its own client writes jobs as files and reads them back."""

import builtins
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubeflow.trainer import TrainerClient

from tests import extras
from tests.compiling import ROOT, compile_in
from tests.repository import RUNTIME, Repository
from trainc.kubeflow import trainer_client
from trainc.text.trouble import Trouble

with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    trainer = extras.package("kubeflow.trainer")
    options = extras.package("kubeflow.trainer.options")

pytestmark = pytest.mark.slow


def learn(rate: float, steps: int) -> None:
    """The function that a user trains with."""
    import torch  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415

    print(torch.__name__, rate, steps)  # noqa: T201


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    repository.write("runtimes/torch.yaml", RUNTIME.replace("name: torch\n", "name: torch-distributed\n", 1))
    return repository


@pytest.fixture
def client(repository: Repository) -> TrainerClient:
    return trainer_client(repository.folder, namespace="research")


def custom(**changes: Any) -> Any:
    given = {"func": learn, "func_args": {"rate": 0.1, "steps": 3}, "num_nodes": 4, "resources_per_node": {"cpu": 2}}
    return trainer.CustomTrainer(**given | changes)


def test_a_function_lands_as_a_file_that_compiles(client: TrainerClient, repository: Repository) -> None:
    assert client.train(trainer=custom(), options=[options.Name("bert"), options.Labels({"team": "nlp"})]) == "bert"
    text = repository.read("jobs/bert.yaml")
    job = yaml.safe_load(text)
    assert job["metadata"] == {"name": "bert", "namespace": "research", "labels": {"team": "nlp"}}
    assert "      def learn(rate: float, steps: int) -> None:\n" in text
    assert "learn(**{'rate': 0.1, 'steps': 3})" in job["spec"]["trainer"]["command"][2]
    run = repository.run("build", "jobs")
    assert run.code == 0, run.err
    (node,) = next(one for one in run.objects if one["kind"] == "JobSet")["spec"]["replicatedJobs"]
    assert node["template"]["spec"]["parallelism"] == 4


def test_it_is_read_back_from_the_repository(client: TrainerClient, repository: Repository) -> None:
    repository.job("other")
    repository.change("jobs/other.yaml", "name: torch\n", "name: torch-distributed\n")
    client.train(trainer=custom(), options=[options.Name("bert")])
    job = client.get_job("bert")
    assert (job.name, job.num_nodes, job.status, job.runtime.name) == ("bert", 4, "Created", "torch-distributed")
    assert [one.name for one in client.list_jobs()] == ["bert", "other"]
    assert client.list_jobs(runtime=job.runtime) == client.list_jobs()
    assert [one.name for one in client.list_runtimes()] == ["torch-distributed"]
    assert client.get_runtime("torch-distributed").trainer.image == "registry.example.com/ml/torch:2.8.0"
    assert trainer_client(repository.folder, namespace="elsewhere").list_jobs() == []


def test_what_would_not_run_is_not_written(client: TrainerClient, repository: Repository) -> None:
    from trainc.integrations.kubeflow.client import JobError  # noqa: PLC0415 (needs the SDK's extra)

    with pytest.raises(JobError, match=r"bert\.yaml:\d+:\d+: error\[reserved-env\] .*`PET_NNODES`") as caught:
        client.train(trainer=custom(env={"PET_NNODES": "3"}), options=[options.Name("bert")])
    assert "PET_NNODES" in caught.value.source
    assert not (repository.folder / "jobs").exists()


def test_what_is_worth_a_warning_is_one(client: TrainerClient, repository: Repository) -> None:
    with pytest.warns(UserWarning, match=r"torch\.yaml:\d+:\d+: warning\[no-shared-memory\]"):
        client.train(trainer=custom(resources_per_node={"gpu": 2}), options=[options.Name("bert")])
    assert "nvidia.com/gpu: 2" in repository.read("jobs/bert.yaml")


def test_a_job_of_that_name_stays(client: TrainerClient, repository: Repository) -> None:
    from trainc.integrations.kubeflow.client import JobError  # noqa: PLC0415 (as above)

    client.train(trainer=custom(), options=[options.Name("bert")])
    before = repository.read("jobs/bert.yaml")
    with pytest.raises(Trouble, match=r"jobs/bert\.yaml: a job `bert` already exists"):
        client.train(trainer=custom(num_nodes=8), options=[options.Name("bert")])
    again = trainer_client(repository.folder, namespace="research", replace=True)
    with pytest.raises(JobError):
        again.train(trainer=custom(env={"PET_NNODES": "3"}), options=[options.Name("bert")])
    assert repository.read("jobs/bert.yaml") == before
    again.train(trainer=custom(num_nodes=8), options=[options.Name("bert")])
    assert again.get_job("bert").num_nodes == 8


def test_what_needs_a_cluster_says_what_to_use(client: TrainerClient) -> None:
    client.train(trainer=custom(), options=[options.Name("bert")])
    for call, words in (
        (lambda: client.get_job_logs("bert"), "kubectl --namespace research logs --selector "),
        (lambda: client.get_job_events("bert"), "kubectl --namespace research get events"),
        (lambda: client.wait_for_job_status("bert"), "wait jobset/bert --for=condition=Completed"),
        (lambda: client.delete_job("bert"), "git rm jobs/bert.yaml"),
        (lambda: client.get_runtime_packages(client.get_runtime("torch-distributed")), "pip list"),
    ):
        with pytest.raises(NotImplementedError, match=words.replace("(", r"\(")):
            call()


def test_errors_of_the_sdk_stay_those_of_the_sdk(client: TrainerClient) -> None:
    with pytest.raises(RuntimeError, match="Failed to get Runtime: nobody"):
        client.train(runtime="nobody", trainer=custom())
    with pytest.raises(RuntimeError, match="Failed to get TrainJob: research/nobody"):
        client.get_job("nobody")


def test_without_a_name_the_sdk_makes_one(client: TrainerClient, repository: Repository) -> None:
    name = client.train(trainer=trainer.CustomTrainerContainer(image="registry.example.com/ml/line:1", num_nodes=2))
    assert compile_in(repository.folder, "build", f"jobs/{name}.yaml").code == 0


def test_the_absence_of_the_sdk_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "kubeflow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest)

    for module in [name for name in sys.modules if name.startswith(("trainc.integrations.kubeflow.", "kubeflow."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Trouble, match=r"the Kubeflow SDK is not installed: `pip install 'trainc\[kubeflow\]'`"):
        trainer_client(tmp_path)


def test_importing_trainc_loads_nothing_of_it() -> None:
    words = "import sys, trainc.kubeflow; print([one for one in sys.modules if one.split('.')[0] in ('kubeflow', 'kubernetes')])"
    done = subprocess.run([sys.executable, "-c", words], cwd=ROOT, check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
