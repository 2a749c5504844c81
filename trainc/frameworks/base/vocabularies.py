"""The names that the processes of each framework go by: variables, launchers, ports.

They are together because a JobSet does not say which framework it is for: checks of pods go by the names of all.
"""

from trainc.model.inference import PORT
from trainc.model.vocabulary import Launcher, Vocabulary, joined

# What else torchrun reads, below its prefix (PyTorch 2.9); from its documentation, read 2026-08.
_PET = """RDZV_BACKEND RDZV_ID RDZV_CONF STANDALONE MAX_RESTARTS MONITOR_INTERVAL START_METHOD ROLE MODULE NO_PYTHON RUN_PATH
LOG_DIR REDIRECTS TEE LOCAL_RANKS_FILTER LOCAL_ADDR LOGS_SPECS EVENT_LOG_HANDLER DUPLICATE_STDOUT_FILTERS
DUPLICATE_STDERR_FILTERS NUMA_BINDING SIGNALS_TO_HANDLE VIRTUAL_LOCAL_RANK SHUTDOWN_TIMEOUT"""

TORCHRUN = Launcher(
    "torchrun",
    modules=("torch.distributed.run", "torch.distributed.launch"),
    nodes=("nnodes", "PET_NNODES"),
    processes=("nproc_per_node", "PET_NPROC_PER_NODE"),
    rank=("node_rank", "PET_NODE_RANK"),
    addresses={"rdzv_endpoint": "", "master_addr": "master_port"},
    numbers=("max_restarts",),
    sets=("LOCAL_RANK", "RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    passes_on={"PET_MASTER_ADDR": "MASTER_ADDR", "PET_MASTER_PORT": "MASTER_PORT"},
    switches=frozenset(
        ("standalone", "no_python", "run_path", "use_env", "tee_stdout", "m", "module", "virtual_local_rank")
    ),
)
ACCELERATE = Launcher(
    "accelerate",
    programs=("accelerate", "accelerate-launch"),
    modules=("accelerate.commands.launch",),
    nodes=("num_machines", ""),
    rank=("machine_rank", ""),
    addresses={"main_process_ip": "main_process_port"},
    numbers=("num_processes",),
)
DEEPSPEED = Launcher(
    "deepspeed",
    modules=("deepspeed.launcher.runner",),
    nodes=("num_nodes", ""),
    processes=("num_gpus", ""),
    rank=("node_rank", ""),
    addresses={"master_addr": "master_port"},
)

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

MPIRUN = Launcher(
    "mpirun",
    programs=("mpirun", "mpiexec", "mpirun.openmpi", "horovodrun"),
    numbers=("np", "npernode"),
    switches=frozenset((
        "allow_run_as_root", "tag_output", "oversubscribe", "report_bindings", "display_map", "v", "q", "verbose",
        "nooversubscribe", "merge_stderr_to_stdout", "timestamp_output", "bycore", "bynode", "byslot", "bind_to_none",
        "bind_to_core", "enable_recovery", "get_stack_traces", "do_not_launch",
    )),
)  # fmt: skip

# Without `--nproc_per_node` it starts a process for each device.
PADDLE = Launcher(
    "paddle.distributed.launch",
    programs=("fleetrun",),
    modules=("paddle.distributed.launch", "paddle.distributed.fleet.launch"),
    nodes=("nnodes", ""),
    processes=("nproc_per_node", ""),
    rank=("rank", ""),
    addresses={"master": ""},
)

VOCABULARIES: dict[str, Vocabulary] = {
    "torch": Vocabulary(
        reserved=("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"),
        addresses={"MASTER_ADDR": "MASTER_PORT", "PET_MASTER_ADDR": "PET_MASTER_PORT", "PET_RDZV_ENDPOINT": ""},
        ranks=("RANK", "NODE_RANK", "PET_NODE_RANK", "GROUP_RANK"),
        sizes=("WORLD_SIZE",),
        launchers=(TORCHRUN, ACCELERATE, DEEPSPEED),
        ports=(PORT,),
        others=[f"PET_{name}" for name in _PET.split()],
        prefixes=("PET_",),
    ),
    "jax": Vocabulary(
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
    ),
    "tensorflow": Vocabulary(reserved=("TF_CONFIG",)),
    "paddle": Vocabulary(
        reserved=("PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM"),
        addresses={"PADDLE_MASTER": ""},
        launchers=(PADDLE,),
        ports=(36543,),
    ),
    "xgboost": Vocabulary(
        reserved=("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"),
        addresses={"DMLC_TRACKER_URI": "DMLC_TRACKER_PORT", "DMLC_PS_ROOT_URI": "DMLC_PS_ROOT_PORT"},
        ranks=("DMLC_TASK_ID",),
        sizes=("DMLC_NUM_WORKER",),
        ports=(PORT,),
    ),
    "lightgbm": Vocabulary(
        reserved=("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_PORT", "WORKER_ADDRS"),
        addresses={"MASTER_ADDR": "MASTER_PORT"},
        ranks=("RANK",),
        sizes=("WORLD_SIZE",),
        ports=(PORT,),
    ),
    "mpi": Vocabulary(
        reserved=(
            "OMPI_MCA_orte_default_hostfile",
            "OMPI_MCA_orte_keep_fqdn_hostnames",
            "OMPI_MCA_orte_set_default_slots",
            "OMPI_MCA_plm_rsh_args",
        ),
        launchers=(MPIRUN,),
    ),
    "flux": Vocabulary(),
    "plain": Vocabulary(),
}
EVERY = joined(VOCABULARIES.values())
