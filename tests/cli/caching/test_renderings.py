"""`validate` compares a job with its rendered run: no answer from before another rendering is given again."""

import re
from pathlib import Path

from tests.repository import Repository
from trainc.compiler.emit.digest import body_digest

RENDERED = "rendered/research/job-1.yaml"


def test_another_rendering_is_looked_at_again(tmp_path: Path, cache: Path, settled: None) -> None:
    del cache, settled
    folder = tmp_path / "repository"
    folder.mkdir()
    repository = Repository(folder, *[f"job-{number}" for number in range(8)])
    assert repository.run("build", "-w").code == 0
    for _ in range(2):
        assert repository.run("validate").code == 0
    header, _, body = repository.read(RENDERED).partition("\n")
    body = body.replace("parallelism: 2", "parallelism: 3")
    line = re.sub("job=[0-9a-f]+ body=[0-9a-f]+", f"job=0123456789abcdef body={body_digest(body.encode())}", header)
    repository.write(RENDERED, f"{line}\n{body}")
    for _ in range(2):
        assert "immutable-change" in repository.run("validate").err
    assert repository.run("build", "-w", "--rerender", "job-1").code == 0
    assert repository.run("validate").code == 0
