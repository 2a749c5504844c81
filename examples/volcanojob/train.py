"""Every process says who it is to the master, which ends when all have spoken."""

import os
import socket
import time

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if rank == 0:
    with socket.create_server(("", address[1])) as server:
        seen = {0}
        while len(seen) < size:
            with server.accept()[0] as peer:
                seen.add(int(peer.recv(16)))
    print(f"all {size} processes have met: {sorted(seen)}")
else:
    for _ in range(60):
        try:
            with socket.create_connection(address, timeout=5) as peer:
                peer.sendall(str(rank).encode())
            break
        except OSError:
            time.sleep(1)
    else:
        raise SystemExit(f"rank {rank}: {address} does not answer")
