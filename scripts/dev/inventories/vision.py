"""Networks for images."""
from __future__ import annotations

from itertools import pairwise
from math import prod

from .rows import Inventory, Row


def lenet() -> Inventory:
    made = Inventory()
    for name, channels, side in (("conv1", (1, 6), 28), ("conv2", (6, 16), 10)):
        made.convolution(name, channels, 5, side)
        made.bias(name, channels[1])
    for name, inputs, outputs in (("fc1", 16 * 5 * 5, 120), ("fc2", 120, 84), ("fc3", 84, 10)):
        made.linear(name, inputs, outputs)
    return made


def mnist_fc() -> Inventory:
    """TensorFlow's order of dimensions: [in, out]."""
    widths = (784, 256, 128, 64, 10)
    layers = list(enumerate(pairwise(widths), start=1))
    weights = [Row(f"W{i}", shape, prod(shape)) for i, shape in layers]
    return Inventory(weights + [Row(f"b{i}", (outputs,), 0) for i, (_, outputs) in layers])


def bottleneck(made: Inventory, name: str, channels: tuple[int, int], stride: int, side: int) -> None:
    """He et al.'s block, channels (in, width), stride in the 3x3 convolution; its output is [4 width, side, side]."""
    inputs, width = channels
    layers = ((inputs, width, 1, side * stride), (width, width, 3, side), (width, 4 * width, 1, side))
    for i, (before, after, kernel, output_side) in enumerate(layers, start=1):
        made.convolution(f"{name}.conv{i}", (before, after), kernel, output_side)
        made.norm(f"{name}.bn{i}", after, output_side)
    if inputs != 4 * width:
        made.convolution(f"{name}.downsample.0", (inputs, 4 * width), 1, side)
        made.norm(f"{name}.downsample.1", 4 * width, side)


def resnet50() -> Inventory:
    made = Inventory()
    made.convolution("conv1", (3, 64), 7, 112)
    made.norm("bn1", 64, 112)
    channels, side = 64, 56
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), start=1):
        for block in range(blocks):
            stride = 2 if stage > 1 and block == 0 else 1
            side //= stride
            bottleneck(made, f"layer{stage}.{block}", (channels, width), stride, side)
            channels = 4 * width
    made.linear("fc", channels, 1000)
    return made


def vgg16() -> Inventory:
    """Numbers in the names count ReLU, pooling and dropout too: a convolution takes two places, a pooling one."""
    made = Inventory()
    channels, side, place = 3, 224, 0
    for width, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            made.convolution(f"features.{place}", (channels, width), 3, side)
            made.bias(f"features.{place}", width)
            channels, place = width, place + 2
        side, place = side // 2, place + 1
    for name, inputs, outputs in (("0", channels * side * side, 4096), ("3", 4096, 4096), ("6", 4096, 1000)):
        made.linear(f"classifier.{name}", inputs, outputs)
    return made


# Stage, side, then per block its letter and the widths: 1x1, 3x3 reduced, 3x3, "5x5" reduced, "5x5", pooled.
INCEPTIONS = (
    (3, 28, (("a", 64, 96, 128, 16, 32, 32), ("b", 128, 128, 192, 32, 96, 64))),
    (4, 14, (("a", 192, 96, 208, 16, 48, 64), ("b", 160, 112, 224, 24, 64, 64), ("c", 128, 128, 256, 24, 64, 64),
             ("d", 112, 144, 288, 32, 64, 64), ("e", 256, 160, 320, 32, 128, 128))),
    (5, 7, (("a", 256, 160, 320, 32, 128, 128), ("b", 384, 192, 384, 48, 128, 128))),
)


def basic_convolution(made: Inventory, name: str, channels: tuple[int, int], kernel: int | tuple[int, int], side: int) -> None:
    made.window(f"{name}.conv", channels, (kernel, kernel) if isinstance(kernel, int) else kernel, side)
    made.norm(f"{name}.bn", channels[1], side)


def googlenet() -> Inventory:
    """torchvision has a 3x3 kernel where the paper has 5x5 (pytorch/vision#906)."""
    made = Inventory()
    basic_convolution(made, "conv1", (3, 64), 7, 112)
    basic_convolution(made, "conv2", (64, 64), 1, 56)
    basic_convolution(made, "conv3", (64, 192), 3, 56)
    channels = 192
    for stage, side, blocks in INCEPTIONS:
        for letter, one, three_reduced, three, five_reduced, five, pooled in blocks:
            branches = (("1", channels, one, 1), ("2.0", channels, three_reduced, 1), ("2.1", three_reduced, three, 3),
                        ("3.0", channels, five_reduced, 1), ("3.1", five_reduced, five, 3),
                        ("4.1", channels, pooled, 1))
            for branch, before, after, kernel in branches:
                basic_convolution(made, f"inception{stage}{letter}.branch{branch}", (before, after), kernel, side)
            channels = one + three + five + pooled
    made.linear("fc", channels, 1000)
    return made


def alexnet() -> Inventory:
    """torchvision's, of Krizhevsky's second paper: one column, 64 maps first."""
    made = Inventory()
    for place, channels, kernel, side in ((0, (3, 64), 11, 55), (3, (64, 192), 5, 27), (6, (192, 384), 3, 13),
                                          (8, (384, 256), 3, 13), (10, (256, 256), 3, 13)):
        made.convolution(f"features.{place}", channels, kernel, side)
        made.bias(f"features.{place}", channels[1])
    for name, inputs, outputs in (("1", 256 * 6 * 6, 4096), ("4", 4096, 4096), ("6", 4096, 1000)):
        made.linear(f"classifier.{name}", inputs, outputs)
    return made
