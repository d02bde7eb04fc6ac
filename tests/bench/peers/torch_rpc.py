"""The parameter server of torch_peer.py, over torch.distributed.rpc."""

from __future__ import annotations

import argparse
import threading

import torch
from exchange import Exchange
from flat import Compute, Momentum, make_compute, share
from torch.distributed import rpc

SECONDS = 120
SERVER: PsServer | None = None


class PsServer:
    """Owns its share of every bucket."""

    def __init__(self, values: torch.Tensor, shares: list[slice], workers: int) -> None:
        self.momentum, self.shares, self.workers = Momentum(values), shares, workers
        self.lock = threading.Lock()
        self.sums: list[torch.Tensor | None] = [None] * len(shares)
        self.pushes = [0] * len(shares)
        self.answers = [torch.futures.Future() for _ in shares]

    def push(self, bucket: int, gradient: torch.Tensor) -> torch.futures.Future:
        """@return the values, when all workers have pushed."""
        with self.lock:
            answer, total = self.answers[bucket], self.sums[bucket]
            self.sums[bucket] = gradient if total is None else total.add_(gradient)
            self.pushes[bucket] += 1
            if self.pushes[bucket] < self.workers:
                return answer
            part = self.shares[bucket]
            self.momentum.apply(part, self.sums[bucket], self.workers)
            values = self.momentum.values[part]
            self.sums[bucket], self.pushes[bucket] = None, 0
            self.answers[bucket] = torch.futures.Future()
        answer.set_result(values)
        return answer


@rpc.functions.async_execution
def push(bucket: int, gradient: torch.Tensor) -> torch.futures.Future:
    return SERVER.push(bucket, gradient)


def start(arguments: argparse.Namespace) -> None:
    """Joins the ranks of workers and servers; a server is ready to serve before anybody can ask."""
    global SERVER
    number = arguments.rank - arguments.workers
    if number >= 0:
        flat = make_compute(arguments, 0, arguments.workers).flat
        shares = [share(bucket, number, arguments.servers) for bucket in flat.buckets]
        SERVER = PsServer(flat.values, shares, arguments.workers)
    options = rpc.TensorPipeRpcBackendOptions(
        num_worker_threads=8, rpc_timeout=SECONDS, init_method=f"file://{arguments.folder}/rpc"
    )
    world = arguments.workers + arguments.servers
    rpc.init_rpc(name_of(arguments.rank), rank=arguments.rank, world_size=world, rpc_backend_options=options)


def name_of(rank: int) -> str:
    return f"rank{rank}"


def stop() -> None:
    rpc.shutdown()


class RpcExchange(Exchange):
    """Worker: pushes each server's part of a bucket; the answers are the new values."""

    def __init__(self, compute: Compute, arguments: argparse.Namespace) -> None:
        super().__init__(compute)
        self.servers = [name_of(arguments.workers + number) for number in range(arguments.servers)]

    def ready(self, bucket: int) -> None:
        for number, server in enumerate(self.servers):
            part = share(self.flat.buckets[bucket], number, len(self.servers))
            self.started.append((part, rpc.rpc_async(server, push, (bucket, self.flat.gradient[part]))))

    def finish(self, number: int, work: tuple) -> None:
        part, answer = work
        self.flat.values[part].copy_(answer.wait())
