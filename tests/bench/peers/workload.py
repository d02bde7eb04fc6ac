"""What all peers train: the models of `steelyard train`, on samples in memory that can be learned."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from torch import nn

SIDE = 28
CLASSES = 10
SAMPLES = 8192
RATE = 0.02
MOMENTUM = 0.9
NOISE = 1.0  # Of a pixel, whose signal is 1.

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
    """`name` as for --model of steelyard: lenet, or mlp:784-...-10. The same on every rank."""
    torch.manual_seed(0)
    kind, _, widths = name.partition(":")
    return lenet() if kind == "lenet" else mlp([int(width) for width in widths.split("-")])


def batches(size: int, rank: int) -> Iterator[Batch]:
    """Slices of the samples of one rank, over and over: a pattern for each class, and noise."""
    torch.manual_seed(1)
    patterns = torch.randn(CLASSES, 1, SIDE, SIDE)
    torch.manual_seed(2 + rank)
    labels = torch.randint(CLASSES, (SAMPLES,))
    images = (patterns[labels] + NOISE * torch.randn(SAMPLES, 1, SIDE, SIDE)) / (1.0 + NOISE**2) ** 0.5
    cut = [(images[i : i + size], labels[i : i + size]) for i in range(0, SAMPLES - size + 1, size)]
    return itertools.cycle(cut)
