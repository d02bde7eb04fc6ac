#!/usr/bin/python3
"""Trains what `steelyard train` trains, in PyTorch: one thread, batch 64, SGD with momentum.

The samples are normalised float tensors in memory before the clock starts and are taken in order, so nothing
but forward, backward and update is timed: the best case of this peer. Prints one JSON object:
{"images_per_s": ..., "windows": [...], "model": ..., "torch": ..., "blas": ...}.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import nn

SIDE = 28
CLASSES = 10
SAMPLES = 8192
WARMUP_STEPS = 20

Batch = tuple[torch.Tensor, torch.Tensor]


def lenet() -> nn.Module:
    """LeNet-5 with ReLU and max-pooling; 61,706 parameters."""
    return nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, CLASSES)),
    )


def mlp(widths: list[int]) -> nn.Module:
    """Dense layers with ReLU between them."""
    layers: list[nn.Module] = [nn.Flatten()]
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def make_model(name: str) -> nn.Module:
    """`name` as for --model of steelyard: lenet, or mlp:784-...-10."""
    kind, _, widths = name.partition(":")
    return lenet() if kind == "lenet" else mlp([int(width) for width in widths.split("-")])


def batches(size: int) -> Iterator[Batch]:
    """Slices of the samples, over and over."""
    images = torch.randn(SAMPLES, 1, SIDE, SIDE)
    labels = torch.randint(CLASSES, (SAMPLES,))
    cut = [(images[i : i + size], labels[i : i + size]) for i in range(0, SAMPLES - size + 1, size)]
    return itertools.cycle(cut)


class Trainer:
    """Does one step at a time."""

    def __init__(self, model: nn.Module, data: Iterator[Batch]) -> None:
        self.model = model
        self.data = data
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    def step(self) -> None:
        images, labels = next(self.data)
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(images), labels).backward()
        self.optimizer.step()


def images_per_second(trainer: Trainer, batch: int, seconds: float) -> float:
    """Over whole steps for at least `seconds`."""
    steps = 0
    begin = now = time.perf_counter()
    while now - begin < seconds:
        trainer.step()
        steps += 1
        now = time.perf_counter()
    return steps * batch / (now - begin)


def blas_library() -> str:
    """The file of the fast matrix library that this process has loaded, or `reference`."""
    with open("/proc/self/maps", encoding="ascii") as maps:
        files = sorted({Path(line.split()[-1]).name for line in maps if ".so" in line})
    fast = [file for file in files if file.startswith(("libopenblas", "libmkl", "libblis", "libatlas"))]
    return fast[0] if fast else "reference"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="lenet", help="lenet, or mlp:784-...-10")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--windows", type=int, default=5, help="timed windows")
    parser.add_argument("--seconds", type=float, default=0.4, help="of each window")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(0)
    trainer = Trainer(make_model(arguments.model), batches(arguments.batch))
    for _ in range(WARMUP_STEPS):
        trainer.step()
    batch, seconds = arguments.batch, arguments.seconds
    windows = [images_per_second(trainer, batch, seconds) for _ in range(arguments.windows)]
    # Windows are equally long, so their mean is the speed over all of them, as steelyard reports it.
    report = {
        "images_per_s": sum(windows) / len(windows),
        "windows": windows,
        "model": arguments.model,
        "torch": torch.__version__,
        "blas": blas_library(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
