"""Two tasks fit a line, each on a worker of its own; the driver joins what they found."""

import os

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

STEPS = int(os.environ.get("STEPS", "10"))


@ray.remote(num_cpus=1)
def fit(start: float) -> tuple[str, float]:
    slope = start
    for _ in range(STEPS):
        slope -= 0.1 * sum(2 * x * (slope * x - 3 * x) for x in (0.5, 1.0, 1.5)) / 3
    return ray.get_runtime_context().get_node_id(), slope


ray.init(address="auto")
workers = placement_group([{"CPU": 1}] * 2, strategy="STRICT_SPREAD")
ray.get(workers.ready())  # both have come up
found = ray.get(
    [
        fit.options(scheduling_strategy=PlacementGroupSchedulingStrategy(workers, index)).remote(start)
        for index, start in enumerate((0.0, 6.0))
    ]
)
print(f"{len({node for node, _ in found})} workers: y = {sum(slope for _, slope in found) / 2:.2f} x")
