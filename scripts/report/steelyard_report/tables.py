"""Tables of a section, as rows of text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .contestants import Contestant, Estimate, Section, estimate
from .runs import Run


@dataclass
class Table:
    caption: str
    head: list[str]
    rows: list[list[str]]

    def without_empty_columns(self) -> Table:
        kept = [i for i in range(len(self.head)) if i == 0 or any(row[i] not in ("", "-") for row in self.rows)]
        return Table(self.caption, [self.head[i] for i in kept], [[row[i] for i in kept] for row in self.rows])


def number(value: float | None, form: str = ",.4g") -> str:
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "not reached"
    return f"{value:,.0f}" if form == ",.4g" and abs(value) >= 1000 else f"{value:{form}}"


def interval(one: Estimate, form: str = ",.4g") -> str:
    return f"{number(one.low, form)} to {number(one.high, form)}" if one.has_interval else "-"


def median_of(metric: str, role: str, factor: float = 1.0, form: str = ".2f") -> Callable[[Contestant], str]:
    return lambda one: number(factor * one.estimate(metric, role).median, form)


def final_accuracy(one: Contestant) -> Estimate:
    return estimate([float(trial.final.get("accuracy", math.nan)) for trial in one.trials])


def time_to_target(one: Contestant) -> str:
    """A trial that did not reach it took infinitely long, as docs/metrics.md has it."""
    times = [
        float(trial.final.get("time_to_target_s", math.nan)) for trial in one.trials if trial.final.get("target_accuracy")
    ]
    return number(estimate([math.inf if math.isnan(time) else time for time in times]).median) if times else "-"


def dropped(one: Contestant) -> str:
    share = 100.0 * one.estimate("drop_share", "server").median
    return number(share, ".1f") if share > 0 else "-"


def stale(one: Contestant) -> str:
    median, most = (
        one.estimate("staleness_median", "server").median,
        [trial.value("staleness_max", "server") for trial in one.trials],
    )
    return f"{median:.0f} / {max(most):.0f}" if one.is_ps and max(most) > 0 else "-"


COLUMNS: list[tuple[str, Callable[[Contestant], str]]] = [
    ("contestant", lambda one: one.label),
    ("trials", lambda one: str(len(one.trials))),
    ("images/s", lambda one: number(one.estimate("throughput").median)),
    ("95 % interval", lambda one: interval(one.estimate("throughput"))),
    ("step, ms", median_of("step_time", "worker", 1.0, ",.4g")),
    ("wait, %", median_of("wait_share", "worker", 100.0, ".0f")),
    ("bytes max/mean", median_of("bytes_max_over_mean", "server")),
    ("messages max/mean", median_of("messages_max_over_mean", "server")),
    ("busy max/mean", median_of("busy_max_over_mean", "server")),
    ("compute max/mean", median_of("compute_max_over_mean", "worker")),
    ("stale, med./max", stale),
    ("dropped, %", dropped),
    ("accuracy", lambda one: number(final_accuracy(one).median, ".3f")),
    ("95 % interval", lambda one: interval(final_accuracy(one), ".3f")),
    ("s to target", time_to_target),
]


def contestants(section: Section) -> Table:
    rows = [[cell(one) for _, cell in COLUMNS] for one in section.contestants]
    caption = (
        "Medians over the trials of a contestant; intervals are those of the median. wait: share of a step in which "
        "a worker waits. "
        "max/mean: the busiest over the mean, 1.00 is even; bytes, messages and busy time of servers, compute time "
        "of workers."
    )
    return Table(caption, [name for name, _ in COLUMNS], rows).without_empty_columns()


def ratios(section: Section) -> Table | None:
    said = (section.comparison or {}).get("ratios", [])
    if not said:
        return None
    rows = []
    for one in said:
        ends = [one["low"], one["high"]]
        rows.append(
            [
                f"{one['a']} / {one['b']}",
                one["basis"],
                "images/s" if one["measure"] == "images_per_s" else "sooner at the target",
                str(one["rounds"]),
                number(one["median"], ".3f"),
                f"{ends[0]:.3f} to {ends[1]:.3f}" if None not in ends else "-",
                f"{100 * one['confidence']:.2f}",
                "yes" if one["differs"] else "no",
            ]
        )
    return Table(
        "Ratios within rounds; the confidence of an interval is what Holm's correction asks of it. Above 1 the "
        "first is ahead.",
        ["ratio", "at equal", "of", "rounds", "median", "interval", "confidence, %", "differs from 1"],
        rows,
    )


def efficiency(section: Section) -> Table | None:
    rows = []
    for one in section.contestants:
        for role in ("all", "worker", "server"):
            values = [
                one.estimate(metric, role).median
                for metric in ("parallel_efficiency", "load_balance", "communication_efficiency")
            ]
            if not all(math.isnan(value) for value in values):
                rows.append(
                    [
                        one.label,
                        {"all": "all ranks", "worker": "workers", "server": "servers"}[role],
                        *(number(value, ".3f") for value in values),
                    ]
                )
    if not rows:
        return None
    return Table(
        "POP efficiencies, 0 to 1: parallel = load balance x communication. A server computes less than a worker, "
        "so over all ranks a load balance "
        "below 1 says nothing against a placement; max/mean over the servers does.",
        ["contestant", "over", "parallel", "load balance", "communication"],
        rows,
    )


def provenance(runs: list[Run]) -> Table:
    rows = []
    for run in runs:
        manifest = run.manifest
        libraries = manifest.get("libraries") or {}
        dirty = " (dirty)" if manifest.get("dirty") else ""
        revision = f"{manifest.get('version', '?')}, {manifest.get('git_revision', '?')}{dirty}"
        hosts = sorted(set(manifest.get("hosts") or []))
        where = ", ".join(hosts[:4]) + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "")
        rows.append(
            [
                run.name,
                revision,
                f"{manifest.get('build_type', '?')}, {manifest.get('compiler', '?')}",
                str(libraries.get("mpi") or "?"),
                f"{run.attributes.get('ranks', '?')} on {where or '?'}",
                ", ".join(run.validity) or "-",
                str(manifest.get("start") or "?"),
                str(manifest.get("end") or "did not end"),
                " ".join(manifest.get("argv") or []),
            ]
        )
    return Table("", ["run", "steelyard", "build", "MPI", "ranks", "validity", "start, UTC", "end, UTC", "command"], rows)
