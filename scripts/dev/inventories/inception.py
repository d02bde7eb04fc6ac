"""Inception v3 as torchvision creates it, with its auxiliary head."""
from __future__ import annotations

from dataclasses import replace

from .rows import Inventory
from .vision import basic_convolution

Branch = tuple[str, int, int, int | tuple[int, int]]  # name, channels in and out, kernel

WIDE, TALL = (1, 7), (7, 1)


def block(made: Inventory, name: str, side: int, branches: tuple[Branch, ...]) -> None:
    for branch, before, after, kernel in branches:
        basic_convolution(made, f"{name}.branch{branch}", (before, after), kernel, side)


def block_35(channels: int, pooled: int) -> tuple[Branch, ...]:
    return (("1x1", channels, 64, 1), ("5x5_1", channels, 48, 1), ("5x5_2", 48, 64, 5), ("3x3dbl_1", channels, 64, 1),
            ("3x3dbl_2", 64, 96, 3), ("3x3dbl_3", 96, 96, 3), ("_pool", channels, pooled, 1))


def block_17(width: int) -> tuple[Branch, ...]:
    return (("1x1", 768, 192, 1), ("7x7_1", 768, width, 1), ("7x7_2", width, width, WIDE), ("7x7_3", width, 192, TALL),
            ("7x7dbl_1", 768, width, 1), ("7x7dbl_2", width, width, TALL), ("7x7dbl_3", width, width, WIDE),
            ("7x7dbl_4", width, width, TALL), ("7x7dbl_5", width, 192, WIDE), ("_pool", 768, 192, 1))


def block_8(channels: int) -> tuple[Branch, ...]:
    return (("1x1", channels, 320, 1), ("3x3_1", channels, 384, 1), ("3x3_2a", 384, 384, (1, 3)),
            ("3x3_2b", 384, 384, (3, 1)), ("3x3dbl_1", channels, 448, 1), ("3x3dbl_2", 448, 384, 3),
            ("3x3dbl_3a", 384, 384, (1, 3)), ("3x3dbl_3b", 384, 384, (3, 1)), ("_pool", channels, 192, 1))


def auxiliary(made: Inventory) -> None:
    """The head that trains beside the network and is not asked afterwards: published multiply-adds leave it out."""
    head = Inventory()
    basic_convolution(head, "AuxLogits.conv0", (768, 128), 1, 5)
    basic_convolution(head, "AuxLogits.conv1", (128, 768), 5, 1)
    head.linear("AuxLogits.fc", 768, 1000)
    made.rows += [replace(row, is_extra=True) for row in head.rows]


def inception_v3() -> Inventory:
    made = Inventory()
    for name, channels, kernel, side in (("1a_3x3", (3, 32), 3, 149), ("2a_3x3", (32, 32), 3, 147), ("2b_3x3", (32, 64), 3, 147),
                                         ("3b_1x1", (64, 80), 1, 73), ("4a_3x3", (80, 192), 3, 71)):
        basic_convolution(made, f"Conv2d_{name}", channels, kernel, side)
    for letter, channels, pooled in (("b", 192, 32), ("c", 256, 64), ("d", 288, 64)):
        block(made, f"Mixed_5{letter}", 35, block_35(channels, pooled))
    block(made, "Mixed_6a", 17, (("3x3", 288, 384, 3),))
    block(made, "Mixed_6a", 35, (("3x3dbl_1", 288, 64, 1), ("3x3dbl_2", 64, 96, 3)))
    block(made, "Mixed_6a", 17, (("3x3dbl_3", 96, 96, 3),))
    for letter, width in (("b", 128), ("c", 160), ("d", 160), ("e", 192)):
        block(made, f"Mixed_6{letter}", 17, block_17(width))
    auxiliary(made)
    block(made, "Mixed_7a", 17, (("3x3_1", 768, 192, 1),))
    block(made, "Mixed_7a", 8, (("3x3_2", 192, 320, 3),))
    block(made, "Mixed_7a", 17, (("7x7x3_1", 768, 192, 1), ("7x7x3_2", 192, 192, WIDE), ("7x7x3_3", 192, 192, TALL)))
    block(made, "Mixed_7a", 8, (("7x7x3_4", 192, 192, 3),))
    for letter, channels in (("b", 1280), ("c", 2048)):
        block(made, f"Mixed_7{letter}", 8, block_8(channels))
    made.linear("fc", 2048, 1000)
    return made
