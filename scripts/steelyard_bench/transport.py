"""Section transport: an exchange with a parameter server beside what MPI and memory allow."""

from __future__ import annotations

import csv
import functools

from .bench import GIGA, Bench, size_text
from .processes import run
from .rounds import Figures, play
from .rows import Row, compare

SECTION = "transport"
KIBI, MEBI = 1 << 10, 1 << 20
LARGEST = 64 * MEBI
OF_COPY = (4 * KIBI, MEBI, LARGEST)
ROUNDS_PER_LAUNCH = 2
PS_LITE = """ps-lite, measured once on a similar machine whose copy reaches 36 GB/s: 0.06 GB/s at 4 KB, 3.5 at 1 MB, \
1.2 at 64 MB (0.002, 0.1 and 0.03 of the copy), a round trip 64 us"""


def launch(bench: Bench) -> Figures:
    """One launch. @return microseconds by "bytes name round"."""
    command = [*bench.launch(2), str(bench.program_of("transport")), "--csv", "--rounds", str(ROUNDS_PER_LAUNCH)]
    output = run([*command, *(["--quick"] if bench.quick else [])], bench.environment)
    rows = csv.DictReader(output.splitlines())
    return {f"{row['bytes']} {row['by']} {row['round']}": float(row["us"]) for row in rows}


def measure(bench: Bench) -> dict[str, dict[int, list[float]]]:
    """By whom and bytes, microseconds of every round; a launch has several rounds."""
    launches = play("launches", {"ours": functools.partial(launch, bench)}, bench.rounds, bench.budget_s)["ours"]
    times: dict[str, dict[int, list[float]]] = {}
    for figures in launches:
        for key, us in figures.items():
            count, name, _ = key.split(" ")
            times.setdefault(name, {}).setdefault(int(count), []).append(us)
    return times


def speed(count: float, us: list[float]) -> list[float]:
    return [count / (one * 1e-6) / GIGA for one in us]


def section(bench: Bench) -> list[Row]:
    times = measure(bench)
    ours = times["exchange"]
    copy = speed(2 * LARGEST, times["copy"][LARGEST])
    rows = []
    for count, us in ours.items():
        peers = {"ping-pong": times["ping_pong"][count], "MPI by hand": times["by_hand"][count]}
        rows += compare(SECTION, f"ps exchange {size_text(count)}", "us", us, peers, lower_is_better=True)
    for count, us in times["messages"].items():
        peers = {"ping-pong": times["ping_pong"][count]}
        rows += compare(SECTION, f"ps by messages {size_text(count)}", "us", us, peers, lower_is_better=True)
    for count in OF_COPY:
        rows += compare(SECTION, f"ps exchange {size_text(count)}", "GB/s", speed(count, ours[count]), {"copy": copy})
    # The server's sgd reads gradient and values and writes values: what no transport can avoid.
    moved, limit_speed = (speed(3 * LARGEST, times[name][LARGEST]) for name in ("exchange", "update"))
    limit = compare(SECTION, f"ps exchange {size_text(LARGEST)}", "GB/s", moved, {"limit": limit_speed})
    limit[0].share = limit[0].ratio
    bench.note(PS_LITE)
    return rows + limit
