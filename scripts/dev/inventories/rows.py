"""Rows of an inventory, and the layers that make them."""
from __future__ import annotations

from dataclasses import dataclass, field
from math import prod


@dataclass(frozen=True)
class Row:
    name: str
    shape: tuple[int, ...]
    multiply_adds: int  # of a forward pass of one sample
    is_extra: bool = False  # normalisation or an auxiliary head: not in the published multiply-adds

    def text(self) -> str:
        return f"{self.name},{'x'.join(map(str, self.shape))},float32,{self.multiply_adds}"


@dataclass
class Inventory:
    """Rows in creation order. A side is the height and the width of a layer's square output."""

    rows: list[Row] = field(default_factory=list)

    def convolution(self, name: str, channels: tuple[int, int], kernel: int, side: int) -> None:
        """channels: (in, out). The weight is [out, in, kernel, kernel]; no bias."""
        self.window(name, channels, (kernel, kernel), side)

    def window(self, name: str, channels: tuple[int, int], kernel: tuple[int, int], side: int) -> None:
        """As convolution, kernel: (height, width)."""
        shape = (channels[1], channels[0], *kernel)
        self.rows.append(Row(f"{name}.weight", shape, prod(shape) * side * side))

    def bias(self, name: str, elements: int) -> None:
        self.rows.append(Row(f"{name}.bias", (elements,), 0))

    def norm(self, name: str, channels: int, side: int) -> None:
        self.norm_over(name, channels, side * side)

    def norm_over(self, name: str, channels: int, places: int) -> None:
        self.rows.append(Row(f"{name}.weight", (channels,), channels * places, is_extra=True))
        self.bias(name, channels)

    def table(self, name: str, rows: int, width: int) -> None:
        """An embedding: rows are looked up, nothing is multiplied."""
        self.rows.append(Row(f"{name}.weight", (rows, width), 0))

    def linear(self, name: str, inputs: int, outputs: int, places: int = 1, more: int = 0) -> None:
        """Applied at each of `places`, the tokens of a sequence; `more` multiply-adds belong to the layer too."""
        self.rows.append(Row(f"{name}.weight", (outputs, inputs), inputs * outputs * places + more))
        self.bias(name, outputs)

    def parameters(self) -> int:
        return sum(prod(row.shape) for row in self.rows)

    def multiply_adds(self, with_extras: bool) -> int:
        return sum(row.multiply_adds for row in self.rows if with_extras or not row.is_extra)
