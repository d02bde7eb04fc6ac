"""The verdict in words. A comparison's is the program's own; of other runs only what may be said is said."""

from __future__ import annotations

import statistics
from collections import Counter

import numpy

from .contestants import Contestant, Section, estimate
from .figures.common import Raws, raw_of

HOT = 1.10  # max/mean of a load from which it is named, as --rebalance-threshold has it.
MUCH = 0.1  # Of a step: waiting for one server from which it is named.
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


def over_share(one: Contestant, loads: list[float] | list[int], server: int) -> float:
    """A server's load / the share of all that it should have: the mean, or by its weight. 0 where nobody has any."""
    return loads[server] / (sum(loads) * one.expected_share(server)) if any(loads) else 0.0


def share_word(one: Contestant) -> str:
    return "what its weight asks" if one.weights else "the mean"


def hot_server(one: Contestant, raws: Raws) -> str:
    """Which server has most bytes, and the tensor that makes up most of what it holds."""
    loads = [load.bytes for load in raw_of(raws, one).servers]
    hot = max(range(len(loads)), key=lambda server: over_share(one, loads, server), default=0)
    if not any(loads) or not (over := over_share(one, loads, hot)) > HOT:
        return ""
    share = 100.0 * loads[hot] / sum(loads)
    text = f"{one.label}: server {hot} moves {over:.2f} times {share_word(one)} in bytes, {share:.1f} % of all."
    run = one.typical.run
    mine = run.placement[(run.placement["trial"] == one.typical.id) & (run.placement["server"] == hot)]
    if len(mine) == 0:
        return text
    held = numpy.bincount(mine["tensor"], (mine["end"] - mine["begin"]).astype(float))
    largest = int(held.argmax())
    name = run.inventory[run.inventory["tensor"] == largest][0]["name"].decode()
    share = 100.0 * held[largest] / int(run.inventory["elements"].sum())
    return f"{text} The largest part of what it holds is {name}, {share:.1f} % of the model."


def reasons(one: Contestant, raws: Raws, server: int) -> str:
    """What else the trace says of a server that is waited for; it names no cause that it cannot see."""
    raw = raw_of(raws, one)
    said = []
    loads_of = {"payload": [load.bytes for load in raw.servers], "busy time": [load.busy_s for load in raw.servers]}
    for name, loads in loads_of.items():
        if (over := over_share(one, loads, server)) > HOT:
            said.append(f"its {name} is {over:.2f} times {share_word(one)}")
    if raw.rates and all(rate > 0 for rate in raw.rates):
        others = statistics.fmean(rate for index, rate in enumerate(raw.rates) if index != server)
        if others / raw.rates[server] > HOT:
            said.append(f"pushes to it travel at {raw.rates[server]:,.3g} MB/s, to the others at {others:,.3g}")
    if not said and raw.waits.first[server] > 0.5 * raw.waits.total[server]:
        return "it holds what a step needs first; neither its payload nor its busy time explains it"
    return "; ".join(said) or "neither its payload nor its busy time explains it"


def awaited_server(one: Contestant, raws: Raws) -> str:
    """Which server the workers wait for longer than for the others, where that is a good part of a step."""
    known = raw_of(raws, one).waits
    waits = known.total.tolist() if known else []
    step_ms = one.estimate("step_time", "worker").median
    if len(waits) < 2 or not max(waits) > MUCH * step_ms:
        return ""
    server = waits.index(max(waits))
    if waits[server] * len(waits) <= HOT * sum(waits):
        return ""
    others = statistics.fmean(wait for index, wait in enumerate(waits) if index != server)
    return (
        f"{one.label}: workers wait {waits[server]:.3g} ms of a step for server {server}, {others:.3g} ms for "
        f"{'the other' if len(waits) == 2 else 'each of the others'}; {reasons(one, raws, server)}."
    )


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
        failures(section),
        *(hot_server(one, raws) for one in section.contestants),
        *(awaited_server(one, raws) for one in section.contestants),
        *(straggler(one) for one in section.contestants),
        overhead(section),
    ]
    return [text for text in said if text]
