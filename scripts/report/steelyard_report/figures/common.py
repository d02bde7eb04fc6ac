"""What several figures share."""

from __future__ import annotations

from ..chart import MOST_SERIES
from ..contestants import Contestant, Estimate, Section
from ..raw import Raw

# (path of the run, id of the trial): what its ranks recorded
Raws = dict[tuple[str, int], Raw]


def raw_of(raws: Raws, contestant: Contestant) -> Raw:
    """Of the contestant's typical trial."""
    trial = contestant.typical
    return raws.get((str(trial.run.path), trial.id), Raw())


def raws_of(raws: Raws, contestant: Contestant) -> list[Raw]:
    """Of all its trials."""
    return [raws.get((str(trial.run.path), trial.id), Raw()) for trial in contestant.trials]


def shown(section: Section, *, ps_only: bool = False) -> tuple[list[Contestant], str]:
    """As many contestants as there are colours, the fastest; and a note where that leaves out some."""
    every = [one for one in section.contestants if one.is_ps or not ps_only]
    if len(every) <= MOST_SERIES:
        return every, ""
    fastest = sorted(every, key=lambda one: -one.estimate("throughput").median)[:MOST_SERIES]
    return (
        sorted(fastest, key=lambda one: one.place),
        f"{MOST_SERIES} of {len(every)} contestants are shown: those with the most images/s.",
    )


def interval_text(one: Estimate, form: str = ",.4g") -> str:
    if not one.has_interval:
        return f"{one.median:{form}} (median of {one.count}; an interval needs 6)"
    return f"{one.median:{form}}, 95 % interval {one.low:{form}} to {one.high:{form}} ({one.count} rounds)"


def interval_note(section: Section) -> str:
    least = min(len(one.trials) for one in section.contestants)
    if least >= 6:
        return "Bars at a value are the 95 % interval of the median over the rounds."
    return "No intervals: they need at least 6 trials of each contestant."
