"""A compilation in a notebook: everything of it, and nothing that a browser obeys."""

from html.parser import HTMLParser

import trainc

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: research}
spec:
  runtimeRef: {name: torch-distributed}
  trainer: {numNodes: 2, env: [{name: A, value: "<script>alert(1)</script>"}]}
"""


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs == []
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_objects_and_manifests() -> None:
    result = trainc.compile(trainc.TrainJob.from_yaml(JOB))
    shown = _Tags(result._repr_html_())
    assert {"JobSet", "research/bert", result.to_yaml()} <= set(shown.texts)
    assert "script" not in shown.tags
    assert "| `JobSet` | research/bert |" in result._repr_markdown_()


def test_a_notebook_shows_findings_with_their_place() -> None:
    job = trainc.TrainJob.from_yaml(JOB.replace("name: A", "name: PET_NNODES"))
    result = trainc.compile(job)
    assert not result.ok
    texts = _Tags(result._repr_html_()).texts
    assert {"error", "reserved-env"} <= set(texts)
    assert "`reserved-env`" in result._repr_markdown_()
