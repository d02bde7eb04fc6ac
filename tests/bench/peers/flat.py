"""Parameters as one flat tensor with one flat gradient, and computes that fill that gradient."""

from __future__ import annotations

import argparse
import csv
import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import torch
import workload
from torch import nn

MIB = 1 << 20
FORWARD_PART = 1 / 3
SHORTEST_SLEEP_S, MOST_DEBT_S = 20e-6, 200e-6
PR_SET_TIMERSLACK = 29

Ready = Callable[[int], None]


class Flat:
    """Values, gradient and velocity [elements], and the buckets in which gradients become ready."""

    def __init__(self, elements: int) -> None:
        self.values = torch.zeros(elements)
        self.gradient = torch.zeros(elements)
        self.buckets = [slice(0, elements)]

    def cut(self, bytes_most: int) -> None:
        """Buckets of equal size, for what is ready all at once."""
        count = -(-self.values.numel() * 4 // bytes_most)
        bounds = [self.values.numel() * i // count for i in range(count + 1)]
        self.buckets = [slice(begin, end) for begin, end in zip(bounds, bounds[1:], strict=False)]


class Momentum:
    """SGD with momentum, as torch.optim.SGD computes it, in two passes over flat tensors.

    The velocity is that of the sum of gradients; the mean's is as many times smaller as there are workers.
    """

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values
        self.velocity = torch.zeros_like(values)

    def apply(self, part: slice, gradient_sum: torch.Tensor, workers: int) -> None:
        velocity = self.velocity[part]
        torch.add(gradient_sum, velocity, alpha=workload.MOMENTUM, out=velocity)
        self.values[part].add_(velocity, alpha=-workload.RATE / workers)


class Training:
    """Forward and backward of a real model; all buckets are ready at the end."""

    def __init__(self, name: str, batch: int, rank: int) -> None:
        torch.set_flush_denormal(True)
        self.samples = batch
        self.compute_s = 0.0
        self.model = workload.make_model(name)
        parameters = list(self.model.parameters())
        self.flat = Flat(sum(parameter.numel() for parameter in parameters))
        begin = 0
        for parameter in parameters:
            end = begin + parameter.numel()
            values = self.flat.values[begin:end].view_as(parameter)
            values.copy_(parameter.data)
            parameter.data = values
            parameter.grad = self.flat.gradient[begin:end].view_as(parameter)
            begin = end
        self.data = workload.batches(batch, rank)
        self.criterion = nn.CrossEntropyLoss()
        self.loss = 0.0

    def run(self, ready: Ready, progress: Callable[[], None]) -> None:
        images, labels = next(self.data)
        self.flat.gradient.zero_()
        loss = self.criterion(self.model(images), labels)
        loss.backward()
        self.loss = loss.item()
        progress()
        for bucket in range(len(self.flat.buckets)):
            ready(bucket)

    def wrong(self) -> str:
        """Nothing to compare with: that the loss falls is looked at elsewhere."""
        return ""


class Emulated:
    """Sleeps as long as `steelyard train --model replay:... --compute sleep`, tensor by tensor.

    Buckets are those of DistributedDataParallel: tensors from the last to the first, 1 MiB and then
    `bucket_mib`. The gradient lies in that order.
    """

    def __init__(self, inventory: Path, compute_ms: float, bucket_mib: float, rank: int, workers: int) -> None:
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
        with inventory.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        operations = [float(row["multiply_adds"]) for row in reversed(rows)]
        self.backward_s = [compute_ms / 1e3 * (1 - FORWARD_PART) * one / sum(operations) for one in operations]
        self.forward_s = compute_ms / 1e3 * FORWARD_PART
        self.ends = self.bucket_ends([elements_of(row["shape"]) for row in reversed(rows)], bucket_mib)
        self.samples, self.rank, self.workers = 1, rank, workers
        self.compute_s = self.owed_s = self.loss = 0.0
        self.steps = 0

    def bucket_ends(self, elements: list[int], bucket_mib: float) -> list[bool]:
        """Makes the buckets. @return for each tensor whether its bucket ends with it."""
        self.flat = Flat(sum(elements))
        self.flat.buckets, ends, begin, end, limit = [], [], 0, 0, MIB
        for number, count in enumerate(elements):
            end += count
            closes = 4 * (end - begin) >= limit or number == len(elements) - 1
            ends.append(closes)
            if closes:
                self.flat.buckets.append(slice(begin, end))
                begin, limit = end, bucket_mib * MIB
        return ends

    def compute(self, seconds: float, work: Callable[[], object] = lambda: None) -> None:
        """Lasts `seconds`; what is slept too long comes off later, up to a limit."""
        begin = time.perf_counter()
        work()
        self.owed_s += seconds
        left = begin + self.owed_s - time.perf_counter()
        if left > SHORTEST_SLEEP_S:
            time.sleep(left)
        took = time.perf_counter() - begin
        self.owed_s = max(self.owed_s - took, -MOST_DEBT_S)
        self.compute_s += took

    def run(self, ready: Ready, progress: Callable[[], None]) -> None:
        self.compute(self.forward_s)
        bucket = 0
        for seconds, ends in zip(self.backward_s, self.ends, strict=True):
            if not ends:
                self.compute(seconds)
                progress()
                continue
            gradient = self.flat.gradient[self.flat.buckets[bucket]]
            self.compute(seconds, lambda gradient=gradient: gradient.fill_(self.rank + 1.0))
            ready(bucket)
            bucket += 1
        self.steps += 1

    def wrong(self) -> str:
        """What is wrong with the values, if anything: each must be what torch.optim.SGD makes of zero."""
        value = torch.zeros(1, requires_grad=True)
        value.grad = torch.full((1,), (self.workers + 1) / 2)  # The mean of what the workers write.
        optimizer = torch.optim.SGD([value], lr=workload.RATE, momentum=workload.MOMENTUM)
        for _ in range(self.steps):
            optimizer.step()
        worst = (self.flat.values - value.detach()).abs().max().item()
        return f"values are off by {worst}" if worst > 1e-4 * abs(value.item()) else ""


def elements_of(shape: str) -> int:
    count = 1
    for side in shape.split("x"):
        count *= int(side)
    return count


Compute = Training | Emulated


def make_compute(arguments: argparse.Namespace, rank: int, workers: int) -> Compute:
    """Of --model, --batch, --compute-ms and --bucket-mib."""
    if arguments.model.endswith(".csv"):
        return Emulated(Path(arguments.model), arguments.compute_ms, arguments.bucket_mib, rank, workers)
    compute = Training(arguments.model, arguments.batch, rank)
    compute.flat.cut(int(arguments.bucket_mib * MIB))
    return compute


def share(bucket: slice, server: int, servers: int) -> slice:
    """The part of a bucket that one server owns."""
    count = bucket.stop - bucket.start
    return slice(bucket.start + count * server // servers, bucket.start + count * (server + 1) // servers)
