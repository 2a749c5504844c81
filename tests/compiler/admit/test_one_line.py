"""A mistake hides no other, wherever it stands: on a line of its own, or on the one line of a JSON file."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.sampling import sampled
from trainc.changes.migrate.chunks import values

CASES = sorted(path.parent for path in (ROOT / "tests/cases/admit").rglob("input") if path.is_dir())
JOB = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: Mine, namespace: ml}
spec:
  replicatedJobs:
  - name: w
    template:
      spec:
        template:
          spec:
            containers:
            - name: Main_c
              image: r:1
              resources: {limits: {nvidia.com/gpu: 1}, requests: {nvidia.com/gpu: 2}}
"""


def found(folder: Path, texts: dict[Path, list[str]]) -> tuple[int, Counter[tuple[str, str, str]]]:
    folder.mkdir()
    for file, documents in texts.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("\n---\n".join(documents), "utf-8")
    done = compile_in(folder, "validate", ".")
    return done.code, Counter((one.level, one.rule.name, one.message) for one in done.findings)


@pytest.mark.parametrize(
    "case", sampled(CASES, lambda case: str(case.relative_to(ROOT / "tests/cases/admit")), every=4)
)
def test_the_same_is_found_on_one_line(case: Path, tmp_path: Path) -> None:
    trees = {}
    for file in (case / "input").rglob("*.yaml"):
        text = file.read_text("utf-8", "replace")
        if file.name != "trainc.yaml" and "trainc:" not in text:  # JSON has no comments
            trees[file.relative_to(case)] = values(text)
    one_line = {file: [json.dumps(tree) for tree in trees[file]] for file in trees}
    many_lines = {file: [json.dumps(tree, indent=1) for tree in trees[file]] for file in trees}
    assert found(tmp_path / "one", one_line) == found(tmp_path / "many", many_lines)


def test_a_name_that_the_server_refuses_hides_nothing_behind_it(tmp_path: Path) -> None:
    code, findings = found(tmp_path / "one", {Path("job.json"): [json.dumps(values(JOB)[0])]})
    errors = {rule for level, rule, _ in findings if level == "error"}
    assert (code, errors) == (1, {"invalid-field", "bad-container-name", "request-not-limit"})
