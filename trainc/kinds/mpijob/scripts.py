"""Texts that MPI launchers read: host files and the scripts beside them."""

from __future__ import annotations

_LABELS = (
    "jobset.sigs.k8s.io/jobset-name={name},jobset.sigs.k8s.io/replicatedjob-name=$role,"
    "batch.kubernetes.io/job-completion-index=$index"
)
_FIND = """\
find_pod() {
    index=${1##*-}
    case "$1" in
    {name}-launcher-*) role=launcher ;;
    *) role=worker ;;
    esac
    /opt/kube/kubectl get pods -l "{labels}" \\
        --field-selector status.phase=Running -o 'jsonpath={.items[0].metadata.name}' 2>/dev/null
}
"""
_EXEC = """\
#!/bin/sh
set -x
{find}
host=$1
shift
pod=
until [ -n "$pod" ]; do
    pod=$(find_pod "$host") || pod=
    [ -n "$pod" ] || sleep 1
done
/opt/kube/kubectl exec "$pod"{container} -- /bin/sh -c "$*"
"""
_ANSWERING = """\
#!/bin/sh
{find}
list() {
    [ -z "$(find_pod "$1")" ] || echo "$1:$2"
}
"""
_REACHABLE = """\
#!/bin/sh
list() {
    ssh -o BatchMode=yes -o ConnectTimeout=2 "$1" true </dev/null >/dev/null 2>&1 && echo "$1"
}
"""


def kubexec(name: str, container: str) -> str:
    """The remote shell of MPIJob v1: looks the pod behind a host name up, waits for it, and executes there."""
    chosen = f" --container {container}" if container else ""
    return _EXEC.replace("{find}", _find(name)).replace("{container}", chosen)


def discover_pods(name: str, hosts: list[str], slots: int) -> str:
    """A script that prints `host:slots` for every host whose pod runs."""
    lines = [f"list {host} {slots}\n" for host in hosts]
    return _ANSWERING.replace("{find}", _find(name)) + "".join(lines) + "exit 0\n"


def discover_hosts(hosts: list[str]) -> str:
    """A script that prints every host that lets us in."""
    return _REACHABLE + "".join(f"list {host}\n" for host in hosts) + "exit 0\n"


def hostfile(hosts: list[str], slots: int, form: str = "{} slots={}") -> str:
    """One line for each host."""
    return "".join(form.format(host, slots) + "\n" for host in hosts)


def _find(name: str) -> str:
    return _FIND.replace("{labels}", _LABELS).replace("{name}", name)
