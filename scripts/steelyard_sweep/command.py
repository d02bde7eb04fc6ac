"""The command line of scripts/sweep."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from . import grid, launcher
from .folder import Folder
from .grid import BadInput, Grid, Point
from .launcher import ROOT
from .workstation import Sweep

# How long processes of a job that was requeued may take to end, where its former nodes are still clearing up.
REQUEUED_WAIT_S = 60.0


class Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise BadInput(f"{message}; see scripts/sweep --help")


def parse(words: list[str] | None, description: str) -> argparse.Namespace:
    parser = Parser(prog="sweep", description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                    allow_abbrev=False)
    parser.add_argument("grid", type=Path, metavar="GRID.toml")
    parser.add_argument("-n", "--ranks", type=int, help="ranks of a run, where the grid does not say")
    parser.add_argument("--results", type=Path, default=Path("results"), help="default: results")
    parser.add_argument("--name", help="of the sweep's folder in there; default: that of the grid, without .toml")
    parser.add_argument("--program", type=Path, default=ROOT / "build/steelyard", help="default: build/steelyard")
    parser.add_argument("--launcher", type=shlex.split, help='with its options, without -n; default: mpirun')
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--list", action="store_true", help="say the points, and which are done; run nothing")
    one.add_argument("--array", action="store_true", help="say those that are not done, for sbatch --array")
    one.add_argument("--index", type=int, help="run this point alone, in place of this process")
    arguments = parser.parse_args(words)
    if not (arguments.list or arguments.array):
        if arguments.ranks is None:
            raise BadInput("how many ranks has a run? give -n RANKS")
        if arguments.ranks < 1:
            raise BadInput(f"-n {arguments.ranks}: give 1 rank or more")
    return arguments


def ranges(indices: list[int]) -> str:
    """Of numbers in ascending order, as Slurm writes them: 0,2-4."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def say_points(points: Grid, folder: Folder) -> int:
    for point in points.points:
        state = "done" if folder.is_done(point) else "-"
        ranks = [f"(ranks {point.ranks})"] if point.ranks else []
        print(" ".join([f"{point.index:>4} {state:<4}", points.command, *point.arguments, *ranks]))
    return 0


def say_array(points: Grid, folder: Folder) -> int:
    missing = [point.index for point in points.points if not folder.is_done(point)]
    if not missing:
        raise BadInput(f"all {len(points.points)} points are done in {folder.path}; there is nothing to submit")
    print(ranges(missing))
    return 0


def point_of(points: Grid, index: int, file: Path) -> Point:
    if not 0 <= index < len(points.points):
        raise BadInput(f"index {index}: {file} has {len(points.points)} points, 0 to {len(points.points) - 1}")
    return points.points[index]


def run_one(points: Grid, folder: Folder, arguments: argparse.Namespace) -> int:
    """Becomes the launcher, so that signals for this process are signals for the run."""
    point = point_of(points, arguments.index, arguments.grid)
    ranks = launcher.ranks_of(point, arguments.ranks)
    if folder.is_done(point):
        folder.refuse_other_ranks(point, ranks)
        print(f"sweep: {folder.path / point.name} is done; nothing to do", flush=True)
        return 0
    launch = arguments.launcher or launcher.mpirun(ranks)
    launcher.refuse_unknown_options(points, [point], arguments.program)
    folder.open(arguments.grid, points)
    if not folder.claim(point, REQUEUED_WAIT_S if os.environ.get("SLURM_RESTART_COUNT", "0") != "0" else 0):
        print(f"sweep: another is at work on {folder.path / point.name}; left to it", flush=True)
        return 0
    if folder.is_done(point):  # By whoever had the claim.
        print(f"sweep: {folder.path / point.name} is done; nothing to do", flush=True)
        return 0
    if aside := folder.set_aside(point):
        print(f"sweep: an incomplete try is now {aside}", flush=True)
    words = launcher.point_line(points, folder, point)
    line = launcher.command_line(launch, ranks, arguments.program, words)
    print(f"sweep: {shlex.join(line)}", flush=True)
    try:
        os.execvp(line[0], line)
    except OSError as error:
        raise BadInput(f"the launcher '{line[0]}' cannot be started: {error.strerror}") from None


def run_all(points: Grid, folder: Folder, arguments: argparse.Namespace) -> int:
    most = max(launcher.ranks_of(point, arguments.ranks) for point in points.points)
    launch = arguments.launcher or launcher.mpirun(most)
    sweep = Sweep(points, folder, arguments.program, launch, arguments.ranks)
    launcher.refuse_unknown_options(points, points.points, arguments.program)
    if folder.path.exists():
        folder.refuse_other_grid(points)
    for point in points.points:
        if folder.is_done(point):
            folder.refuse_other_ranks(point, launcher.ranks_of(point, arguments.ranks))
        else:
            launcher.refuse_what_cannot_run(sweep.line(point), point)
    folder.open(arguments.grid, points)
    return sweep.all()


def main(description: str, words: list[str] | None = None) -> int:
    arguments = parse(words, description)
    points = grid.read(arguments.grid)
    folder = Folder(arguments.results, arguments.grid.stem if arguments.name is None else arguments.name)
    if arguments.list or arguments.array:
        if folder.path.exists():
            folder.refuse_other_grid(points)
        return say_points(points, folder) if arguments.list else say_array(points, folder)
    return (run_all if arguments.index is None else run_one)(points, folder, arguments)
