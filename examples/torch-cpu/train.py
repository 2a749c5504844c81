"""Distributed data parallel training of a small model; every rank ends with the same loss."""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    """Meet the peers, train on this rank's part of the data, and say what came out for all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps
    # torchrun has met its peers through the PET_* variables and tells each process its rank.
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    inputs = torch.randn(1024, 16)
    targets = inputs @ torch.randn(16, 1)
    model = DistributedDataParallel(nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs[rank::size]), targets[rank::size]).backward()
        optimizer.step()
    met = torch.tensor([rank + 1])
    dist.all_reduce(met)
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(inputs), targets)
    print(f"rank {rank} of {size}: sum over ranks {met.item()}, loss {loss.item():.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
