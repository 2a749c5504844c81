"""Policies on the command line: what is refused is not built, from every entry point, and nothing is lost."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apiserver.policy.judging import binding, policy
from tests.compiling import ROOT, Run, compile_in
from tests.repository import PROJECT, Repository, write
from tests.working_tree import WorkingTree
from trainc.cli.scaffold import starter_policies

JOBSETS = {
    "resourceRules": [
        {"apiGroups": ["jobset.x-k8s.io"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["jobsets"]}
    ]
}


def files(*documents: dict[str, Any]) -> str:
    return yaml.safe_dump_all(documents, width=1000)


def image(registry: str, action: str = "Deny") -> str:
    """A policy that wants every image of a JobSet from one registry."""
    pods = (
        "object.spec.replicatedJobs.all(r, r.template.spec.template.spec.containers.all(c, c.image.startsWith('{}')))"
    )
    rule = {"expression": pods.format(registry), "message": f"images come from {registry}"}
    return files(policy(rule, constraints=JOBSETS), binding(action))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path, "line")
    made.write("policies/images.yaml", image("mirror.example.com/"))
    return made


def rules(run: Run) -> list[str]:
    return [finding.rule.name for finding in run.findings if finding.level == "error"]


def test_what_a_policy_denies_is_not_built(repository: Repository) -> None:
    run = repository.run("build", "-w")
    assert run.code == 1
    assert rules(run) == ["policy-denied"]
    assert repository.rendered() == {}
    (finding,) = run.findings
    assert finding.span.file == "jobs/line.yaml"
    assert "registry.example.com/ml/line" in repository.read("jobs/line.yaml").splitlines()[finding.span.line - 1]
    assert [label.span.file for label in finding.labels] == ["jobs/line.yaml", "policies/images.yaml"]
    assert "images come from mirror.example.com/" in finding.message
    repository.change("jobs/line.yaml", "registry.example.com", "mirror.example.com")
    assert repository.run("build", "-w").code == 0
    assert len(repository.rendered()) == 1


def test_a_rendered_job_stays_when_its_edit_is_refused(repository: Repository) -> None:
    repository.change("jobs/line.yaml", "registry.example.com", "mirror.example.com")
    assert repository.run("build", "-w").code == 0
    before = repository.rendered()
    repository.change("jobs/line.yaml", "mirror.example.com", "elsewhere.example.com")
    assert repository.run("build", "-w").code == 1
    assert repository.rendered() == before


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "jobs/line.yaml"),
        ("validate", "jobs"),
        ("validate",),
        ("validate", "--only", "admission"),
        ("build", "jobs/line.yaml"),
        ("build", "jobs"),
        ("build", "-w"),
        ("build", "--check"),
        ("cmp", "generate"),
    ],
)
def test_entry_points_agree(repository: Repository, words: tuple[str, ...]) -> None:
    run = repository.run(*words)
    assert run.code == 1
    assert "policy-denied" in run.err
    assert "kind: JobSet" not in run.out


@pytest.mark.slow
def test_hooks_and_staged_files_are_judged(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path, "line")
    tree.write("policies/images.yaml", image("mirror.example.com/"))
    tree.git("add", "-A")
    done = tree.trainc("validate", "--staged")
    assert done.returncode == 1
    assert "policy-denied" in done.stdout
    tree.write("policies/images.yaml", image("registry.example.com/"))
    assert "policy-denied" in tree.trainc("validate", "--staged").stdout  # what is not staged does not count
    tree.git("add", "-A")
    assert tree.trainc("validate", "--staged").returncode == 0


def test_nobody_silences_a_denial(repository: Repository) -> None:
    repository.write("trainc.yaml", PROJECT.replace("spec:\n", "spec:\n  rules: {policy-denied: off}\n", 1))
    repository.change("jobs/line.yaml", "metadata:", "# trainc: allow[policy-denied] we know\nmetadata:")
    run = repository.run("validate")
    assert run.code == 1
    assert "policy-denied" in rules(run)


def test_a_warning_can_be_turned_off(repository: Repository) -> None:
    repository.write("policies/images.yaml", image("mirror.example.com/", "Warn"))
    run = repository.run("validate")
    assert (run.code, [finding.rule.name for finding in run.findings]) == (0, ["policy-warning"])
    assert repository.run("validate", "--fail-on", "warning").code == 1
    repository.write("trainc.yaml", PROJECT.replace("spec:\n", "spec:\n  rules: {policy-warning: off}\n", 1))
    assert repository.run("validate").findings == []


def test_a_policy_that_changes_is_asked_again(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an earlier run found out of a job does not outlive the policy that let it pass."""
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(repository.folder.parent / "cache"))
    repository.write("policies/images.yaml", image("registry.example.com/"))
    for _ in range(2):
        assert repository.run("build", "-w").code == 0
        time.sleep(0.1)
    repository.write("policies/images.yaml", image("mirror.example.com/"))
    assert repository.run("build", "-w").code == 1


def test_the_first_policy_is_asked_about_jobs_that_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(tmp_path / "cache"))
    made = Repository(tmp_path / "project", "line", "other")
    for _ in range(2):
        assert made.run("build", "-w").code == 0
        time.sleep(0.1)
    made.write("policies/images.yaml", image("mirror.example.com/"))
    assert made.run("build", "-w").code == 1


def test_another_folder_of_policies(repository: Repository) -> None:
    repository.write("rules/images.yaml", image("registry.example.com/"))
    repository.setting("policies: [rules]")
    run = repository.run("validate")
    assert (run.code, "its file is not in a folder of policies" in run.err) == (1, True), (
        "the other folder's is passed over"
    )
    assert repository.run("validate", "--ignore", "unjudged-policy").code == 0
    repository.setting("rules: {}")
    repository.change("trainc.yaml", "policies: [rules]", "policies: [nowhere]")
    assert "bad-project" in rules(repository.run("validate"))


def test_a_folder_of_that_name_without_policies_is_left_alone(tmp_path: Path) -> None:
    made = Repository(tmp_path, "line")
    made.write("policies/iam.json", "{not json")
    made.write("policies/chart.yaml", "a: {{ .Values.a }}\n")
    assert made.run("validate").code == 0


def test_a_policy_elsewhere_in_the_project_is_named(repository: Repository) -> None:
    repository.write("team/policies/images.yaml", image("registry.example.com/"))
    repository.write("policies/images.yaml", image("registry.example.com/"))
    run = repository.run("validate")
    assert [(f.rule.name, f.span.file) for f in run.findings] == [("unjudged-policy", "team/policies/images.yaml")]


def test_policies_need_no_project_file(tmp_path: Path) -> None:
    job = (ROOT / "tests/cases/policy/policy-denied/fails/input/job.yaml").read_text("utf-8")
    write(tmp_path, {"job.yaml": job, "policies/p.yaml": files(policy("false", constraints=JOBSETS), binding())})
    assert rules(compile_in(tmp_path, "validate", "job.yaml")) == ["policy-denied"]


DUMPED = """
spec:
  runtimes: [runtimes]
  clusters:
    eu: {folder: dumps/eu}
"""


def dumped(repository: Repository, **dumps: str) -> None:
    repository.write("policies/images.yaml", "")
    repository.write("trainc.yaml", f"apiVersion: trainc.dev/v1alpha1\nkind: Project{DUMPED}")
    for name, text in dumps.items():
        repository.write(f"dumps/eu/{name}.yaml", text)


def test_policies_of_a_dump_are_judged(repository: Repository) -> None:
    listed = list(yaml.safe_load_all(image("mirror.example.com/")))
    dumped(repository, policies=files({"apiVersion": "v1", "kind": "List", "items": listed}))
    run = repository.run("validate")
    assert rules(run) == ["policy-denied"]
    assert run.findings[0].labels[1].span.file == "dumps/eu/policies.yaml"


def test_the_repository_counts_before_the_dump(repository: Repository) -> None:
    """What stands in Git is what the cluster will have."""
    dumped(repository, policies=image("mirror.example.com/"))
    repository.write("policies/images.yaml", image("registry.example.com/"))
    assert repository.run("validate").code == 0


def test_parameters_of_a_dump(repository: Repository) -> None:
    kind = {"apiVersion": "rules.example.com/v1", "kind": "JobLimit"}
    own = policy("object.spec.replicatedJobs.size() <= params.roles", paramKind=kind, constraints=JOBSETS)
    bound = binding(paramRef={"name": "limit", "parameterNotFoundAction": "Deny"})
    limit = {**kind, "metadata": {"name": "limit"}, "roles": 0}
    dumped(repository, policies=files(own, bound), limits=files(limit))
    assert rules(repository.run("validate")) == ["policy-denied"]
    dumped(repository, policies=files(own, bound), limits=files({**limit, "roles": 3}))
    assert repository.run("validate").code == 0
    dumped(repository, policies=files(binding()), limits=files(limit))
    assert "foreign-dump" in rules(repository.run("validate"))  # no policy takes its parameters from it


def test_a_namespace_of_a_dump(repository: Repository) -> None:
    selecting = policy("false", constraints={**JOBSETS, "namespaceSelector": {"matchLabels": {"env": "prod"}}})
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "research", "labels": {"env": "prod"}}}
    dumped(repository, policies=files(selecting, binding()), namespaces=files(namespace))
    assert rules(repository.run("validate")) == ["policy-denied"]
    namespace["metadata"] = {"name": "research", "labels": {"env": "test"}}
    dumped(repository, namespaces=files(namespace))
    assert repository.run("validate").code == 0


def test_without_namespaces_the_selector_is_not_judged(repository: Repository) -> None:
    selecting = policy("false", constraints={**JOBSETS, "namespaceSelector": {"matchLabels": {"env": "prod"}}})
    repository.write("policies/images.yaml", files(selecting, binding()))
    run = repository.run("validate")
    assert run.code == 0
    assert "skipped: policy `p`: namespace `research`, which no dump shows (1)" in run.err
    assert repository.run("validate", "--fail-on", "skipped").code == 1


def test_mutating_policies_and_webhooks_are_named(repository: Repository) -> None:
    group = "admissionregistration.k8s.io"
    changing = {"apiVersion": f"{group}/v1beta1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "sidecars"}}
    hooks = [{"name": "checks.example.com"}, {"name": "vjobset.kb.io"}]
    webhooks = {"apiVersion": f"{group}/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "w"}}
    dumped(repository, others=files(changing, {**webhooks, "webhooks": hooks}))
    run = repository.run("validate", "--notes")
    messages = [finding.message for finding in run.findings]
    assert messages == [
        "MutatingAdmissionPolicy is not evaluated: `sidecars`",
        "ValidatingWebhookConfiguration is not evaluated: `checks.example.com`",
    ]
    assert "skipped: mutating policies and webhooks of the cluster (2)" in run.err


def test_typed_lists_hold_policies(repository: Repository) -> None:
    """As `kubectl get --raw` and client-go write them: the items have no kind of their own."""
    texts = [*yaml.safe_load_all(image("mirror.example.com/"))]
    lists = []
    for document in texts:
        item = {"metadata": document["metadata"], "spec": document["spec"]}
        lists.append({"apiVersion": document["apiVersion"], "kind": f"{document['kind']}List", "items": [item]})
    repository.write("policies/images.yaml", files(*lists))
    assert rules(repository.run("validate")) == ["policy-denied"]


def test_paths_of_the_plugin_name_the_policies(repository: Repository) -> None:
    run = repository.run("cmp", "paths", "jobs")
    assert "/policies" in run.out.strip().split(";")


TOO_DEEP = f"{' + '.join(['1'] * 3000)} > 0"


@pytest.mark.parametrize("words", [("validate",), ("build",), ("build", "-w"), ("validate", "--only", "admission")])
def test_what_is_not_judged_is_an_error_with_a_way_out(repository: Repository, words: tuple[str, ...]) -> None:
    repository.write("policies/images.yaml", files(policy(TOO_DEEP, constraints=JOBSETS), binding()))
    run = repository.run(*words)
    assert run.code == 1
    assert "[unjudged-policy]" in run.err
    assert "`--ignore unjudged-policy`" in run.err
    if words == ("validate",):
        repository.setting("rules: {unjudged-policy: warning}")
        assert repository.run(*words).code == 0


def test_json_names_the_policy(repository: Repository) -> None:
    run = repository.run("validate", "--report", "json")
    (finding,) = json.loads(run.out)["findings"]
    assert finding["rule"] == "policy-denied"


TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: real
  namespace: training
  labels: {owner: ada, cost-centre: research}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    image: registry.example.com/ml/train:1
    numNodes: 8
    command: [torchrun, train.py]
    resourcesPerNode:
      limits: {nvidia.com/gpu: 8, memory: 100Gi}
"""
REFUSED = {
    "allowed-runtimes": ("{name: torch-distributed}", "{name: other}", "torch-distributed"),
    "allowed-registries": ("registry.example.com", "quay.io", "image quay.io/ml/train:1 must start with one of"),
    "accelerators-per-job": ("numNodes: 8", "numNodes: 9", "the job has 72 accelerators"),
    "required-labels": ("owner: ada, ", "", "missing labels: owner"),
}


@pytest.fixture
def started(tmp_path: Path) -> Repository:
    """A repository as `trainc init --policies` makes it, with one more job."""
    assert compile_in(tmp_path, "init", "--policies").code == 0
    made = Repository.__new__(Repository)
    made.folder = tmp_path
    made.write("jobs/real.yaml", TRAINJOB)
    runtime = made.read("runtimes/torch-distributed.yaml")
    made.write("runtimes/other.yaml", runtime.replace("name: torch-distributed", "name: other"))
    return made


def test_the_policies_that_init_writes_let_real_jobs_pass(started: Repository) -> None:
    run = started.run("validate")
    assert run.code == 0, run.err
    assert run.report is not None
    assert not [reason for reason in run.report.unknown if "policy" in reason]


SYSTEM = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: coredns-674b8bbfcf-2xq7r, namespace: kube-system, labels: {k8s-app: kube-dns}}
  spec: {containers: [{name: coredns, image: registry.k8s.io/coredns/coredns:v1.12.0}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: calico-node-8cq2v, namespace: calico-system, labels: {k8s-app: calico-node}}
  spec: {containers: [{name: calico-node, image: quay.io/calico/node:v3.30.2}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: jobset-controller-manager-5d9c8b7f6-hk2lp, namespace: jobset-system}
  spec: {containers: [{name: manager, image: registry.k8s.io/jobset/jobset:v0.11.1}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: notebook, namespace: training}
  spec: {containers: [{name: notebook, image: quay.io/jupyter/base-notebook:1}]}
"""


def test_the_policies_of_init_leave_the_pods_of_a_cluster_itself_alone(started: Repository) -> None:
    started.write("system/pods.yaml", SYSTEM)
    run = started.run("build", "--include-other")
    refusals = [finding.message for finding in run.findings if finding.rule.name == "policy-denied"]
    assert [message.partition(":")[0] for message in refusals] == ["policy `allowed-registries` denies Pod `notebook`"]
    assert run.report is not None
    assert not [reason for reason in run.report.unknown if "namespace" in reason]


def test_init_writes_four_policies() -> None:
    assert sorted(starter_policies()) == [f"policies/{name}.yaml" for name in sorted(REFUSED)]


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_each_policy_of_init_refuses_a_bad_job(started: Repository, name: str) -> None:
    old, new, message = REFUSED[name]
    started.change("jobs/real.yaml", old, new)
    run = started.run("validate")
    refusals = [finding for finding in run.findings if finding.rule.name == "policy-denied"]
    assert [f"policy `{name}`" in finding.message and message in finding.message for finding in refusals] == [True]
    assert refusals[0].span.file == "jobs/real.yaml"


def test_a_denial_points_at_the_resource_that_counts(started: Repository) -> None:
    """The policy looks for several resources, of which the job sets one, behind others that it does not look for."""
    started.change("jobs/real.yaml", "numNodes: 8", "numNodes: 9")
    started.change("jobs/real.yaml", "{nvidia.com/gpu: 8, memory: 100Gi}", "{memory: 100Gi, cpu: 8, nvidia.com/gpu: 8}")
    (refusal,) = [one for one in started.run("validate").findings if one.rule.name == "policy-denied"]
    line = started.read("jobs/real.yaml").splitlines()[refusal.span.line - 1]
    assert line[refusal.span.column - 1 :].startswith("8}")


LOCKED = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: torch
spec:
  extends: torch-base
  locks:
  - path: mlPolicy.numNodes
    reason: one node is what it is measured with
"""


@pytest.mark.parametrize("words", [("jobs/line.yaml",), ("jobs",), (), ("jobs/line.yaml", "runtimes/torch.yaml")])
def test_a_runtime_beside_a_job_does_not_take_the_place_of_a_shared_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    made = Repository(tmp_path, "line")
    runtime = made.read("runtimes/torch.yaml")
    made.write("jobs/line.yaml", f"{made.read('jobs/line.yaml')}---\n{runtime}")
    run = made.run("validate", *words)
    assert rules(run) == ["duplicate-runtime"]
    made.write("runtimes/base.yaml", runtime.replace("name: torch\n", "name: torch-base\n", 1))
    made.write("runtimes/torch.yaml", LOCKED)
    run = made.run("validate", *words)
    assert "duplicate-runtime" in rules(run)


def test_a_lock_that_a_namesake_would_undo_is_named(tmp_path: Path) -> None:
    made = Repository(tmp_path, "line")
    runtime = made.read("runtimes/torch.yaml")
    made.write("runtimes/base.yaml", runtime.replace("name: torch\n", "name: torch-base\n", 1))
    made.write("runtimes/torch.yaml", LOCKED)
    made.write("jobs/line.yaml", f"{made.read('jobs/line.yaml')}---\n{LOCKED.partition('  locks')[0]}")
    run = made.run("validate", "jobs/line.yaml")
    assert [f.effect for f in run.findings if f.rule.name == "duplicate-runtime"] == [
        "the locks of runtimes/torch.yaml would not hold for jobs that get the other one"
    ]
