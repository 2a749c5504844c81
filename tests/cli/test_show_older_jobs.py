"""`trainc show --rank` on older jobs of four pods: every variable of every pod."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import compile_in
from tests.kinds.environment.test_env import CASES
from tests.sampling import sampled

FOUR = [name for name, (_, _, pods) in CASES.items() if len(pods) == 4]
POD_IP = "10.0.0.7"


def shown(folder: Path) -> dict[str, Any]:
    """The pods of ranks 0 to 3 by host name."""
    runs = [compile_in(folder, "show", "job.yaml", "--rank", str(rank), "--report", "json") for rank in range(4)]
    pods = [pod for run in runs for pod in json.loads(run.out)]
    return {pod["host"]: pod for pod in pods}


@pytest.mark.parametrize("name", sampled(FOUR, every=4))
def test_every_pod_of_a_small_job(name: str, tmp_path: Path) -> None:
    text, container, expected = CASES[name]
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    pods = shown(tmp_path)
    assert len(pods) == 4
    for role, job, index, env in expected:
        pod = pods[f"demo-{role}-{job}-{index}"]
        found = next(c["env"] for c in pod["containers"] if c["name"] == container)
        address = found.get("POD_IP_DUMMY", POD_IP)
        # Only the cluster knows the address of a pod: the reference to it stays as it is written.
        found = {key: said.replace(address, POD_IP).replace("$(POD_IP_DUMMY)", POD_IP) for key, said in found.items()}
        assert found == {"JOB_COMPLETION_INDEX": str(index), **env}
