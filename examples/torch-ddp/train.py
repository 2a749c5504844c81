"""Distributed data parallel training of a small model; every rank ends with the same loss."""

from __future__ import annotations

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps
    # torchrun has read the PET_* variables and sets RANK, WORLD_SIZE and MASTER_ADDR from them.
    gpu = torch.cuda.is_available()
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", rank % torch.cuda.device_count()) if gpu else torch.device("cpu")
    torch.manual_seed(0)
    inputs = torch.randn(1024, 16, device=device)
    targets = inputs @ torch.randn(16, 1, device=device)
    model = DistributedDataParallel(nn.Linear(16, 1).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(inputs[rank::size]), targets[rank::size]).backward()
        optimizer.step()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(inputs), targets)
    print(f"rank {rank} of {size}: loss {loss.item():.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
