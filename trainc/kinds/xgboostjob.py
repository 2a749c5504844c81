"""How the roles of an XGBoostJob become replicatedJobs."""

from trainc.kinds.shared.environment import framework, rank
from trainc.kinds.shared.job import LegacyJob
from trainc.kinds.shared.layout import JobLayout, master_worker
from trainc.kinds.shared.peers import address, host, peer, peers, port, total
from trainc.kinds.table import XGBOOST
from trainc.model.plan import Plan, Role
from trainc.model.sourced import derive
from trainc.model.tree import Tree


def xgboost(job: LegacyJob) -> JobLayout:
    return master_worker(job, {})


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    own: dict[str, object] = {
        "MASTER_PORT": port(peer(plan, "master", 0).role, XGBOOST),
        "MASTER_ADDR": host(plan, "master", 0),
        "WORLD_SIZE": total(plan),
        "RANK": rank(role),
        "PYTHONUNBUFFERED": "1",
    }
    if workers := list(peers(plan, "worker")):
        own["WORKER_PORT"] = port(workers[0].role, XGBOOST)
        names = ",".join(address(plan, p) for p in workers)
        own["WORKER_ADDRS"] = derive("addresses of the workers", lambda *_: names, plan.name, workers[0].role.count)
    return own


FRAMEWORK = framework(XGBOOST.framework, entries, container=XGBOOST.container)
