"""A regression whose data lies on several processes; every process ends with the same model."""

from __future__ import annotations

import argparse
import os

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps
    jax.distributed.initialize(
        coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
        num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
        process_id=int(os.environ["JAX_PROCESS_ID"]),
    )
    rank, size = jax.process_index(), jax.process_count()
    inputs = jax.random.normal(jax.random.key(rank), (256, 8))
    targets = inputs @ jnp.arange(8.0)
    weights = jnp.zeros(8)

    def loss(w: jax.Array) -> jax.Array:
        return jnp.mean((inputs @ w - targets) ** 2)

    for _ in range(steps):
        # One gradient for all: the mean over what every process has found on its own data.
        weights -= 0.1 * multihost_utils.process_allgather(jax.grad(loss)(weights)).mean(axis=0)
    total = multihost_utils.process_allgather(jnp.array([rank + 1])).sum()
    print(f"process {rank} of {size}: sum over processes {int(total)}, loss {float(loss(weights)):.6f}", flush=True)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
