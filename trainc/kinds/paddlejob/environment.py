"""PaddleJob: the launcher starts its rendezvous server where PADDLE_MASTER is the pod's own address."""

from __future__ import annotations

from trainc.kinds.shared.environment import framework
from trainc.kinds.shared.peers import has, host, peer, port, total
from trainc.model.patches import POD_IP
from trainc.model.sourced import derive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree


def entries(plan: Plan, role: Role, _: Tree) -> dict[str, object]:
    """The variables of training operator v1.9.0, in its order."""
    own: dict[str, object] = {"PYTHONUNBUFFERED": "1", "PADDLE_JOB_ID": plan.name, "PADDLE_NNODES": total(plan)}
    serving = "master" if has(plan, "master") else "worker"
    server = peer(plan, serving, 0)
    number = port(server.role, "paddle", "master", 36543)
    if role is server.role and role.count.value == 1:
        own["POD_IP_DUMMY"] = POD_IP
        own["PADDLE_MASTER"] = derive("rendezvous", lambda n: f"$(POD_IP_DUMMY):{n}", number)
    else:
        own["PADDLE_MASTER"] = derive("rendezvous", lambda h, n: f"{h}:{n}", host(plan, serving, 0), number)
    if serving == "master":
        own["PADDLE_TRAINER_NUM" if role.name.value == "worker" else "PADDLE_SERVER_NUM"] = 1
    return own


FRAMEWORK = framework("paddlejob", entries, container="paddle")
