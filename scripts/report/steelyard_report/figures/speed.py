"""Throughput by contestant, and by ratio of servers to workers; imbalance likewise."""

from __future__ import annotations

from ..chart import Band, Chart, Panel, Series
from ..contestants import Contestant, Estimate, Section
from .common import Raws, interval_note, interval_text, shown

LOADS = (
    ("bytes_max_over_mean", "server", "servers: bytes"),
    ("messages_max_over_mean", "server", "servers: messages"),
    ("busy_max_over_mean", "server", "servers: busy time"),
    ("compute_max_over_mean", "worker", "workers: compute time"),
)
MAX_OVER_MEAN = "busiest / mean (1 is even)"


def points(name: str, where: list[str], values: list[Estimate], style: int, kind: str = "points") -> Series:
    return Series(
        name,
        list(where),
        [one.median for one in values],
        kind,
        style,
        low=[one.low for one in values],
        high=[one.high for one in values],
        hover=[f"{name}: {interval_text(one)}" for one in values],
        marked=True,
    )


def throughput(section: Section, _: Raws) -> list[Chart]:
    """Every contestant on a line of its own: the median, its interval, and each trial."""
    labels = [one.label for one in section.contestants][::-1]
    panel = Panel("", "throughput, images/s", "", categories=labels, horizontal=True)
    for style, (mode, word) in enumerate((("ps", "parameter servers"), ("allreduce", "allreduce"))):
        own = [one for one in section.contestants if one.row["mode"] == mode]
        if not own:
            continue
        values = [one.estimate("throughput") for one in own]
        median = points(word, [one.label for one in own], values, style)
        median.x, median.y = median.y, median.x
        panel.series.append(median)
        single = [(trial.value("throughput"), one.label) for one in own for trial in one.trials if len(one.trials) > 1]
        if single:
            panel.series.append(
                Series(
                    f"{word}: each trial",
                    [x for x, _ in single],
                    [y for _, y in single],
                    "points",
                    style,
                    hover=[f"{y}: {x:,.4g} images/s" for x, y in single],
                    color="#888888",
                )
            )
    return [
        Chart(
            "throughput",
            "Throughput of every contestant",
            "Further right is faster. Contestants whose intervals overlap may still differ round by round: the table "
            "of "
            "ratios, formed within rounds, decides. Where consistency differs (bsp, ssp, asp), images/s do not rank: "
            f"see time to accuracy. {interval_note(section)}",
            [panel],
            height=110 + 34 * len(labels),
        )
    ]


def rest_of(one: Contestant) -> tuple[str, ...]:
    return tuple(
        str(one.row.get(name)) for name in ("placement", "consistency", "collective", "staleness_policy", "batch", "wire")
    )


def ratio_name(one: Contestant) -> str:
    return f"{one.row['servers']}:{one.row['workers']}"


def by_ratio(section: Section) -> list[Contestant]:
    """Servers whose ratio alone varies, ascending; none where it does not vary, or something else varies too."""
    servers = [one for one in section.contestants if one.is_ps]
    if len({rest_of(one) for one in servers}) != 1 or len({ratio_name(one) for one in servers}) != len(servers):
        return []
    return sorted(servers, key=lambda one: one.row["servers"] / one.row["workers"]) if len(servers) > 1 else []


def allreduce_bands(section: Section, metric: str, role: str, style: int) -> list[Band]:
    """Allreduce on all ranks: the most workers."""
    own = [one for one in section.contestants if one.row["mode"] == "allreduce"]
    most = max((one.row["workers"] for one in own), default=0)
    bands = []
    for one in own:
        if one.row["workers"] == most:
            value = one.estimate(metric, role)
            bands.append(Band(one.label, value.median, value.low, value.high, style))
    return bands[:1]


def ratio(section: Section, _: Raws) -> list[Chart]:
    servers = by_ratio(section)
    if not servers:
        return []
    names = [ratio_name(one) for one in servers]
    speed = Panel(
        "throughput",
        "servers : workers",
        "images/s",
        categories=names,
        bands=allreduce_bands(section, "throughput", "all", 1),
    )
    speed.series.append(points("parameter servers", names, [one.estimate("throughput") for one in servers], 0, "line"))
    alike = {one.row["workers"]: one for one in section.contestants if one.row["mode"] == "allreduce"}
    same = [(ratio_name(one), alike[one.row["workers"]]) for one in servers if one.row["workers"] in alike]
    if same:
        speed.series.append(
            points(
                "allreduce, as many workers",
                [name for name, _ in same],
                [one.estimate("throughput") for _, one in same],
                2,
                "line",
            )
        )
    uneven = Panel(
        "imbalance",
        "servers : workers",
        MAX_OVER_MEAN,
        categories=names,
        from_zero=False,
        reference=1.0,
        bands=allreduce_bands(section, "compute_max_over_mean", "worker", 6),
    )
    for style, (metric, role, name) in enumerate(LOADS):
        uneven.series.append(
            points(name, names, [one.estimate(metric, role) for one in servers], (3, 4, 5, 6)[style], "line")
        )
    for band in uneven.bands:
        band.name += ": workers' compute time"
    return [
        Chart(
            "ratio",
            "Throughput and imbalance against the ratio of servers to workers",
            "Left: the best ratio is the highest point; the horizontal line is allreduce on all ranks. Right: 1 is "
            "even; at 2 the "
            "busiest has twice the mean, and the others wait for it. "
            f"{interval_note(section)}",
            [speed, uneven],
            columns=2,
            height=400,
        )
    ]


def imbalance(section: Section, _: Raws) -> list[Chart]:
    """Where the ratio does not vary: by contestant."""
    own, note = shown(section)
    if by_ratio(section) or not own:
        return []
    labels = [one.label for one in own][::-1]
    panel = Panel("", MAX_OVER_MEAN, "", categories=labels, horizontal=True, from_zero=False, reference=1.0)
    for style, (metric, role, name) in enumerate(LOADS):
        having = [one for one in own if one.row["servers"] > 1 or (role == "worker" and one.row["workers"] > 1)]
        if having:
            series = points(
                name, [one.label for one in having], [one.estimate(metric, role) for one in having], (3, 4, 5, 6)[style]
            )
            series.x, series.y = series.y, series.x
            panel.series.append(series)
    return [
        Chart(
            "imbalance",
            "Imbalance of servers and workers",
            "1 is even; at 2 the busiest has twice the mean. Bytes and messages follow from the placement, busy and "
            "compute "
            "times also from the machine. "
            f"{interval_note(section)}",
            [panel],
            height=130 + 40 * len(labels),
            note=note,
        )
    ]
