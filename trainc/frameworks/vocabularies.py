"""What the processes of each framework go by; the one place for these names."""

from __future__ import annotations

from trainc.model.inference import PORT
from trainc.model.vocabulary import Launcher, Vocabulary, joined

TORCHRUN = Launcher(
    "torchrun",
    modules=("torch.distributed.run", "torch.distributed.launch"),
    nodes=("nnodes", "PET_NNODES"),
    processes=("nproc_per_node", "PET_NPROC_PER_NODE"),
    rank=("node_rank", "PET_NODE_RANK"),
    addresses={"rdzv_endpoint": "", "master_addr": "master_port"},
    sets=("LOCAL_RANK", "RANK", "GROUP_RANK", "LOCAL_WORLD_SIZE"),
    switches=frozenset(
        ("standalone", "no_python", "run_path", "use_env", "tee_stdout", "m", "module", "virtual_local_rank")
    ),
)
ACCELERATE = Launcher(
    "accelerate",
    programs=("accelerate", "accelerate-launch"),
    modules=("accelerate.commands.launch",),
    nodes=("num_machines", ""),
    addresses={"main_process_ip": "main_process_port"},
)
DEEPSPEED = Launcher(
    "deepspeed",
    modules=("deepspeed.launcher.runner",),
    nodes=("num_nodes", ""),
    processes=("num_gpus", ""),
    addresses={"master_addr": "master_port"},
)
MPIRUN = Launcher(
    "mpirun",
    programs=("mpirun", "mpiexec", "mpirun.openmpi", "horovodrun"),
    switches=frozenset(
        (
            "allow_run_as_root",
            "tag_output",
            "oversubscribe",
            "report_bindings",
            "display_map",
            "v",
            "q",
            "verbose",
            "nooversubscribe",
            "merge_stderr_to_stdout",
            "timestamp_output",
            "bycore",
            "bynode",
            "byslot",
            "bind_to_none",
            "bind_to_core",
            "enable_recovery",
            "get_stack_traces",
            "do_not_launch",
        )
    ),
)

VOCABULARIES = {
    "plain": Vocabulary(),
    "torch": Vocabulary(
        reserved=("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"),
        addresses={
            "MASTER_ADDR": "MASTER_PORT",
            "PET_MASTER_ADDR": "PET_MASTER_PORT",
            "PET_RDZV_ENDPOINT": "",
        },
        ranks=("RANK", "NODE_RANK", "PET_NODE_RANK", "GROUP_RANK"),
        sizes=("WORLD_SIZE",),
        launchers=(TORCHRUN, ACCELERATE, DEEPSPEED),
        ports=(PORT,),
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
    "xgboost": Vocabulary(
        reserved=("DMLC_TRACKER_URI", "DMLC_TRACKER_PORT", "DMLC_TASK_ID", "DMLC_NUM_WORKER"),
        addresses={"DMLC_TRACKER_URI": "DMLC_TRACKER_PORT", "DMLC_PS_ROOT_URI": "DMLC_PS_ROOT_PORT"},
        ranks=("DMLC_TASK_ID",),
        sizes=("DMLC_NUM_WORKER",),
        ports=(PORT,),
    ),
    "flux": Vocabulary(),
    "tensorflow": Vocabulary(reserved=("TF_CONFIG",)),
    "paddle": Vocabulary(
        reserved=("PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM"),
        addresses={"PADDLE_MASTER": ""},
        ports=(36543,),
    ),
    "lightgbm": Vocabulary(
        reserved=("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_PORT", "WORKER_ADDRS"),
        addresses={"MASTER_ADDR": "MASTER_PORT"},
        ranks=("RANK",),
        sizes=("WORLD_SIZE",),
        ports=(PORT,),
    ),
}
EVERY = joined(VOCABULARIES.values())  # a JobSet does not say which framework it is for
