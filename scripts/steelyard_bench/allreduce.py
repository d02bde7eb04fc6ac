"""Section allreduce: our backends beside Open MPI's, with every algorithm that it can be made to use, and gloo.

An algorithm is chosen when Open MPI starts, so each has its own launch in every round. Figures are bus bandwidth.
"""

from __future__ import annotations

import csv
import functools
import math
import statistics
from collections.abc import Callable

from .bench import GIGA, Bench, cores, size_text
from .estimate import geometric_mean
from .processes import run
from .rounds import Figures, play
from .rows import Row, compare

# Numbers of coll_tuned_allreduce_algorithm, and our names for them.
ALGORITHMS = {1: "Open MPI's linear", 2: "Open MPI's reduce and bcast", 3: "Open MPI's recursive doubling",
              4: "Open MPI's ring", 5: "Open MPI's segmented ring", 6: "Open MPI's rabenseifner"}
RING = ALGORITHMS[4]
DYNAMIC = ("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_allreduce_algorithm")
DEFAULT = "Open MPI default"
BEST = "best of Open MPI"
OTHERS = "best other backend"
OPEN_MPI = ("mpi", "MPI_Allreduce")  # Also behind one of our names.
RESIDENT = "shared resident"  # Data in the window; `shared` copies private buffers in and out.
CHOOSER = "auto"
KIBI, MEBI = 1 << 10, 1 << 20
RANGES = {"all sizes": (4 * KIBI, 64 * MEBI), "1 to 64 MiB": (MEBI, 64 * MEBI), "4 to 256 KiB": (4 * KIBI, 256 * KIBI)}
UNIT = "GB/s bus"

Times = dict[str, dict[int, list[float]]]  # By whom and bytes, microseconds of every round.


def launch(bench: Bench, command: list[str]) -> Figures:
    """One round. @return microseconds by "bytes name"."""
    # More iterations would not fit into the time: every algorithm has a launch of its own.
    output = run([*command, "--csv", "--rounds", "1", "--quick"], bench.environment)
    return {f"{row['bytes']} {row['by']}": float(row["us"]) for row in csv.DictReader(output.splitlines())}


def measure(bench: Bench, ranks: int, parts: int) -> Times:
    program = str(bench.program_of("allreduce"))
    contestants: dict[str, Callable[[], Figures]] = {
        "ours": functools.partial(launch, bench, [*bench.launch(ranks), program])
    }
    for number, name in ALGORITHMS.items():
        command = [*bench.launch(ranks, *DYNAMIC, str(number)), program, "--only", "MPI_Allreduce"]
        contestants[name] = functools.partial(launch, bench, command)
    if (gloo := bench.program_of("gloo")).exists():
        contestants["gloo"] = functools.partial(launch, bench, [str(gloo), "--ranks", str(ranks)])
    else:
        bench.missing("allreduce by gloo", "gloo", rebuild=True)
    results = play(f"{ranks} ranks", contestants, bench.rounds, bench.budget_s / parts)
    times: Times = {}
    for contestant, rounds in results.items():
        for figures in rounds:
            for key, us in figures.items():
                count, name = key.split(" ", 1)
                name = contestant if contestant in ALGORITHMS.values() else name
                times.setdefault(name, {}).setdefault(int(count), []).append(us)
    return times


def best_of(times: Times, names: list[str]) -> dict[int, list[float]]:
    """For every size the rounds of whoever has the least median there."""
    best = {}
    for count in times[names[0]]:
        best[count] = min((times[name][count] for name in names), key=statistics.median)
    return best


def bus_speed(count: int, ranks: int, us: float) -> float:
    """10^9 bytes per second, as nccl-tests defines it."""
    return 2.0 * (ranks - 1) / ranks * count / (us * 1e-6) / GIGA


def speeds(by_size: dict[int, list[float]], ranks: int, least: int, most: int) -> list[float]:
    """Geometric mean over the sizes, for every round."""
    sizes = [count for count in by_size if least <= count <= most]
    rounds = len(by_size[sizes[0]])
    return [geometric_mean(bus_speed(count, ranks, by_size[count][number]) for count in sizes)
            for number in range(rounds)]


def rows_of(times: Times, ranks: int) -> list[Row]:
    peers = {DEFAULT: times["MPI_Allreduce"], BEST: best_of(times, list(ALGORITHMS.values()))}
    if gloo := [name for name in times if name.startswith("gloo")]:
        peers["gloo"] = best_of(times, gloo)
    copies = times["copy"]
    apart = {*OPEN_MPI, *ALGORITHMS.values(), *gloo, "copy"}
    own = [name for name in times if name not in apart]
    # Whatever `auto` could have taken, as it was measured when it was asked for by name.
    choices = [name for name in (*own, "mpi") if name not in (CHOOSER, RESIDENT)]
    others = best_of(times, choices)
    rows = []
    for name in own:
        for text, (least, most) in RANGES.items():
            figure = functools.partial(speeds, ranks=ranks, least=least, most=most)
            against = {peer: figure(by_size) for peer, by_size in peers.items()}
            if name == "ring":
                against[RING] = figure(times[RING])
            if name == CHOOSER:
                against = {OTHERS: figure(others)}
            rows += compare("allreduce", f"{name} x{ranks}, {text}", UNIT, figure(times[name]), against)
    for count in others:
        figure = functools.partial(speeds, ranks=ranks, least=count, most=count)
        rows += compare("allreduce", f"{CHOOSER} x{ranks} {size_text(count)}", UNIT, figure(times[CHOOSER]),
                        {OTHERS: figure(others)})
    best = best_of(times, [name for name in choices if name != "mpi"])
    smallest = MEBI if ranks <= cores() else math.inf  # Below it caches, beyond it turns on a core make limits wrong.
    for count, us in best.items():
        against = {peer: speeds(by_size, ranks, count, count) for peer, by_size in peers.items()}
        # Every rank's data is read once and written once, as if all ranks copied as much at the same time.
        share = statistics.median(copies[count]) / statistics.median(us) if count >= smallest else float("nan")
        what = f"best own x{ranks} {size_text(count)}"
        rows += compare("allreduce", what, UNIT, speeds({count: us}, ranks, count, count), against, share=share)
    return rows


def section(bench: Bench) -> list[Row]:
    all_ranks = (2,) if bench.quick else (2, 4)
    rows = []
    for ranks in all_ranks:
        rows += rows_of(measure(bench, ranks, len(all_ranks)), ranks)
    return rows
