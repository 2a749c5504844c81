"""A regression under MultiWorkerMirroredStrategy, which reads the cluster from TF_CONFIG."""

import tensorflow as tf


def main() -> None:
    """Meet the other workers, average every gradient with them, and say what came out."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    resolver = strategy.cluster_resolver
    task = f"{resolver.task_type or 'worker'} {resolver.task_id or 0}"
    inputs = tf.random.stateless_normal((512, 8), seed=(1, resolver.task_id or 0))
    targets = tf.reduce_sum(inputs, axis=1)
    with strategy.scope():
        weights = tf.Variable(tf.zeros(8))

    @tf.function
    def step() -> tf.Tensor:
        def gradient() -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(inputs, weights) - targets) ** 2)
            mean = tf.distribute.get_replica_context().all_reduce("mean", tape.gradient(loss, weights))
            weights.assign_sub(0.1 * mean)
            return loss

        return strategy.reduce("mean", strategy.run(gradient), axis=None)

    for _ in range(50):
        loss = step()
    print(f"{task} of {strategy.num_replicas_in_sync}: loss {float(loss):.6f}", flush=True)


if __name__ == "__main__":
    main()
