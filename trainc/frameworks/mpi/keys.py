"""The ssh keys of MPI: a Secret that exists, or one that the cluster itself makes; never key material."""

from __future__ import annotations

from trainc.frameworks.base.secrets import IN_CLUSTER, choice, note, secret_name
from trainc.frameworks.mpi.hosts import LAUNCHER
from trainc.model.patches import Contribution, on, pod
from trainc.model.plan import NODE
from trainc.model.tree import get, given

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Tree

PRIVATE, PUBLIC = "ssh-privatekey", "ssh-publickey"
FILES = (
    {"key": PRIVATE, "path": "id_rsa", "mode": 0o640},
    {"key": PUBLIC, "path": "id_rsa.pub", "mode": 0o644},
    {"key": PUBLIC, "path": "authorized_keys", "mode": 0o644},
)
GENERATORS = "generators.external-secrets.io/v1alpha1"
RECIPE = (
    "ssh-keygen -q -t ecdsa -b 521 -N '' -f key && kubectl create secret generic NAME --type=kubernetes.io/ssh-auth"
    f" --from-file={PRIVATE}=key --from-file={PUBLIC}=key.pub"
)


def lower(plan: Plan) -> Contribution:
    """The keys as files in the launcher and every node, and the objects that make them where the project says so."""
    name = secret(plan)
    path = given(get(plan.settings, "sshAuthMountPath"), "/root/.ssh")
    volume = {"name": "mpi-ssh-auth", "secret": {"secretName": name, "items": FILES, "defaultMode": 0o400}}
    out = Contribution(objects=generator(plan, name) if choice(plan, "mpi") == IN_CLUSTER else ())
    for role in plan.roles:
        if role.name.value in (NODE, LAUNCHER):
            mount = {"name": "mpi-ssh-auth", "mountPath": path}
            out += pod(role, volumes=[volume]) + on(role, mounts=[mount])
    return out


def secret(plan: Plan) -> Sourced[str]:
    """The Secret's name: the one the project names, else the one the Trainer controller would give it."""
    return secret_name(plan, "mpi", "-mpi-ssh-auth")


def generator(plan: Plan, name: Sourced[str]) -> tuple[Tree, ...]:
    """An External Secrets generator of one key pair, and the Secret it fills once and for all."""
    keys = {
        "apiVersion": GENERATORS,
        "kind": "SSHKey",
        "metadata": {"name": name},
        "spec": {"keyType": "ed25519", "comment": plan.job["metadata"]["name"]},
    }
    template = {
        "type": "kubernetes.io/ssh-auth",
        "data": {PRIVATE: "{{ .privateKey }}", PUBLIC: "{{ .publicKey }}"},
    }
    reference = {"apiVersion": GENERATORS, "kind": "SSHKey", "name": name}
    filled = {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "metadata": {"name": name},
        "spec": {
            "refreshPolicy": "CreatedOnce",  # a pair that rotates under a running job cuts its nodes off
            "target": {"name": name, "template": template},
            "dataFrom": [{"sourceRef": {"generatorRef": reference}}],
        },
    }
    return keys, filled


def verify(plan: Plan, report: Report) -> None:
    """A note on the Secret that must exist, with the command that makes it."""
    if choice(plan, "mpi") != IN_CLUSTER:
        note(plan, report, secret(plan).value, (PRIVATE, PUBLIC), RECIPE)
