"""Clusters of a project: dumps, paths, and what is known of them."""

from pathlib import Path

import pytest

from tests import repository
from tests.compiling import compile_in
from tests.repository import job, write
from trainc.compiler import pipeline
from trainc.compiler.project import find_root, fits, open_project
from trainc.compiler.project.dumps import read_dumps
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import plain, value

TWO = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  clusters:
    eu: {paths: ["jobs/eu/*"], queue: one}
    us: {paths: ["jobs/us/*", jobs/both.yaml]}
"""
DUMPS = """\
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: LocalQueue
  metadata: {name: a, namespace: nlp, uid: x, resourceVersion: "1", managedFields: [], labels: {team: nlp}}
  status: {pendingWorkloads: 1}
- apiVersion: scheduling.k8s.io/v1
  kind: PriorityClass
  metadata: {name: high, creationTimestamp: null, generation: 1, selfLink: /x}
  value: 10
"""


def test_dumps_are_known_by_kind_and_name_without_what_servers_write(tmp_path: Path) -> None:
    write(tmp_path, {"lab/all.yaml": DUMPS, "lab/notes.txt": "nothing"})
    report = Report()
    found = read_dumps(str(tmp_path), "lab", report)
    assert report.findings == []
    queue = found["objects"]["LocalQueue"]["nlp/a"]
    assert plain(queue["metadata"]) == {"name": "a", "namespace": "nlp", "labels": {"team": "nlp"}}
    assert "status" not in queue
    assert value(found["objects"]["PriorityClass"]["high"], "value") == 10


@pytest.mark.parametrize(
    ("kind", "namespace", "names"),
    [
        ("LocalQueue", "nlp", ["a"]),
        ("LocalQueue", "vision", []),
        ("PriorityClass", "", ["high"]),
        ("StorageClass", "", None),
    ],
)
def test_what_nobody_listed_is_not_known(kind: str, namespace: str, names: list[str] | None, tmp_path: Path) -> None:
    write(tmp_path, {"lab/all.yaml": DUMPS})
    cluster = Cluster(**read_dumps(str(tmp_path), "lab", Report()))
    assert cluster.names(kind, namespace) == names


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("jobs/eu/bert.yaml", ["eu"]),
        ("jobs/eu/deep/bert.yaml", ["eu"]),
        ("jobs/both.yaml", ["us"]),
        ("jobs/bert.yaml", []),
        ("Jobs/eu/bert.yaml", []),
    ],
)
def test_paths_hold_files(file: str, names: list[str], tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO})
    project = open_project((str(tmp_path),), Report())
    assert [cluster.name for cluster in project.holders[file]] == names


def test_what_is_set_for_a_run_counts_for_every_cluster(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO})
    queue = Sourced("two", Origin(by="--set"))
    project = open_project((str(tmp_path),), Report(), {"queue": queue})
    assert [cluster.queue for cluster in project.clusters] == [queue, queue]


def test_a_project_starts_where_its_file_is(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO, "jobs/eu/a.yaml": job("a")})
    assert find_root(str(tmp_path / "jobs/eu/a.yaml")) == (str(tmp_path), True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apiVersion: trainc.dev/v1\nkind: Project\n", "`trainc.dev/v1, Project`"),
        ("apiVersion: trainc.dev/v1alpha1\nkind: Runtime\n", "`trainc.dev/v1alpha1, Runtime`"),
        ("spec: {}\n", "`no apiVersion, no kind`"),
    ],
)
def test_a_file_that_is_no_project(tmp_path: Path, text: str, said: str) -> None:
    report = Report()
    write(tmp_path, {"trainc.yaml": text})
    open_project((str(tmp_path),), report)
    assert report.findings[0].message == f"trainc.yaml is not a project: {said}"
    assert report.findings[0].help == "write `apiVersion: trainc.dev/v1alpha1` and `kind: Project`"


def test_one_stream_does_not_mix_clusters(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO, "jobs/eu/a.yaml": job("a")})
    done = compile_in(tmp_path, "build", ".")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err
        == "trainc: standard output cannot mix the clusters eu, us; add --cluster NAME, or -o DIR for all of them\n"
    )


def test_what_is_wrong_with_a_job_of_several_clusters_concerns_that_job_alone(tmp_path: Path) -> None:
    files = {"jobs/eu/a.yaml": job("a"), "jobs/us/b.yaml": job("b"), "other/lone.yaml": job("lone")}
    write(tmp_path, {"trainc.yaml": TWO, **files})
    done = compile_in(tmp_path, "validate", ".")
    assert done.code == 1
    assert done.err.count("error[unbound-job]") == 1
    assert "reaches" not in done.err


def test_a_cluster_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO, "jobs/eu/a.yaml": job("a")})
    done = compile_in(tmp_path, "build", ".", "--cluster", "uss")
    assert done.code == 2
    assert done.err == "trainc: unknown cluster `uss`; did you mean `us`? clusters of this project: eu, us\n"


def test_dumps_are_no_input_of_a_run(tmp_path: Path) -> None:
    project = TWO.replace("queue: one", "folder: clusters/eu")
    dump = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: llm}\nspec: {odd: 1}\n"
    write(tmp_path, {"trainc.yaml": project, "clusters/eu/all.yaml": dump})
    done = compile_in(tmp_path, "validate", ".")
    assert (done.code, done.err) == (0, "warning: no training job under `.`\n0 jobs, no errors\n")


def test_an_annotation_that_is_no_text_is_for_the_schema_to_refuse(tmp_path: Path) -> None:
    text = job("a").replace("  namespace:", "  annotations: {trainc.dev/cluster: {eu: us}}\n  namespace:")
    write(tmp_path, {"job.yaml": text})
    done = compile_in(tmp_path, "validate", "job.yaml")
    assert done.code == 1
    assert "error[undecodable]" in done.err


SILENTLY = [
    ("  outpt: x\n", "3:3", "unknown setting `outpt`", "did you mean `output`?"),
    ("  output: [rendered]\n", "3:11", "`output` must be one name", "write one word after `output:`, as a string"),
    ("  delivery: {}\n", "3:13", "`delivery` must be one name", "write one word after `delivery:`, as a string"),
    ("  runtimes: base\n", "3:13", "`runtimes` must be a list of folders", "write one folder after each `-`"),
    ("  clusters:\n  - eu: {}\n", "4:3", "`clusters` must be a mapping", "indent its settings below it"),
    ("  clusters:\n    eu: {quue: x}\n", "4:10", "unknown setting `quue`", "did you mean `queue`?"),
]


@pytest.mark.parametrize(("spec", "place", "message", "help_"), SILENTLY, ids=[spec.strip() for spec, *_ in SILENTLY])
def test_no_setting_is_ignored(spec: str, place: str, message: str, help_: str, tmp_path: Path) -> None:
    text = f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n{spec}"
    write(tmp_path, {"trainc.yaml": text})
    report = Report()
    open_project((str(tmp_path),), report)
    line, _, column = place.partition(":")
    expected = [(f"trainc.yaml:{int(line) + 1}:{column}", message, help_)]
    assert [(str(one.span), one.message, one.help) for one in report.findings] == expected


RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch, labels: {a: "1", a: "2"}}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {backoffLimit: 0, template: {spec: {containers: [{name: node, image: "example.com/train:1"}]}}}
"""
BOTH = job("both").replace("spec:", '  annotations: {trainc.dev/cluster: "eu,us"}\nspec:', 1)
FILES = {
    "trainc.yaml": TWO,
    "jobs/torch.yaml": RUNTIME,
    "jobs/eu/a.yaml": job("a"),
    "jobs/eu/b.yaml": BOTH,
    "jobs/us/c.yaml": job("c"),
    "jobs/us/d.yaml": "kind: [\n",
    "runtimes/odd.yaml": "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nmetadata: {name: x}\nspec: {extends: y, z: 1}\n",
}


def ran(folder: Path, *clusters: str) -> tuple[set[str], dict[object, set[str]]]:
    """The bundles of a run for some clusters, and each finding with the jobs that met it."""
    report = Report()
    project = open_project((str(folder),), report)
    made = pipeline.bundles(project, Selection((".",), clusters=clusters), report)
    return {f"{one.cluster}/{one.name}" for one in made}, {
        finding.identity(): report.reached.get(finding.identity(), set()) for finding in report.findings
    }


def test_a_run_for_all_clusters_finds_what_runs_for_each_of_them_do(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    (all_made, all_met), (eu_made, eu_met), (us_made, us_met) = (
        ran(tmp_path, *clusters) for clusters in (("eu", "us"), ("eu",), ("us",))
    )
    assert all_made == eu_made | us_made == {"eu/a", "eu/both", "us/both", "us/c"}
    assert len(all_met) > 1
    assert all_met == {key: eu_met.get(key, set()) | us_met.get(key, set()) for key in {**eu_met, **us_met}}


@pytest.mark.parametrize(
    ("setting", "place", "message"),
    [
        ("images: {registries: {docker.io: 5}}", "5:34", "`docker.io` gets one registry"),
        ("images: {registries: {docker.io: [a, b]}}", "5:34", "`docker.io` gets one registry"),
        ("images: {registries: {docker.io: null}}", "5:34", "`docker.io` gets one registry"),
        ('images: {registries: {docker.io: ""}}', "5:34", "`docker.io` gets one registry"),
        ("images: {digests: {train:1: {a: b}}}", "5:29", "`train:1` gets one digest"),
        ("images: {registries: {docker.io: 'https://a'}}", "5:34", "`https://a` is not a prefix of an image's name"),
        ("patch: {mlPolcy: {numNodes: 1}}", "5:9", "unknown setting `mlPolcy` of a patch"),
        ("patch: {template: {$patch: [a]}}", "5:28", "`$patch` must be one word"),
        (
            "patch: {template: {spec: {replicatedJobs: [{name: a, $patch: {a: b}}]}}}",
            "5:62",
            "`$patch` must be one word",
        ),
    ],
)
def test_what_a_cluster_cannot_use_is_said(setting: str, place: str, message: str, tmp_path: Path) -> None:
    text = f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {{clusters: {{a: {{\n\n{setting}}}}}}}\n"
    write(tmp_path, {"trainc.yaml": text})
    report = Report()
    open_project((str(tmp_path),), report)
    assert [(f"{one.span.line}:{one.span.column}", one.message) for one in report.findings] == [(place, message)]


@pytest.mark.parametrize("name", ['""', '","', '" "'])
def test_an_annotation_that_names_no_cluster_binds_nobody(name: str, tmp_path: Path) -> None:
    annotated = job("bert").replace("spec:", f"  annotations: {{trainc.dev/cluster: {name}}}\nspec:", 1)
    write(tmp_path, {"trainc.yaml": TWO, "jobs/eu/bert.yaml": annotated})
    done = compile_in(tmp_path, "validate", ".")
    assert done.code == 1
    assert [(one.rule.name, one.help) for one in done.findings] == [
        ("unbound-job", "name one of eu, us, or remove the annotation")
    ]


@pytest.mark.parametrize(
    ("patch", "place"),
    [
        ("mlPolicy: []", "6:25"),
        ("mlPolicy: {numNods: 1}", "6:26"),
        ("template: {spec: {zork: {a: b}}}", "6:33"),
    ],
)
def test_what_is_wrong_in_a_patch_stands_in_the_patch(patch: str, place: str, tmp_path: Path) -> None:
    text = f"apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters:\n    eu:\n      patch: {{{patch}}}\n"
    write(tmp_path, {"trainc.yaml": text, "runtimes/torch.yaml": repository.RUNTIME, "jobs/bert.yaml": job("bert")})
    errors = [one for one in compile_in(tmp_path, "validate", ".").findings if one.level == "error"]
    assert {f"{one.span.file} {one.span.line}:{one.span.column}" for one in errors} == {f"trainc.yaml {place}"}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("trainc>=0.1", True),
        ("trainc>=0.1.0", True),
        ("trainc >= 0.1", True),
        ("trainc>0.1", False),
        ("trainc>=0.1,<0.2", True),
        ("trainc>=0.2,<0.3", False),
        ("trainc==0.1.0", True),
        ("trainc!=0.1", False),
        ("trainc<=0.1.0.0", True),
        ("trainc>=0.10", False),
        ("trainc", None),
        ("trainc~=0.1", None),
        ("trainc>=one", None),
        ("kubectl>=1", None),
        ("", None),
        (f"trainc>={'9' * 5000}", None),
    ],
)
def test_fits(text: str, verdict: bool | None) -> None:
    assert fits(text, "0.1.0") is verdict


@pytest.mark.parametrize("path", ["jobs/us/b.yaml", "other/named.yaml"])
def test_a_file_of_one_cluster_is_printed_for_that_one(path: str, tmp_path: Path) -> None:
    named = job("named").replace("metadata:\n", "metadata:\n  annotations: {trainc.dev/cluster: us}\n")
    write(
        tmp_path,
        {"trainc.yaml": TWO, "jobs/us/b.yaml": job("b"), "other/named.yaml": named, "runtimes/torch.yaml": RUNTIME},
    )
    done = compile_in(tmp_path, "build", path)
    assert done.code == 0, done.err
    assert [made["metadata"]["name"] for made in done.objects if made["kind"] == "JobSet"] == [Path(path).stem]
    assert done.out == compile_in(tmp_path, "build", path, "--cluster", "us").out


def test_files_of_two_clusters_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": TWO, "jobs/eu/a.yaml": job("a"), "jobs/us/b.yaml": job("b")})
    done = compile_in(tmp_path, "build", "jobs/eu/a.yaml", "jobs/us/b.yaml")
    assert (done.code, done.out) == (2, "")
