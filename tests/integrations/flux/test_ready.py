"""When a Kustomization of Flux is ready: the shipped files against the rule of kustomize-controller.

The rule is a model of `checkHealth` in `internal/controller/kustomization_controller.go` of kustomize-controller 1.9:

* With `wait: true` the objects of the present reconcile are checked, but for those that were skipped: an object with
  `ssa: IfNotPresent` is skipped when it exists. With `wait: false` the listed `healthChecks` are checked each time.
* With nothing to check the Kustomization is ready. Of an object, `failed` counts before `current`; one that is neither
  fails when `timeout` is over. An expression that cannot be evaluated is not true.
* An object without an expression is current at once: kstatus knows no condition `Ready` in these kinds.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cel_expr_python import cel

from tests.compiling import ROOT, compile_in
from tests.integrations.argocd.states import JOBSET, SPEC
from tests.repository import Repository
from tests.sampling import sampled
from tests.working_tree import WorkingTree

SHIPPED = {
    name: yaml.safe_load((ROOT / f"deploy/flux/{name}.yaml").read_text("utf-8")) for name in ("finished", "started")
}
SSA = "kustomize.toolkit.fluxcd.io/ssa"


def state(expressions: list[Any], tree: Any) -> str:
    entry = next((one for one in expressions if one["kind"] == tree["kind"]), None)
    if entry is None:
        return "current"
    env = cel.NewEnv(variables=dict.fromkeys(("status", "spec", "metadata"), cel.Type.DYN))
    for verdict in ("inProgress", "failed", "current"):
        if verdict in entry and env.compile(entry[verdict]).eval(data=tree).value() is True:
            return verdict
    return "inProgress"


def ready(spec: Any, live: list[Any], applied: list[Any], existed: bool) -> bool:
    """Whether the Kustomization is ready after a reconcile; `existed`: everything was there before it."""
    if spec["wait"]:
        skipped = [tree for tree in applied if existed and tree["metadata"].get("annotations", {}).get(SSA)]
        checked = [tree for tree in live if key(tree) not in {key(one) for one in skipped}]
    else:
        listed = {(one["kind"], one["namespace"], one["name"]) for one in spec.get("healthChecks", ())}
        checked = [tree for tree in live if key(tree) in listed]
        if len(checked) < len(listed):
            return False
    return all(state(spec["healthCheckExprs"], tree) == "current" for tree in checked)


def key(tree: Any) -> tuple[str, str, str]:
    return tree["kind"], tree["metadata"]["namespace"], tree["metadata"]["name"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path, "line")
    made.setting("delivery: flux")
    assert made.run("build", "-w").code == 0
    for name in SHIPPED:
        made.write(f"deploy/{name}.yaml", (ROOT / f"deploy/flux/{name}.yaml").read_text("utf-8"))
        assert made.run("flux", f"deploy/{name}.yaml").code == 0
    return made


def rendered(repository: Repository) -> list[Any]:
    return [tree for text in repository.rendered().values() for tree in yaml.safe_load_all(text)]


@pytest.mark.parametrize("existed", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sampled(JOBSET, quick=("empty",)))
@pytest.mark.parametrize("variant", SHIPPED)
def test_a_kustomization_is_ready_when_its_jobs_are(
    repository: Repository, variant: str, name: str, existed: bool
) -> None:
    status, health, started = JOBSET[name]
    trees = rendered(repository)
    live = [{**tree, "spec": SPEC, "status": status or {}} if tree["kind"] == "JobSet" else tree for tree in trees]
    spec = yaml.safe_load(repository.read(f"deploy/{variant}.yaml"))["spec"]
    wanted = health == "Healthy" or (variant == "started" and started)
    assert ready(spec, live, trees, existed) is wanted


def test_with_wait_a_failed_run_would_be_ready(repository: Repository) -> None:
    """Why the shipped files list their checks."""
    trees = rendered(repository)
    failed = JOBSET["failed"][0]
    live = [{**tree, "status": failed} if tree["kind"] == "JobSet" else tree for tree in trees]
    spec = {**SHIPPED["finished"]["spec"], "wait": True}
    assert ready(spec, live, trees, False) is False
    assert ready(spec, live, trees, True) is True


def test_one_of_four_is_not_started(repository: Repository) -> None:
    jobs = [{"name": "node", "replicas": 4}, {"name": "launcher"}]
    counts = {"succeeded": 0, "active": 0, "failed": 0, "suspended": 0}
    spec = yaml.safe_load(repository.read("deploy/started.yaml"))["spec"]
    for node, launcher, wanted in ((1, 1, False), (4, 0, False), (4, 1, True)):
        status = {
            "replicatedJobsStatus": [
                {"name": "node", "ready": node, **counts},
                {"name": "launcher", "ready": launcher, **counts},
            ]
        }
        tree = {"kind": "JobSet", "metadata": {}, "spec": {"replicatedJobs": jobs}, "status": status}
        assert (state(spec["healthCheckExprs"], tree) == "current") is wanted
    partly = {"replicatedJobsStatus": [{"name": "node", "ready": 4, **counts}]}
    tree = {"kind": "JobSet", "metadata": {}, "spec": {"replicatedJobs": jobs}, "status": partly}
    assert state(spec["healthCheckExprs"], tree) == "inProgress"


@pytest.mark.parametrize("variant", SHIPPED)
def test_a_check_blocks_newer_commits_for_minutes_only(variant: str) -> None:
    assert SHIPPED[variant]["spec"]["timeout"] == "2m"
    assert SHIPPED[variant]["spec"]["wait"] is False


def test_the_list_follows_the_rendered_files(repository: Repository) -> None:
    assert repository.run("flux", "--check", "deploy/finished.yaml", "deploy/started.yaml").code == 0
    before = repository.read("deploy/finished.yaml")
    repository.job("bert")
    assert repository.run("build", "-w").code == 0
    done = repository.run("flux", "--check", "deploy/finished.yaml")
    assert done.code == 1
    assert "run `trainc flux deploy/finished.yaml`" in done.err
    assert repository.read("deploy/finished.yaml") == before
    assert repository.run("flux", "deploy/finished.yaml").code == 0
    text = repository.read("deploy/finished.yaml")
    names = [(one["namespace"], one["name"]) for one in yaml.safe_load(text)["spec"]["healthChecks"]]
    assert names == [("research", "bert"), ("research", "line")]
    assert (
        text.replace(
            "    - apiVersion: jobset.x-k8s.io/v1alpha2\n      kind: JobSet\n      name: bert\n      namespace: research\n",
            "",
            1,
        )
        == before
    )


def test_the_list_is_put_where_there_is_none(repository: Repository) -> None:
    lines = yaml.safe_load(repository.read("deploy/finished.yaml"))
    del lines["spec"]["healthChecks"]
    repository.write("deploy/other.yaml", f"# mine\n{yaml.safe_dump(lines)}---\nkind: Other\n")
    assert repository.run("flux", "deploy/other.yaml").code == 0
    first, second = yaml.safe_load_all(repository.read("deploy/other.yaml"))
    assert first["spec"]["healthChecks"][0]["name"] == "line"
    assert second == {"kind": "Other"}
    for path in (repository.folder / "jobs").iterdir():
        path.unlink()
    repository.run("build", "-w")
    for path in (repository.folder / "rendered").rglob("*.yaml"):
        path.unlink()
    assert repository.run("flux", "deploy/other.yaml").code == 0
    assert yaml.safe_load(repository.read("deploy/other.yaml").partition("---")[0])["spec"]["healthChecks"] == []
    assert repository.run("flux", "trainc.yaml").code == 2


def test_the_list_belongs_to_the_rendered_files(tmp_path: Path) -> None:
    """`build -w` writes it, for every cluster; `--check` compares it, in the work tree and in the index."""
    tree = WorkingTree(tmp_path)
    (tree.folder / "trainc.yaml").unlink()
    for cluster in ("main", "gke"):
        assert tree.trainc("init", "--delivery", "flux", "--cluster", cluster).returncode == 0
    job = tree.read("jobs/hello.yaml")
    tree.write("jobs/gke/bert.yaml", job.replace("name: hello", "name: bert"))
    lists = {"deploy/flux.yaml": ["hello"], "deploy/flux-gke.yaml": ["bert"]}
    assert "wrote deploy/flux-gke.yaml" in tree.trainc("build", "-w").stdout
    assert {path: checked(tree, path) for path in lists} == lists
    tree.git("add", "-A")
    assert tree.trainc("build", "--check").returncode == 0
    assert tree.trainc("build", "--check", "--staged", "--only", "rendered").returncode == 0
    text = tree.read("deploy/flux-gke.yaml")
    tree.write("deploy/flux-gke.yaml", text.replace("name: bert", "name: other"))
    for staged in ((), ("--staged", "--only", "rendered")):
        tree.git("add", "-A")
        done = tree.trainc("build", "--check", *staged)
        assert done.returncode == 1
        assert "deploy/flux-gke.yaml: `healthChecks` is out of date; run `trainc build -w`" in done.stdout
    assert tree.trainc("build", "-w").returncode == 0
    assert tree.read("deploy/flux-gke.yaml") == text


def checked(tree: WorkingTree, path: str) -> list[str]:
    return [check["name"] for check in yaml.safe_load(tree.read(path))["spec"]["healthChecks"]]


def test_what_init_writes_is_up_to_date_after_the_first_build(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "init", "--delivery", "flux").code == 0
    assert compile_in(tmp_path, "build", "-w").code == 0
    assert compile_in(tmp_path, "flux", "--check", "deploy/flux.yaml").code == 0
    ours = yaml.safe_load((tmp_path / "deploy/flux.yaml").read_text("utf-8"))["spec"]
    shipped = SHIPPED["finished"]["spec"]
    assert [ours[field] for field in ("wait", "timeout", "retryInterval", "prune", "force")] == [
        shipped[field] for field in ("wait", "timeout", "retryInterval", "prune", "force")
    ]
    assert ours["healthCheckExprs"][0] == {
        field: text.strip() for field, text in shipped["healthCheckExprs"][0].items()
    }


def test_diff_says_what_flux_does_not_apply(repository: Repository) -> None:
    (repository.folder / "before").mkdir()
    (repository.folder / "rendered").rename(repository.folder / "before/rendered")
    repository.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    done = repository.run("diff", "before/rendered")
    assert "Flux does not apply this to an existing run" in done.out
    assert "Flux does not apply this" in repository.run("diff", "before/rendered", "--report", "markdown").out
    repository.change("trainc.yaml", "delivery: flux", "delivery: argocd")
    assert "Flux does not apply" not in repository.run("diff", "before/rendered").out


CHECK = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "line", "namespace": "research"}
OTHER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "x"}
WIDE = """\
# mine
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
    name: a
spec:
    # how often
    interval: 10m
    path: rendered
    prune: true
    # the end
"""


def test_four_columns_stay_four_columns(repository: Repository) -> None:
    """The list was written with two, and the file was no YAML any more."""
    repository.write("deploy/wide.yaml", WIDE)
    assert repository.run("flux", "deploy/wide.yaml").code == 0
    text = repository.read("deploy/wide.yaml")
    assert yaml.safe_load(text)["spec"]["healthChecks"] == [CHECK]
    added = "    healthChecks:\n    - apiVersion: jobset.x-k8s.io/v1alpha2\n      kind: JobSet\n      name: line\n"
    assert text.replace(f"{added}      namespace: research\n", "") == WIDE


@pytest.mark.parametrize(
    "listed",
    [
        "  healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: x}]\n",
        "  healthChecks: [\n   {apiVersion: apps/v1, kind: Deployment, name: web, namespace: x}\n  ]\n",
        (
            "  healthChecks:\n  - apiVersion: apps/v1\n# what\n    kind: Deployment\n    name: web\n    namespace: x\n"
            "  # a job\n  - apiVersion: jobset.x-k8s.io/v1alpha2\n    kind: JobSet\n    name: gone\n    namespace: ml\n"
        ),
    ],
)
def test_checks_of_others_stay_and_old_ones_go(repository: Repository, listed: str) -> None:
    """Checks of Deployments were dropped, and behind a comment in the list the old ones stayed."""
    head = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  path: rendered\n"
    repository.write("deploy/flow.yaml", f"{head}{listed}  prune: true\n")
    assert repository.run("flux", "--check", "deploy/flow.yaml").code == 1
    assert repository.run("flux", "deploy/flow.yaml").code == 0
    spec = yaml.safe_load(repository.read("deploy/flow.yaml"))["spec"]
    assert spec == {"path": "rendered", "healthChecks": [OTHER, CHECK], "prune": True}
    assert repository.run("flux", "--check", "deploy/flow.yaml").code == 0


@pytest.mark.parametrize("listed", [False, True])
def test_json_stays_json(repository: Repository, listed: bool) -> None:
    tree = yaml.safe_load(WIDE)
    whole = {"apiVersion": "v1", "kind": "List", "items": [tree]} if listed else tree
    repository.write("deploy/flux.json", json.dumps(whole, indent=2))
    assert repository.run("flux", "deploy/flux.json").code == 0
    found = json.loads(repository.read("deploy/flux.json"))
    tree["spec"]["healthChecks"] = [CHECK]
    assert found == whole


def test_what_is_no_yaml_is_not_written(repository: Repository) -> None:
    text = f"{WIDE}---\na: [\n"
    repository.write("deploy/broken.yaml", text)
    done = repository.run("flux", "deploy/broken.yaml")
    assert (done.code, repository.read("deploy/broken.yaml")) == (2, text)
    assert "deploy/broken.yaml:14:1" in done.err
