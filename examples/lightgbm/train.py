"""Builds LightGBM's list of machines from the variables that the framework sets, and trains."""

from __future__ import annotations

import os

import lightgbm as lgb
import numpy as np


def main() -> None:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    master = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
    others = [f"{name}:{os.environ['WORKER_PORT']}" for name in os.environ.get("WORKER_ADDRS", "").split(",") if name]
    data = np.random.default_rng(rank).normal(size=(300, 6))
    labels = data @ np.arange(6.0)
    parameters = {
        "objective": "regression",
        "tree_learner": "data",
        "num_machines": size,
        "machines": ",".join([master, *others]),
        "local_listen_port": int(os.environ["MASTER_PORT"]),
        "verbose": -1,
    }
    model = lgb.train(parameters, lgb.Dataset(data, labels), num_boost_round=20)
    error = float(np.sqrt(np.mean((model.predict(data) - labels) ** 2)))
    print(f"worker {rank} of {size}: error {error:.6f}", flush=True)


if __name__ == "__main__":
    main()
