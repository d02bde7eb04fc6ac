"""The figures of a section, in the order of the report."""

from __future__ import annotations

from ..chart import Chart
from ..contestants import Section
from .common import Raws
from .learning import learning, staleness
from .load import busy_windows, holdings, server_load
from .speed import imbalance, ratio, throughput
from .steps import breakdown, timelines

ORDER = (throughput, ratio, imbalance, server_load, holdings, busy_windows, breakdown, timelines, staleness, learning)


def charts_of(section: Section, raws: Raws) -> list[Chart]:
    every = [chart for figure in ORDER for chart in figure(section, raws)]
    for chart in every:
        chart.panels = [panel for panel in chart.panels if panel.series]
    return [chart for chart in every if not chart.is_empty]
