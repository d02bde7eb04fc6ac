"""What the runs compare: trials of one configuration are a contestant, contestants that belong together a section."""

from __future__ import annotations

import math
import pathlib
import statistics
import tomllib
from dataclasses import dataclass, field
from typing import Any

from steelyard_bench.estimate import interval

from .notes import Notes
from .runs import Run, Trial

# Of /trials: who differs in one of these is another contestant.
CONFIGURATION = (
    "mode",
    "servers",
    "workers",
    "placement",
    "collective",
    "consistency",
    "max_lag",
    "staleness_policy",
    "max_staleness",
    "on_drop",
    "backup_workers",
    "aggregate",
    "transport",
    "wire",
    "sharded_optimizer",
    "batch",
    "steps",
    "slow",
)
# Options that say nothing of the work, or that /trials has as they took effect.
NOT_COMPARED = {name.replace("_", "-") for name in CONFIGURATION} | {
    "seed",
    "results",
    "name",
    "json",
    "progress",
    "flush-seconds",
    "trace",
    "epochs",
    "batch-per-worker",
    "warmup",
    "config",
    "evaluate-every",
    "evaluate",
    "data-dir",
}
# Options that do nothing in allreduce.
OF_PS = {
    "server-ranks",
    "lr-scale",
    "compensation",
    "bundle-bytes",
    "piece-bytes",
    "server-weight",
    "server-memory",
    "time-limit",
    "placement-offset",
    "placement-hash",
    "fixed-shards",
    "min-shard-bytes",
    "max-shard-bytes",
    "max-shards",
    "slice-elements",
    "big-array-elements",
    "block-elements",
    "part-bytes",
    "mixed-workers",
    "mixed-bound",
}


@dataclass
class Estimate:
    """Median over trials; the interval is not finite where there are too few."""

    count: int
    median: float
    low: float
    high: float

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


def estimate(values: list[float]) -> Estimate:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return Estimate(0, math.nan, -math.inf, math.inf)
    return Estimate(len(known), statistics.median(known), *interval(known))


@dataclass
class Contestant:
    label: str  # Says what differs.
    trials: list[Trial]  # That ended well, without the fresh rounds that confirm.
    weights: list[float] = field(default_factory=list)  # --server-weight, where it is used
    failed: int = 0  # Trials that diverged or did not end.
    place: int = 0  # In its section, for its colour.

    @property
    def row(self) -> dict[str, Any]:
        return self.trials[0].row

    @property
    def is_ps(self) -> bool:
        return self.row["mode"] == "ps"

    def weigh(self, said: object) -> None:
        """@param said the option's value: text, a list, or a number for all servers alike."""
        parts = said if isinstance(said, list) else str(said or "").split(",")
        self.weights = [float(part) for part in parts] if self.is_ps and len(parts) == self.row["servers"] > 1 else []

    def expected_share(self, server: int) -> float:
        """Of the bytes of all servers."""
        return self.weights[server] / sum(self.weights) if self.weights else 1.0 / self.row["servers"]

    @property
    def is_asynchronous(self) -> bool:
        """Workers may read values of different age: its images/s rank it against none but its like."""
        return self.row["consistency"] in ("asp", "ssp")

    def estimate(self, metric: str, role: str = "all") -> Estimate:
        return estimate([trial.value(metric, role) for trial in self.trials])

    @property
    def typical(self) -> Trial:
        """The trial of median speed, the lower one of an even number: whole trials stand for a contestant in timelines."""
        ordered = sorted(self.trials, key=lambda trial: trial.value("throughput"))
        return ordered[(len(ordered) - 1) // 2]


@dataclass
class Section:
    title: str
    runs: list[Run]
    contestants: list[Contestant] = field(default_factory=list)

    @property
    def comparison(self) -> dict[str, Any] | None:
        return self.runs[0].comparison if len(self.runs) == 1 else None

    @property
    def is_comparison(self) -> bool:
        return self.runs[0].attributes.get("command") == "compare"


def plain_label(row: dict[str, Any]) -> str:
    return f"ps {row['servers']}+{row['workers']}" if row["mode"] == "ps" else f"allreduce {row['workers']}"


def options_of(run: Run, notes: Notes) -> dict[str, Any]:
    path = run.path / "run.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        notes.add(path, f"cannot be read, labels are without its options: {error}")
        return {}


def compared_options(run: Run, mode: str, notes: Notes) -> dict[str, Any]:
    options = options_of(run, notes)
    left_out = NOT_COMPARED | (OF_PS if mode == "allreduce" else set())
    return {name: value for name, value in options.items() if name not in left_out}


def gather(trials: list[tuple[Any, str, Trial]]) -> list[Contestant]:
    """Contestants by key, from (key, label, trial)."""
    kept: dict[Any, Contestant] = {}
    for key, label, trial in trials:
        one = kept.setdefault(key, Contestant(label, []))
        if trial.done:
            one.trials.append(trial)
        elif trial.row["status"] != "planned":
            one.failed += 1
    return [one for one in kept.values() if one.trials]


def settings_of(run: Run, notes: Notes) -> list[dict[str, str]]:
    """Of a comparison: what each --trial says, in the order of their letters."""
    said = options_of(run, notes).get("trial") or []
    return [dict(one.split("=", 1) for one in text.split()) for text in (said if isinstance(said, list) else [said])]


def differing(settings: list[dict[str, str]], place: int) -> list[str]:
    """Settings of one contestant that not all have, without what its label says."""
    return [
        f"{name}={value}"
        for name, value in settings[place].items()
        if name not in ("mode", "servers", "workers") and not all(other.get(name) == value for other in settings)
    ]


def of_comparison(run: Run, notes: Notes) -> list[Contestant]:
    trials = [trial for trial in run.trials if not trial.row["confirmation"]]
    found = gather([(trial.row["label"], trial.row["label"], trial) for trial in trials])
    said = [row["label"] for row in (run.comparison or {}).get("contestants", [])]
    order = {label: place for place, label in enumerate(said)}
    found.sort(key=lambda one: (order.get(one.label, len(order)), one.row["mode"], one.row["servers"], one.label))
    settings, common = settings_of(run, notes), options_of(run, notes).get("server-weight")
    for one in found:
        letter, separator, _ = one.label.partition(": ")
        place = ord(letter) - ord("A") if separator else len(settings)
        own = settings[place] if place < len(settings) else {}
        one.label = " ".join([one.label, *(differing(settings, place) if own else [])])
        one.weigh(own.get("server-weight", common))
    return found


def of_runs(runs: list[Run], notes: Notes) -> list[Contestant]:
    """Runs of `train`. Labels say what differs beside servers and workers."""
    configurations = []
    for run in runs:
        for trial in run.trials:
            mine = {name.replace("_", "-"): trial.row[name] for name in CONFIGURATION if name in trial.row}
            configurations.append((trial, {**compared_options(run, trial.row["mode"], notes), **mine}))
    of_mode: dict[tuple[str, str], set[str]] = {}
    for trial, configuration in configurations:
        for name, value in configuration.items():
            of_mode.setdefault((trial.row["mode"], name), set()).add(str(value))
    keyed = []
    for trial, configuration in configurations:
        differing = [
            f"{name}={value}"
            for name, value in configuration.items()
            if name not in ("mode", "servers", "workers", "steps" if trial.cut_short else "")
            and len(of_mode[trial.row["mode"], name]) > 1
        ]
        label = " ".join([plain_label(trial.row), *differing, *(["(cut short)"] if trial.cut_short else [])])
        keyed.append((label, label, trial))
    found = gather(keyed)
    for one in found:
        one.weigh(options_of(one.trials[0].run, notes).get("server-weight"))
    return sorted(found, key=lambda one: (one.row["mode"], one.row["servers"], one.row["workers"], one.label))


def sections_of(runs: list[Run], notes: Notes) -> list[Section]:
    """A comparison is a section of its own; runs of `train` in one folder, with the same model and data, make one."""
    sections: dict[tuple[object, ...], Section] = {}
    for run in runs:
        if run.attributes.get("command") == "compare":
            sections[(run.path,)] = Section(f"{run.name}: comparison, {run.model}", [run])
            continue
        folder = run.path.resolve().parent
        section = sections.setdefault((folder, run.model, run.attributes["data"]), Section("", []))
        section.runs.append(run)
    for section in sections.values():
        first = section.runs[0]
        if section.is_comparison:
            section.contestants = of_comparison(first, notes)
        else:
            name = first.name if len(section.runs) == 1 else pathlib.Path(first.path).resolve().parent.name
            section.title = f"{name}: {first.model}"
            section.contestants = of_runs(section.runs, notes)
        for place, one in enumerate(section.contestants):
            one.place = place
    return list(sections.values())
