"""What jobs name: the same set of objects on both routes, each once, owned and kept as rendered files are."""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.claims import CLAIM, RENDERED, mounting, patched
from tests.compiling import ROOT, compile_in
from tests.repository import Repository, commit_all, job

KUBECTL = shutil.which("kubectl")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "repository").mkdir()
    made = Repository(tmp_path / "repository")
    for name in ("bert", "line"):
        made.write(f"jobs/{name}.yaml", mounting(name))
    made.write("shared/claims.yaml", CLAIM.format(name="data", namespace="research"))
    return made


def build(repository: Repository, *arguments: str) -> str:
    done = repository.run("build", *arguments, "--quiet")
    assert done.code == 0, done.err
    return done.err


def test_a_text_that_names_no_object_reads_no_file_of_the_repository(repository: Repository) -> None:
    """Files are looked into for the objects that jobs name, and for nothing else; here one is too large to be read."""
    with (repository.folder / "shared/large.yaml").open("wb") as stream:
        stream.truncate((64 << 20) + 1)
    (repository.folder / "runtimes").mkdir(exist_ok=True)
    for command in ("validate", "build"):
        assert compile_in(repository.folder, command, "-", stdin=job("alone")).code == 0
        named = compile_in(repository.folder, command, "-", stdin=mounting("alone"))
        assert (named.code, named.err) == (2, "trainc: shared/large.yaml: larger than 64 MiB, the limit for a spec\n")


def test_a_claim_of_several_jobs_is_rendered_once(repository: Repository) -> None:
    build(repository, "-w")
    files = repository.rendered()
    assert sorted(files) == ["research/bert.yaml", "research/line.yaml", RENDERED]
    assert files[RENDERED].startswith("# trainc: from shared/claims.yaml job=")
    assert "Prune=false,Delete=false" in files[RENDERED]
    assert "kustomize.toolkit.fluxcd.io/prune: disabled" in files[RENDERED]
    build(repository, "--check")
    repository.write(f"rendered/{RENDERED}", files[RENDERED].replace("1Ti", "2Ti"))
    assert "was changed by hand" in repository.run("build", "--check").err


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter(repository: Repository) -> None:
    for number in range(6):
        repository.write(f"jobs/job-{number}.yaml", mounting(f"job-{number}"))
    build(repository, "-o", "one", "--jobs", "1")
    build(repository, "-o", "two", "--jobs", "2")
    one, two = (sorted((repository.folder / name).rglob("*.yaml")) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert len(one) == 9
    stream = repository.run("build", "--jobs", "2")
    assert stream.out == repository.run("build", "--jobs", "1").out
    assert [tree["kind"] for tree in stream.objects].count("PersistentVolumeClaim") == 1


def test_one_job_alone_removes_nothing_that_others_name(repository: Repository) -> None:
    build(repository, "-w")
    before = repository.rendered()
    repository.write("jobs/bert.yaml", job("bert"))
    build(repository, "-w", "jobs/bert.yaml", "--rerender", "bert")
    build(repository, "-w", "shared", "jobs/bert.yaml", "--rerender", "bert")
    after = repository.rendered()
    assert after[RENDERED] == before[RENDERED]
    build(repository, "--check")


def test_a_claim_that_nobody_names_any_more_is_said(repository: Repository) -> None:
    build(repository, "-w")
    for name in ("bert", "line"):
        repository.write(f"jobs/{name}.yaml", job(name))
    checked = repository.run("build", "--check", "--rerender", "all")
    assert checked.code == 1
    assert f"`rendered/{RENDERED}` is left over: no job references it" in checked.err
    done = repository.run("build", "-w", "--rerender", "all")
    assert f"removed rendered/{RENDERED}: no job references it; the PVC in the cluster stays" in done.err
    assert sorted(repository.rendered()) == ["research/bert.yaml", "research/line.yaml"]


def test_a_claim_whose_source_is_gone_is_removed(repository: Repository) -> None:
    build(repository, "-w")
    (repository.folder / "shared/claims.yaml").unlink()
    done = repository.run("build", "-w")
    assert f"removed rendered/{RENDERED}: shared/claims.yaml is gone; the PVC in the cluster stays" in done.err


def test_a_run_that_keeps_its_rendering_keeps_its_claim(repository: Repository) -> None:
    runtime = repository.read("runtimes/torch.yaml")
    mount = "                  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n                  containers:"
    repository.write("runtimes/torch.yaml", runtime.replace("                  containers:", mount))
    for name in ("bert", "line"):
        repository.job(name)
    build(repository, "-w")
    commit_all(repository.folder)
    repository.write("runtimes/torch.yaml", runtime)
    done = repository.run("build", "-w")
    assert done.code == 0
    assert "2 runs keep their rendering" in done.err
    assert RENDERED in repository.rendered()


def kustomized(repository: Repository) -> list[str]:
    """Kind and name of what kustomize reads from the rendered files, as Flux has it."""
    top = repository.folder / "rendered"
    files = sorted(str(path.relative_to(top)) for path in top.rglob("*.yaml"))
    (top / "kustomization.yaml").write_text(yaml.safe_dump({"resources": files}))
    done = subprocess.run([str(KUBECTL), "kustomize", "."], cwd=top, capture_output=True, text=True, check=False)
    (top / "kustomization.yaml").unlink()
    assert done.returncode == 0, done.stderr
    return sorted(f"{tree['kind']} {tree['metadata']['name']}" for tree in yaml.safe_load_all(done.stdout))


@pytest.mark.skipif(not KUBECTL, reason="no kubectl here")
def test_kustomize_takes_the_files_of_kept_runs(repository: Repository) -> None:
    policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: net, namespace: research}\n"
    beside = f"---\n{CLAIM.format(name='own', namespace='research')}---\n{policy}"
    repository.write("jobs/bert.yaml", mounting("bert", "own") + beside)
    build(repository, "-w")
    assert "kind: PersistentVolumeClaim" in repository.rendered()["research/bert.yaml"]
    commit_all(repository.folder)
    repository.setting("oldRun: keep")
    repository.write("jobs/bert.yaml", mounting("bert", "own", run="2") + beside)
    assert repository.run("build", "--check").code == 1
    build(repository, "-w")
    build(repository, "--check")
    assert kustomized(repository) == [
        "JobSet bert",
        "JobSet bert-r2",
        "JobSet line",
        "NetworkPolicy net",
        "PersistentVolumeClaim data",
        "PersistentVolumeClaim own",
        "Service bert",
        "Service bert-r2",
        "Service line",
    ]


def test_the_nearest_object_counts(repository: Repository) -> None:
    near = CLAIM.format(name="data", namespace="research").replace("1Ti", "3Ti")
    repository.write("jobs/claims.yaml", near)
    build(repository, "-w")
    assert "storage: 3Ti" in repository.rendered()[RENDERED]


def test_two_objects_of_one_name_are_an_error(repository: Repository) -> None:
    repository.write("other/claims.yaml", CLAIM.format(name="data", namespace="research").replace("1Ti", "3Ti"))
    done = repository.run("build", "-w")
    assert done.code == 1
    assert "error[same-name]: PersistentVolumeClaim `data` exists twice, and a job refers to it" in done.err
    assert repository.rendered() == {}
    local = "metadata:\n  annotations: {config.kubernetes.io/local-config: 'true'}\n"
    repository.change("other/claims.yaml", "metadata:\n", local)
    build(repository, "-w")
    repository.write("other/claims.yaml", CLAIM.format(name="data", namespace="elsewhere"))
    build(repository, "--check")


def test_what_shares_a_file_with_a_job_goes_out_with_it(repository: Repository) -> None:
    text = repository.read("jobs/bert.yaml")
    repository.write("jobs/bert.yaml", f"{text}---\n{repository.read('shared/claims.yaml')}")
    (repository.folder / "shared/claims.yaml").unlink()
    build(repository, "-w")
    files = repository.rendered()
    assert sorted(files) == ["research/bert.yaml", "research/line.yaml"]
    assert "kind: PersistentVolumeClaim" in files["research/bert.yaml"]
    build(repository, "-w", "jobs/line.yaml")
    assert repository.rendered() == files


def test_a_text_that_seems_to_hold_the_object_must_be_readable(repository: Repository) -> None:
    repository.write("shared/claims.yaml", "kind: PersistentVolumeClaim\nmetadata:\n  name: data\n  labels: [\n")
    done = repository.run("build", "-w")
    assert done.code == 1
    assert "shared/claims.yaml:" in done.err
    repository.write("shared/claims.yaml", "kind: PersistentVolumeClaim\nmetadata:\n  name: data\n  labels: {{ x }\n")
    build(repository, "-w")


def test_what_an_account_names_comes_along(repository: Repository) -> None:
    repository.write("jobs/bert.yaml", patched("bert", "serviceAccountName: trainer"))
    repository.write(
        "shared/accounts.yaml",
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: trainer, namespace: research}\n"
        "imagePullSecrets: [{name: registry}]\n---\n"
        "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: sealed, namespace: research}\n"
        "spec: {template: {metadata: {name: registry}}}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nobody, namespace: research}\n",
    )
    build(repository, "-w")
    assert {"research/serviceaccount.trainer.yaml", "research/sealedsecret.sealed.yaml"} < set(repository.rendered())
    assert not any("nobody" in text for text in repository.rendered().values())


def test_the_namespace_of_the_cluster_is_that_of_the_object(repository: Repository) -> None:
    repository.setting("clusters: {east: {namespace: team}}")
    for name in ("bert", "line"):
        repository.change(f"jobs/{name}.yaml", "  namespace: research\n", "")
    repository.change("shared/claims.yaml", "  namespace: research\n", "")
    build(repository, "-w")
    claim = yaml.safe_load(repository.rendered()["east/team/persistentvolumeclaim.data.yaml"])
    assert claim["metadata"]["namespace"] == "team"


def test_a_claim_of_the_project_is_known_where_the_cluster_lists_its_claims(repository: Repository) -> None:
    repository.setting("clusters: {east: {folder: dumps}}")
    repository.write("dumps/claims.yaml", CLAIM.format(name="other", namespace="research"))
    assert "neither with this job nor in the cluster" not in repository.run("build", "jobs/bert.yaml").err
    (repository.folder / "shared/claims.yaml").unlink()
    assert "neither with this job nor in the cluster" in repository.run("build", "jobs/bert.yaml").err


def test_a_name_leads_to_no_other_folder(repository: Repository) -> None:
    repository.write("jobs/bert.yaml", patched("bert", "serviceAccountName: ../../x"))
    text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: ../../x, namespace: research}\n"
    repository.write("shared/accounts.yaml", text)
    repository.run("build", "-w")
    assert not list(repository.folder.parent.glob("x.yaml"))
    assert not list((repository.folder / "rendered").glob("x.yaml"))


def test_why_follows_the_file_of_an_object(repository: Repository) -> None:
    build(repository, "-w")
    done = repository.run("why", f"rendered/{RENDERED}", "spec.accessModes")
    assert done.code == 0, done.err
    assert "shared/claims.yaml:7" in done.out
    lines = repository.rendered()[RENDERED].splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "prune: disabled" in text)
    assert "a claim outlives its job" in repository.run("why", f"rendered/{RENDERED}:{line}").out


def test_the_server_has_to_send_what_jobs_name(repository: Repository) -> None:
    assert repository.run("cmp", "paths", "jobs").out == ".;/trainc.yaml;/runtimes;/shared/claims.yaml\n"


@pytest.mark.slow
def test_the_hook_sees_what_the_commit_leaves_out(repository: Repository) -> None:
    def git(*arguments: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *name, *arguments], cwd=repository.folder, check=True, capture_output=True)

    git("init", "-q")
    build(repository, "-w")
    git("add", "-A", ":!rendered/research/persistentvolumeclaim.data.yaml")
    hook = ("build", "--check", "--staged", "--only", "rendered")
    done = repository.run(*hook)
    assert done.code == 1
    assert f"`rendered/{RENDERED}` is rendered, but the commit leaves it out" in done.err
    git("add", "-A")
    assert repository.run(*hook).code == 0
    git("commit", "-qm", "a")
    repository.change("shared/claims.yaml", "1Ti", "2Ti")
    assert repository.run("build", "--check", "--changed-since", "HEAD").code == 1
    assert repository.run("build", "-w", "--changed-since", "HEAD").code == 0
    assert "storage: 2Ti" in repository.rendered()[RENDERED]
    build(repository, "--check")


def test_what_nobody_looked_up_is_counted(repository: Repository) -> None:
    """Only queues and classes were: a Secret with a typing mistake passed for checked."""
    mounts = (
        "volumes: [{name: a, secret: {secretName: keys}}, {name: b, configMap: {name: settings}}, "
        "{name: c, persistentVolumeClaim: {claimName: data}}, {name: d, persistentVolumeClaim: {claimName: other}}]"
    )
    repository.write("jobs/bert.yaml", patched("bert", mounts))
    counted = (
        "skipped: whether the ConfigMap exists (1), whether the PersistentVolumeClaim exists (1), "
        "whether the Secret exists (1)\n"
    )
    for words in (("validate", "jobs/bert.yaml"), ("validate",), ("build", "jobs/bert.yaml"), ("build", "-w")):
        for _ in range(2):  # the second run knows what the first one has found
            assert counted in repository.run(*words).err, words
    assert "not checked" not in repository.run("validate", "--closed-world").err
    beside = "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: research}\n---\n"
    repository.write("jobs/bert.yaml", beside + repository.read("jobs/bert.yaml"))
    assert "Secret names" not in repository.run("validate", "jobs/bert.yaml").err


def test_an_object_of_a_name_that_a_job_produces_is_an_error_on_every_route(repository: Repository) -> None:
    """It was replaced by the hostfile, and nothing said so."""
    case = ROOT / "tests/cases/together/same-name/produced-by-a-job/input"
    repository.write("mpi/job.yaml", (case / "job.yaml").read_text("utf-8"))
    build(repository, "-w")
    repository.write("settings/resnet.yaml", (case / "settings.yaml").read_text("utf-8"))
    message = "error[same-name]: ConfigMap `resnet-config` has the name of one that job `resnet` produces"
    routes = (
        ["validate"],
        ["validate", "mpi/job.yaml"],
        ["build", "-w"],
        ["build", "--include-other"],
        ["build", "--check"],
    )
    for route in routes:
        done = repository.run(*route)
        assert (done.code, done.err.count(message)) == (1, 1), route
        assert "rename this ConfigMap, or the job" in done.err
