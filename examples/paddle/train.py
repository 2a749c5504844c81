"""Each node adds its number, and all of them print the same sum: the launchers have met."""

import paddle
import paddle.distributed as dist


def main() -> None:
    dist.init_parallel_env()
    rank, size = dist.get_rank(), dist.get_world_size()
    total = paddle.to_tensor([float(rank + 1)])
    dist.all_reduce(total)
    print(f"rank {rank} of {size}: sum over ranks {int(total.item())}", flush=True)


if __name__ == "__main__":
    main()
