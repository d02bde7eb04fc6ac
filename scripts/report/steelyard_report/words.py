"""The verdict in words. A comparison's is the program's own; of other runs only what may be said is said."""

from __future__ import annotations

import statistics
from collections import Counter

from .contestants import Contestant, Section, estimate
from .figures.common import Raws, raw_of

HOT = 1.10  # max/mean of a load from which it is named, as --rebalance-threshold has it.
LEAST_ROUNDS = 6
# docs/validity.md
CANNOT_TELL = {
    "oversubscribed": "what a busy server costs on cores of its own, since ranks here lend each other their idle time",
    "one_node": "what a network costs, since messages went through one machine's memory",
    "emulated_compute": "how communication slows real compute, since compute was emulated",
    "shaped_links": "what switches, adapters and a crowded memory bus add, since links were shaped",
    "injected": "how often such slowness happens, since it was injected",
    "fake": "any speed, since a stand-in took the place of the GPU libraries",
}


def limits(section: Section) -> str:
    words = [word for word in CANNOT_TELL if any(word in run.validity for run in section.runs)]
    return f"This cannot tell {'; nor '.join(CANNOT_TELL[word] for word in words)}." if words else ""


def paired(a: Contestant, b: Contestant) -> list[float]:
    """Images/s of a / those of b, of trials with the same seed and repeat."""
    of_b = {(trial.row["seed"], trial.row["repeat"]): trial.value("throughput") for trial in b.trials}
    return [
        trial.value("throughput") / of_b[key]
        for trial in a.trials
        if of_b.get(key := (trial.row["seed"], trial.row["repeat"]))
    ]


def against(a: Contestant, b: Contestant) -> str:
    ratio = estimate(paired(a, b))
    if ratio.count == 0:
        return f"{a.label} and {b.label} have no seed in common, so no ratio is formed."
    pairs = "one pair" if ratio.count == 1 else f"{ratio.count} pairs"
    text = f"{a.label} has {ratio.median:.3f} times the images/s of {b.label}, the median of {pairs} with the same seed"
    return text + (f", 95 % interval {ratio.low:.3f} to {ratio.high:.3f}." if ratio.has_interval else ".")


def best(contestants: list[Contestant]) -> Contestant | None:
    return max(contestants, key=lambda one: one.estimate("throughput").median, default=None)


def of_runs(section: Section) -> list[str]:
    """Runs made one by one do not name a winner, however clear they look."""
    contestants = section.contestants
    alike = [one for one in contestants if not one.is_asynchronous]
    ps, allreduce = best([one for one in alike if one.is_ps]), best([one for one in alike if not one.is_ps])
    said = []
    if ps and allreduce:
        said.append(
            f"Of those whose steps are alike, the fastest parameter servers were {ps.label} and the fastest allreduce was "
            f"{allreduce.label}. "
            + against(ps, allreduce)
        )
    elif len(alike) > 1:
        fastest = best(alike)
        said.append(
            f"Most images/s: {fastest.label}, {fastest.estimate('throughput').median:,.4g}, of {len(alike)} contestants."
        )
    if len(contestants) > 1:
        said.append(
            "No winner is named: these runs were made one after the other and not in paired, interleaved rounds. "
            f"steelyard compare makes {LEAST_ROUNDS} or more of them and confirms what it names."
        )
    if any(one.is_asynchronous for one in contestants) and alike:
        said.append(
            "Images/s do not rank asp or ssp against bsp or allreduce, since a step is not worth the same: time to accuracy does."
        )
    return said or [f"One contestant, {contestants[0].label}: nothing to compare."]


def hot_server(one: Contestant, raws: Raws) -> str:
    """Which server has most bytes, and the tensor that makes up most of what it holds."""
    uneven = one.estimate("bytes_max_over_mean", "server").median
    loads = raw_of(raws, one).servers
    if not one.is_ps or not uneven > HOT or not loads:
        return ""
    total = sum(load.bytes for load in loads)
    hot = max(range(len(loads)), key=lambda index: loads[index].bytes)
    share = 100.0 * loads[hot].bytes / total
    text = f"{one.label}: server {hot} moves {uneven:.2f} times the mean bytes of a server, {share:.1f} % of all."
    run = one.typical.run
    mine = run.placement[(run.placement["trial"] == one.typical.id) & (run.placement["server"] == hot)]
    if len(mine) == 0:
        return text
    largest = mine[(mine["end"] - mine["begin"]).argmax()]
    elements = int(largest["end"] - largest["begin"])
    tensor = run.inventory[run.inventory["tensor"] == largest["tensor"]][0]
    share = 100.0 * elements / int(run.inventory["elements"].sum())
    return f"{text} Most of what it holds is {tensor['name'].decode()}, {share:.1f} % of the model."


def straggler(one: Contestant) -> str:
    """Named if it is the same worker for the same reason in at least half of the trials, as compare does."""
    seen = Counter((trial.csv.get("straggler_worker", ""), trial.csv.get("straggler_reason", "")) for trial in one.trials)
    (worker, reason), times = seen.most_common(1)[0]
    if worker in ("", "-1") or not reason or 2 * times < len(one.trials) or times == 1 < len(one.trials):
        return ""
    why = "it is slow itself" if reason == "compute" else "it waits itself, for its servers or its link"
    return f"{one.label}: worker {worker} holds up the others; {why} ({times} of {len(one.trials)} trials)."


def failures(section: Section) -> str:
    return " ".join(
        f"{one.label}: {one.failed} of {one.failed + len(one.trials)} trials diverged and are left out."
        for one in section.contestants
        if one.failed
    )


def overhead(section: Section) -> str:
    """Said where the trace costs more than it should."""
    shares = [trial.value("trace_overhead") for one in section.contestants for trial in one.trials]
    median = statistics.median(shares)
    if median <= 0.01:
        return ""
    return f"Recording took {100.0 * median:.2g} % of the time of a trial (median), more than the 1 % it should."


def verdict(section: Section) -> list[str]:
    comparison = section.comparison
    if comparison and comparison.get("verdict"):
        return [comparison["verdict"]]
    if section.is_comparison:
        return [
            "No verdict: comparison.json is not in this run, since it did not end or an older program wrote it. "
            "The figures show what was measured.",
            limits(section),
        ]
    return [*of_runs(section), limits(section)]


def findings(section: Section, raws: Raws) -> list[str]:
    """What else is worth a sentence."""
    said = [
        "; ".join(section.specifications),
        failures(section),
        *(hot_server(one, raws) for one in section.contestants),
        *(straggler(one) for one in section.contestants),
        overhead(section),
    ]
    return [text for text in said if text]
