"""What a cluster makes of the images of its pods."""

import pytest

from trainc.compiler.lower import wished
from trainc.model.sourced import Origin, Sourced, Span

PIN = "sha256:" + "ab" * 32
OTHER = "sha256:" + "cd" * 32
IMAGES = {
    "registries": {
        "registry.example.com": "mirror.example.com/all/",
        "registry.example.com/team": "mirror.example.com/team",
        "docker.io": "hub.example.com",
        "localhost:5000": "local.example.com",
    },
    "digests": {"registry.example.com/train:1.0": PIN, "python:3.13": OTHER},
}


def said(text: str, line: int = 1) -> Sourced[str]:
    return Sourced(text, Origin(Span("trainc.yaml", line, 1, line, 9)))


WANTED = {
    part: {name: said(text, line) for line, (name, text) in enumerate(names.items(), 2)}
    for part, names in IMAGES.items()
}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("registry.example.com/train:2.0", "mirror.example.com/all/train:2.0"),
        ("registry.example.com/team/bert:1", "mirror.example.com/team/bert:1"),
        ("registry.example.com/teams/bert:1", "mirror.example.com/all/teams/bert:1"),
        ("registry.example.com.evil.org/bert:1", "registry.example.com.evil.org/bert:1"),
        ("python:3.12", "hub.example.com/library/python:3.12"),
        ("pytorch/pytorch:2.8.0", "hub.example.com/pytorch/pytorch:2.8.0"),
        ("docker.io/pytorch/pytorch:2.8.0", "hub.example.com/pytorch/pytorch:2.8.0"),
        ("localhost:5000/bert", "local.example.com/bert"),
        ("ghcr.io/kubeflow/trainer:v2", "ghcr.io/kubeflow/trainer:v2"),
        ("registry.example.com/train:1.0", f"mirror.example.com/all/train:1.0@{PIN}"),
        ("python:3.13", f"hub.example.com/library/python:3.13@{OTHER}"),
        (f"registry.example.com/train:1.0@{OTHER}", f"mirror.example.com/all/train:1.0@{OTHER}"),
    ],
)
def test_an_image_gets_its_digest_and_then_its_registry(written: str, wanted: str) -> None:
    assert wished(said(written), WANTED).value == wanted


def test_an_image_that_the_cluster_leaves_alone_is_the_same_leaf() -> None:
    leaf = said("ghcr.io/kubeflow/trainer:v2")
    assert wished(leaf, WANTED) is leaf
    assert wished(leaf, {}) is leaf


def test_the_result_rests_on_the_image_the_digest_and_the_registry() -> None:
    leaf = Sourced("registry.example.com/train:1.0", Origin(Span("job.yaml", 7, 1, 7, 9)))
    places = {(span.file, span.line) for span in wished(leaf, WANTED).origin.spans()}
    assert places == {("job.yaml", 7), ("trainc.yaml", 2)}
