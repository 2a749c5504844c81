"""Two teams, two clusters, the policies of their platform: change, review, promotion, refused edits, the way back."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_story import Story
from trainc.compiler.load.shipped import catalogue

pytestmark = pytest.mark.slow

BERT, PATCH = "jobs/nlp/bert.yaml", "jobs/nlp/bert.prod.yaml"
RUNTIME = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: torch-gpu
spec:
  extends: torch-distributed
  components: [checkpoints]
  locks:
    - path: template.spec.replicatedJobs[node].template.spec.template.spec.nodeSelector
      reason: the pool is shared
  template:
    spec:
      replicatedJobs:
        - name: node
          template: {spec: {template: {spec: {nodeSelector: {pool: gpu}}}}}
"""
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: {team}
  labels: {{owner: ada, cost-centre: {team}}}
  annotations:
    trainc.dev/cluster: "staging,prod"
    checkpoints.trainc.dev/claim: {name}-data
spec:
  runtimeRef:
    name: torch-gpu
  trainer:
    image: registry.example.com/{team}/{name}:1.0.0
    command: [torchrun, /opt/train.py]
    numNodes: 1
    resourcesPerNode:
      limits: {{cpu: "16", memory: 128Gi, nvidia.com/gpu: 4}}
"""
OF_PROD = """\
apiVersion: trainc.dev/v1alpha1
kind: TrainJobPatch
metadata:
  name: {name}
  namespace: {team}
  annotations:
    trainc.dev/cluster: prod
    checkpoints.trainc.dev/claim: {name}-data-large
spec:
  trainer:
    image: registry.example.com/{team}/{name}:1.0.0
    numNodes: {nodes}
"""


def test_story(tmp_path: Path) -> None:
    story = Story(tmp_path)
    _begins(story)
    _changes_staging(story)
    _promotes(story)
    _is_refused(story)
    _goes_back(story)
    _keeps_the_other_team(story)


def _begins(story: Story) -> None:
    """The platform writes clusters, policies and a runtime with a lock; each team a job with a patch."""
    for words in (("--cluster", "staging", "--policies"), ("--cluster", "prod")):
        assert story.trainc("init", "--delivery", "argocd", *words).returncode == 0
    (story.folder / "jobs/hello.yaml").unlink()
    story.change("trainc.yaml", "paths: [jobs/hello.yaml]", "paths: [jobs/staging]")
    story.change("policies/allowed-runtimes.yaml", "training: torch-distributed", "nlp: torch-gpu\n  vision: torch-gpu")
    story.change("policies/allowed-registries.yaml", "values: [training]", "values: [nlp, vision]")
    story.change("policies/accelerators-per-job.yaml", 'training: "64"', 'nlp: "64"\n  vision: "8"')
    story.write("runtimes/torch-gpu.yaml", RUNTIME)
    with open(f"{catalogue()}/components/checkpoints.yaml", encoding="utf-8") as stream:
        story.write("runtimes/components/checkpoints.yaml", stream.read())
    for team, name, nodes in (("nlp", "bert", 16), ("vision", "depth", 2)):
        story.write(f"jobs/{team}/{name}.yaml", JOB.format(team=team, name=name))
        story.write(f"jobs/{team}/{name}.prod.yaml", OF_PROD.format(team=team, name=name, nodes=nodes))
    story.hooks()
    story.builds()
    story.passes()
    assert _jobsets(story) == {
        "staging/nlp/bert": ("bert", 1, "1.0.0", "bert-data"),
        "prod/nlp/bert": ("bert", 16, "1.0.0", "bert-data-large"),
        "staging/vision/depth": ("depth", 1, "1.0.0", "depth-data"),
        "prod/vision/depth": ("depth", 2, "1.0.0", "depth-data-large"),
    }


def _changes_staging(story: Story) -> None:
    """A new image is tried in staging; prod keeps its run, and the review shows one cluster."""
    story.change(BERT, ":1.0.0", ":1.1.0")
    story.fails("error[immutable-change]", "--> jobs/nlp/bert.yaml:14:12")
    done = story.trainc("run", "bert", "--cluster", "staging")
    assert done.returncode == 0, done.stdout
    assert "bert stays in run 1 on prod  jobs/nlp/bert.prod.yaml" in done.stdout
    review = story.trainc("diff", "HEAD").stdout
    assert "staging/nlp/bert-r2" in review
    assert "prod/" not in review
    story.builds()
    story.passes()
    assert _jobsets(story)["staging/nlp/bert"] == ("bert-r2", 1, "1.1.0", "bert-data")
    assert _jobsets(story)["prod/nlp/bert"] == ("bert", 16, "1.0.0", "bert-data-large")


def _promotes(story: Story) -> None:
    """The promotion is one edit of the patch, and one change for who reviews it."""
    story.change(PATCH, "    image: registry.example.com/nlp/bert:1.0.0\n", "")
    review = story.trainc("diff", "HEAD").stdout
    assert review.startswith("-/+ prod/nlp/bert  because of jobs/nlp/bert.prod.yaml\n")
    assert review.count("-/+") == review.count("image of node/node") == 1
    assert "bert:1.0.0 -> registry.example.com/nlp/bert:1.1.0" in review
    story.fails("error[immutable-change]", "`trainc run bert --cluster prod`")
    assert story.trainc("run", "bert", "--cluster", "prod").returncode == 0
    again = story.trainc("run", "bert", "--cluster", "prod")
    assert (again.returncode, "run 3 of bert is not committed yet" in again.stdout) == (2, True)
    story.builds()
    story.passes()
    assert _jobsets(story)["prod/nlp/bert"] == ("bert-r3", 16, "1.1.0", "bert-data-large")


def _is_refused(story: Story) -> None:
    """What a policy, a lock or the patch itself forbids is one error at its line, and nothing is rendered."""
    before = story.rendered()
    patch = "jobs/vision/depth.prod.yaml"
    text = story.read(patch)
    selector = (
        "spec:\n  runtimePatches:\n    - manager: vision.example.com/a\n      trainingRuntimeSpec: {template: {spec: "
        "{replicatedJobs: [{name: node, template: {spec: {template: {spec: {nodeSelector: {pool: mine}}}}}}]}}}\n"
    )
    other = "    trainc.dev/components: checkpoints\nspec:\n  runtimeRef: {name: torch-distributed}\n"
    for old, new, finding, line in (
        ("numNodes: 2", "numNodes: 4", "policy `accelerators-per-job` denies JobSet `depth-r2`", 0),
        ("numNodes: 2", "numNodes: 2\n    image: docker.io/me/depth:1", "policy `allowed-registries` denies Pod", 13),
        ("spec:\n", other, "policy `allowed-runtimes` denies TrainJob", 12),
        ("spec:\n", selector, "error[locked-field]", 13),
        ("depth-data-large", "depth-data-large\n    checkpoints.trainc.dev/size: 1Ti", "error[unknown-parameter]", 10),
        ("numNodes: 2", "numNode: 2", "error[unknown-field]", 12),
        ("cluster: prod", "cluster: production", "error[unknown-cluster]", 7),
    ):
        edited = text.replace("prod\n", 'prod\n    trainc.dev/run: "2"\n').replace(
            "    image: registry.example.com/vision/depth:1.0.0\n", ""
        )
        story.write(patch, edited.replace(old, new))
        done = story.trainc("validate", "--whole-project", patch)
        assert (done.returncode, done.stdout.count("error[")) == (1, 1), done.stdout
        assert finding in done.stdout
        # A sum of accelerators has no line of its own: it is said where one of its parts is written.
        assert f"--> {patch}:{line}:" in done.stdout or not line, done.stdout
        assert story.trainc("build", "-w").returncode == 1
        assert story.rendered() == before
    story.write(patch, text)
    story.git("checkout", "-q", ".")


def _goes_back(story: Story) -> None:
    """The promotion is reverted in Git; the next number starts what ran before."""
    last = story.git("rev-parse", "HEAD").stdout.strip()
    story.git("revert", "--no-commit", last)
    # The rendering came back as well, and the number: the name of the first run would be used again.
    assert story.trainc("build", "--check").returncode == 0
    story.change(PATCH, 'trainc.dev/run: "1"', 'trainc.dev/run: "4"')
    story.builds()
    story.passes()
    assert _jobsets(story)["prod/nlp/bert"] == ("bert-r4", 16, "1.0.0", "bert-data-large")
    assert _jobsets(story)["staging/nlp/bert"] == ("bert-r2", 1, "1.1.0", "bert-data")


def _keeps_the_other_team(story: Story) -> None:
    """Nothing of all this has reached the other team, not even what the platform changed meanwhile."""
    story.change("runtimes/torch-gpu.yaml", "pool: gpu", "pool: h100")
    said = story.builds()
    assert "4 runs keep their rendering" in said
    story.passes()
    assert _jobsets(story)["prod/vision/depth"] == ("depth", 2, "1.0.0", "depth-data-large")
    assert all("pool: gpu\n" in text for text in story.rendered().values())


def _jobsets(story: Story) -> dict[str, tuple[str, int, str, str]]:
    """What stands rendered: by file the run, its pods, the tag of its image and its claim."""
    found = {}
    for file, text in story.rendered().items():
        jobset: Any = next(tree for tree in yaml.safe_load_all(text) if tree["kind"] == "JobSet")
        job = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
        pod = job["template"]["spec"]
        claims = [one["persistentVolumeClaim"]["claimName"] for one in pod["volumes"] if "persistentVolumeClaim" in one]
        tag = pod["containers"][0]["image"].rpartition(":")[2]
        found[file.removesuffix(".yaml")] = (jobset["metadata"]["name"], job["parallelism"], tag, claims[0])
    return found
