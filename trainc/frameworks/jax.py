"""JAX: `JAX_NUM_PROCESSES`, `JAX_PROCESS_ID` and `JAX_COORDINATOR_ADDRESS` for `jax.distributed.initialize()`, port 29500."""

from __future__ import annotations

from trainc.frameworks.base.requirements import check
from trainc.model.inference import PORT
from trainc.model.patches import COMPLETION_INDEX, GPU, TPU, Contribution, Framework, Start, on
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import derive
from trainc.model.vocabulary import Vocabulary

# What else JAX reads, below its prefix (JAX 0.8); from its documentation, read 2026-08.
_JAX = """COORDINATOR_BIND_ADDRESS PROCESS_COUNT PLATFORMS PLATFORM_NAME BACKEND_TARGET ENABLE_X64 LOG_COMPILES DEBUG_NANS
DEBUG_INFS DISABLE_JIT TRACEBACK_FILTERING DEFAULT_MATMUL_PRECISION COMPILATION_CACHE_DIR
PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES ENABLE_COMPILATION_CACHE
COMPILATION_CACHE_MAX_SIZE RAISE_PERSISTENT_CACHE_ERRORS PERSISTENT_CACHE_ENABLE_XLA_CACHES
CAPTURED_CONSTANTS_WARN_BYTES NUMPY_RANK_PROMOTION NUMPY_DTYPE_PROMOTION ENABLE_CUSTOM_PRNG DEFAULT_PRNG_IMPL
THREEFRY_PARTITIONABLE TRANSFER_GUARD TRANSFER_GUARD_HOST_TO_DEVICE TRANSFER_GUARD_DEVICE_TO_HOST
TRANSFER_GUARD_DEVICE_TO_DEVICE CHECK_TRACER_LEAKS DUMP_IR_TO DUMP_IR_MODES LOGGING_LEVEL DEBUG_LOG_MODULES
DISTRIBUTED_DEBUG LOCAL_DEVICE_IDS CUDA_VISIBLE_DEVICES ROCM_VISIBLE_DEVICES DISTRIBUTED_INITIALIZATION_TIMEOUT
DISTRIBUTED_HEARTBEAT_TIMEOUT_SECONDS CPU_COLLECTIVES_IMPLEMENTATION NUM_CPU_DEVICES PMAP_NO_RANK_REDUCTION
SOFTMAX_CUSTOM_JVP PALLAS_USE_MOSAIC_GPU USE_SHARDY_PARTITIONER SHARE_BINARY_BETWEEN_HOSTS
SHARE_BINARY_BETWEEN_HOSTS_TIMEOUT_MS COMPILATION_CACHE_EXPECT_PGLE ENABLE_PGLE PGLE_PROFILING_RUNS
PGLE_AGGREGATION_PERCENTILE SKIP_SLOW_TESTS RANDOM_SEED_OFFSET MOCK_GPU_TOPOLOGY ENABLE_EMPTY_ARRAYS
ARRAY_GARBAGE_COLLECTION_GUARD EXPLAIN_CACHE_MISSES PERSISTENT_CACHE_MIN_COMPILE_TIME ENABLE_MEMORIES
INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS HLO_SOURCE_FILE_CANONICALIZATION_REGEX REMAT_OPT_BARRIER OPTIMIZATION_LEVEL
MEMORY_FITTING_LEVEL EXEC_TIME_OPTIMIZATION_EFFORT MEMORY_FITTING_EFFORT ALLOW_UNUSED_TPUS FORCE_TPU_INIT PORT
EMIT_PYTHON_CALLBACK_TO_XLA_WARNING PJRT_CLIENT_CREATE_OPTIONS ROCM_PLUGIN_VERSION VERSION VERSION_NUMBER"""

VOCABULARY = Vocabulary(
    reserved=("JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"),
    addresses={
        "JAX_COORDINATOR_ADDRESS": "JAX_COORDINATOR_PORT",
        "COORDINATOR_ADDRESS": "COORDINATOR_PORT",
        "DISTRIBUTED_COORDINATOR": "",
        "MEGASCALE_COORDINATOR_ADDRESS": "MEGASCALE_COORDINATOR_PORT",
    },
    ranks=("JAX_PROCESS_ID", "PROCESS_ID"),
    sizes=("JAX_NUM_PROCESSES",),
    ports=(PORT,),
    others=[f"JAX_{name}" for name in _JAX.split()],
    prefixes=("JAX_",),
)


def lower(plan: Plan) -> Contribution:
    """The number of processes, the rank and the address of process 0; one process for each node."""
    if not plan.wired or plan.trainer is None:
        return Contribution()
    return on(
        plan.trainer,
        env={
            "JAX_NUM_PROCESSES": plan.trainer.count,
            "JAX_PROCESS_ID": COMPLETION_INDEX,
            "JAX_COORDINATOR_ADDRESS": derive("coordinator address", lambda host: f"{host}:{PORT}", plan.host()),
        },
        ports=(PORT,),
    )


def verify(plan: Plan, report: Report) -> None:
    """Findings where the processes would not meet."""
    check(plan, report, VOCABULARY.reserved, infers=False)


START = Start(
    "jax-distributed",
    ("python", "train.py"),
    "One process on every node; the program calls jax.distributed.initialize().",
    machines=(GPU, TPU),
    has_shared_memory=True,
)

FRAMEWORK = Framework(
    "jax", lower, vocabulary=VOCABULARY, env_first=True, verify=verify, computes=(), starts={"jax": START}
)
