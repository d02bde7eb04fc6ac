"""Loss and accuracy against time; staleness of gradients."""

from __future__ import annotations

from ..chart import Chart, Panel, Series
from ..contestants import Section
from .common import Raws, raw_of, raws_of, shown

MOST_BINS = 40


def learning(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section)
    tagged = any(one.typical.run.model == "video_tagger" for one in own)
    loss = Panel("training loss", "time since the first step began, s", "loss, mean over the global batch")
    test = Panel(
        "test accuracy", "time since the first step began, s", "mean average precision" if tagged else "accuracy, 0 to 1"
    )
    for one in own:
        raw = raw_of(raws, one)
        for panel, (x, y), marked in ((loss, raw.loss, False), (test, raw.evaluation[::2], True)):
            if len(x) > 1 or (marked and len(x) > 0):
                panel.series.append(
                    Series(
                        one.label,
                        list(x),
                        list(y),
                        "line",
                        one.place,
                        marked=marked,
                        hover=[f"{one.label}<br>after {t:.2f} s: {v:.4f}" for t, v in zip(x, y)],
                    )
                )
    # A single evaluation each, at the end, is no course: the table has it.
    if all(len(series.x) < 2 for series in test.series):
        test.series = []
    return [
        Chart(
            "learning",
            "Loss and accuracy against time",
            "Lower loss and higher accuracy further left is better: it counts both speed and what a step is worth, "
            "so it may be read across bsp, ssp and "
            "asp. One trial each, that of median speed; curves of other seeds differ (the table has the interval of "
            "the final accuracy).",
            [panel for panel in (loss, test) if panel.series],
            columns=2,
            note=note,
        )
    ]


def staleness(section: Section, raws: Raws) -> list[Chart]:
    """Where some gradient is stale at all."""
    own, note = shown(section, ps_only=True)
    panel = Panel("", "staleness, updates between read and apply", "share of the pushes, %")
    for one in own:
        counts: dict[int, int] = {}
        for raw in raws_of(raws, one):
            for value, count in raw.staleness.items():
                counts[min(value, MOST_BINS)] = counts.get(min(value, MOST_BINS), 0) + count
        total = sum(counts.values())
        if total and any(value > 0 for value in counts):
            bins = range(max(counts) + 1)
            shares = [100.0 * counts.get(value, 0) / total for value in bins]
            panel.series.append(
                Series(
                    one.label,
                    list(bins),
                    shares,
                    "bar",
                    one.place,
                    hover=[
                        f"{one.label}, staleness {value}: {share:.2f} % of {total:,} pushes"
                        for value, share in zip(bins, shares)
                    ],
                )
            )
    if any(MOST_BINS in series.x for series in panel.series):
        note = f"{note} The last bin holds {MOST_BINS} and more.".strip()
    return [
        Chart(
            "staleness",
            "Staleness of gradients",
            "0: nobody else's update came between a worker's read and its push. Weight far right is gradients "
            "computed from old values; a long "
            "tail is often one slow worker. Contestants without stale gradients (bsp, allreduce) are not "
            "shown.",
            [panel] if panel.series else [],
            note=note,
        )
    ]
