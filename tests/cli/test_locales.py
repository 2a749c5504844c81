"""Names of files are UTF-8 in Git, in manifests and in trainc.yaml, whatever the locale says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.repository import Repository


def locale(folder: Path) -> dict[str, str]:
    """The variables of a locale whose encoding is ISO-8859-1."""
    words = ["localedef", "-i", "en_US", "-f", "ISO-8859-1", str(folder / "en_US.ISO-8859-1")]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("localedef makes no such locale here")
    return {"LOCPATH": str(folder), "LC_ALL": "en_US.ISO-8859-1"}


@pytest.mark.parametrize("name", ["ISO-8859-1", "C"])
def test_a_name_beyond_ascii_is_itself_in_every_locale(name: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository", "bert")
    (repository.folder / "jobs").rename(repository.folder / "jöbs")
    (repository.folder / "jöbs/bert.yaml").rename(repository.folder / "jöbs/é.yaml")
    (tmp_path / "locales").mkdir()
    variables = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    if name != "C":
        variables = locale(tmp_path / "locales")
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "build", "-w", "jöbs/é.yaml"],
        check=False,
        cwd=repository.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert repository.rendered()["research/bert.yaml"].startswith("# trainc: from jöbs/é.yaml ")
    assert repository.run("build", "--check").code == 0
