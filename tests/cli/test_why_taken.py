"""What `trainc why FILE:LINE` says of values that a later piece of a runtime takes away."""

from pathlib import Path

import pytest

from tests.cli.test_why_lines import JOB, RUNTIMES
from tests.compiling import compile_in

TAKING = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: site
spec:
  extends: base
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            spec:
              template:
                spec: {pod}
"""
POD = """\
                  nodeSelector: {zone: a}
                  containers:
                    - name: node
                      command: [torchrun, train.py]
                      env:
                        - {name: MODE, value: fast}
"""


def taken(folder: Path, pod: str, line: int) -> str:
    """What is said of a line of a runtime from which one job starts, and another one by way of a child that says `pod`."""
    head = RUNTIMES.partition("---")[0]
    text = head.replace("                  containers:\n                    - name: node\n", POD)
    (folder / "runtimes").mkdir()
    (folder / "trainc.yaml").write_text("apiVersion: trainc.dev/v1alpha1\nkind: Project\n", "utf-8")
    (folder / "runtimes/base.yaml").write_text(text, "utf-8")
    (folder / "runtimes/site.yaml").write_text(TAKING.replace("{pod}", pod), "utf-8")
    for name in ("base", "site"):
        job = JOB.format(runtime=name).replace("name: bert", f"name: {name}")
        (folder / f"{name}.yaml").write_text(job, "utf-8")
    return compile_in(folder, "why", f"runtimes/{'base' if line else 'site'}.yaml:{line or 14}").out


def test_the_lines_asked_about_are_these(tmp_path: Path) -> None:
    for line, said in ((20, "zone"), (23, "torchrun"), (25, "MODE")):
        folder = tmp_path / str(line)
        folder.mkdir()
        found = taken(folder, "{}", line)
        assert said in found
        assert "beaten" not in found


@pytest.mark.parametrize(
    ("pod", "line", "word"),
    [
        ("{nodeSelector: null}", 20, "null"),
        ("{nodeSelector: {$patch: delete}}", 20, '"delete"'),
        ("{nodeSelector: {$patch: replace, pool: b}}", 20, '"replace"'),
        ("{nodeSelector: {zone: null}}", 20, "null"),
        ("{containers: [{name: node, command: [python]}]}", 23, '"python"'),
        ("{containers: [{name: node, env: [{name: MODE, $patch: delete}]}]}", 25, '"delete"'),
        ("{containers: [{name: node, env: [{$patch: replace}, {name: A, value: b}]}]}", 25, '"replace"'),
        ("{containers: [{name: node, env: null}]}", 25, "null"),
    ],
)
def test_a_value_that_a_child_takes_away_is_beaten_there(pod: str, line: int, word: str, tmp_path: Path) -> None:
    found = taken(tmp_path, pod, line)
    assert "  lands in JobSet/base " in found
    assert "  beaten in JobSet/site " in found
    assert f"by runtime (site) at runtimes/site.yaml:14:{23 + pod.index(word.strip(chr(34)))}: {word}\n" in found


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        ("{nodeSelector: null}", "removes what lower layers set"),
        ("{nodeSelector: {$patch: replace, pool: b}}", "replaces what lower layers set"),
        (
            "{containers: [{name: node, env: [{name: MODE, value: slow}]}]}",
            "points at `MODE`; the name itself was written by a lower layer",
        ),
    ],
)
def test_what_takes_away_says_so(pod: str, reason: str, tmp_path: Path) -> None:
    assert f"  reaches no manifest: {reason}\n" in taken(tmp_path, pod, 0)


def test_a_name_that_the_job_writes_as_well_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        f"{RUNTIMES.partition('---')[0]}                      env: [{{name: MODE, value: fast}}]\n---\n"
        f"{JOB.format(runtime='base')}    env: [{{name: MODE, value: slow}}]\n",
        "utf-8",
    )
    found = compile_in(tmp_path, "why", "job.yaml:23").out
    assert "points at `MODE`; the name itself was written by a higher layer" in found
    assert 'job.yaml:48:31: "slow"' in found
