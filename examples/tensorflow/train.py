"""A regression under MultiWorkerMirroredStrategy, which reads the cluster from TF_CONFIG."""

from __future__ import annotations

import json
import os

import tensorflow as tf


def main() -> None:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "worker", "index": 0})
    inputs = tf.random.stateless_normal((512, 8), seed=(1, 2))
    targets = tf.reduce_sum(inputs, axis=1, keepdims=True)
    dataset = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(64).repeat()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
    history = model.fit(dataset, epochs=2, steps_per_epoch=8, verbose=0)
    replicas = strategy.num_replicas_in_sync
    print(f"{task['type']} {task['index']} of {replicas}: loss {history.history['loss'][-1]:.6f}", flush=True)


if __name__ == "__main__":
    main()
