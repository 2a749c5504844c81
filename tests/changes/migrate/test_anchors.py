"""Anchors, aliases and merge keys in files that are migrated: kept where both ends stay in one document, else written out."""

import random
import re
from typing import Any

import pytest
import yaml

from tests.changes.migrate.test_round_trip import older
from tests.sampling import sampled
from trainc.changes.migrate import migrate
from trainc.changes.migrate.placed_text import says

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: demo}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        spec:
          containers:
            - name: pytorch
              image: &image registry.example/train:1  # the image
              command: [python, train.py]
              env: &variables  # all of them
                - name: FIRST
                  value: "1"  # one
                - name: IMAGE
                  value: *image  # again
                - {name: SAME, value: *image}  # once more
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - name: pytorch
              image: *image
              command: [python, train.py]
              env: *variables
"""
MERGED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: demo, namespace: team}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    metadata:
      labels: &labels
        team: speech  # ours
    spec:
      restartPolicy: Never
      nodeSelector:
        <<: *labels  # merged
        zone: a
      containers:
        - name: main
          image: registry.example/train:1
          command: [python, train.py]
          resources:
            limits: &limits {nvidia.com/gpu: 8}  # all
            requests: *limits
"""


def test_an_alias_stays_where_its_anchor_does() -> None:
    # All anchors were written out, and the comment beside the item in braces went to the top of the file.
    lines = [line.strip() for line in migrate(JOB).text.splitlines()]
    assert "image: &image registry.example/train:1  # the image" in lines
    assert "env:  # all of them" in lines
    assert 'value: "1"  # one' in lines
    assert "value: *image  # again" in lines
    assert "- {name: SAME, value: *image}  # once more" in lines


def test_a_merge_key_stays() -> None:
    text = migrate(MERGED).text
    lines = [line.strip() for line in text.splitlines()]
    assert "<<: *labels  # merged" in lines
    assert "limits: &limits {nvidia.com/gpu: 8}  # all" in lines
    assert "requests: *limits" in lines
    assert "team: speech  # ours" in lines


def test_an_alias_is_written_out_where_its_anchor_went() -> None:
    text = JOB.replace("              env: *variables\n", "").replace(
        "image: *image", "image: registry.example/other:1"
    )
    text = text.replace("command: [python, train.py]\n", "command: *command\n")
    text = text.replace("command: *command", "command: &command [python, train.py]", 1)
    done = migrate(text)
    assert not done.problems
    for document in done.text.split("\n---\n"):
        named = set(re.findall(r"(?<=\s)&(\w+)", document))
        assert set(re.findall(r"(?<=\s)\*(\w+)", document)) <= named


_NEW_NAMES = {"resources": "resourcesPerNode", "replicas": "numNodes"}


def _with_anchors(text: str) -> str:
    """The text with an anchor for each value that stands there several times, and comments beside its lines."""
    known: dict[str, Any] = {}

    def shared(value: Any) -> Any:
        if isinstance(value, dict):
            value = {key: shared(held) for key, held in value.items()}
        elif isinstance(value, list):
            value = [shared(held) for held in value]
        else:
            return value
        return known.setdefault(repr(value), value) if value else value

    dumped: str = yaml.safe_dump(shared(yaml.safe_load(text)), sort_keys=False, width=4096)
    lines = dumped.splitlines()
    ends = re.compile(r" *(- )*[\w-]+:( [&*]?[\w./:]+)?")
    return "".join(f"{line}  # c{at}\n" if ends.fullmatch(line) else f"{line}\n" for at, line in enumerate(lines))


def _commented(text: str) -> dict[str, str]:
    """The comments of the test by the key that they stand beside, "" for one on a line of its own."""
    matches = [(line, re.search(r"# c\d+$", line)) for line in text.splitlines()]
    keys = {match[0]: line[: match.start()].strip().lstrip("- ").partition(":")[0] for line, match in matches if match}
    return {comment: _NEW_NAMES.get(key, key) for comment, key in keys.items()}


@pytest.mark.parametrize("seed", sampled(range(60), every=20))
def test_random_jobs(seed: int) -> None:
    plain = older(seed).replace("\r\n", "\n")
    ends = random.Random(seed).choice(("\n", "\r\n"))  # noqa: S311 (the same on every run)
    text = _with_anchors(plain).replace("\n", ends)
    done = migrate(text)
    bare = migrate(yaml.safe_dump(yaml.safe_load(plain), sort_keys=False))
    assert not done.problems
    assert says(list(yaml.safe_load_all(done.text)), list(yaml.safe_load_all(bare.text)))  # amounts as they are spelled
    assert migrate(done.text).text == done.text
    assert done.text.count("\r\n") == (done.text.count("\n") if ends == "\r\n" else 0)
    before, after = _commented(text), _commented(done.text)
    assert before.keys() == after.keys()
    assert {comment: key for comment, key in after.items() if key} == {
        comment: before[comment] for comment, key in after.items() if key
    }


BEHIND = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: demo}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - name: pytorch
              image: registry.example/train:1
              command: [torchrun, train.py]
              env:
                - name: FIRST
                  value: "1"
                # behind the variables
              volumeMounts:
                - name: data
                  mountPath: /data
                # behind the mounts
              # behind the fields of the container
            # behind the containers
          volumes:
            - name: data
              emptyDir: {}
            # behind the volumes
"""


def test_a_comment_behind_the_last_item_stays_behind_it() -> None:
    # It stood behind what the migration adds to the list, or also beside variables of the operator in the runtime.
    lines = [line.strip() for line in migrate(BEHIND).text.splitlines()]
    above = {line: lines[index - 1] for index, line in enumerate(lines) if line.startswith("# behind")}
    assert above == {
        "# behind the variables": 'value: "1"',
        "# behind the mounts": "mountPath: /data",
        "# behind the fields of the container": "# behind the mounts",
        "# behind the containers": "protocol: TCP",
        "# behind the volumes": "emptyDir: {}",
    }
    assert len([line for line in lines if line.startswith("#")]) == len(above)
