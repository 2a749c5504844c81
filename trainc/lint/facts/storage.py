"""Where a role's pods can leave something that outlives them."""

from trainc.lint.facts.job import Container, ExpandedRole
from trainc.lint.facts.values import flag, rows, table, text, texts
from trainc.model.tree import Tree

_PASSING = frozenset(("emptyDir", "configMap", "secret", "downwardAPI", "projected", "ephemeral", "image"))
_OF_THE_NODE = ("/dev", "/sys", "/proc", "/run", "/var/run", "/home/kubernetes/bin", "/lib", "/usr", "/etc", "/opt")
_ONE_NODE = frozenset(("ReadWriteOnce", "ReadWriteOncePod"))
_REMOTE = (
    "gs://", "s3://", "abfs://", "az://", "wasbs://", "oss://", "hdfs://", "s3a://", "oci://", "cos://", "obs://",
    "tos://", "http://", "https://",
)  # fmt: skip


def keeps_state(role: ExpandedRole) -> bool:
    """Whether anything a pod of the role writes can outlive it: a claim, a network file system, a bucket."""
    if role.job.claimed:
        return True
    return any(map(outlives, role.volumes.values())) or any(_remote(container) for container in role.main)


def is_for_one_node(claim: Tree) -> bool:
    """Whether the access modes of a PVC let one node at a time mount it; where another tool fills one in, they do not."""
    modes = access_modes(claim)
    return bool(modes) and _ONE_NODE.issuperset(modes)


def access_modes(claim: Tree) -> list[str]:
    """What a PVC asks for, or what its volume has, where a server reports that."""
    return texts(table(claim, "status"), "accessModes") or texts(table(claim, "spec"), "accessModes")


def outlives(volume: Tree) -> bool:
    """Whether what is written to a volume can outlive the pod."""
    is_pseudo = text(table(volume, "hostPath"), "path").startswith(_OF_THE_NODE)
    return any(key != "name" and key not in _PASSING and (key != "hostPath" or not is_pseudo) for key in volume)


def _remote(container: Container) -> bool:
    if any(mark in container.text for mark in _REMOTE) or "envFrom" in container.tree or "$" in container.text:
        return True
    for entry in container.env.values():
        if any(mark in text(entry, "value") for mark in _REMOTE) or "valueFrom" in entry:
            name = text(entry, "name")
            if "valueFrom" not in entry or "fieldRef" not in table(entry, "valueFrom"):
                return bool(name)
    return False


def mount_of(container: Container, path: str) -> tuple[str, bool]:
    """The volume mounted at or above a path, and whether it is read-only; the longest mount path wins."""
    best, volume, read_only = -1, "", False
    for mount in rows(container.tree, "volumeMounts"):
        where = text(mount, "mountPath").rstrip("/") or "/"
        inside = path == where or path.startswith(where + "/") or where == "/"
        if inside and len(where) > best:
            best, volume, read_only = len(where), text(mount, "name"), flag(mount, "readOnly")
    return volume, read_only
