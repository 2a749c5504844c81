"""Gradient boosting over several workers that meet at a tracker; every worker ends with the same model."""

import os
import socket
import threading

import numpy as np
import xgboost as xgb
from xgboost.collective import CommunicatorContext, get_rank, get_world_size
from xgboost.tracker import RabitTracker


def main() -> None:
    rank, workers = int(os.environ["DMLC_TASK_ID"]), int(os.environ["DMLC_NUM_WORKER"])
    host = socket.gethostbyname(os.environ["DMLC_TRACKER_URI"])
    port = int(os.environ["DMLC_TRACKER_PORT"])
    if rank == 0:
        tracker = RabitTracker(n_workers=workers, host_ip=host, port=port, sortby="task")
        tracker.start()
        threading.Thread(target=tracker.wait_for, daemon=True).start()
    with CommunicatorContext(
        dmlc_tracker_uri=os.environ["DMLC_TRACKER_URI"], dmlc_tracker_port=port, dmlc_task_id=str(rank)
    ):
        data = np.random.default_rng(0).normal(size=(900, 6))
        labels = data @ np.arange(6.0)
        mine = slice(get_rank(), None, get_world_size())
        matrix = xgb.DMatrix(data[mine], labels[mine])
        model = xgb.train({"max_depth": 3, "tree_method": "hist"}, matrix, num_boost_round=20)
        error = float(np.sqrt(np.mean((model.predict(xgb.DMatrix(data)) - labels) ** 2)))
        print(f"worker {get_rank()} of {get_world_size()}: error {error:.6f}", flush=True)


if __name__ == "__main__":
    main()
