"""Parallelism arguments of known trainers against the devices that there are."""

from math import prod

from trainc.frameworks.base.vocabularies import MPIRUN
from trainc.lint.facts.job import Container, Count, Findings, Job, each
from trainc.lint.facts.launch import NOTHING
from trainc.lint.tables.machines import GPU, TPU, device_kind
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import TPU_RESOURCE

MESH = Rule("mesh-mismatch", ERROR)
BATCH = Rule("batch-not-divisible", WARNING)

_MODEL = (
    ("tensor_model_parallel_size", "tensor"),
    ("pipeline_model_parallel_size", "pipeline"),
    ("context_parallel_size", "context"),
    # torchtitan
    ("tensor_parallel_degree", "tensor"),
    ("pipeline_parallel_degree", "pipeline"),
    ("context_parallel_degree", "context"),
    ("data_parallel_replicate_degree", "replicate"),
    ("data_parallel_shard_degree", "shard"),
)
_MICRO_BATCHES = ("micro_batch_size", "model.micro_batch_size", "data.micro_batch_size", "train_micro_batch_size")
_BATCHES = ("global_batch_size", "model.global_batch_size", "data.global_batch_size", "train_global_batch_size")
_PREFIXES = (
    "", "trainer.strategy.", "strategy.", "model.", "trainer.", "model.strategy.", "parallelism.", "training.",
    "experimental.",
)  # fmt: skip
_OPEN: dict[tuple[str, ...], str] = {("ici_",): "ici_fsdp_parallelism", ("dcn_",): "dcn_data_parallelism"}
_KEYWORDS = ("parallelism", "parallel_size", "parallel-size", "_parallel=", "parallel_degree")
_REST = -1  # what torchtitan divides by itself


def mesh_mismatch(job: Job) -> Findings:
    for container in job.main if any(word in job.text for word in _KEYWORDS) else ():
        if any(word in container.text for word in _KEYWORDS):
            yield from _maxtext(container, container.options)
            yield from _megatron(job, container, container.options)


def server_mesh(container: Container) -> Findings:
    """Find a split of a model over more accelerators than the one pod has whose program starts its own workers."""
    given = container.options if "tensor" in container.text else {}
    if container.launch.by_launcher or container.role.count != 1 or len(container.role.job.roles) != 1:
        return
    sizes = [parsed_int(given.get(name, "1")) for name in ("tensor_parallel_size", "pipeline_parallel_size")]
    tensor, pipeline = sizes
    counts = [count for count in container.devices.values() if type(count) is int]
    if tensor is None or pipeline is None or len(counts) != 1 or tensor * pipeline <= counts[0]:
        return
    message = f"tensor {tensor} x pipeline {pipeline} = {tensor * pipeline} needs more than the {counts[0]} accelerators of the pod"
    effect = "the program fails at start: the devices cannot be split that way"
    help_ = f"choose sizes whose product is at most {counts[0]}"
    at = container.at_word("tensor-parallel-size", "tensor_parallel_size")
    yield MESH.at(at, message, effect=effect, help=help_)


def _devices(container: Container) -> int:
    """Devices of one child Job, 0 where they cannot be counted."""
    role = container.role
    counts = [n for resource, n in role.devices.items() if device_kind(resource) in (GPU, TPU)]
    if len(counts) != 1 or type(counts[0]) is not int or type(role.width) is not int:
        return 0
    return counts[0] * role.width


def _maxtext(container: Container, given: dict[str, str]) -> Findings:
    role, generation = container.role, container.role.node_label("cloud.google.com/gke-tpu-accelerator")
    meshes: list[tuple[tuple[str, ...], Count, str]] = [
        (("ici_",), _devices(container), "devices of a slice"),
        (("dcn_",), role.replicas, "slices"),
    ]
    if TPU_RESOURCE not in container.devices:
        # Between GPUs there are no slices that JobSet knows: both kinds of sizes together make all devices.
        every = _devices(container) * role.replicas if type(role.replicas) is int else 0
        meshes = [(("ici_", "dcn_"), every, "GPUs")]
    for prefixes, total, what in meshes:
        sizes = {key: size for key, size in given.items() if key.startswith(prefixes) and key.endswith("_parallelism")}
        numbers = [parsed_int(size) for size in sizes.values()]
        is_whole = all(any(key.startswith(prefix) for key in sizes) for prefix in prefixes)
        if not is_whole or type(total) is not int or not total or None in numbers:
            continue
        # On Ironwood JAX may see two devices per chip, and without a selector one cannot tell.
        counts = {total, 2 * total} if prefixes == ("ici_",) and generation in ("", "tpu7x") else {total}
        product = prod(number for number in numbers if number is not None and number != -1)
        if product in counts or (-1 in numbers and product and any(count % product == 0 for count in counts)):
            continue
        # Do the sizes that are given decide alone? MaxText leaves one size open (-1) in its own defaults.
        default = _OPEN.get(prefixes)
        if default is not None and default not in sizes and 0 < product <= total and total % product == 0:
            continue
        at, there = role.job.at(container.word_path(next(iter(sizes)))), f"{total} {what}"
        message = (
            f"the {' and '.join(f'`{prefix}`' for prefix in prefixes)} sizes make {product}, but there are {there}"
        )
        also = [Label(role.spec_at("parallelism"), there)]
        effect = "the program fails at start: the mesh does not match the devices"
        help_ = "change a size, or set one to -1, which uses the remaining devices"
        notes = (" x ".join(f"{key} {size}" for key, size in sizes.items()),)
        yield MESH.at(at, message, also=also, effect=effect, help=help_, notes=notes)


def _megatron(job: Job, container: Container, given: dict[str, str]) -> Findings:
    sizes, world = _split(job, container, given)
    product = prod(sizes.values())
    if not sizes or not product or not world % product:
        return
    factors = " x ".join(f"{name} {size}" for name, size in sizes.items())
    names = [name for name, short in _MODEL if sizes.get(short, 1) != 1]
    spelled = [spelling for name in names for spelling in (name, name.replace("_", "-"))]
    message = f"{factors} = {product} does not divide the {world} devices"
    also = [Label(container.role.spec_at("parallelism"), f"{world} devices")]
    effect = "the program fails at start: the devices cannot be split that way"
    help_ = f"choose sizes whose product divides {world}"
    yield MESH.at(container.at_word(*spelled), message, also=also, effect=effect, help=help_)


def _split(job: Job, container: Container, given: dict[str, str]) -> tuple[dict[str, int], int]:
    """The model-parallel sizes of Megatron, NeMo and the like, and the devices that they split; empty where unknown."""
    sizes: dict[str, int] = {}
    for name, short in _MODEL:
        written = next((given[p + name] for p in _PREFIXES if p + name in given), None)
        number = parsed_int(written)
        if written is not None and number is None:
            job.report.skip("a parallel size is unknown")
            return {}, 0
        if number is not None and number != _REST:
            sizes[short] = number
    devices = _devices(container)
    role = container.role
    if not devices or container.launch.launcher in (NOTHING, MPIRUN) or type(role.replicas) is not int:
        return {}, 0
    return sizes, devices * role.replicas


def batch_not_divisible(job: Job) -> Findings:
    if "global" not in job.text or "batch" not in job.text:
        return
    for container in job.main:
        given = container.options if "global" in container.text else {}
        batch = parsed_int(next((given[key] for key in _BATCHES if key in given), None))
        sizes, world = _split(job, container, given) if batch else ({}, 0)
        product = prod(sizes.values())
        replicas = world // product if product and world % product == 0 else 0
        micro = parsed_int(next((given[key] for key in _MICRO_BATCHES if key in given), None)) or 1
        step = replicas * max(micro, 1)
        if batch is None or not replicas or batch % step == 0:
            continue
        near = max(step, round(batch / step) * step)
        made = f"{replicas} data-parallel replicas" + (f" with micro-batches of {micro}" if micro > 1 else "")
        at = container.at_word("global_batch_size", "global-batch-size")
        message = f"a global batch of {batch} is not divisible by {made}"
        also = [Label(container.role.spec_at("parallelism"), f"{replicas} data-parallel replicas")]
        effect = "the trainer fails at start, or drops samples"
        yield BATCH.at(at, message, also=also, effect=effect, help=f"the nearest divisible size is {near}")


CHECKS = (each(lambda job: job.main, server_mesh), mesh_mismatch, batch_not_divisible)
