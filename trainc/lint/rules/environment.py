"""The environment dictionary: names spelled right, for this hardware, not locked, not left on."""

from __future__ import annotations

from trainc.lint.tables.devices import GPU, NEURON, TPU, device_kind, is_network
from trainc.lint.tables.variables import LOCKED, NAMES, OBSOLETE, OTHERS, PREFIXES, SINGLE
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.text.memo import Memo
from trainc.text.spelling import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.vocabulary import Vocabulary

MISSPELT = Rule("misspelt-variable", WARNING)
FOREIGN = Rule("variable-of-other-hardware", NOTE)
LOCKED_RULE = Rule("locked-variable", WARNING)
INTERFACE = Rule("wrong-socket-interface", WARNING)
TCPX = Rule("tcpx-with-nvls-or-tree", ERROR)
RDMA_OFF = Rule("rdma-switched-off", WARNING)
DEBUG = Rule("debug-left-on", NOTE)
OBSOLETE_RULE = Rule("obsolete-variable", NOTE)

_BY_KIND = {
    "NCCL_": GPU,
    "TORCH_NCCL_": GPU,
    "CUDA_": GPU,
    "TPU_": TPU,
    "LIBTPU_": TPU,
    "MEGASCALE_": TPU,
    "NEURON_": NEURON,
}
_HARDWARE = (*_BY_KIND,)
_VERBOSE = {"NCCL_DEBUG": ("INFO", "TRACE"), "TORCH_DISTRIBUTED_DEBUG": ("DETAIL",), "TORCH_CPP_LOG_LEVEL": ("INFO",)}


def _set(job: Job, name: str) -> Iterator[tuple[Container, str]]:
    """The containers that set a variable to a text that is known here."""
    if name in job.names:
        for container in job.containers:
            value = container.value(name)
            if type(value) is str:
                yield container, value


def misspelt_variable(job: Job) -> Findings:
    for name in job.names:
        if near := _MEANT[name, job.vocabulary]:
            yield from _misspelt(job, name, near)


def _meant(unknown: tuple[str, Vocabulary]) -> str:
    """The name that was probably meant, empty for names that are read, or not like any that is.

    The vocabulary holds what frameworks read; libraries and accelerators have lists of their own.
    """
    name, vocabulary = unknown
    if name in vocabulary.variables:
        return ""
    prefix = next((prefix for prefix in vocabulary.prefixes if name.startswith(prefix)), "")
    if prefix:
        return nearest(name, {known for known in vocabulary.variables if known.startswith(prefix)}, cutoff=0.84)
    family = name.partition("_")[0]
    library = NAMES.get(family)
    if library is not None:
        if name in library or not name.startswith(PREFIXES[family]) or name.startswith(OTHERS) or name in OBSOLETE:
            return ""
        return nearest(name, library, cutoff=0.84)
    if name in SINGLE or len(name) < 8 or "_" not in name:
        return ""
    return _almost(name, SINGLE | vocabulary.variables)


_MEANT = Memo(_meant)


def _almost(name: str, names: Iterable[str]) -> str:
    """The name that differs by one letter, or by two neighbours in the other order; the first in the alphabet."""
    close = [known for known in names if abs(len(known) - len(name)) <= 1 and known[0] == name[0]]
    return min((known for known in close if _one_off(name, known)), default="")


def _one_off(left: str, right: str) -> bool:
    if len(left) > len(right):
        left, right = right, left
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left))
    if len(left) < len(right):
        return left[at:] == right[at + 1 :]
    return left[at + 1 :] == right[at + 1 :] or (
        left[at : at + 2] == right[at : at + 2][::-1] and left[at + 2 :] == right[at + 2 :]
    )


def _misspelt(job: Job, name: str, near: str) -> Findings:
    for container in job.containers:
        if name in container.env and name not in container.text:
            yield MISSPELT.at(
                job.at((*container.env_path(name), "name")),
                f"nothing is known to read `{name}`",
                effect="the setting has no effect, and nobody says so",
                help=f"did you mean `{near}`?",
            )


def variable_of_other_hardware(job: Job) -> Findings:
    for container in job.main:
        kinds = {device_kind(resource) for resource in container.devices}
        if len(kinds) != 1:
            continue
        (kind,) = kinds
        if kind not in (GPU, TPU, NEURON):
            continue
        for name in container.env:
            owner = _READERS[name]
            if owner not in ("", kind) and not (name == "CUDA_VISIBLE_DEVICES" and container.literal(name) == ""):
                yield FOREIGN.at(
                    job.at((*container.env_path(name), "name")),
                    f"`{name}` is read on {owner}s, but this container has a {kind}",
                    help="remove it",
                )


def _reader(name: str) -> str:
    """The kind of accelerators on which alone a variable of this name is read, empty where there is none."""
    if not name.startswith(_HARDWARE):
        return ""
    return next(kind for prefix, kind in _BY_KIND.items() if name.startswith(prefix))


_READERS = Memo(_reader)


def locked_variable(job: Job) -> Findings:
    if "NCCL" not in job.families:
        return
    for name, fixed in LOCKED.items():
        for container, value in _set(job, name):
            if value.rstrip("/") != fixed:
                yield LOCKED_RULE.at(
                    job.at((*container.env_path(name), "value")),
                    f"`{name}` is `{value}`, but this network set-up has `{fixed}`",
                    effect="NCCL finds no network, or a slow one",
                    help=f"use `{fixed}`, or remove it and source the platform's own settings",
                )


def wrong_socket_interface(job: Job) -> Findings:
    if "NCCL" not in job.families:
        return
    for container, value in _set(job, "NCCL_SOCKET_IFNAME"):
        names = value.lstrip("=").split(",")
        # Without the host's network a pod sees its own interfaces alone, and no bridge among them.
        if (value == "^lo" and container.role.host_network) or any(
            name.lstrip("^=") in ("lo", "docker0") and not value.startswith("^") for name in names
        ):
            from trainc.lint.facts.start_order import has_peers  # noqa: PLC0415 (only where something is found)

            yield INTERFACE.at(
                job.at((*container.env_path("NCCL_SOCKET_IFNAME"), "value")),
                f"`NCCL_SOCKET_IFNAME` is `{value}`",
                effect="NCCL may pick docker0 or another interface that reaches nobody"
                if value == "^lo"
                else "no other pod can be reached",
                help="name the interface, e.g. `eth0`, or exclude all others: `^lo,docker`",
                level=WARNING if has_peers(container.role) else NOTE,
            )


def tcpx_with_nvls_or_tree(job: Job) -> Findings:
    tcpx = [name for name in job.names if name.startswith("NCCL_GPUDIRECTTCPX_")] if "NCCL" in job.families else []
    if not tcpx:
        return
    for name, bad in (("NCCL_NVLS_ENABLE", ("1",)), ("NCCL_ALGO", ("Tree", "TREE", "tree"))):
        for container, value in _set(job, name):
            if value in bad and any(other in container.env for other in tcpx):
                yield TCPX.at(
                    job.at((*container.env_path(name), "value")),
                    f"`{name}={value}` does not go with GPUDirect-TCPX",
                    also=[
                        Label(
                            job.at(container.env_path(next(o for o in tcpx if o in container.env))),
                            "TCPX is set up here",
                        )
                    ],
                    effect="NCCL fails at start, or hangs in the first collective",
                    help="use `NCCL_NVLS_ENABLE=0` and `NCCL_ALGO=Ring`",
                )


def rdma_switched_off(job: Job) -> Findings:
    if "NCCL" not in job.families:
        return
    for name in ("NCCL_IB_DISABLE", "NCCL_P2P_DISABLE"):
        for container, value in _set(job, name):
            cards = [r for r in container.limits if is_network(r) and not r.startswith("vpc.amazonaws.com/efa")]
            gpus = sum(n for r, n in container.devices.items() if device_kind(r) == GPU and type(n) is int)
            if value != "1" or not (cards if name == "NCCL_IB_DISABLE" else gpus > 1):
                continue
            what = f"{cards[0]}" if name == "NCCL_IB_DISABLE" else f"{gpus} GPUs"
            yield RDMA_OFF.at(
                job.at((*container.env_path(name), "value")),
                f"`{name}=1`, but `{container.name}` asks for {what}",
                also=[Label(job.at((*container.path, "resources", "limits")), "paid for here")],
                effect="collectives run over TCP"
                if cards and name == "NCCL_IB_DISABLE"
                else "GPUs of one pod talk through host memory",
                help="remove it",
            )


def debug_left_on(job: Job) -> Findings:
    for name, loud in _VERBOSE.items():
        for container, value in _set(job, name):
            if value.upper() in loud and container.devices:
                yield DEBUG.at(
                    job.at((*container.env_path(name), "value")),
                    f"`{name}` is `{value}`",
                    effect=f"{container.role.count if container.role.several else 1} pods log every detail",
                    help="use `WARN` once the job runs" if name == "NCCL_DEBUG" else "remove it once the job runs",
                )


def obsolete_variable(job: Job) -> Findings:
    for name in OBSOLETE.keys() & job.names:
        for container in job.containers:
            if name in container.env:
                yield OBSOLETE_RULE.at(
                    job.at(container.env_path(name)), f"`{name}` is not needed: {OBSOLETE[name]}", help="remove it"
                )


CHECKS = (
    misspelt_variable,
    variable_of_other_hardware,
    locked_variable,
    wrong_socket_interface,
    tcpx_with_nvls_or_tree,
    rdma_switched_off,
    debug_left_on,
    obsolete_variable,
)
