"""A figure as data: what plotly and matplotlib both draw."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

# Okabe and Ito 2008: told apart by all common kinds of colour vision. Yellow last, for it is faint on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000", "#F0E442")
# Beside the colour, so that a print in black and white is readable too: plotly's name, matplotlib's.
HATCHES = (("", ""), ("/", "//"), ("x", "xx"), ("\\", "\\\\"), ("-", "--"), (".", ".."), ("+", "++"), ("|", "||"))
DASHES = (("solid", "-"), ("dash", "--"), ("dot", ":"), ("dashdot", "-."))
MARKERS = (("circle", "o"), ("square", "s"), ("diamond", "D"), ("triangle-up", "^"), ("x", "X"), ("cross", "P"))
MOST_SERIES = len(PALETTE)


def tint(color: str, share: float) -> str:
    """`share` of the colour on white."""
    parts = [round(255 - share * (255 - int(color[at : at + 2], 16))) for at in (1, 3, 5)]
    return "#" + "".join(f"{part:02X}" for part in parts)


@dataclass
class Series:
    """One entry of the legend in one panel. `low` and `high` are ends of intervals, NaN where there is none."""

    name: str
    x: list
    y: list
    kind: str = "bar"  # bar, points, line, span
    style: int = 0  # Colour, hatch, dash, marker.
    color: str = ""  # In place of the style's.
    hatch: bool = True
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    hover: list[str] = field(default_factory=list)
    base: list[float] = field(default_factory=list)  # span: where it begins; x is how long it is.
    width: float = 0.8  # span: of its row,
    offset: float = -0.4  # and where in it that begins, from the middle.
    marked: bool = False  # line: points too
    in_legend: bool = True

    @property
    def fill(self) -> str:
        return self.color or PALETTE[self.style % len(PALETTE)]


@dataclass
class Band:
    """A horizontal line across a panel, with its interval where it has one."""

    name: str
    value: float
    low: float
    high: float
    style: int


@dataclass
class Panel:
    title: str
    x_label: str
    y_label: str
    series: list[Series] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)  # Of x, or of y where horizontal; none: numbers.
    horizontal: bool = False
    stacked: bool = False
    from_zero: bool = True
    reference: float | None = None  # A thin line at this value, for "even".


@dataclass
class Chart:
    slug: str  # Of the files.
    title: str
    how_to_read: str
    panels: list[Panel]
    columns: int = 1
    height: int = 340  # Pixels of a row of panels.
    note: str = ""  # What is left out.
    legend: list[str] = field(default_factory=list)  # Names in their order, where that of the panels' series will not do.

    def rank(self, name: str) -> int:
        """Of a name in the legend."""
        return self.legend.index(name) if name in self.legend else len(self.legend)

    @property
    def is_empty(self) -> bool:
        return not any(panel.series for panel in self.panels)

    @property
    def rows(self) -> int:
        return math.ceil(len(self.panels) / self.columns)


def errors(low: list[float], high: list[float], middle: list[float]) -> tuple[list[float], list[float]]:
    """Lengths below and above; 0 where there is no interval."""
    below = [m - one if math.isfinite(one) else 0.0 for one, m in zip(low, middle)]
    above = [one - m if math.isfinite(one) else 0.0 for one, m in zip(high, middle)]
    return below, above
