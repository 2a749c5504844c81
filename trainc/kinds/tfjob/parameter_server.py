"""The parameter servers that the first TensorFlow operators ran where a job gave none: a plain gRPC server."""

from __future__ import annotations

from trainc.kinds.shared.peers import address, peers, port
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.sourced import derive
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan

_SCRIPT = "grpc_tensorflow_server.py"
_SERVER = """\
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--cluster_spec", required=True)
parser.add_argument("--job_name", required=True)
parser.add_argument("--task_id", type=int, required=True)
options = parser.parse_args()

cluster = {}
for job in options.cluster_spec.split(","):
    name, _, hosts = job.partition("|")
    cluster[name] = hosts.split(";")

server = tf.train.Server(tf.train.ClusterSpec(cluster), job_name=options.job_name, task_index=options.task_id)
server.join()
"""


def more(plan: Plan) -> Contribution:
    """The script and the command of default parameter servers, nothing for jobs that bring their own."""
    role = plan.role("ps")
    if role is None or value(plan.settings, "defaultPs") is not True:
        return Contribution()
    name = derive("default PS", lambda r: f"cm-ps-{r}", plan.settings["runtimeId"])
    spec = derive("cluster of the job", lambda _: cluster_spec(plan), plan.name)
    task = "$(JOB_COMPLETION_INDEX)" if role.count.value > 1 else "0"
    command = ["python", f"/ps-server/{_SCRIPT}", "--cluster_spec", spec, "--job_name", "ps", "--task_id", task]
    patch = Patch(
        role.index,
        "tensorflow",
        sets={"command": command},
        mounts=({"name": "ps-config-volume", "mountPath": "/ps-server"},),
        volumes=({"name": "ps-config-volume", "configMap": {"name": name}},),
    )
    scripts = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {_SCRIPT: _SERVER}}
    return Contribution([patch], objects=[scripts])


def cluster_spec(plan: Plan) -> str:
    """The hosts of all processes as `job|host:port;host:port,job|...`, jobs sorted."""
    cluster: dict[str, list[str]] = {}
    for p in peers(plan):
        number = port(p.role, "tensorflow", "tfjob-port", 2222).value
        cluster.setdefault(p.type, []).append(f"{address(plan, p)}:{number}")
    return ",".join(f"{kind}|{';'.join(cluster[kind])}" for kind in sorted(cluster))
