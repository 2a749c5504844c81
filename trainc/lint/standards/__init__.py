"""The Pod Security Standards: which fields of a pod each control restricts, in the words of Kubernetes' own admission.

Controls, words, order and the version from which each one holds are those of the admission plugin PodSecurity, as of
Kubernetes 1.37.
"""

from collections.abc import Callable, Iterator

from trainc.lint.standards import baseline, restricted
from trainc.lint.standards.pod import NEWEST, PodTemplate, Violation
from trainc.model.tree import Tree

Control = Callable[[PodTemplate], Violation | None]

BASELINE, RESTRICTED = "baseline", "restricted"
LEVELS = (BASELINE, RESTRICTED)

# Each with the minor versions of the standard in which it holds, from the first up to but without the second, and up to
# which one it holds in `restricted` as well.
_ALWAYS = NEWEST + 1
_BASELINE: tuple[tuple[Control, int, int, int], ...] = (
    (baseline.app_armor, 0, _ALWAYS, _ALWAYS),
    (baseline.capabilities, 0, _ALWAYS, 22),
    (baseline.host_namespaces, 0, _ALWAYS, _ALWAYS),
    (baseline.host_path, 0, _ALWAYS, 0),
    (baseline.host_ports, 0, _ALWAYS, _ALWAYS),
    (baseline.host_of_probes, 34, _ALWAYS, _ALWAYS),
    (baseline.privileged, 0, _ALWAYS, _ALWAYS),
    (lambda pod: None if pod.is_relaxed else baseline.proc_mount(pod), 0, _ALWAYS, 35),
    (baseline.selinux, 0, _ALWAYS, _ALWAYS),
    (baseline.seccomp_annotations, 0, 19, 19),
    (baseline.seccomp, 19, _ALWAYS, 0),
    (baseline.sysctls, 0, _ALWAYS, _ALWAYS),
    (baseline.windows_host_process, 0, _ALWAYS, _ALWAYS),
)
_RESTRICTED: tuple[tuple[Control, int, int], ...] = (
    *((control, since, until) for control, since, _, until in _BASELINE),
    (restricted.privilege_escalation, 8, _ALWAYS),
    (restricted.capabilities, 22, _ALWAYS),
    (baseline.proc_mount, 35, _ALWAYS),
    (restricted.volume_types, 0, _ALWAYS),
    (restricted.non_root, 0, _ALWAYS),
    (restricted.user, 23, _ALWAYS),
    (restricted.seccomp, 19, _ALWAYS),
)


def violations(template: Tree, level: str, minor: int = NEWEST) -> Iterator[Violation]:
    """Every violation of a pod template in version 1.`minor` of a standard, in the order in which the server lists them.

    A value that another tool fills in violates nothing.
    """
    minor = min(minor, NEWEST)
    pod = PodTemplate(template, minor)
    for control, since, until, *_ in _RESTRICTED if level == RESTRICTED else _BASELINE:
        violation = control(pod) if since <= minor < until else None
        if violation is not None:
            yield violation
