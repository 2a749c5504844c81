"""The environment dictionary: names spelled right, for this hardware, not locked, not left on."""

from collections.abc import Iterator
from itertools import pairwise

from trainc.frameworks.base.vocabularies import PADDLE
from trainc.lint.facts.job import Container, Findings, Job, each
from trainc.lint.facts.timing import has_peers
from trainc.lint.facts.values import table
from trainc.lint.tables.machines import GPU, NEURON, TPU, device_kind
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.sourced import Span
from trainc.model.tree import value as value_at
from trainc.model.vocabulary import Vocabulary
from trainc.text.memo import Memo
from trainc.text.numbers import parsed_int
from trainc.text.spelling import nearest

MISSPELT = Rule("misspelt-variable", WARNING)
FOREIGN = Rule("variable-of-other-hardware", NOTE)
LOCKED_RULE = Rule("locked-variable", WARNING)
HIDDEN = Rule("accelerators-hidden", WARNING)
INTERFACE = Rule("wrong-socket-interface", WARNING)
VALUE = Rule("invalid-variable-value", WARNING)
TCPX = Rule("tcpx-with-nvls-or-tree", ERROR)
DEBUG = Rule("debug-left-on", NOTE)
OBSOLETE_RULE = Rule("obsolete-variable", NOTE)

# The kind of accelerators on which alone variables are read that begin so.
_BY_KIND = {("NCCL_", "TORCH_NCCL_", "CUDA_"): GPU, ("TPU_", "LIBTPU_", "MEGASCALE_"): TPU, ("NEURON_",): NEURON}
_VERBOSE = {"NCCL_DEBUG": ("INFO", "TRACE"), "TORCH_DISTRIBUTED_DEBUG": ("DETAIL",), "TORCH_CPP_LOG_LEVEL": ("INFO",)}
_READERS: Memo[str, str] = Memo(
    lambda name: next((kind for prefixes, kind in _BY_KIND.items() if name.startswith(prefixes)), "")
)
# Variables that list the devices a program sees, and those that put it on the CPUs.
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")
_ON_CPUS = {"JAX_PLATFORMS": ("cpu",), "JAX_PLATFORM_NAME": ("cpu",), "ACCELERATE_USE_CPU": ("true", "1", "yes")}
_CPU_OPTIONS = ("--no_cuda", "--no-cuda", "--use_cpu", "--use-cpu")
_FALSE = ("false", "0", "no")
_PLATFORMS = {"tpu": TPU, "cuda": GPU, "gpu": GPU, "rocm": GPU}
# The levels that libraries read (NCCL 2.28, PyTorch 2.9), in any case; and variables of NCCL that hold a whole number.
_WORDS = {
    "NCCL_DEBUG": ("VERSION", "WARN", "INFO", "TRACE", "NONE", "ABORT"),
    "TORCH_DISTRIBUTED_DEBUG": ("OFF", "INFO", "DETAIL"),
    "TORCH_CPP_LOG_LEVEL": ("INFO", "WARNING", "ERROR", "FATAL", "0", "1", "2", "3"),
}
_WHOLE = frozenset((
    "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_NVLS_ENABLE", "NCCL_BUFFSIZE", "NCCL_NTHREADS",
    "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT", "NCCL_IB_GID_INDEX",
    "NCCL_IB_SL", "NCCL_CROSS_NIC", "NCCL_SOCKET_NTHREADS", "NCCL_NSOCKS_PERTHREAD", "NCCL_IB_QPS_PER_CONNECTION",
))  # fmt: skip
_IDLE = "the program computes on the CPUs, and the accelerators are idle"
_TORCH_NCCL = """ABORT_CHECK_INTERVAL_MS ABORT_IN_DESTROY_PG ASYNC_ERROR_HANDLING AVOID_RECORD_STREAMS BCAST_UNIQUEID BLOCKING_WAIT COMM_WAIT
CONF_FILE COORD_CHECK_MILSEC CUDA_EVENT_CACHE DEBUG_INFO_PIPE_FILE DEBUG_INFO_TEMP_FILE DESYNC_DEBUG DUMP_ON_TIMEOUT ENABLE_MONITORING ENABLE_TIMING
EXTRA_DUMP_ON_EXEC HEARTBEAT_TIMEOUT_SEC HIGH_PRIORITY LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN LOG_LEVEL NAN_CHECK PROPAGATE_ERROR RANKS_PER_ROOT
RETHROW_CUDA_ERRORS SHOW_EAGER_INIT_P2P_SERIALIZATION_WARNING TRACE_BUFFER_SIZE TRACE_CPP_STACK USE_COMM_NONBLOCKING USE_TENSOR_REGISTER_ALLOCATOR_HOOK
WAIT_TIMEOUT_DUMP_MILSEC NONBLOCKING_TIMEOUT RECORD_STREAMS INCLUDE_STACK_TRACE INCLUDE_ONLY_ACTIVE"""
_FI = """PROVIDER LOG_LEVEL LOG_PROV LOG_SUBSYS HMEM HMEM_CUDA_USE_GDRCOPY HMEM_CUDA_ENABLE_XFER HMEM_DISABLE_P2P MR_CACHE_MONITOR MR_CACHE_MAX_SIZE MR_CACHE_MAX_COUNT
UNIVERSE_SIZE POLL_FAIRNESS PERF_CNTR HOOK OFFLOAD_COLL_PROVIDER PROVIDER_PATH FORK_UNSAFE OPX_UUID PSM3_UUID CXI_DEFAULT_CQ_SIZE CXI_DISABLE_HOST_REGISTER
CXI_RX_MATCH_MODE CXI_RDZV_PROTO CXI_DEFAULT_TX_SIZE CXI_DISABLE_CQ_HUGETLB CXI_RDZV_THRESHOLD CXI_RDZV_GET_MIN CXI_RDZV_EAGER_SIZE TCP_IFACE SOCKETS_IFACE VERBS_IFACE
EFA_ENABLE_SHM_TRANSFER EFA_FORK_SAFE EFA_IFACE EFA_SET_CUDA_SYNC_MEMOPS EFA_USE_DEVICE_RDMA EFA_USE_HUGE_PAGE EFA_USE_ZCPY_RX EFA_TX_SIZE EFA_RX_SIZE EFA_TX_MIN_CREDITS
EFA_TX_QUEUE_SIZE EFA_RNR_RETRY EFA_CQ_SIZE EFA_MAX_MEMCPY_SIZE EFA_MTU_SIZE EFA_MR_CACHE_ENABLE EFA_MR_MAX_CACHED_COUNT EFA_MR_MAX_CACHED_SIZE EFA_RECVWIN_SIZE EFA_READCOPY_POOL_SIZE EFA_SHM_AV_SIZE
EFA_INTER_MAX_MEDIUM_MESSAGE_SIZE EFA_INTER_MIN_READ_MESSAGE_SIZE EFA_INTER_MIN_READ_WRITE_SIZE EFA_RUNT_SIZE EFA_USE_UNSOLICITED_WRITE_RECV EFA_HOST_ID_FILE EFA_ENABLE_SHM EFA_INTERNAL_RX_REFILL_THRESHOLD
EFA_MEMCPY_MAX EFA_TRACK_MR EFA_ATOMRSP_POOL_SIZE EFA_CQ_READ_SIZE EFA_RX_COPY_UNEXP EFA_RX_COPY_OOO EFA_SHM_MAX_MEDIUM_SIZE EFA_RX_WINDOW_SIZE EFA_MAX_TIMEOUT EFA_TIMEOUT_INTERVAL EFA_RNR_BACKOFF_INITIAL_WAIT_TIME"""
# A name of one of these families that is not in its list is taken for a misspelling only where a listed one is near.
PREFIXES = {"NCCL": "NCCL_", "TORCH": "TORCH_NCCL_", "FI": "FI_"}
# Plugins that carry settings of their own below the family's prefix.
OTHERS = (
    "NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_", "NCCL_LLCM_", "NCCL_GIB_", "NCCL_TESTS_", "NCCL_OFI_", "NCCL_RDMA_",
    "NCCL_PROFILER_", "NCCL_RCCL_",
)  # fmt: skip
# Names of no family and no framework that are misspelt often enough to be worth knowing.
SINGLE = frozenset((
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_DEVICE_ORDER", "PYTORCH_CUDA_ALLOC_CONF",
    "GLOO_SOCKET_IFNAME", "OMP_NUM_THREADS", "TOKENIZERS_PARALLELISM", "XLA_FLAGS", "LIBTPU_INIT_ARGS",
    "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE", "MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID",
    "TORCH_DISTRIBUTED_DEBUG", "LD_LIBRARY_PATH", "PYTHONUNBUFFERED", "NEURON_RT_NUM_CORES",
    "NEURON_RT_VISIBLE_CORES", "NEURON_CC_FLAGS",
))  # fmt: skip
# Set by GKE's TCPXO set-up for the whole machine: "cannot be changed" (xpk, axlearn, gpu-recipes).
LOCKED = {
    "NCCL_FASTRAK_CTRL_DEV": "eth0",
    "NCCL_FASTRAK_IFNAME": "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8",
    "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
    "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
    "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4",
}
# What newer software does by itself, or advises against (awsome-distributed-training, efa-cheatsheet).
OBSOLETE = {
    "RDMAV_FORK_SAFE": "the EFA guide advises against it: it slows down every fork",
    "FI_EFA_USE_DEVICE_RDMA": "libfabric 1.18 and later choose it",
    "FI_EFA_FORK_SAFE": "kernels since 5.15 are fork-safe without it",
    "FI_EFA_ENABLE_SHM_TRANSFER": "libfabric 1.18 and later choose it",
    "NCCL_ASYNC_ERROR_HANDLING": "PyTorch 2.2 and later read `TORCH_NCCL_ASYNC_ERROR_HANDLING`",
    "NCCL_BLOCKING_WAIT": "PyTorch 2.2 and later read `TORCH_NCCL_BLOCKING_WAIT`",
    "NCCL_DESYNC_DEBUG": "PyTorch 2.2 and later read `TORCH_NCCL_DESYNC_DEBUG`",
    "NCCL_IB_CUDA_SUPPORT": "NCCL 2.4 and later read `NCCL_NET_GDR_LEVEL`",
    "NCCL_LL_THRESHOLD": "NCCL 2.5 and later choose the protocol",
    "NCCL_TREE_THRESHOLD": "NCCL 2.5 and later choose the algorithm",
}


def _set(job: Job, name: str) -> Iterator[tuple[Container, str]]:
    """The containers that set a variable to a text that is known here."""
    if name in job.names:
        for container in job.containers:
            value = container.value(name)
            if type(value) is str:
                yield container, value


def misspelt_variable(job: Job) -> Findings:
    for name in job.names:
        near = _MEANT[name, job.vocabulary]
        for container in job.containers if near else ():
            if name in container.env and name not in container.text:
                at = container.env_at(name, "name")
                message = f"no known program reads `{name}`"
                yield MISSPELT.at(at, message, effect="the variable has no effect", help=f"did you mean `{near}`?")


def _meant(unknown: tuple[str, Vocabulary]) -> str:
    """The name that was probably meant, empty for names that are read, or not like any that is.

    The vocabulary holds what frameworks read; libraries and accelerators have lists of their own.
    """
    name, vocabulary = unknown
    if name in vocabulary.variables:
        return ""
    if prefix := next((prefix for prefix in vocabulary.prefixes if name.startswith(prefix)), ""):
        return nearest(name, {known for known in vocabulary.variables if known.startswith(prefix)}, cutoff=0.84)
    family = name.partition("_")[0]
    if (library := NAMES.get(family)) is not None:
        if name in library or not name.startswith(PREFIXES[family]) or name.startswith(OTHERS) or name in OBSOLETE:
            return ""
        return nearest(name, library, cutoff=0.84)
    if name in SINGLE or len(name) < 8 or "_" not in name:
        return ""
    # One letter is wrong, or two neighbours stand in the other order; the first in the alphabet counts.
    close = [one for one in SINGLE | vocabulary.variables if abs(len(one) - len(name)) <= 1 and one[0] == name[0]]
    return min((known for known in close if _one_off(name, known)), default="")


_MEANT = Memo(_meant)


def _one_off(left: str, right: str) -> bool:
    if len(left) > len(right):
        left, right = right, left
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), len(left))
    if len(left) < len(right):
        return left[at:] == right[at + 1 :]
    is_swapped = left[at : at + 2] == right[at : at + 2][::-1] and left[at + 2 :] == right[at + 2 :]
    return is_swapped or left[at + 1 :] == right[at + 1 :]


def variable_of_other_hardware(container: Container) -> Findings:
    kinds = {device_kind(resource) for resource in container.devices}
    kind = next(iter(kinds), "")
    for name in container.env if len(kinds) == 1 and kind in (GPU, TPU, NEURON) else ():
        owner = _READERS[name]
        if owner not in ("", kind) and not (name == "CUDA_VISIBLE_DEVICES" and container.literals.get(name) == ""):
            message = f"`{name}` applies to {owner}s, but this container has a {kind}"
            yield FOREIGN.at(container.env_at(name, "name"), message, help="remove it")


def invalid_variable_value(container: Container) -> Findings:
    for name, value in container.literals.items():
        words = _WORDS.get(name)
        is_wrong = words is not None and value.upper() not in words
        is_wrong = is_wrong or (name in _WHOLE and parsed_int(value) is None)
        if not is_wrong or not value or "$" in value or "{" in value or "<" in value:
            continue
        help_ = "write a whole number, `1` for on and `0` for off"
        if words is not None:
            help_ = f"use one of {', '.join(f'`{word}`' for word in words)}"
        message = f"`{value}` is not a value of `{name}`"
        yield VALUE.at(container.env_at(name, "value"), message, effect="the library ignores it", help=help_)


def locked_variable(job: Job) -> Findings:
    if "NCCL" not in job.families:
        return
    for name, fixed in LOCKED.items():
        for container, value in _set(job, name):
            if value.rstrip("/") != fixed:
                message = f"`{name}` is `{value}`, but this network configuration requires `{fixed}`"
                effect = "NCCL finds no network, or a slow one"
                help_ = f"use `{fixed}`, or remove it and source the platform's settings"
                yield LOCKED_RULE.at(container.env_at(name, "value"), message, effect=effect, help=help_)


def wrong_socket_interface(job: Job) -> Findings:
    for name, library in (("GLOO_SOCKET_IFNAME", "Gloo"), ("TP_SOCKET_IFNAME", "TensorPipe")):
        for container, value in _set(job, name):
            if "lo" in value.split(",") and container.role.several:
                at = container.env_at(name, "value")
                help_ = "name the interface, e.g. `eth0`, or remove the variable"
                yield INTERFACE.at(at, f"`{name}` is `{value}`", effect=f"{library} reaches no other pod", help=help_)
    for container, value in _set(job, "NCCL_SOCKET_IFNAME"):
        names = value.lstrip("=").split(",")
        # Without the host's network a pod sees its own interfaces alone, and no bridge among them.
        is_local = not value.startswith("^") and any(name.lstrip("^=") in ("lo", "docker0") for name in names)
        if is_local or (value == "^lo" and container.role.host_network):
            at, message = container.env_at("NCCL_SOCKET_IFNAME", "value"), f"`NCCL_SOCKET_IFNAME` is `{value}`"
            effect = "NCCL reaches no other pod"
            if value == "^lo":
                effect = "NCCL may select docker0 or another interface that reaches no other pod"
            help_ = "name the interface, e.g. `eth0`, or exclude all others: `^lo,docker`"
            level = WARNING if has_peers(container.role) else NOTE
            yield INTERFACE.at(at, message, effect=effect, help=help_, level=level)
        elif has_peers(container.role) and _has_pod_network_alone(container) and not _selects_eth0(value):
            at, message = container.env_at("NCCL_SOCKET_IFNAME", "value"), f"`NCCL_SOCKET_IFNAME` is `{value}`"
            effect = "a pod on the pod network has `lo` and `eth0` alone: NCCL ends with `no socket interface found`"
            help_ = "write `eth0`, or set `hostNetwork: true` to use the interfaces of the machine"
            yield INTERFACE.at(at, message, effect=effect, help=help_)


def _has_pod_network_alone(container: Container) -> bool:
    """Whether a pod has no interface beside that of the pod network: neither the host's nor those of a second network."""
    role = container.role
    if value_at(role.pod, "hostNetwork") not in (None, False) or "resourceClaims" in role.pod:
        return False
    return not any("network" in key or "interface" in key for key in table(role.metadata, "annotations"))


def _selects_eth0(value: str) -> bool:
    """Whether NCCL takes `eth0`: it reads prefixes, whole names behind `=`, and those to leave out behind `^`."""
    if "$" in value or not value:
        return True
    sign = value[: len(value) - len(value.lstrip("^="))]
    names = [name.strip() for name in value.lstrip("^=").split(",")]
    matches = any(name == "eth0" if "=" in sign else name and "eth0".startswith(name) for name in names)
    return matches is not ("^" in sign)


def accelerators_hidden(container: Container) -> Findings:
    resource, count = next(iter(container.devices.items()), ("", 0))
    if len(container.devices) != 1 or type(count) is not int or not count:
        return
    for span, message, effect, level in _hiding(container, device_kind(resource), count):
        also = [Label(container.amount_at(resource), f"{count} here")]
        help_ = "remove it, or request no accelerators"
        yield HIDDEN.at(span, message, also=also, effect=effect, help=help_, level=level)


def _hiding(container: Container, kind: str, count: int) -> Iterator[tuple[Span, str, str, str]]:
    """What hides the accelerators of a container: its place, the message, the effect and the level."""
    for name in (*_VISIBLE, *_ON_CPUS):
        if (value := container.literals.get(name)) is None:
            continue
        span = container.env_at(name, "value")
        seen = _seen(name, value, count) if name in _VISIBLE and kind == GPU else None
        if seen is not None and seen < count:
            effect = "the others are idle, and processes that use them fail" if seen else "all of them are idle"
            yield span, f"`{name}` is `{value}`: programs see {seen or 'none'} of {count} accelerators", effect, WARNING
        platforms = [platform.strip().lower() for platform in value.split(",")]
        if platforms[0] in _ON_CPUS.get(name, ()):
            yield span, f"`{name}` is `{value}` in a container with {count} accelerators", _IDLE, WARNING
        kinds = {_PLATFORMS.get(platform, "") for platform in platforms}
        if name == "JAX_PLATFORMS" and kind in (GPU, TPU) and kinds.isdisjoint(("", kind)):
            effect = "JAX finds no such platform, and fails at start"
            yield span, f"`{name}` is `{value}` in a container with {count} {kind}s", effect, ERROR
    chosen = container.launch.value("devices") if container.launch.launcher is PADDLE and kind == GPU else None
    seen = _seen("--devices", chosen, count) if type(chosen) is str else None
    if seen is not None and seen < count:
        message = f"`--devices` is `{chosen}`: programs see {seen or 'none'} of {count} accelerators"
        yield container.at_word("--devices"), message, "the others are idle", WARNING
    for simple in container.commands if "cpu" in container.text or "cuda" in container.text else ():
        for word, after in pairwise((*simple.words, "")):
            option, equals, value = word.partition("=")
            if option in _CPU_OPTIONS and (value if equals else after).lower() not in _FALSE:
                message = f"`{option}` in a container with {count} accelerators"
                yield container.at_word(option), message, _IDLE, WARNING
                return


def _seen(name: str, value: str, count: int) -> int | None:
    """How many of `count` devices a program sees, None where that is not known; CUDA stops at the first invalid one."""
    if "$" in value:
        return None
    if name == "NVIDIA_VISIBLE_DEVICES":
        return 0 if value in ("none", "void") else None
    entries = [entry.strip() for entry in value.split(",")]
    numbers = [parsed_int(entry) for entry in entries]
    if value.strip() and None in numbers:
        return None  # unique names of devices
    seen: list[int] = []
    for number in numbers if value.strip() else ():
        if number is None or not 0 <= number < count or number in seen:
            break
        seen.append(number)
    return len(seen)


def tcpx_with_nvls_or_tree(job: Job) -> Findings:
    tcpx = [name for name in job.names if name.startswith("NCCL_GPUDIRECTTCPX_")] if "NCCL" in job.families else []
    if not tcpx:
        return
    for name, bad in (("NCCL_NVLS_ENABLE", ("1",)), ("NCCL_ALGO", ("Tree", "TREE", "tree"))):
        for container, value in _set(job, name):
            own = next((other for other in tcpx if other in container.env), "")
            if value in bad and own:
                message = f"`{name}={value}` conflicts with GPUDirect-TCPX"
                also = [Label(container.env_at(own), "TCPX is configured here")]
                effect = "NCCL fails at start, or hangs in the first collective"
                help_ = "use `NCCL_NVLS_ENABLE=0` and `NCCL_ALGO=Ring`"
                yield TCPX.at(container.env_at(name, "value"), message, also=also, effect=effect, help=help_)


def debug_left_on(job: Job) -> Findings:
    for name, loud in _VERBOSE.items():
        for container, value in _set(job, name):
            if value.upper() in loud and container.devices:
                effect = f"{container.role.count if container.role.several else 1} pods log verbosely"
                help_ = "use `WARN` once the job runs" if name == "NCCL_DEBUG" else "remove it once the job runs"
                yield DEBUG.at(container.env_at(name, "value"), f"`{name}` is `{value}`", effect=effect, help=help_)


def obsolete_variable(job: Job) -> Findings:
    for name in OBSOLETE.keys() & job.names:
        for container in job.containers:
            if name in container.env:
                yield OBSOLETE_RULE.at(
                    container.env_at(name), f"`{name}` is not needed: {OBSOLETE[name]}", help="remove it"
                )


CHECKS = (
    each(lambda job: job.main, variable_of_other_hardware, accelerators_hidden, invalid_variable_value),
    misspelt_variable, locked_variable, wrong_socket_interface, tcpx_with_nvls_or_tree, debug_left_on,
    obsolete_variable,
)  # fmt: skip

_NCCL = """ALGO ALLOC_P2P_NET_LL_BUFFERS BUFFSIZE CGA_CLUSTER_SIZE CHECKS_DISABLE CHECK_POINTERS CHECK_STREAM_MAPPING
CHUNK_SIZE COLLNET_ENABLE COLLNET_NODE_THRESHOLD COLLNET_NODE_INTRA_CHUNK COMM_BLOCKING COMM_ID COMM_SPLIT_SHARE_RESOURCES
COMM_SHRINK_SHARE_RESOURCES COMM_NVLS_ENABLE CONF_FILE CREATE_THREAD_CONTEXT CROSS_NIC CTA_POLICY CUMEM_ENABLE CUMEM_HOST_ENABLE
DEBUG DEBUG_FILE DEBUG_SUBSYS DEBUG_TIMESTAMP_FORMAT DEBUG_TIMESTAMP_LEVELS DMABUF_ENABLE DUMP_TOPO GRAPH_DUMP_FILE GRAPH_FILE
GRAPH_HELPER_DISABLE GRAPH_MIXING_SUPPORT GRAPH_REGISTER GRAPH_STREAM_ORDERING GDRCOPY_ENABLE GDR_FLUSH_DISABLE GDR_READ
GPUVIZ_READ_INTERVAL_IN_MICROSECONDS HOSTID IB_ADAPTIVE_ROUTING IB_AR_THRESHOLD IB_CUDA_SUPPORT IB_DATA_DIRECT IB_DISABLE
IB_ADDR_FAMILY IB_ADDR_RANGE IB_ECE_ENABLE IB_FIFO_TC IB_GDR_LEVEL IB_GID_INDEX IB_HCA IB_IS_GLOBAL IB_MERGE_NICS IB_MERGE_VFS
IB_MQP_RETRY_ALL IB_MQP_RETRY_CNT IB_MQP_RETRY_SLEEP_MSEC IB_OOO_RQ IB_PCI_RELAXED_ORDERING IB_PKEY IB_PREPOST_RECEIVE_WORK_REQUESTS
IB_QPS_PER_CONNECTION IB_RETRY_CNT IB_RETURN_ASYNC_EVENTS IB_ROCE_VERSION_NUM IB_SL IB_SPLIT_DATA_ON_QPS IB_TC IB_TIMEOUT IB_USE_INLINE
IB_WARN_RAIL_LOCAL IB_SOCK_CLIENT_PORT_REUSE IB_SOCK_SERVER_PORT_REUSE IB_RECEIVER_SIDE_MATCHING_SCHEME
IGNORE_CPU_AFFINITY IGNORE_DISABLED_P2P LAUNCH_MODE LAUNCH_ORDER_IMPLICIT LAUNCH_RACE_FATAL LL128_BUFFSIZE LL128_NTHREADS LL_BUFFSIZE
LL_THRESHOLD LOCAL_REGISTER LOG_FILE LSA_TEAM_SIZE MAX_CTAS MAX_NCHANNELS MAX_NRINGS MAX_P2P_NCHANNELS MEM_SYNC_DOMAIN MIN_CTAS MIN_NCHANNELS
MIN_NRINGS MIN_P2P_NCHANNELS MNNVL_CLIQUE_ID MNNVL_ENABLE MNNVL_SCATTER_NETS_ENABLE MNNVL_UUID MNNVL_RAIL_PER_HOST MULTI_RANK_GPU_ENABLE NCHANNELS_PER_NET_PEER NETDEVS_POLICY
NET NET_DISABLE_INTRA NET_FORCE_FLUSH NET_FORCE_MERGE NET_GDR_C2C NET_GDR_LEVEL NET_GDR_READ NET_MERGE_LEVEL NET_OPTIONAL_RECV_COMPLETION
NET_OVERHEAD NET_PLUGIN NET_SHARED_BUFFERS NET_SHARED_COMMS NSOCKS_PERTHREAD NTHREADS NVB_DISABLE NVB_PRECONNECT NVLSTREE_MAX_CHUNKSIZE
NVLS_CHUNKSIZE NVLS_ENABLE NVLS_NCHANNELS NVLS_NTHREADS NVTX_DISABLE OOB_NET_ENABLE OOB_NET_IFNAME P2P_DIRECT_DISABLE P2P_DISABLE P2P_LEVEL P2P_LL_THRESHOLD P2P_NET_CHUNKSIZE
P2P_NVL_CHUNKSIZE P2P_PCI_CHUNKSIZE P2P_PER_CHANNEL_NET_LL P2P_PXN_LEVEL P2P_READ_ENABLE P2P_USE_CUDA_MEMCPY P2P_EPOCH_ENABLE P2P_SCHEDULE_GROUP_SIZE PARALLEL_INIT PAT_ENABLE PLUGIN_P2P PROFILER_PLUGIN
PROFILE_EVENT_MASK PROGRAM_CONNECT_TIMEOUT PROGRESS_APPENDOP_FREQ PROTO PROXY_APPEND_BATCH_SIZE PROXY_CPUSET PROXY_DUMP_SIGNAL PXN_C2C PXN_DISABLE
RAS_ADDR RAS_ENABLE RAS_TIMEOUT_FACTOR REG_CACHE REPORT_CONNECT_PROGRESS RINGS RUNTIME_CONNECT SCATTER_XML SET_CPU_STACK_SIZE SET_STACK_SIZE SETNODE SET_THREAD_NAME SHARP_DISABLE SHM_DISABLE
SHM_LOCALITY SHM_MEMCPY_MODE SHM_USE_CUDA_MEMCPY SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE SINGLE_PROC_MEM_REG_ENABLE SINGLE_RING_THRESHOLD SOCKET_FAMILY SOCKET_IFNAME SOCKET_INLINE
SOCKET_MIN_TASKSIZE SOCKET_NTHREADS SOCKET_POLL_TIMEOUT_MSEC SOCKET_RETRY_CNT SOCKET_RETRY_SLEEP_MSEC STORE_ONLY SYM_CTAS SYM_KERNEL TESTS_DEVICE TESTS_SPLIT TESTS_SPLIT_MASK
THREAD_THRESHOLDS TIMEOUT TOPO_DUMP_FILE TOPO_DUMP_FILE_RANK TOPO_FILE TREE_THRESHOLD TUNER_CONFIG_PATH TUNER_PLUGIN UID_STAGGER_RATE UID_STAGGER_THRESHOLD UNPACK_SHM USE_SNAP
WARN_ENABLE_DEBUG_INFO WIN_ENABLE WIN_STRIDE WORK_ARGS_BYTES WORK_FIFO_BYTES WORK_FIFO_DEPTH CLEAN_INTRA_NODE_SHM INIT_TYPE ALLREDUCE_ALGO BLOCKING_WAIT ASYNC_ERROR_HANDLING DESYNC_DEBUG ENABLE_MONITORING
HOME VERSION PATH LIB_DIR INCLUDE_DIR ROOT ROOT_DIR INSTALL_DIR TESTS_HOME TESTS_VERSION LIBRARY INCLUDE PLUGIN_PATH
EXT_NET_PLUGIN RCCL_NET NET_AWS_OFI OFI_VERSION"""


NAMES = {
    family: frozenset(f"{PREFIXES[family]}{name}" for name in names.split())
    for family, names in (("NCCL", _NCCL), ("TORCH", _TORCH_NCCL), ("FI", _FI))
}
