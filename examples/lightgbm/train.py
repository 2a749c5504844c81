"""Builds LightGBM's list of machines from the variables that the framework sets, and trains."""

import os
import socket
import time
import zlib

import lightgbm as lgb
import numpy as np


def address(name: str, seconds: float = 300) -> str:
    """The IP address of a pod: LightGBM looks for its own addresses in the list, and knows no names."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return socket.gethostbyname(name)
        except OSError:
            # The name is there once the pod is.
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def main() -> None:
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    names = [os.environ["MASTER_ADDR"], *filter(None, os.environ.get("WORKER_ADDRS", "").split(","))]
    port = int(os.environ["MASTER_PORT"])
    data = np.random.default_rng(rank).normal(size=(300, 6))
    labels = data @ np.arange(6.0)
    parameters = {
        "objective": "regression",
        "tree_learner": "data",
        "num_machines": size,
        "machines": ",".join(f"{address(name)}:{port}" for name in names),
        "local_listen_port": port,
        "verbose": -1,
    }
    model = lgb.train(parameters, lgb.Dataset(data, labels), num_boost_round=20)
    error = float(np.sqrt(np.mean((model.predict(data) - labels) ** 2)))
    # Each worker has data of its own; that all name one model shows that they made it together.
    trees = zlib.crc32(model.model_to_string().partition("\nparameters:")[0].encode())
    print(f"worker {rank} of {size}: error {error:.6f}, model {trees:08x}", flush=True)


if __name__ == "__main__":
    main()
