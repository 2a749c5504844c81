"""`trainc adopt`: a dump becomes a repository whose build is what runs, and every object is accounted for."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.authoring.adopt.clusters import (
    FAILED,
    RUNNING,
    SUCCEEDED,
    TRAINED,
    Tree,
    example,
    filled,
    lived,
    made_by,
    plain_jobs,
    renamed,
    served,
    trained,
)
from tests.compiling import ROOT, Run, compile_in
from tests.sampling import sampled
from trainc.authoring.adopt.objects import sort_objects
from trainc.authoring.adopt.written import live, written
from trainc.yaml.writer import dump

# Recorded cases whose build is not what runs: how each stands, and what the report says of it. The controller's answer
# depends on the order of a Go map in those that are kept, or counts what trainc does not.
DIFFERENT = {
    "initializers/volume-claim-policies": ("held", "volume name conflicts"),
    "metadata/empty-pod-template": ("held", "containers"),
    "metadata/trainjob-labels-not-propagated": ("changes in place", "kueue.x-k8s.io/queue-name"),
    "metadata/unknown-field-pruned": ("held", "no field `queue`"),
    "mpi/two-gpu-kinds-slots": ("kept", "OMPI_MCA_orte_set_default_slots"),
    "runtime-patches/patched-sidecar-and-flux": ("kept", "env[X].value"),
    "runtime-patches/smp-directive-in-jobset-labels": ("held", "$patch"),
    "runtime-patches/unknown-fields-pruned": ("held", "no field `command`"),
    "runtime-patches/unknown-job-accepted": ("held", "containers"),
    "runtime-patches/unknown-job-behind-known": ("held", "containers"),
    "torch/long-job-name": ("held", "would exceed 63 characters"),
    "torch/quantity-canonical-forms": ("changes in place", '"010" -> "10"'),
    "torch/several-unnamed-ports": ("held", "Duplicate value"),
    "torch/unnamed-ports-without-trainer": ("held", "Duplicate value"),
    "volcano/topology-tier-name-dropped": ("held", "no field `highestTierName`"),
    "xgboost/job-env-order-varies": ("kept", ".env: "),
    "xgboost/two-gpu-kinds": ("kept", "DMLC_NUM_WORKER"),
}
EXAMPLES = {  # of each older kind, the file that has one
    kind: f"examples/{folder}/jobs/{file}.yaml"
    for kind, folder, file in (
        ("JAXJob", "jaxjob", "jaxjob"),
        ("LeaderWorkerSet", "leaderworkerset", "sweep"),
        ("MPIJob", "mpijob", "mpijob"),
        ("MiniCluster", "minicluster", "lammps"),
        ("PyTorchJob", "pytorchjob", "pytorchjob"),
        ("RayJob", "rayjob", "rayjob"),
        ("TFJob", "tfjob", "tfjob"),
        ("TfJob", "tfjob-mlkube", "tfjob"),
        ("Volcano Job", "volcanojob", "volcanojob"),
    )
}


def as_list(objects: Iterable[Tree]) -> str:
    return dump({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def adopt(folder: Path, text: str, *options: str) -> tuple[Run, dict[str, Any]]:
    run = compile_in(folder, "adopt", "repo", "-", "--report", "json", *options, stdin=text)
    return run, json.loads(run.out) if run.out else {}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def round_trip(folder: Path, objects: list[Tree], *options: str, twice: bool = True) -> dict[str, Any]:
    """Adopt a dump: the account closes, the build is up to date, and a second time, where asked for, changes nothing."""
    text = as_list(objects)
    run, report = adopt(folder, text, *options)
    assert run.code == 0, run.err
    assert report["objects"] == len(objects) == len(report["adopted"]) + len(report["leftOut"])
    before = files(folder / "repo")
    assert all(one["file"] in before for one in report["adopted"])
    if any(one["place"] == "jobs" for one in report["adopted"]):
        check = compile_in(folder / "repo", "build", "--check")
        assert check.code == 0, check.err
    if not twice:
        return report
    again = compile_in(folder, "adopt", "repo", *options, stdin=text)
    assert again.code == 0
    assert "nothing new" in again.out
    assert files(folder / "repo") == before
    return report


@pytest.mark.parametrize("name", sampled(TRAINED, quick=(*list(TRAINED)[::30], *list(DIFFERENT)[::4])))
def test_a_trainjob_builds_what_its_controller_made_of_it(name: str, tmp_path: Path) -> None:
    report = round_trip(tmp_path, trained(name), twice=name in list(TRAINED)[::4])
    rows = [one for one in report["adopted"] if one["kind"] == "TrainJob"]
    assert rows
    for row in rows:
        state = row.get("build", {}).get("state", row["place"])
        wanted, says = DIFFERENT.get(name, ("equal", ""))
        assert (state, says in json.dumps(row, ensure_ascii=False).replace('\\"', '"')) == (wanted, True), row
    owned = [one for one in report["leftOut"] if one["kind"] == "JobSet"]
    assert [one["reason"] for one in owned] == [f"TrainJob {row['name']} owns it" for row in rows]


@pytest.mark.slow
def test_jobsets_of_a_real_server_build_what_runs(tmp_path: Path) -> None:
    """75 JobSets with their Jobs, Services and pods, in a namespace each."""
    objects = [tree for index, (_, made) in enumerate(lived()) for tree in renamed(made, f"case-{index}")]
    report = round_trip(tmp_path, objects)
    assert {(one["kind"], one["build"]["state"]) for one in report["adopted"]} == {("JobSet", "equal")}
    assert {one["kind"] for one in report["leftOut"]} == {"Job", "Pod", "Service"}
    assert len(report["adopted"]) == 75


@pytest.mark.slow
def test_plain_jobs_of_a_real_server_stay_what_runs(tmp_path: Path) -> None:
    objects = [tree for index, (_, job) in enumerate(plain_jobs()) for tree in renamed([job], f"case-{index}")]
    report = round_trip(tmp_path, objects)
    training = [one for one in report["adopted"] if one["place"] == "jobs"]
    assert {(one["kind"], one["build"]["state"]) for one in training} == {("Job", "equal")}
    assert len(training) > 50
    assert {one["reason"] for one in report["leftOut"]} <= {"it is not training; `trainc.dev/compile` overrides this"}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_job_of_another_operator_is_held_until_it_ends(kind: str, tmp_path: Path) -> None:
    objects = [served(tree, status=RUNNING) for tree in example(EXAMPLES[kind])]
    report = round_trip(tmp_path, objects)
    (row,) = [one for one in report["adopted"] if one["kind"] == kind.rpartition(" ")[2]]
    assert row["place"] == "held"
    assert "would train a second time" in row["reason"]
    held = tmp_path / "repo" / row["file"]
    target = tmp_path / "repo/jobs" / held.relative_to(tmp_path / "repo/held").with_suffix("")
    target.parent.mkdir(parents=True)
    held.rename(target)
    built = compile_in(tmp_path / "repo", "build")
    assert built.code == 0, built.err
    original = tmp_path / "original.yaml"
    original.write_text((ROOT / EXAMPLES[kind]).read_text("utf-8"))
    assert jobsets(built) == jobsets(compile_in(tmp_path, "build", "original.yaml"))


def jobsets(run: Run) -> list[Any]:
    return [tree["spec"] for tree in run.objects if tree["kind"] == "JobSet"]


# No status of a LeaderWorkerSet says that it has ended.
@pytest.mark.parametrize("kind", [kind for kind in EXAMPLES if kind != "LeaderWorkerSet"])
def test_an_older_job_that_has_ended_is_migrated_as_asked(kind: str, tmp_path: Path) -> None:
    ended: dict[str, Tree] = {
        "RayJob": {"jobDeploymentStatus": "Complete"},
        "Volcano Job": {"state": {"phase": "Completed"}},
    }
    objects = [served(tree, status=ended.get(kind, SUCCEEDED)) for tree in example(EXAMPLES[kind])]
    report = round_trip(tmp_path, objects, "--migrate")
    (row,) = [one for one in report["adopted"] if one["kind"] == kind.rpartition(" ")[2]]
    assert (row["place"], row["ended"]) == ("archive", "succeeded")
    text = (tmp_path / "repo" / row["file"]).read_text("utf-8")
    assert "kind: TrainJob" in text or kind in {"MiniCluster", "RayJob"}


def platform() -> list[Tree]:
    """A mixture: the jobs of a repository of three teams as TrainJobs, what runs of them, and their runtimes."""
    objects = []
    for name in TRAINED:
        if name.startswith(("torch/", "jax/", "plainml/")) and name not in DIFFERENT:
            objects += renamed(trained(name), name.replace("/", "-"))
    return objects


@pytest.mark.slow
def test_a_mixture_of_jobs_runtimes_jobsets_and_pods(tmp_path: Path) -> None:
    objects: list[Tree] = []
    number = 0
    base = platform()
    while len(objects) < 700:
        for tree in renamed(base, f"n{number}", runtimes=number == 0):
            objects.append(tree)
            if tree["kind"] == "JobSet":
                pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**tree["metadata"], "uid": f"p{len(objects)}"}}
                objects.append(made_by(tree, pod))
        number += 1
    report = round_trip(tmp_path, objects)
    states = {one["build"]["state"] for one in report["adopted"] if one["kind"] == "TrainJob"}
    assert states == {"equal"}


def test_a_job_whose_runtime_moved_on_keeps_what_runs(tmp_path: Path) -> None:
    objects = trained(next(name for name in TRAINED if name.startswith("torch/")))
    runtime = next(tree for tree in objects if tree["kind"] == "ClusterTrainingRuntime")
    jobset = next(tree for tree in objects if tree["kind"] == "JobSet")
    pods = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pods["containers"][0]["image"] = "registry.example.com/moved:2"
    report = round_trip(tmp_path, objects)
    (row,) = [one for one in report["adopted"] if one["kind"] == "TrainJob"]
    assert row["build"]["state"] == "kept"
    assert "image" in row["build"]["differences"][0]
    assert f"({next(one['file'] for one in report['adopted'] if 'Runtime' in one['kind'])})" in str(row["build"])
    (file,) = (tmp_path / "repo/rendered").rglob("*.yaml")
    rendered = compile_in(tmp_path / "repo", "build", "-w", "jobs")
    assert "keeps its rendering" in rendered.err
    assert "registry.example.com/moved:2" not in file.read_text("utf-8")
    text = file.read_text("utf-8")
    assert jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["image"] in text


@pytest.mark.parametrize("name", list(TRAINED)[::7])
def test_a_server_makes_the_same_of_what_is_written(name: str) -> None:
    for tree in trained(name):
        whole, short = filled(live(tree)), filled(written(tree))
        for form in (whole, short):
            form["spec"].pop("suspend", None)
        assert short == whole
        assert len(dump(written(tree))) <= len(dump(live(tree)))
        assert not {"uid", "managedFields", "resourceVersion"} & written(tree)["metadata"].keys()


def test_what_a_queue_puts_into_pods_is_left_out(tmp_path: Path) -> None:
    jobset = JOBSET
    labels = {**jobset["metadata"].get("labels", {}), "kueue.x-k8s.io/queue-name": "research"}
    jobset = served({**jobset, "metadata": {**jobset["metadata"], "labels": labels}}, status=RUNNING)
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    taint = {"key": "gpu", "operator": "Exists"}
    pod |= {"nodeSelector": {"pool": "h100", "disk": "fast"}, "tolerations": [taint]}
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "ResourceFlavor",
        "metadata": {"name": "h100", "uid": "f"},
        "spec": {"nodeLabels": {"pool": "h100"}, "tolerations": [taint]},
    }
    report = round_trip(tmp_path, [jobset, flavor])
    (row,) = report["adopted"]
    text = (tmp_path / "repo" / row["file"]).read_text("utf-8")
    assert ("disk: fast" in text, "pool: h100" in text, "tolerations" in text) == (True, False, False)
    assert row["build"]["state"] == "kept"


JOBSET: Tree = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "bert", "namespace": "nlp"},
    "spec": {
        "replicatedJobs": [
            {
                "name": "node",
                "template": {
                    "spec": {
                        "parallelism": 2,
                        "completions": 2,
                        "backoffLimit": 0,
                        "template": {"spec": {"containers": [{"name": "node", "image": "registry.example.com/a:1"}]}},
                    }
                },
            }
        ]
    },
}


def test_finished_jobs_are_archived_or_left_out(tmp_path: Path) -> None:
    done = served(JOBSET, status=FAILED)
    report = round_trip(tmp_path, [done])
    (row,) = report["adopted"]
    assert row["file"] == "archive/main/nlp/bert.jobset.yaml.finished"
    assert not (tmp_path / "repo/rendered").exists()
    skipped = tmp_path / "skipped"
    skipped.mkdir()
    (left,) = round_trip(skipped, [done], "--finished", "skip")["leftOut"]
    assert left["reason"] == "it has failed, and would train again"


def test_secrets_in_plain_text_are_reported_wherever_they_land(tmp_path: Path) -> None:
    token = "hf_abcdefghijklmnopqrstuvwxyz012345"  # noqa: S105 (the point of the test)
    objects = []
    states: list[Tree] = [RUNNING, FAILED]
    for number, status in enumerate(states):
        tree = json.loads(json.dumps(JOBSET))
        tree["metadata"]["name"] += f"-{number}"
        pod = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        pod["containers"][0]["env"] = [{"name": "HF_TOKEN", "value": token}]
        objects.append(served(tree, status=status))
    objects.append({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "nlp"}, "data": {}})
    report = round_trip(tmp_path, objects)
    assert {one["file"] for one in report["secrets"]} == {one["file"] for one in report["adopted"]}
    for one in report["secrets"]:
        lines = (tmp_path / "repo" / one["file"]).read_text("utf-8").splitlines()
        assert token in lines[one["line"] - 1]
    assert token not in json.dumps(report)
    assert [one["reason"] for one in report["leftOut"]] == ["the content of a Secret does not belong in Git"]
    # What runs would be in Git twice: it is held, and both files are named.
    (held,) = [one for one in report["adopted"] if one["place"] == "held"]
    job, rendered = f"jobs/main/nlp/{held['name']}.jobset.yaml", f"rendered/main/nlp/{held['name']}.yaml"
    assert held["reason"] == f"its secret in plain text would be in Git twice, in {job} and {rendered}"
    assert not (tmp_path / "repo" / rendered).exists()
    assert "secret-in-text" not in (tmp_path / "repo/trainc.yaml").read_text("utf-8")
    shutil.rmtree(tmp_path / "repo")
    told = compile_in(tmp_path, "adopt", "repo", stdin=as_list(objects))
    assert "kubectl create secret generic NAME --from-literal KEY=VALUE" in told.out


@pytest.mark.parametrize("annotations", [{}, {"trainc.dev/run": "2"}], ids=["as it is rendered", "as it once was"])
def test_a_later_run_stays_that_run(annotations: dict[str, str], tmp_path: Path) -> None:
    source = {**JOBSET, "metadata": {**JOBSET["metadata"], "annotations": {"trainc.dev/run": "2"}}}
    (tmp_path / "job.yaml").write_text(dump(source))
    *_, made = compile_in(tmp_path, "build", "job.yaml").objects
    name = f"{JOBSET['metadata']['name']}-r2"
    assert (made["metadata"]["name"], "annotations" in made["metadata"]) == (name, False)
    made["metadata"]["annotations"] = annotations
    round_trip(tmp_path, [served(made, status=RUNNING)])
    rendered = [path.name for path in (tmp_path / "repo/rendered").rglob("*.yaml")]
    assert rendered == [f"{name}.yaml"]
    *_, again = compile_in(tmp_path / "repo", "build").objects
    assert again["metadata"]["name"] == name


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_dump_that_is_cut_off_writes_nothing(form: str, cut: float, tmp_path: Path) -> None:
    trees = [served({**JOBSET, "metadata": {"name": f"bert-{number}", "namespace": "nlp"}}) for number in range(9)]
    whole = {"apiVersion": "v1", "items": trees, "kind": "List", "metadata": {"resourceVersion": ""}}
    text = json.dumps(whole, indent=4)
    if form == "yaml":
        text = "apiVersion: v1\nitems:\n" + "".join(
            "- " + dump(tree).replace("\n", "\n  ").rstrip(" ") for tree in trees
        )
        text += "kind: List\n"
    run, _ = adopt(tmp_path, text[: int(len(text) * cut)])
    assert run.code in {1, 2}
    assert run.out == ""
    assert "cut off" in run.err or "not a complete JSON document" in run.err or "cannot be read" in run.err
    assert not (tmp_path / "repo").exists()


def test_objects_of_two_clusters_are_not_mixed(tmp_path: Path) -> None:
    one = served(JOBSET)
    other = {**one, "metadata": {**one["metadata"], "uid": "of-another-cluster"}}
    run, _ = adopt(tmp_path, as_list([one, other]))
    assert run.code == 1
    assert "these are objects of two clusters" in run.err
    assert not (tmp_path / "repo").exists()


def test_each_cluster_has_its_own_jobs_and_shares_equal_runtimes(tmp_path: Path) -> None:
    objects = trained(next(name for name in TRAINED if name.startswith("torch/")))
    round_trip(tmp_path, objects)
    shared = round_trip(tmp_path, objects, "--cluster", "eu")
    (runtime,) = [one for one in shared["adopted"] if "Runtime" in one["kind"]]
    assert (runtime["file"].partition("/")[0], runtime["state"]) == ("runtimes", "unchanged")
    other = json.loads(json.dumps(objects))
    for tree in other:
        if "Runtime" in tree["kind"]:
            tree["metadata"]["labels"] = {"edition": "us"}
    before = files(tmp_path / "repo")
    run, _ = adopt(tmp_path, as_list(other), "--cluster", "us")
    assert (run.code, run.out) == (1, "")
    assert f"{runtime['file']} differs from the one of cluster `us`" in run.err
    assert files(tmp_path / "repo") == before
    again = compile_in(tmp_path, "adopt", "repo", stdin=as_list(other))
    assert f"kept, although the cluster differs: {runtime['file']}" in again.out
    check = compile_in(tmp_path / "repo", "build", "--check")
    assert check.code == 0, check.err


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    round_trip(tmp_path, [served(JOBSET)])
    file = tmp_path / "repo/jobs/main/nlp/bert.jobset.yaml"
    rendered = tmp_path / "repo/rendered/main/nlp/bert.yaml"
    rendered.unlink()
    file.write_text(file.read_text("utf-8") + "# ours\n")
    before = files(tmp_path / "repo")
    run = compile_in(tmp_path, "adopt", "repo", stdin=as_list([served(JOBSET)]))
    assert "kept, although the cluster differs: jobs/main/nlp/bert.jobset.yaml" in run.out
    assert files(tmp_path / "repo") == before


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/jobs").symlink_to(tmp_path / "elsewhere")
    run, _ = adopt(tmp_path, as_list([served(JOBSET)]))
    assert run.code == 2
    assert "leads out of repo" in run.err
    assert files(tmp_path / "elsewhere") == {}


NAMES = st.sampled_from(["bert", "con", "a:b", "x" * 300, "..", "Ünï", ""])
TREES = st.builds(
    lambda kind, name, space, owner, uid, status: {
        "apiVersion": kind[0],
        "kind": kind[1],
        "metadata": {
            "name": name,
            **({"namespace": space} if space else {}),
            **({"uid": uid} if uid else {}),
            **({"ownerReferences": [{"controller": True, "kind": owner, "name": "x", "uid": uid}]} if owner else {}),
        },
        "spec": JOBSET["spec"],
        **({"status": status} if status else {}),
    },
    st.sampled_from(
        [
            ("jobset.x-k8s.io/v1alpha2", "JobSet"),
            ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
            ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"),
            ("kubeflow.org/v1", "PyTorchJob"),
            ("kubeflow.org/v1", "MXJob"),
            ("batch/v1", "Job"),
            ("ray.io/v1", "RayCluster"),
            ("v1", "Pod"),
            ("v1", "Secret"),
            ("example.com/v1", "Widget"),
        ]
    ),
    NAMES,
    st.sampled_from(["", "nlp", "../up", "aux"]),
    st.sampled_from(["", "", "TrainJob", "JobSet", "Deployment"]),
    st.sampled_from(["", "1"]),
    st.sampled_from([None, RUNNING, SUCCEEDED, FAILED]),
)


@settings(max_examples=40)
@given(trees=st.lists(TREES, max_size=12), nested=st.booleans())
def test_every_object_is_written_or_left_out_with_a_reason(
    trees: list[Tree], nested: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    dumped = sort_objects(trees)
    assert len(dumped.jobs) + len(dumped.runtimes) + len(dumped.left) == len(trees)
    assert all(one.reason for one in dumped.left)
    if dumped.mixed or not trees:
        return
    folder = tmp_path_factory.mktemp("any")
    objects = [{"kind": "List", "apiVersion": "v1", "items": trees}] if nested else trees
    run, report = adopt(folder, as_list(objects))
    assert run.code == 0, run.err
    assert report["objects"] == len(trees) == len(report["adopted"]) + len(report["leftOut"])
    present = files(folder / "repo")
    assert len({one["file"] for one in report["adopted"]}) == len(report["adopted"])
    assert all(one["file"] in present for one in report["adopted"])
    assert all(one["reason"] for one in report["leftOut"])


def test_usage(tmp_path: Path) -> None:
    assert compile_in(tmp_path, "adopt").code == 2
    assert compile_in(tmp_path, "adopt", "repo", "missing.yaml").code == 2
    assert compile_in(tmp_path, "adopt", "repo", "--cluster", "../x", stdin=as_list([])).code == 2
    assert compile_in(tmp_path, "adopt", "repo", stdin="").code == 2
    assert not (tmp_path / "repo").exists()
