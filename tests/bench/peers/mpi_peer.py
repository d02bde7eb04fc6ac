#!/usr/bin/python3
"""mpi4py with PyTorch: flat gradients by MPI, fused SGD with momentum on flat tensors.

allreduce: MPI_Allreduce in place on the numpy view of the gradient, or MPI_Iallreduce of each bucket as it
becomes ready. ps: workers send flat gradients and receive flat values, non-blocking, bucket by bucket; a
server receives, sums, applies and sends. Servers are the last ranks and share every bucket evenly.
"""

from __future__ import annotations

import argparse
import sys
import time

import torch
from flat import Compute, Flat, Momentum, make_compute, share
from mpi4py import MPI
from turns import serve

CONTROL_TAG = 32767
PAUSE_S = 0.001


class MpiTeam:
    """All ranks, servers too."""

    def __init__(self) -> None:
        self.world = MPI.COMM_WORLD.Dup()
        self.rank = self.world.rank

    def tell(self, number: float) -> float:
        """Not by a broadcast: Open MPI would spin in it while others are measured."""
        if self.rank == 0:
            for other in range(1, self.world.size):
                self.world.send(number, other, CONTROL_TAG)
            return number
        while not self.world.Iprobe(0, CONTROL_TAG):
            time.sleep(PAUSE_S)
        return self.world.recv(source=0, tag=CONTROL_TAG)


class Rank:
    """What workers and servers have in common."""

    loss = 0.0
    compute_s = 0.0
    samples = 0

    def wrong(self) -> str:
        return ""


class AllreduceWorker(Rank):
    def __init__(self, compute: Compute) -> None:
        self.compute, self.flat = compute, compute.flat
        self.samples = compute.samples
        self.ranks = MPI.COMM_WORLD
        self.momentum = Momentum(self.flat.values)
        self.views = [self.flat.gradient[bucket].numpy() for bucket in self.flat.buckets]
        self.requests: list[MPI.Request] = []
        self.wrong = compute.wrong

    def ready(self, bucket: int) -> None:
        if len(self.views) > 1:
            self.requests.append(self.ranks.Iallreduce(MPI.IN_PLACE, self.views[bucket]))

    def progress(self) -> None:
        if self.requests:
            MPI.Request.Testall(self.requests)

    def step(self) -> None:
        self.compute.compute_s = self.compute_s
        self.compute.run(self.ready, self.progress)
        self.loss, self.compute_s = self.compute.loss, self.compute.compute_s
        if len(self.views) == 1:
            self.ranks.Allreduce(MPI.IN_PLACE, self.views[0])
        for number, bucket in enumerate(self.flat.buckets):
            if self.requests:
                self.requests[number].Wait()
            self.momentum.apply(bucket, self.flat.gradient[bucket], self.ranks.size)
        self.requests = []


class PsWorker(Rank):
    """Receives are posted before gradients are sent."""

    def __init__(self, compute: Compute, servers: list[int]) -> None:
        self.compute, self.flat, self.servers = compute, compute.flat, servers
        self.samples = compute.samples
        self.ranks = MPI.COMM_WORLD
        self.requests: list[MPI.Request] = []
        self.wrong = compute.wrong

    def ready(self, bucket: int) -> None:
        for number, server in enumerate(self.servers):
            part = share(self.flat.buckets[bucket], number, len(self.servers))
            # Values are not needed until the next forward, and gradients are written only after it.
            self.requests.append(self.ranks.Irecv(self.flat.values[part].numpy(), server, bucket))
            self.requests.append(self.ranks.Isend(self.flat.gradient[part].numpy(), server, bucket))

    def progress(self) -> None:
        if self.requests:
            MPI.Request.Testall(self.requests)

    def step(self) -> None:
        self.compute.compute_s = self.compute_s
        self.compute.run(self.ready, self.progress)
        self.loss, self.compute_s = self.compute.loss, self.compute.compute_s
        MPI.Request.Waitall(self.requests)
        self.requests = []


class PsServer(Rank):
    """Has only its share of every bucket, in arrays of its own."""

    def __init__(self, flat: Flat, number: int, servers: int, workers: int) -> None:
        self.ranks, self.workers = MPI.COMM_WORLD, workers
        self.shares = [share(bucket, number, servers) for bucket in flat.buckets]
        self.momentum = Momentum(flat.values.clone())
        self.gradients = [torch.zeros_like(flat.values) for _ in range(workers)]

    def step(self) -> None:
        pushes = [
            [self.ranks.Irecv(self.gradients[worker][part].numpy(), worker, bucket) for worker in range(self.workers)]
            for bucket, part in enumerate(self.shares)
        ]
        replies = []
        for bucket, part in enumerate(self.shares):
            MPI.Request.Waitall(pushes[bucket])
            total = self.gradients[0][part]
            for other in self.gradients[1:]:
                total.add_(other[part])
            self.momentum.apply(part, total, self.workers)
            values = self.momentum.values[part].numpy()
            replies += [self.ranks.Isend(values, worker, bucket) for worker in range(self.workers)]
        MPI.Request.Waitall(replies)


def spread(values: torch.Tensor, workers: MPI.Comm) -> float:
    """Of the workers' values; collective over them."""
    first = values.clone()
    workers.Bcast(first.numpy(), 0)
    apart = ((values - first).abs().max() / first.abs().max()).item()
    return workers.allreduce(apart, MPI.MAX)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", type=int, default=0, help="0: allreduce")
    parser.add_argument("--model", default="lenet", help="lenet, mlp:784-...-10, or an inventory's .csv file")
    parser.add_argument("--batch", type=int, default=64, help="of one worker")
    parser.add_argument("--compute-ms", type=float, default=0.0)
    parser.add_argument("--bucket-mib", type=float, default=25.0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    world = MPI.COMM_WORLD
    workers = world.size - arguments.servers
    is_worker = world.rank < workers
    compute = make_compute(arguments, world.rank, workers)
    if arguments.servers == 0:
        work = AllreduceWorker(compute)
    elif is_worker:
        work = PsWorker(compute, list(range(workers, world.size)))
    else:
        work = PsServer(compute.flat, world.rank - workers, arguments.servers, workers)
    group = world.Split(0 if is_worker else 1)
    info = {"mpi4py": MPI.Get_library_version().split(",")[0], "torch": torch.__version__}
    serve(work, MpiTeam(), workers, info, lambda: spread(compute.flat.values, group) if is_worker else 0.0)


if __name__ == "__main__":
    try:
        main()
    except Exception as failure:  # One rank's failure must end them all.
        print(f"mpi_peer: {failure!r}", file=sys.stderr, flush=True)
        MPI.COMM_WORLD.Abort(1)
