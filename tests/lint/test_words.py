"""Commands that name a script, in images that hold none."""

import re

import pytest

from tests.compiling import ROOT
from tests.lint.reading import verified
from trainc.lint.rules.commands import LIBRARY_IMAGES

TORCH = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"
JOB = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        template:
          spec:
            containers:
            - {name: node, image: 'IMAGE', command: COMMAND}
            volumes: [{name: v, persistentVolumeClaim: {claimName: v}}]
"""


def is_reported(command: str, image: str = TORCH) -> bool:
    report = verified(JOB.replace("IMAGE", image).replace("COMMAND", command))
    return "script-not-in-image" in {finding.rule.name for finding in report.findings}


@pytest.mark.parametrize(
    "command",
    [
        "[torchrun, train.py]",
        "[torchrun, --nproc-per-node, '8', src/train.py, --lr, '1']",
        "[python, -u, -X, dev, train.py]",
        "[/opt/conda/bin/python3.12, /app/train.py]",
        "[python, -m, torch.distributed.run, train.py]",
        "[mpirun, -n, '4', python, train.py]",
        "[bash, run.sh]",
        "[./run.sh]",
        "[python, train.py], volumeMounts: [{name: v, mountPath: /checkpoints}]",
        "[python, ../app/train.py], volumeMounts: [{name: v, mountPath: /workspace}]",
        "[python, train.py], workingDir: /app, volumeMounts: [{name: v, mountPath: /workspace}]",
    ],
)
def test_scripts_that_a_library_image_lacks(command: str) -> None:
    assert is_reported(command)
    assert not is_reported(command, "registry.example.com/nlp/bert:1.4.0")


@pytest.mark.parametrize(
    "command",
    [
        "[torchrun, -m, train]",
        "[torchrun, --no-python, nvidia-smi]",
        "[python, -c, 'open(\"train.py\")']",
        "[python, -m, timeit, train.py]",
        "[sh, -c, 'git clone https://git.example.com/a && python a/train.py']",
        "[python, /opt/conda/lib/python3.12/site-packages/torch/utils/collect_env.py]",
        "[python, '$(SCRIPT).py']",
        "[python, '${SCRIPT}.py']",
        "[aws, s3, cp, 's3://b/train.py', train.py]",
        "[tune, run, lora.py]",
        "[python, train.py], workingDir: '${CODE}'",
        "[python, train.py], volumeMounts: [{name: v, mountPath: '${CODE}'}]",
        "[python, train.py], lifecycle: {postStart: {exec: {command: [fetch]}}}",
        "[python, train.py], volumeMounts: [{name: v, mountPath: /workspace}]",
        "[python, code/train.py], volumeMounts: [{name: v, mountPath: /workspace/code}]",
        "[python, train.py], workingDir: /app, volumeMounts: [{name: v, mountPath: /app/}]",
    ],
)
def test_commands_that_may_find_their_program(command: str) -> None:
    assert not is_reported(command)


@pytest.mark.parametrize(
    ("image", "reported"),
    [
        ("python", True),
        ("docker.io/library/python:3.13@sha256:" + "0" * 64, True),
        ("tensorflow/tensorflow:2.20.0", True),
        ("tensorflow/tensorflow:2.20.0-jupyter", False),
        ("nvcr.io/nvidia/jax:25.10-maxtext-py3", False),
        ("registry.example.com:5000/pytorch/pytorch:2.13.0", False),
        ("registry.example.com:5000/python", False),
        ("python:${TAG}", False),
    ],
)
def test_which_images_hold_libraries_only(image: str, *, reported: bool) -> None:
    assert is_reported("[python, train.py]", image) is reported


def test_a_mount_hides_a_directory_that_is_not_known() -> None:
    mounted = "[python, train.py], volumeMounts: [{name: v, mountPath: MOUNT}]"
    assert not is_reported(mounted.replace("MOUNT", "/code"), "tensorflow/tensorflow:2.20.0")
    assert is_reported(mounted.replace("MOUNT", "/dev/shm"), "tensorflow/tensorflow:2.20.0")  # noqa: S108 (a path of the pod)


def test_the_images_of_shipped_runtimes_are_known() -> None:
    texts = [path.read_text("utf-8") for path in ROOT.glob("runtimes/*.yaml")]
    images = {image for text in texts for image in re.findall(r"image: ([^\s:]+):", text)}
    assert {image for image in images if not image.endswith("-initializer")} == set(LIBRARY_IMAGES)
