"""`trainc show --report mermaid`: diagrams that Markdown shows, whatever names people choose."""

import re
import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.compiling import ROOT, compile_in
from trainc.report.drawing import MAX_NODES, job_diagrams, label, repository_diagrams

HOSTILE = '</script><img src=x onerror=alert(1)>"]; click a "javascript:alert(1)" %%{init}%% `**x**` #quot; ```\nend'


def test_a_job_is_drawn_with_its_start_order_and_service(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/initializers", tmp_path / "a")
    assert compile_in(tmp_path / "a", "show", "--report", "mermaid").out == snapshot


@pytest.mark.slow
def test_a_repository_is_drawn_with_what_its_runtimes_inherit(snapshot: SnapshotAssertion, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/platform", tmp_path / "a")
    assert compile_in(tmp_path / "a", "show", "--report", "mermaid", "--group", "queue").out == snapshot


def test_each_of_several_jobs_is_drawn_on_request(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/platform", tmp_path / "a")
    done = compile_in(tmp_path / "a", "show", "--report", "mermaid", "--details", "jobs/vision")
    assert done.out.count("```mermaid\n") == done.out.count("subgraph job[") == 7
    assert done.out.count("```") == 14


def test_one_pod_and_the_life_of_a_job_are_not_drawn(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/initializers", tmp_path / "a")
    done = compile_in(tmp_path / "a", "show", "--report", "mermaid", "--rank", "0")
    assert done.code == 2
    assert "--report mermaid draws whole jobs" in done.err


def test_names_are_text_and_nothing_else() -> None:
    """Within the quotes stand letters, digits, harmless signs, codes of characters, and the line break of a label."""
    assert re.fullmatch(r'"(?:[\w\s./:,+=?!-]|#\d+;|<br/>)*"', label(HOSTILE, HOSTILE))
    assert "\n" not in label(HOSTILE)
    assert label("1 x 2", "", "a_b") == '"1 x 2<br/>a_b"'


def test_what_does_not_fit_is_counted() -> None:
    row = {"name": "a", "namespace": "n", "cluster": "c", "pods": 1, "accelerators": {}}
    node = {"name": "r", "kind": "Runtime", "component": False, "jobs": 0}
    edges = [(0, index, "extends") for index in range(1, 500)]
    lines = repository_diagrams([row] * (MAX_NODES + 2), "cluster", {"nodes": [node] * 600, "edges": edges})
    assert "2 more jobs not shown." in lines
    assert "450 more runtimes and components not shown." in lines
    assert "350 more arrows not shown." in lines
    assert sum("job" in line and "---" in line for line in lines) == MAX_NODES
    assert job_diagrams([]) == []
