"""Exchanges by PyTorch of what a compute makes."""

from __future__ import annotations

import abc

from flat import Compute, Momentum
from torch import distributed


class Exchange(abc.ABC):
    """A compute whose flat gradient becomes new flat values."""

    def __init__(self, compute: Compute) -> None:
        self.compute, self.flat, self.samples = compute, compute.flat, compute.samples
        self.loss = self.compute_s = 0.0
        self.started: list = []
        self.wrong = compute.wrong

    def step(self) -> None:
        self.compute.compute_s = self.compute_s
        self.compute.run(self.ready, lambda: None)
        self.loss, self.compute_s = self.compute.loss, self.compute.compute_s
        for number, work in enumerate(self.started):
            self.finish(number, work)
        self.started = []

    @abc.abstractmethod
    def ready(self, bucket: int) -> None:
        """Starts the exchange of a bucket: appends to `started`."""

    @abc.abstractmethod
    def finish(self, number: int, work: object) -> None:
        """Waits for what was started as number `number`."""


class GlooExchange(Exchange):
    def __init__(self, compute: Compute) -> None:
        super().__init__(compute)
        self.momentum = Momentum(self.flat.values)

    def ready(self, bucket: int) -> None:
        gradient = self.flat.gradient[self.flat.buckets[bucket]]
        self.started.append(distributed.all_reduce(gradient, async_op=True))

    def finish(self, number: int, work: object) -> None:
        work.wait()
        bucket = self.flat.buckets[number]
        self.momentum.apply(bucket, self.flat.gradient[bucket], distributed.get_world_size())
