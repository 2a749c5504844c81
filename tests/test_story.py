"""One repository from its first minute: what people do, what the hook says, what is committed in the end."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

HELLO, BERT = "main/training/hello.yaml", "main/training/bert.yaml"


class Story(WorkingTree):
    """A work tree that starts empty."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in ("trainc.yaml", "runtimes/torch.yaml"):
            (self.folder / name).unlink()

    def fails(self, *words: str) -> None:
        """A commit that the hooks refuse, with these words."""
        done = self.commit()
        assert done.returncode == 1, done.stdout
        for word in words:
            assert word in done.stdout

    def passes(self) -> None:
        """A commit that the hooks let through, after which everything is current."""
        done = self.commit()
        assert done.returncode == 0, done.stdout
        assert self.trainc("build", "--check", "--staged").returncode == 0
        assert self.git("status", "--porcelain").stdout == ""

    def builds(self) -> str:
        """What `trainc build -w` says."""
        done = self.trainc("build", "-w")
        assert done.returncode == 0, done.stdout
        return done.stdout


def test_story(tmp_path: Path) -> None:
    story = Story(tmp_path)
    _begins(story)
    _gains_a_job(story)
    _edits_a_run(story)
    _edits_a_runtime(story)
    _loses_a_job(story)


def _begins(story: Story) -> None:
    """An empty folder becomes a repository that the hooks let through."""
    assert story.trainc("init", "--delivery", "argocd").returncode == 0
    story.hooks()
    story.fails("`rendered/main/training/hello.yaml` has not been rendered")
    story.builds()
    story.passes()


def _gains_a_job(story: Story) -> None:
    """The hook wants the new job's rendering, and passes with it."""
    job = story.read("jobs/hello.yaml").replace("name: hello", "name: bert")
    story.write("jobs/bert.yaml", job)
    story.fails("`rendered/main/training/bert.yaml` has not been rendered")
    assert "wrote 1, removed 0" in story.builds()
    story.passes()


def _edits_a_run(story: Story) -> None:
    """The hook explains an edit of an immutable field, a build refuses it, and a new run is the way out."""
    story.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 4")
    story.fails("error[immutable-change]", "parallelism: 2 -> 4", 'set `trainc.dev/run: "2"`')
    assert story.trainc("build", "-w").returncode == 1
    story.change("jobs/bert.yaml", "  name: bert\n", '  name: bert\n  annotations:\n    trainc.dev/run: "2"\n')
    story.builds()
    assert story.trainc("build", "--check").returncode == 0
    assert "name: bert-r2\n" in story.rendered()[BERT]
    story.passes()


def _edits_a_runtime(story: Story) -> None:
    """Runs keep what they were started with; a new one takes the runtime as it is."""
    before = story.rendered()
    story.change("runtimes/torch-distributed.yaml", "maxRestarts: 3", "maxRestarts: 5")
    assert "2 runs keep their rendering (runtimes/torch-distributed.yaml changed)" in story.builds()
    assert story.rendered() == before
    story.passes()
    story.change("jobs/bert.yaml", 'run: "2"', 'run: "3"')
    story.builds()
    assert "maxRestarts: 5" in story.rendered()[BERT]
    assert story.rendered()[HELLO] == before[HELLO]
    story.passes()


def _loses_a_job(story: Story) -> None:
    """The hook notices although no file of the job is passed, and a build removes its rendering."""
    story.git("rm", "-q", "jobs/bert.yaml")
    story.fails("`rendered/main/training/bert.yaml` is left over")
    assert "removed 1" in story.builds()
    assert list(story.rendered()) == [HELLO]
    story.passes()
