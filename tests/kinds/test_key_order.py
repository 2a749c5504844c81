"""A map has no order: a file whose keys somebody sorts is the same job, and gives the same bytes."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.sampling import sampled

FOLDERS = sorted({*ROOT.glob("tests/cases/legacy/**/input"), *ROOT.glob("examples/*/jobs")})
MINICLUSTER = """
apiVersion: flux-framework.org/v1alpha2
kind: MiniCluster
metadata: {name: lmp}
spec:
  size: 2
  flux: {environment: {FLUX_B: "1", FLUX_A: "2"}}
  containers:
    - runFlux: true
      image: registry.example.com/lammps:1
      command: lmp
      environment: {OMP_NUM_THREADS: "4", LAMMPS_POTENTIALS: /data/potentials}
      secrets: {TOKEN_B: {name: s, key: b}, TOKEN_A: {name: s, key: a}}
      volumes:
        data: {path: /data, claimName: data}
        conf: {path: /conf, configMapName: conf, items: {d: e, a: b}}
"""


def reversed_keys(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: reversed_keys(node) for key, node in reversed(tree.items())}
    return [reversed_keys(item) for item in tree] if isinstance(tree, list) else tree


def respelled(text: str, *, backwards: bool) -> str:
    documents = list(yaml.safe_load_all(text))
    return yaml.safe_dump_all(map(reversed_keys, documents) if backwards else documents, sort_keys=False)


def test_maps_of_a_minicluster_become_sorted_lists(tmp_path: Path) -> None:
    outs = []
    for backwards in (False, True):
        (tmp_path / "job.yaml").write_text(respelled(MINICLUSTER, backwards=backwards))
        run = compile_in(tmp_path, "build", "job.yaml")
        assert run.code == 0, run.err
        outs.append(run.out)
    assert outs[0] == outs[1]


@pytest.mark.parametrize("folder", sampled(FOLDERS, [str(path.relative_to(ROOT)) for path in FOLDERS], every=25))
def test_no_kind_reads_the_order_of_keys(folder: Path, tmp_path: Path) -> None:
    outs = []
    for backwards in (False, True):
        place = tmp_path / str(backwards)
        shutil.copytree(folder.parent if folder.name == "jobs" else folder, place)
        for file in sorted(place.rglob("*.yaml")):
            if "output" not in file.relative_to(place).parts:
                try:
                    file.write_text(respelled(file.read_text("utf-8"), backwards=backwards))
                except (yaml.YAMLError, UnicodeDecodeError):
                    pytest.skip("PyYAML does not read the input")
        outs.append(compile_in(place, "build", "."))
    assert (outs[1].code, outs[1].out) == (outs[0].code, outs[0].out)
