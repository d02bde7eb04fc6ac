"""The command line of scripts/bench."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import allreduce, exposed, kernels, train, transport
from .bench import Bench, cores, has_mpirun
from .estimate import LEAST_ROUNDS
from .processes import ROOT, Failed, refuse
from .rows import Row, table_text, write_csv, write_json

BUILD_COMMANDS = "cmake -S . -B build -DSTEELYARD_NATIVE=ON -DBUILD_TESTING=ON && cmake --build build"
ROUNDS = 9
LEGEND = """\
Medians over paired rounds; a ratio is the median of the rounds' own ours / peer with its 95 % interval. Where
the unit is a time, ours is faster if it is below 1, else if it is above. "limit": share of what the machine
allows, where that is known: multiply-adds in registers, a copy in memory (docs/performance.md says how)."""


@dataclass(frozen=True)
class Section:
    what: str
    measure: Callable[[Bench], list[Row]]
    budget_s: float  # Rounds after the first six begin only within it.
    start_s: float = 0.0  # Peers and first runs come on top.


SECTIONS = {
    "train-one-rank": Section("training on one rank beside PyTorch", train.one_rank, 70, 20),
    "train-allreduce": Section("training on 2 ranks beside DDP, mpi4py and one process", train.allreduce, 170, 50),
    "train-ps": Section("training with parameter servers beside torch RPC and mpi4py", train.ps, 240, 100),
    "exposed": Section("communication that compute does not hide", exposed.section, 200, 60),
    "allreduce": Section("allreduce beside Open MPI's algorithms and gloo", allreduce.section, 320),
    "transport": Section("exchange with a server beside a ping-pong and a copy", transport.section, 60),
    "kernels": Section("kernels beside the peak of a core", kernels.section, 60),
}


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def parse_arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"), help="build folder; default: build")
    parser.add_argument("--only", metavar="SECTIONS", help="comma separated; --list says which there are")
    parser.add_argument("--list", action="store_true", help="list the sections and the time each takes")
    parser.add_argument("--rounds", type=int, metavar="N", help=f"paired rounds at most; default: {ROUNDS}")
    parser.add_argument("--quick", action="store_true", help=f"{LEAST_ROUNDS} short rounds of less: a look, no claim")
    parser.add_argument("--data", default="fashion-mnist", help="of training; default: fashion-mnist")
    parser.add_argument("--csv", metavar="FILE", help="write the table to this file too")
    parser.add_argument("--json", metavar="FILE", help="the same as JSON")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (LEAST_ROUNDS if arguments.quick else ROUNDS)
    arguments.only = arguments.only.split(",") if arguments.only else list(SECTIONS)
    check(arguments)
    return arguments


def check(arguments: argparse.Namespace) -> None:
    if arguments.rounds < LEAST_ROUNDS:
        refuse(f"--rounds {arguments.rounds}: at least {LEAST_ROUNDS}; a 95 % interval needs them")
    for name in arguments.only:
        if name not in SECTIONS:
            refuse(f"--only {name}: no such section; choose among {', '.join(SECTIONS)}")
    for option in ("csv", "json"):
        path = getattr(arguments, option)
        if path and not Path(path).resolve().parent.is_dir():
            refuse(f"--{option} {path}: there is no such folder")


def refuse_unbuilt(bench: Bench) -> None:
    programs = (bench.program, bench.program_of("transport"), bench.program_of("allreduce"))
    if missing := [str(program) for program in programs if not program.exists()]:
        refuse(f"missing: {', '.join(missing)}\nto build: {BUILD_COMMANDS}")
    if not has_mpirun():
        refuse("there is no mpirun; scripts/install_packages installs it")


def seconds_of(section: Section, quick: bool) -> float:
    """At most, on a machine where the least number of rounds fits into the budget."""
    return (0.3 if quick else 1.0) * (section.budget_s + section.start_s)


def measure(bench: Bench, names: list[str]) -> list[Row]:
    """Section by section, with a line as each begins."""
    total = sum(seconds_of(SECTIONS[name], bench.quick) for name in names)
    say(f"{len(names)} sections, about {total / 60:.0f} minutes at most")
    rows = []
    for number, name in enumerate(names):
        section = SECTIONS[name]
        limit = seconds_of(section, bench.quick)
        say(f"[{number + 1}/{len(names)}] {name}: {section.what}, about {limit:.0f} s at most")
        bench.budget_s = section.budget_s * (0.1 if bench.quick else 1.0)
        begin = time.monotonic()
        try:
            rows += section.measure(bench)
        except Failed as failure:
            bench.note(f"section {name} failed; its message is above the table")
            bench.failed = True
            print(f"steelyard bench: {name}: {failure}", file=sys.stderr)
        say(f"[{number + 1}/{len(names)}] {name}: took {time.monotonic() - begin:.0f} s")
    return rows


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def main(description: str) -> int:
    arguments = parse_arguments(description)
    if arguments.list:
        for name, section in SECTIONS.items():
            print(f"{name:<16} {section.what}, about {seconds_of(section, arguments.quick):.0f} s at most")
        return 0
    bench = Bench(arguments)
    refuse_unbuilt(bench)
    print(bench.version)
    before = os.getloadavg()[0]
    rows = measure(bench, arguments.only)
    load = (before, os.getloadavg()[0])
    report(arguments, bench, rows, load)
    return 1 if bench.failed else 0


def report(arguments: argparse.Namespace, bench: Bench, rows: list[Row], load: tuple[float, float]) -> None:
    """The table, and its files."""
    print(f"\n{processor()}, {cores()} cores, load {load[0]:.1f} before and {load[1]:.1f} after.")
    print(LEGEND)
    for note in bench.notes:
        print(textwrap.fill(note, 118))
    print("\n" + table_text(rows))
    if arguments.csv:
        write_csv(arguments.csv, rows)
    if arguments.json:
        machine = {"processor": processor(), "cores": cores(), "load": list(load), "version": bench.version}
        write_json(arguments.json, rows, machine, bench.notes)
